package observe

import (
	"context"
	"sync/atomic"
)

// RemoteCall is a call of another server that a tool makes, such as one of MCP. Unknown members are empty.
type RemoteCall struct {
	// Protocol is "mcp". Version is that of the protocol, Method the method called, SessionID the server's id
	// of the session, Transport what it runs over: "pipe" or "tcp".
	Protocol, Version, Method, SessionID, Transport string
}

// remoteKey is the key of a tool's [latestCall].
type remoteKey struct{}

// latestCall has the latest call that a tool made.
type latestCall = atomic.Pointer[RemoteCall]

// Calls notes the call that a tool makes, for the tracers of its run: see [WorkEnd]. ctx is the tool's.
// Without a tracer it does nothing. The latest call counts.
func Calls(ctx context.Context, r RemoteCall) {
	if latest, ok := ctx.Value(remoteKey{}).(*latestCall); ok {
		latest.Store(&r)
	}
}
