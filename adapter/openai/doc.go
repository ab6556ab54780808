// Package openai sends the requests of package chat (adapter/kit/chat) by a client of
// github.com/openai/openai-go/v3: over the Chat Completions API, at OpenAI or any server that speaks it, or
// over the Responses API. Without the SDK, chat.New does.
//
//	client := sdk.NewClient(option.WithAPIKey(key))
//	model, err := openai.New(client, chat.Config{Model: "gpt-4.1"})
//	l, err := loop.New(model, loop.Config{Tools: tools})
//	trip, err := loop.Generate[Itinerary](ctx, l, session, loop.Input{Prompt: "A weekend in Lisbon."})
//
// One call of Reply makes one request. The SDK's own retries are switched off; every other setting of the
// client (key, base URL, headers, middleware, extra members by option.WithJSONSet) is kept. The chain of an
// error has the SDK's *openai.Error if the server answered in its form.
package openai
