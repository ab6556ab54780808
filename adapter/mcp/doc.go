// Package mcp offers the tools of an MCP server to a model through retake, and serves retake's tools over
// MCP.
//
// [Tools] lists the tools of a session that the caller has connected with the SDK
// (github.com/modelcontextprotocol/go-sdk/mcp), and makes a [tool.Tool] of each. Arguments are checked
// against the JSON Schema of the tool before anything is sent, so that the model gets retake's feedback. The
// server's answer becomes an outcome of a retake tool:
//
//	a result                       structured content, else text; media are attached, other content described
//	a result above the size bound  its beginning, which says so: the call was made
//	isError                        a failed call that may have had its effect, in the server's words ([Config.OnError])
//	no connection for a call       try later: nothing was sent, so the call is made again for any tool
//	a lost connection, a timeout   a fault of the transport plane: the policy retries it for declared tools
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
// A model is never shown an error text of the SDK. What a server says in a result is quoted, bounded, and
// neutralised as by [feedback.Quote].
package mcp
