// Package corpus checks and plays recorded replies of models to questions with tools.
//
// A corpus is a text with one question a line, as JSON (see [Read]):
//
//	{"id": "q1", "question": "Two nights in Lisbon.",
//	 "tools": [{"name": "book", "description": "Books.", "parameters": {"type": "object"}}],
//	 "replies": [{"text": "book(nights=2)"}, {"tool_calls": [{"name": "book", "arguments": "{}"}]}],
//	 "ladder": [1, 0]}
//
// [Check] returns for each reply whether its calls can be used, and the feedback that the model would get.
// [Config.Play] plays a question as a whole run, whose model gives the replies of the ladder in order.
// [Summary] adds up runs. No tool is run and no clock is read. The same corpus gives the same figures on
// every machine.
package corpus
