// Package mcp offers the tools of an MCP server to a model through retake, and serves retake's tools over
// MCP.
//
// [Tools] lists the tools of a session that the caller has connected with the SDK
// (github.com/modelcontextprotocol/go-sdk/mcp) and makes a [tool.Tool] of each. The JSON Schema of its
// arguments is checked here, before anything is sent, so that the model is told in retake's words what is
// wrong. What the server then says becomes one of the words a retake tool may say:
//
//	a result                       the call's result: structured content first, else its text; media attached, other content described
//	a result above the size bound  ask again ([Config.OnOversize])
//	isError                        ask again ([Config.OnError])
//	a lost connection, a timeout   a fault of the transport plane: the policy retries it, the model hears nothing of it
//	a JSON-RPC error               an error that ends the call: the tool is gone, or does not take what was sent
//	a result against its schema    an error that ends the call, a [ResultError] within
//
// [Serve] is the other way round: it adds the tools of a [tool.Set] to a server of the SDK. Arguments are
// checked by retake; what is wrong goes back as an isError result with the feedback's text and, for those who
// read data, its issues.
//
// Progress, cancellation and idempotency keys go through in both directions; see [Watch],
// [MetaIdempotencyKey].
//
// No error text of the SDK or of a validator is ever part of what a model is shown. What a server's tool
// itself says to the model is quoted, bounded, and neutralised as by [feedback.Quote].
package mcp
