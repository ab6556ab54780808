package temporal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// A seed makes the same waits as in process, whatever the session, and the session's own goes first.
func TestASeedMakesTheWaitsOfARunInProcess(t *testing.T) {
	model := func() loop.Model {
		overloaded := looptest.Fail(&fault.ProviderError{Class: fault.Overloaded})
		return looptest.NewModel(overloaded, overloaded, overloaded, looptest.Say("In Lisbon."))
	}
	inProcess := func(seed string) time.Duration {
		r, err := loopRun(t.Context(), model(), nil, "Hello.", loop.Config{Seed: seed}, loop.WithClock(looptest.NewClock()))
		require.NoError(t, err)
		require.Positive(t, r.Waited)
		return r.Waited
	}
	for want, given := range map[string]struct{ own, config string }{
		"x": {"", "x"}, "own": {"own", "x"}, "order-42": {},
	} {
		b := newBench(t, Worker{Model: model()}, loop.Config{Seed: given.config})
		var err error
		b.order, err = Options{ID: "order-42", TaskQueue: "q", Seed: given.own}.order(b.order, nil)
		require.NoError(t, err)
		r, err := b.run()
		require.NoError(t, err)
		assert.Equal(t, inProcess(want), r.Waited, want)
	}
	shared := Worker{Model: model(), Session: session.Config{Seed: "x"}}
	assert.ErrorContains(t, shared.Validate(), "session: seed: all sessions would share it; set Options.Seed of each run")
	bad := Options{ID: "order-42", TaskQueue: "q", Seed: "\xff"}
	assert.ErrorContains(t, bad.Validate(), `seed: "\xff": give UTF-8`)
}
