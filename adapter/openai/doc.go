// Package openai asks models through github.com/openai/openai-go/v3: a [Model] is a loop.Model over the Chat
// Completions API, at OpenAI or any server that speaks it, or over the Responses API: see [Config].API.
//
//	client := sdk.NewClient(option.WithAPIKey(key))
//	model, err := openai.New(client, openai.Config{Model: "gpt-4.1"})
//	trip, err := loop.Generate[Itinerary](ctx, model, session, prompt, loop.Config{Tools: tools})
//
// One call of Reply is one request: the SDK's own retries are switched off, whatever the client was built
// with. Everything else of the client (key, base URL, headers, middleware, extra body members by
// option.WithJSONSet) is kept.
//
// # What is sent
//
// Every call of the transcript is answered, right after the message that made it; a call that nobody answered
// is said not to have been run, and an answer without its call becomes a user message. Arguments go back as
// the model wrote them, JSON or not. Names and ids that the API would refuse are replaced, the same way each
// time.
//
// A tool or an answer goes in strict mode where its schema fits the subset of JSON Schema that strict mode
// knows. Rules outside it that retake checks anyway (a string's length) are then told in the descriptions.
// Any other schema is sent as it is, without strict mode. An answer that is no object goes into the system
// prompt: the API takes objects only.
//
// # What comes back
//
// Usage.InputTokens are all tokens of the prompt, those read from the cache included; OutputTokens include
// reasoning. Finish reasons that nobody here knows are "not said", and the reply is read like any other. A
// reply that the server says has failed, a stream that ends early, an error within a 200, and a 200 without a
// choice are errors: an [Error], which has the class, the rate limits and the SDK's own error within.
package openai
