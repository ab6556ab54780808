package temporal

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// What the error of a try says of rate limits is recorded with the try, as in process.
func TestTheRateLimitOfATryIsRecorded(t *testing.T) {
	limited := &ratelimit.LimitedError{Err: &fault.ProviderError{Class: fault.RateLimit, Provider: "example"},
		State: ratelimit.Parse(map[string][]string{"X-Ratelimit-Remaining-Requests-Hour": {"0"}, "X-Ratelimit-Reset-Requests-Hour": {"1800"}}, looptest.Epoch)}
	var recorded []*ratelimit.State
	b := newBench(t, Worker{
		Try: func(context.Context, Try) (message.Usage, error) { return message.Usage{}, limited },
		hooks: hooks{step: func(ev machine.Event, _ []machine.Effect, _ machine.State) {
			if ev.Try != nil {
				recorded = append(recorded, ev.Try.RateLimit)
			}
		}},
	}, loop.Config{})
	a := loop.ToolCall("pay")
	a.Transport.MaxAttempts = 1
	m, err := a.Machine()
	require.NoError(t, err)
	b.order = order{Session: "order-42", Config: m}
	_, err = b.run()
	require.Error(t, err)
	assert.Equal(t, []*ratelimit.State{engine.RateLimit(limited)}, recorded)
}
