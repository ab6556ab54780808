// Package ollama is a loop.Model on Ollama's HTTP API (/api/chat). It uses net/http and no SDK, and never
// retries by itself.
//
//	model, err := ollama.New(nil, ollama.Config{Model: "qwen3"})
//	l, err := loop.New(model, loop.Config{Tools: tools})
//	result, err := l.Run(ctx, s, loop.Input{Prompt: "Two nights in Lisbon, please."})
//
// It sends any transcript, whichever provider it was made with:
//
//   - One system message, at the top: that of the request, those before the first user or model message,
//     and the instructions for the answer's form. Many templates accept no other. Later system messages
//     become user messages.
//   - User and assistant take turns: consecutive messages of one of them become one message. Empty
//     messages are dropped.
//   - Every call is answered by a message of role tool with tool_name and tool_call_id, in the order of
//     the calls. A call without an answer gets one which says that it was not run. An answer without a
//     call becomes text.
//   - Arguments are an object in this API. Other text is sent as an object with the member
//     [kit.RawArguments].
//   - Thoughts go back with the message they came with, to the model that had them.
//
// A structured answer uses the API's format, with the schema in the system prompt too. With tools the schema
// is in the prompt only: the API applies a format to everything the model writes, so that it could not call a
// tool.
package ollama
