// Package anthropicv2 sends the requests of package claude (adapter/kit/claude) by a client of v2 of
// github.com/anthropics/anthropic-sdk-go: to the Messages API, or to another cloud that has Claude. Package
// anthropic (adapter/anthropic) is the same for v1 of the SDK. Without an SDK, claude.New does.
//
//	client := sdk.NewClient(option.WithAPIKey(key))
//	model, err := anthropicv2.New(client, claude.Config{Model: "claude-sonnet-5-5", MaxTokens: 4096})
//	l, err := loop.New(model, loop.Config{Tools: tools})
//	trip, err := loop.Generate[Itinerary](ctx, l, session, loop.Input{Prompt: "A weekend in Lisbon."})
//
// One call of Reply makes one request, and one more for each pause of the API. The SDK's own retries are
// switched off, because two layers of retries multiply; every other setting of the client (key, base URL,
// headers, middleware, extra members by option.WithJSONSet) is kept. The chain of an error has the SDK's
// *anthropic.Error if the server answered.
package anthropicv2
