package observe

import (
	"context"
	"sync"
)

// RemoteCall is a call of another server that a tool makes, such as one of MCP. Unknown members are empty.
type RemoteCall struct {
	// Protocol is "mcp". Version is that of the protocol, Method the method called, SessionID the server's id
	// of the session, Transport what it runs over: "pipe" or "tcp".
	Protocol, Version, Method, SessionID, Transport string
}

type remoteKey struct{}

// remoteCall has the latest call of a tool.
type remoteCall struct {
	mu     sync.Mutex
	latest *RemoteCall
}

func withRemote(ctx context.Context) (context.Context, *remoteCall) {
	c := &remoteCall{}
	return context.WithValue(ctx, remoteKey{}, c), c
}

func (c *remoteCall) get() *RemoteCall {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest
}

// Calls notes the call that a tool makes, for the tracers of its run: see [WorkEnd]. ctx is the tool's.
// Without a tracer it does nothing. The latest call counts.
func Calls(ctx context.Context, r RemoteCall) {
	if c, ok := ctx.Value(remoteKey{}).(*remoteCall); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.latest = &r
	}
}
