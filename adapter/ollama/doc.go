// Package ollama asks models through Ollama's HTTP API: a [Model] is a loop.Model that speaks /api/chat over
// net/http, without an SDK, and never retries by itself.
//
//	model, err := ollama.New(nil, ollama.Config{Model: "qwen3"})
//	result, err := loop.Run(ctx, model, s, "Two nights in Lisbon, please.", loop.Config{Tools: tools})
//
// What it makes of a transcript, whoever it was made with:
//
//   - One system message, at the top: the request's, those before the first of user or model, and what is to be said of the
//     answer's form. Many templates take no other. Later system messages are said by the user.
//   - User and assistant by turns: what one of them says in a row becomes one message. Empty messages are left out.
//   - Every call is answered, by a message of role tool with tool_name and tool_call_id, in the order of the calls; one that
//     nobody answered is said not to have been run. An answer without a call is told as text.
//   - Arguments are an object on this wire: text that is none is sent as the member [RawArguments] of one.
//   - Thoughts go back with the message they came with, to the model that had them.
//
// Structured output is the API's format, beside the schema in the system prompt. With tools on offer it is
// the prompt alone: a format holds everything the model says to the schema, and it could call no tool.
package ollama
