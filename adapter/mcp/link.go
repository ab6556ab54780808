package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// link is the session that calls go through. One that is lost is replaced where there is a way to.
type link struct {
	// turn is held by whoever reads or replaces the session; a channel, so that waiting for it ends with a
	// context.
	turn    chan struct{}
	session *sdk.ClientSession
	lost    bool
	connect func(context.Context) (*sdk.ClientSession, error)
}

func newLink(session *sdk.ClientSession, connect func(context.Context) (*sdk.ClientSession, error)) *link {
	return &link{turn: make(chan struct{}, 1), session: session, connect: connect}
}

// get returns the session, a new one where the last was lost.
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
	return session, nil
}

// lose notes that a session is of no more use. It waits no longer than ctx: who is connecting meanwhile knows
// it already.
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
