package loop_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// importing is a tool that reports its progress, and asks again for each file until it has a good one.
func importing(t *testing.T, seen *[]string) *tool.Set {
	type file struct {
		Name string `json:"name"`
	}
	set, err := tool.NewSet(tool.New("import", "Imports.", func(ctx context.Context, f file) (string, error) {
		last := ""
		tool.LastProgress(ctx, &last)
		*seen = append(*seen, fmt.Sprintf("%s after %q", f.Name, last))
		if f.Name == "good" {
			return "imported", nil
		}
		if f.Name != "silent" {
			if err := tool.Progress(ctx, "half of "+f.Name); err != nil {
				return "", err
			}
		}
		return "", tool.AskAgain(fault.Issue{Pointer: "/name", Rule: "file", Expected: "another file"})
	}, tool.WithPolicy(policy.Layer{EqualInReply: policy.EqualRun})))
	require.NoError(t, err)
	return set
}

func files(names ...string) looptest.Turn {
	var calls []message.Call
	for n, name := range names {
		calls = append(calls, message.Call{ID: fmt.Sprint("c", n), Name: "import", Arguments: `{"name": "` + name + `"}`})
	}
	return looptest.Call(calls...)
}

// What a tool had done when it asked again reaches the call that corrects it.
func TestProgressReachesTheNextAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		turns []looptest.Turn
		want  []string
	}{
		"one":             {[]looptest.Turn{files("a"), files("good")}, []string{`a after ""`, `good after "half of a"`}},
		"kept_if_silent":  {[]looptest.Turn{files("a"), files("silent"), files("good")}, []string{`a after ""`, `silent after "half of a"`, `good after "half of a"`}},
		"newer":           {[]looptest.Turn{files("a"), files("b"), files("good")}, []string{`a after ""`, `b after "half of a"`, `good after "half of b"`}},
		"over_a_bad_call": {[]looptest.Turn{files("a"), looptest.Call(call("import", `{"name": 7}`)), files("good")}, []string{`a after ""`, `good after "half of a"`}},
		"in_call_order":   {[]looptest.Turn{files("a", "b"), files("good", "good")}, []string{`a after ""`, `b after ""`, `good after "half of a"`, `good after "half of b"`}},
		"nobody_knows":    {[]looptest.Turn{files("a", "b"), files("good")}, []string{`a after ""`, `b after ""`, `good after ""`}},
		"over_once_good":  {[]looptest.Turn{files("a"), files("good"), files("good")}, []string{`a after ""`, `good after "half of a"`, `good after ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			model := looptest.NewModel(append(c.turns, looptest.Say("Done."))...)
			_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Import."}, loop.Config{Tools: importing(t, &seen)}, loop.WithParallel(1))
			require.NoError(t, err)
			assert.Equal(t, c.want, seen)
		})
	}
}

// It does after a restart, too.
func TestProgressReachesTheNextAttemptInAnotherProcess(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		var seen []string
		dir := t.TempDir()
		ctx, leave := context.WithCancelCause(t.Context())
		asked := 0
		model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			if asked++; asked == 1 {
				return files("a").Reply, nil
			}
			leave(loop.ErrSuspended)
			return message.Reply{}, ctx.Err()
		})
		onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
			_, err := fixture.Run(ctx, model, s, loop.Input{Prompt: "Import."}, loop.Config{Tools: importing(t, &seen)})
			require.ErrorIs(t, err, loop.ErrSuspended)
		})
		if compacted {
			compact(t, dir)
		}
		onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
			_, err := fixture.Run(t.Context(), looptest.NewModel(files("good"), looptest.Say("Done.")), s, loop.Input{Prompt: "Import."}, loop.Config{Tools: importing(t, &seen)})
			require.NoError(t, err)
		})
		assert.Equal(t, []string{`a after ""`, `good after "half of a"`}, seen)
	}
}

// An event that nobody hears is lost: its name may be misspelt.
func TestAnEventThatNobodyHearsIsAWarning(t *testing.T) {
	count := session.StateSlice[int]("count")
	cfg := session.Config{
		Slices: []session.Declared{count}, Events: []string{"audited"},
		Reducers: []session.Reducer{session.On(count, "booked", "count", func(reducer.View[int], any) (reducer.Change[int], error) {
			return reducer.Append(1), nil
		})},
	}
	set, err := tool.NewSet(tool.New("book", "Books.", func(ctx context.Context, _ struct{}) (string, error) {
		for _, name := range []string{"boked", "booked", "audited", "boked"} {
			if err := tool.Emit(ctx, name, 1); err != nil {
				return "", err
			}
		}
		return "booked", nil
	}))
	require.NoError(t, err)
	s, err := session.New(cfg)
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(call("book", `{}`)), looptest.Call(call("book", `{}`)), looptest.Say("Done."))
	result, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, loop.Config{Tools: set})
	require.NoError(t, err)
	assert.Equal(t, []string{
		`tool book emitted the event "boked", which no reducer hears: bind a reducer to it, or name it in session.Config.Events`,
	}, result.Warnings, "once")
	assert.Equal(t, 2, session.View(s.State(), count).Len())

	cfg.Events = []string{"audited", "Not a name"}
	_, err = session.New(cfg)
	require.ErrorContains(t, err, `events[1]`)
}
