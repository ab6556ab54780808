// Package extract finds tool calls and JSON values in the text of a model's reply, changes nothing the model
// wrote, and never completes what was cut off.
//
// [Calls] reads the first run of calls: calls with nothing but space, commas, tags and fences between them.
// How a call may be wrapped is a closed list of forms ([Forms]); each can be switched off. [Value] reads one
// JSON value, for structured output.
//
// What comes out is strict JSON that says what the text says: numbers keep their digits, strings their
// characters, members their order. Every departure from strict JSON and every piece of text set aside is a
// [Repair] with its byte offset. What cannot be read without guessing (an expression, a name used as a value,
// a string that ends early, anything cut off) is [Broken], named by a rule and an offset.
//
// The result for a text that was cut off is what stood whole before the cut: a wrapper (tag, fence, list of
// calls) may lack its end, a call may not.
//
// Everything here is a pure function of its arguments, runs in time linear in the text, and is safe for
// concurrent use.
package extract
