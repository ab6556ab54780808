// Package tool holds the tools a model may call: typed or with a raw schema, kept in a [Set] that reads and
// checks the calls of a reply, and run with a context through which they can emit events and report progress.
//
// [New] makes a tool of a Go function; the schema of its arguments comes from their type, and every rule that
// the model is told is checked before the function runs. [Raw] makes one of a JSON Schema, as MCP servers
// give them. [Set.Read] turns a model's reply into checked calls, native or found in its text. [Tool.Invoke]
// runs one: it never panics, and it decodes the arguments afresh each time.
//
// A tool that cannot go on says so: it returns [AskAgain] (the model is shown issues and asked again, which
// costs an attempt), [Fail] (the model is told a text, nothing is charged), [TryLater] (it did nothing, and
// the same call is to be made again, which the model does not hear of), or an error of its own. Then the
// model is told, in our words, that the call failed and that its effect may or may not have happened; the
// call counts against the budgets of the tool and of the run, and the run goes on.
//
// What may be done with a call is declared: [ReadOnly], [Idempotent] or nothing. A call of a declared tool is
// run again where its error is typed as a fault of the transport (a timeout of package net, an error with an
// HTTP status, [fault.TransportError]; see [fault.TypedFailure]), under the transport policy (tool_transport
// for a single tool), and where a process died in it. A call of any other tool is run again only where it
// asks for that itself. Words of an error are never a reason: "payment accepted, but reading the receipt
// failed: connection reset" is no invitation to pay again.
//
// [ReadAnswer] does for a final answer what Read does for calls.
package tool
