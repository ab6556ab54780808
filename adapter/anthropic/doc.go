// Package anthropic is a [loop.Model] on Anthropic's Messages API: every request it sends is one that the API
// accepts, whatever the transcript holds, and every reply or error comes back in retake's words.
//
// [New] takes a client of the SDK and a [Config]. Retries of the SDK are off, however the client was made:
// two layers of retries multiply. A transcript may come from another provider, hold calls that were never
// answered, empty texts or several messages of one role in a row; README.md says what becomes of each.
//
// What fails is an [*Error] within a [ratelimit.LimitedError]: the chain has the typed error of package
// fault, the windows that the response's headers named, and the SDK's own error.
package anthropic
