package loop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// drawLayer draws a valid layer.
func drawLayer(t *rapid.T, label string) policy.Layer {
	list, linear := backoff.List(time.Second), backoff.Linear(time.Second, time.Second)
	return policy.Layer{
		Backoff: rapid.SampledFrom([]*backoff.BackoffStrategy{nil, &list, &linear}).Draw(t, label+": backoff"),
		Bases: rapid.SampledFrom([]map[fault.Class]time.Duration{nil, {}, {fault.ToolValidation: time.Second}}).
			Draw(t, label+": bases"),
	}
}

// With any layers from planners and programs, the journal can be opened, compacted and opened again.
func TestEveryJournalThatIsWrittenCanBeOpened(t *testing.T) {
	dir, err := os.MkdirTemp(t.TempDir(), "runs")
	require.NoError(t, err)
	tools := bookRoom(t, booked)
	rapid.Check(t, func(t *rapid.T) {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, journal.FileName("s"))))
		open := func() *journal.Journal {
			j, err := journal.Open(context.Background(), journal.Dir(dir), "s", journal.Settings{Sync: journal.SyncNever})
			require.NoError(t, err)
			return j
		}
		set := policy.DefaultSet()
		set.Global.Bases = map[fault.Class]time.Duration{fault.ToolValidation: time.Second}
		plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
			l := drawLayer(t, "planned")
			return machine.Plan{Do: machine.Fallback, Policy: &l, ResetBudgets: true}, nil
		})
		adjust := func(session.State) (policy.Layer, bool) { return drawLayer(t, "adjusted"), true }
		bad := looptest.Call(call("book_room", `{}`))
		down := looptest.Fail(fault.Typed(fault.ProviderError{Class: fault.InvalidRequest}))
		s, err := session.New(session.Config{ID: "s"})
		require.NoError(t, err)
		j := open()
		_, _ = fixture.Run(context.Background(), looptest.NewModel(bad, down, bad, bad, looptest.Say("done")), fixture.In(s, j), loop.Input{Prompt: "Book."}, loop.Config{Tools: tools, Policy: &set}, loop.WithClock(looptest.NewClock()), loop.WithPlanner(plan), loop.WithAdjust(adjust))
		require.NoError(t, j.Close())
		require.NoError(t, open().Close())
		if err := journal.Compact(context.Background(), journal.Dir(dir), "s", nil); !errors.Is(err, journal.ErrNoRun) {
			require.NoError(t, err)
		}
		require.NoError(t, open().Close())
	})
}

// A program may change the layer that it returned, and return it again: that is another layer, and the record
// of the first stays as it was.
func TestALayerMayBeWrittenIntoAfterwards(t *testing.T) {
	asked, bases := 0, map[fault.Class]time.Duration{}
	adjust := func(session.State) (policy.Layer, bool) {
		asked++
		bases[fault.ToolValidation] = time.Duration(asked) * time.Second
		return policy.Layer{Bases: bases}, true
	}
	store := journal.Dir(t.TempDir())
	j := recorded(t, store)
	bad := looptest.Call(call("book_room", `{}`))
	_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), fixture.In(newSession(t), j), loop.Input{Prompt: "Book."},
		loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()), loop.WithAdjust(adjust))
	ended := looptest.AssertStopped(t, err, policy.ReasonAttemptsExhausted)
	require.Len(t, ended.Attempts, 3)
	assert.Equal(t, time.Second, ended.Attempts[0].Delay)
	assert.Equal(t, 2*time.Second, ended.Attempts[1].Delay)
	require.NoError(t, j.Close())
	require.NoError(t, recorded(t, store).Close(), "it folds and compares")
}

// A planner may change the layer of a plan that it gave, although a later layer is merged over it.
func TestTheLayerOfAPlanMayBeWrittenIntoAfterwards(t *testing.T) {
	bases := map[fault.Class]time.Duration{fault.ToolValidation: time.Second}
	plans := []policy.Layer{{Bases: bases, MaxAttempts: new(2)}, {MaxAttempts: new(3)}}
	plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
		if len(plans) == 0 {
			return machine.Plan{Do: machine.Abort}, nil
		}
		l := plans[0]
		if plans = plans[1:]; len(plans) == 0 {
			bases[fault.ToolValidation] = time.Minute
		}
		return machine.Plan{Do: machine.Fallback, Policy: &l, ResetBudgets: true}, nil
	})
	store, set := journal.Dir(t.TempDir()), policy.DefaultSet()
	set.Global.MaxAttempts = new(1)
	j := recorded(t, store)
	_, err := fixture.Run(t.Context(), looptest.NewModel(fixture.Repeat(looptest.Call(call("book_room", `{}`)), 9)...), fixture.In(newSession(t), j),
		loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked), Policy: &set}, loop.WithClock(looptest.NewClock()), loop.WithPlanner(plan))
	ended := looptest.AssertStopped(t, err, policy.ReasonAttemptsExhausted)
	require.Len(t, ended.Attempts, 6)
	assert.Equal(t, time.Second, ended.Attempts[4].Delay)
	require.NoError(t, j.Close())
	require.NoError(t, recorded(t, store).Close(), "it folds and compares")
}
