package mcp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
)

// callsOf keeps what tools call elsewhere.
type callsOf struct{ all []observe.RemoteCall }

func (*callsOf) Observe(context.Context, observe.Notice) {}

func (c *callsOf) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	return ctx, func(e observe.WorkEnd) {
		if w.Kind == observe.WorkTool && e.Remote != nil {
			c.all = append(c.all, *e.Remote)
		}
	}
}

func TestATracerIsToldOfTheCallsOfTools(t *testing.T) {
	for n, tr := range transports {
		session := tr.connect(t, nil)
		cfg := mcp.DefaultConfig()
		cfg.Transport = []string{"", "pipe", "tcp"}[n%3]
		tools, err := mcp.Tools(t.Context(), session, cfg)
		require.NoError(t, err)
		told := &callsOf{}
		_, err = run(t, tools, looptest.NewModel(looptest.Call(call("c1", "book", `{"city":"Lisbon","nights":2}`)), looptest.Say("Booked.")),
			loop.WithObserver(told))
		require.NoError(t, err)
		assert.Equal(t, []observe.RemoteCall{{
			Protocol: "mcp", Version: session.InitializeResult().ProtocolVersion, Method: "tools/call", SessionID: session.ID(),
			Transport: cfg.Transport,
		}}, told.all, tr.name)
	}
}
