// Package chat is a loop.Model on OpenAI's APIs without an SDK: Chat Completions, at OpenAI or any server
// that speaks it, or Responses (see [Config].API).
//
//	model, err := chat.New(nil, chat.Config{Key: key, Model: "gpt-4.1"})
//	l, err := loop.New(model, loop.Config{Tools: tools})
//	trip, err := loop.Generate[Itinerary](ctx, l, session, loop.Input{Prompt: "A weekend in Lisbon."})
//
// One call of Reply makes one request. No environment variable is read. [Over] sends the requests by another
// client: adapter/openai is that of OpenAI's SDK.
//
// # What is sent
//
// Every call in the transcript has its answer right after the message that made it. A call without an
// answer gets one which says that it was not run. An answer without a call becomes a user message.
// Arguments go back as the model wrote them, valid JSON or not. Names and ids that the API would refuse
// are replaced, always in the same way.
//
// A tool or an answer uses strict mode if its schema fits the subset of JSON Schema that strict mode
// supports. Rules outside of that subset (such as the length of a string) go into the descriptions, and
// retake checks them. Any other schema is sent unchanged, without strict mode. The schema of an answer
// that is not an object goes into the system prompt, because the API accepts only objects.
//
// # What comes back
//
// Usage.InputTokens counts all tokens of the prompt, cached ones included; OutputTokens includes
// reasoning. Unknown finish reasons count as "not said", and the reply is read like any other. These are
// errors: a reply that the server reports as failed, a stream that ends early, an error within a 200, and
// a 200 without a choice. A [kit.Error] has the class and the rate limits.
package chat
