package dbos

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// atDeadline gives an agent a clock that stands still until the returned function is called. Then it is an
// hour later, and the timer that was set last is over.
func atDeadline(a Agent) (own Agent, late func()) {
	var mu sync.Mutex
	now, last := looptest.Epoch, func() {}
	a.hooks.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	a.hooks.after = func(_ time.Duration, f func()) (stop func()) {
		mu.Lock()
		defer mu.Unlock()
		last = f
		return func() {}
	}
	return a, func() {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Hour)
		last()
	}
}

// exhaustion is the error of a run that ended without an answer.
func exhaustion(t *testing.T, run *Run) (loop.Result, *loop.RetryExhaustedError) {
	result, err := run.Result()
	var x *loop.RetryExhaustedError
	require.ErrorAs(t, err, &x)
	return result, x
}

// At its deadline a run ends, whatever the call that is under way does. A call that is left is in doubt.
func TestARunEndsAtItsDeadline(t *testing.T) {
	under, never := make(chan bool, 1), make(chan bool)
	t.Cleanup(func() { close(never) })
	hangs := func() {
		under <- true
		<-never
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) {
		hangs()
		return "paid", nil
	}))
	require.NoError(t, err)
	call := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"})
	for name, c := range map[string]struct {
		model loop.Model
		doubt int
	}{
		"model": {model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			hangs()
			return message.Reply{Text: "Late."}, nil
		})},
		"tool": {model: looptest.NewModel(call), doubt: 1},
	} {
		t.Run(name, func(t *testing.T) {
			a, late := atDeadline(Agent{Model: c.model, Config: loop.Config{Tools: tools}})
			ctx, r := launched(t, "deadline"+name, a)
			run, err := r.Start(ctx, "order-42", loop.Input{Prompt: "Pay.", Deadline: looptest.Epoch.Add(time.Minute)})
			require.NoError(t, err)
			<-under
			late()
			result, x := exhaustion(t, run)
			assert.Equal(t, policy.ReasonDeadline, x.Reason)
			assert.Len(t, result.InDoubt, c.doubt)
		})
	}
}

// A wait that would last beyond the deadline is not begun.
func TestAWaitBeyondTheDeadlineStopsTheRun(t *testing.T) {
	limited := &fault.ProviderError{Class: fault.RateLimit, RetryAfter: 40 * time.Second}
	a, _ := atDeadline(Agent{Model: looptest.NewModel(looptest.Fail(limited))})
	c, r := launched(t, "wouldwait", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go.", Deadline: looptest.Epoch.Add(12 * time.Second)})
	require.NoError(t, err)
	_, x := exhaustion(t, run)
	assert.Equal(t, policy.ReasonDeadline, x.Reason)
	assert.Contains(t, x.Error(), "(wait 40s, room 12s)")
}

// A run whose time is up before its first step calls nothing.
func TestARunWithoutTimeCallsNothing(t *testing.T) {
	a, _ := atDeadline(Agent{Model: looptest.NewModel()})
	c, r := launched(t, "notime", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go.", Deadline: looptest.Epoch})
	require.NoError(t, err)
	_, x := exhaustion(t, run)
	assert.Equal(t, policy.ReasonDeadline, x.Reason)
}

// A run that is taken up when its time is up makes no call again. One that had begun is in doubt.
func TestARunThatIsTakenUpTooLateCallsNothing(t *testing.T) {
	var calls atomic.Int32
	a, late := atDeadline(booking(func(place string) {
		if !strings.HasPrefix(place, "step") {
			calls.Add(1)
		}
	}, func(string) {}))
	c, r := launched(t, "takenup", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it.", Deadline: looptest.Epoch.Add(time.Minute)})
	require.NoError(t, err)
	_, err = run.Result()
	require.NoError(t, err)
	steps, err := sdk.GetWorkflowSteps(c, "order-42")
	require.NoError(t, err)
	for name, doubt := range map[string]int{"retake.begun": 1, "retake.time": 0} {
		begun := slices.IndexFunc(steps, func(s sdk.StepInfo) bool { return s.StepName == name })
		late()
		before := calls.Load()
		id := "late-" + name
		_, err = sdk.ForkWorkflow[string](c, sdk.ForkWorkflowInput{OriginalWorkflowID: "order-42",
			ForkedWorkflowID: id, StartStep: uint(steps[begun].StepID + 1)})
		require.NoError(t, err)
		fork, err := Get(c, id)
		require.NoError(t, err)
		result, x := exhaustion(t, fork)
		assert.Equal(t, policy.ReasonDeadline, x.Reason)
		assert.Equal(t, before, calls.Load(), name)
		assert.Len(t, result.InDoubt, doubt, name)
	}
}

// A question is open until the deadline of its run at most. Then the run ends, and not the question alone.
func TestARunEndsAtItsDeadlineWhileItAsks(t *testing.T) {
	c, r := launched(t, "lateasking", paying(t, 0, func(int) {}, "1"))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Pay.", Deadline: time.Now().Add(time.Second)})
	require.NoError(t, err)
	result, x := exhaustion(t, run)
	require.ErrorIs(t, x, policy.ReasonDeadline)
	var recorded *fault.RecordedError
	require.ErrorAs(t, x, &recorded)
	assert.Equal(t, fault.DeadlineExceeded, recorded.Recorded.Class)
	assert.Empty(t, result.InDoubt)
}
