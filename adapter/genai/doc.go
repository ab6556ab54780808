// Package genai asks Gemini models through Google's SDK (google.golang.org/genai): a [Model] is a loop.Model
// over a client for the Gemini API or Vertex AI, with the SDK's retries and continuations switched off.
//
//	client, err := sdk.NewClient(ctx, &sdk.ClientConfig{APIKey: key, Backend: sdk.BackendGeminiAPI})
//	model, err := genai.New(client, genai.Config{Model: "gemini-3-pro"})
//	result, err := loop.Run(ctx, model, s, "Two nights in Lisbon, please.", loop.Config{Tools: tools})
//
// The SDK carries requests and responses; this package writes the JSON of contents, tools and schemas, and
// reads responses, itself. The SDK would make a float64 of every number in a call's arguments, sort the
// members of schemas, and panic on some bodies.
//
// What it makes of a transcript, whoever it was made with:
//
//   - System messages before the first of user or model stand in the system instruction; later ones are said by the user.
//   - User and model by turns: what the model says in a row is one content; empty messages are left out.
//   - Every call is answered, all answers of a turn in one content, in the order of the calls: a functionResponse with the member
//     "output", or "error" for feedback and failures. A call that nobody answered is said not to have been run. An answer without
//     a call is told as text.
//   - Arguments are an object on this wire: text that is none is sent as the member [RawArguments] of one.
//   - Thought signatures go back with the parts they came with, to the model that made them. Calls that have none get the word that
//     switches the check off, for models from Gemini 3 on, which refuse them otherwise.
package genai
