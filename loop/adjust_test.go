package loop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

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
