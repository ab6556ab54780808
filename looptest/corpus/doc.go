// Package corpus checks and plays recorded replies: what models really answered to questions with tools.
//
// A corpus is a text with one question a line, as JSON (see [Read]):
//
//	{"id": "q1", "question": "Two nights in Lisbon.",
//	 "tools": [{"name": "book", "description": "Books.", "parameters": {"type": "object"}}],
//	 "replies": [{"text": "book(nights=2)"}, {"tool_calls": [{"name": "book", "arguments": "{}"}]}],
//	 "ladder": [1, 0]}
//
// [Check] says of each reply whether its calls can be used and what the model would be told. [Config.Play]
// plays a question as a whole run, whose model gives the replies of the ladder in order. [Summary] adds
// runs up. No tool is run, no clock is read, and the same corpus gives the same figures on every machine.
package corpus
