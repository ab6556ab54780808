package mcp

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
)

func TestWhoLosesASessionWaitsNoLongerThanItsContext(t *testing.T) {
	l := newLink(&sdk.ClientSession{}, nil)
	l.turn <- struct{}{} // somebody is connecting
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.lose(ctx, l.session)
	assert.False(t, l.lost)
	<-l.turn
	l.lose(t.Context(), l.session)
	assert.True(t, l.lost)
}
