// Package mcp offers the tools of an MCP server to a model through retake, and serves retake's tools over
// MCP.
//
// [Tools] lists the tools of a session that the caller has connected with the SDK
// (github.com/modelcontextprotocol/go-sdk/mcp), and makes a [tool.Tool] of each. Arguments are checked
// against the JSON Schema of the tool before anything is sent, so that the model gets retake's feedback. The
// server's answer becomes an outcome of a retake tool:
//
//	a result                       structured content, else text; media are attached, other content described
//	a result above the size bound  ask again ([Config.OnOversize])
//	isError                        ask again ([Config.OnError])
//	a lost connection, a timeout   a fault of the transport plane: the policy retries it
//	a JSON-RPC error               an error that ends the call: the tool is gone, or does not accept the request
//	a result against its schema    an error that ends the call, with a [ResultError] in its chain
//
// [Serve] does the reverse: it adds the tools of a [tool.Set] to a server of the SDK. retake checks the
// arguments. Invalid arguments give an isError result with the text of the feedback and, as structured
// content, its issues.
//
// Progress, cancellation and idempotency keys pass through in both directions; see [Watch] and
// [MetaIdempotencyKey].
//
// A model is never shown an error text of the SDK or of a validator. What a server's tool itself says is
// quoted, bounded, and neutralised as by [feedback.Quote].
package mcp
