// Package extract finds tool calls and JSON values in the text of a model's reply. It never changes what the
// model wrote, and never completes what was cut off.
//
// [Calls] reads the first run of calls: calls with only space, commas, semicolons, tags and fences between
// them. The forms of calls are a closed list ([Forms]), and each can be switched off. [Value] reads one JSON
// value, for structured output.
//
// The result is strict JSON with the same content as the text: numbers keep their digits, strings their
// characters, members their order. Every departure from strict JSON, and every piece of text that is dropped,
// is a [Repair] with its byte offset. What cannot be read without guessing is [Broken], with a rule and an
// offset: an expression, a name used as a value, a string that ends early, anything cut off.
//
// Of a text that was cut off, the result is what was complete before the cut. A wrapper (tag, fence, list of
// calls) may lack its end, a call may not.
//
// Of a text of more than 256 MiB only the beginning is read.
//
// Everything here is a pure function of its arguments, runs in time linear in the text, and is safe for
// concurrent use.
package extract
