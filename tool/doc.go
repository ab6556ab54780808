// Package tool holds the tools a model may call: typed or with a raw schema, kept in a [Set] that reads and
// checks the calls of a reply, and run with a context through which they can emit events and report progress.
//
// [New] makes a tool of a Go function; the schema of its arguments comes from their type, and every rule that
// the model is told is checked before the function runs. [Raw] makes one of a JSON Schema, as MCP servers
// give them. [Set.Read] turns a model's reply into checked calls, native or found in its text. [Tool.Invoke]
// runs one: a panic of it is an error, and its arguments are decoded afresh each time.
//
// A tool that cannot go on returns one of these errors:
//
//   - [AskAgain]: the model is shown issues and asked again, which costs an attempt.
//   - [Fail]: the model is told a text. Nothing is charged.
//   - [TryLater]: the tool did nothing, and the same call is made again. The model does not hear of it.
//   - Any other error: the model is told, in our words, that the call failed and that its effect may or may
//     not have happened. The call counts against the budgets of the tool and of the run, and the run goes on.
//     The error of a run, an action or another tool within the tool is one, whatever it wraps: see
//     [fault.Sealed].
//
// A tool declares whether its calls may be repeated: [ReadOnly], [Idempotent] or nothing. A call of a tool
// with such a declaration is run again under the transport policy (tool_transport for a single tool) if its
// error has the type of a transport fault: a timeout of package net, an error with an HTTP status,
// [fault.TransportError]; see [fault.TypedFailure]. It is also run again after a crash of the process. A call
// of any other tool is run again only if the tool asks for it. The words of an error never count: "payment
// accepted, but reading the receipt failed: connection reset" must not lead to a second payment.
//
// [ReadAnswer] reads a final answer as Read reads calls.
package tool
