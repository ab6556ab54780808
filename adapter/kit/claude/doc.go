// Package claude is a [loop.Model] on Anthropic's Messages API without an SDK. Every request that it sends is
// one that the API accepts, whatever the transcript holds. Every reply and every error comes back in retake's
// types.
//
//	model, err := claude.New(nil, claude.Config{Key: key, Model: "claude-sonnet-5-5", MaxTokens: 4096})
//	l, err := loop.New(model, loop.Config{Tools: tools})
//	trip, err := loop.Generate[Itinerary](ctx, l, session, loop.Input{Prompt: "A weekend in Lisbon."})
//
// One call of Reply makes one request, and one more for each pause of the API. No environment variable is
// read. [Over] sends the requests by another client: adapter/anthropic and adapter/anthropicv2 are those of
// Anthropic's SDK, for its credentials and for other clouds.
//
// A transcript may come from another provider. It may hold calls without an answer, empty texts, or several
// messages of one role in a row; the README of adapter/anthropic lists what is sent for each.
//
// A failed request is a [*kit.Error] within a [ratelimit.LimitedError]. Its chain has the typed error of
// package fault, the rate-limit windows of the response, and the error of the SDK.
package claude
