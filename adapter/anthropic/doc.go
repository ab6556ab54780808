// Package anthropic is a [loop.Model] on Anthropic's Messages API. Every request that it sends is one that
// the API accepts, whatever the transcript holds. Every reply and every error comes back in retake's types.
//
// [New] takes a client of the SDK and a [Config]. It switches the SDK's retries off, because two layers of
// retries multiply. A transcript may come from another provider. It may hold calls without an answer, empty
// texts, or several messages of one role in a row; README.md lists what the adapter sends for each.
//
// A failed request is a [*kit.Error] within a [ratelimit.LimitedError]. Its chain has the typed error of
// package fault, the rate-limit windows of the response, and the SDK's own error.
package anthropic
