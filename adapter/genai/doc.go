// Package genai is a loop.Model on Google's SDK (google.golang.org/genai), for the Gemini API and Vertex AI.
// The SDK's retries and continuations are switched off.
//
//	client, err := sdk.NewClient(ctx, &sdk.ClientConfig{APIKey: key, Backend: sdk.BackendGeminiAPI})
//	model, err := genai.New(client, genai.Config{Model: "gemini-3-pro"})
//	l, err := loop.New(model, loop.Config{Tools: tools})
//	result, err := l.Run(ctx, s, loop.Input{Prompt: "Two nights in Lisbon, please."})
//
// The SDK carries requests and responses. This package writes the JSON of contents, tools and schemas itself,
// and parses responses itself: the SDK would turn every number in the arguments of a call into a float64,
// sort the members of schemas, and panic on some bodies.
//
// It sends any transcript, whichever provider it was made with:
//
//   - System messages before the first user or model message go into the system instruction. Later ones
//     become user messages.
//   - User and model take turns: consecutive messages of the model become one content. Empty messages
//     are dropped.
//   - Every call is answered. All answers of a turn stand in one content, in the order of the calls: a
//     functionResponse with the member "output", or "error" for feedback and failures. A call without an
//     answer gets one which says that it was not run. An answer without a call becomes text.
//   - Arguments are an object in this API. Other text is sent as an object with the member
//     [kit.RawArguments].
//   - Thought signatures go back with the parts they came with, to the model that made them. A call
//     without one gets Google's value that switches the check off, for models from Gemini 3 on, which
//     refuse the call otherwise.
package genai
