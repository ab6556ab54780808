// Package examples holds programs to read and run, in a module of their own.
//
//   - quickstart is what `make demo` runs: a scripted model gets a tool call wrong twice and an answer wrong once.
//   - template is a system prompt that reads the feedback and a slice of the session.
//   - runtime embeds the loop in a runtime that has a loop of its own, with loop.Attempts.
//   - stories tests a tool, a reducer and a policy file by stories: what a model replies, and what becomes of it.
//   - stream shows a reply as it comes in, and takes back what did not stand.
//   - resume kills a process in the middle of a run, and goes on in another: nothing is done twice.
//   - payment has a tool that pays and is never run twice, whatever its error says.
//   - faketime tests a run with an hour of backoff in no time.
//   - trip books a trip through an MCP server, on any provider's model: a module of its own, for it links their SDKs.
package examples
