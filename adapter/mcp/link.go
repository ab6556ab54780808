package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// link is the session of the calls. A lost session is replaced, if that is possible.
type link struct {
	// turn is the lock of the session. It is a channel, so that a context ends the wait for it.
	turn    chan struct{}
	session *sdk.ClientSession
	lost    bool
	connect func(context.Context) (*sdk.ClientSession, error)
}

func newLink(session *sdk.ClientSession, connect func(context.Context) (*sdk.ClientSession, error)) *link {
	return &link{turn: make(chan struct{}, 1), session: session, connect: connect}
}

// get returns the session, or a new one if the last was lost.
func (l *link) get(ctx context.Context) (*sdk.ClientSession, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l.turn }()
	if !l.lost || l.connect == nil {
		return l.session, nil
	}
	session, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, errNoSession
	}
	l.session, l.lost = session, false
	return session, ctx.Err() // it may have come too late
}

// lose marks a session as lost. It waits no longer than ctx: whoever is connecting already knows.
func (l *link) lose(ctx context.Context, session *sdk.ClientSession) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-l.turn }()
	if l.session == session {
		l.lost = true
	}
}
