package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A function that panics or fails once a tool has returned makes no secret of its result: the resumed run, or
// the next one, tells the model what came of the call, and runs the tool no second time.
func TestAKnownResultStaysKnown(t *testing.T) {
	for name, c := range map[string]struct {
		refuses, tells, adjusts func()
		layer                   policy.Layer
		resumes                 bool
		told                    string
	}{
		"OnReducerError panics": {refuses: func() {}, tells: func() { panic("oh") }, resumes: true, told: "refused"},
		"WithAdjust panics":     {adjusts: func() { panic("oh") }, resumes: true, told: "paid"},
		"WithAdjust fails":      {adjusts: func() {}, layer: policy.Layer{MaxAttempts: new(-7)}, told: "paid"},
	} {
		t.Run(name, func(t *testing.T) {
			store, runs, broken := journal.Dir(t.TempDir()), 0, true
			tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { runs++; return "paid", nil }))
			require.NoError(t, err)
			var j *journal.Journal
			open := func() *session.Session {
				if j != nil {
					require.NoError(t, j.Close())
				}
				var err error
				j, err = journal.Open(t.Context(), store, "s", journal.Settings{})
				require.NoError(t, err)
				paid := session.StateSlice[string]("paid")
				s, err := session.New(session.Config{Journal: j, Slices: []session.Declared{paid}, Reducers: []session.Reducer{
					session.On(paid, session.EventToolResult, "book", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
						if c.refuses != nil {
							return reducer.Change[string]{}, errors.New("refused")
						}
						return reducer.Append("paid"), nil
					}),
				}, OnReducerError: func(fault.ReducerError) {
					if broken {
						c.tells()
					}
				}})
				require.NoError(t, err)
				return s
			}
			adjust := loop.WithAdjust(func(session.State) (policy.Layer, bool) {
				if broken && runs > 0 && c.adjusts != nil {
					c.adjusts()
					return c.layer, true
				}
				return policy.Layer{}, false
			})
			cfg, model := loop.Config{Tools: tools}, looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Done."))
			func() {
				defer func() { assert.Equal(t, c.resumes, recover() != nil) }()
				_, err := fixture.Run(t.Context(), model, open(), loop.Input{Prompt: "Pay."}, cfg, adjust)
				require.Error(t, err)
			}()
			broken = false
			if c.resumes {
				_, err = fixture.Resume(t.Context(), model, open(), cfg, adjust)
			} else {
				_, err = fixture.Run(t.Context(), model, open(), loop.Input{Prompt: "Well?"}, cfg, adjust)
			}
			require.NoError(t, err)
			require.NoError(t, j.Close())
			assert.Equal(t, 1, runs)
			said := model.Requests()[1].Messages
			require.GreaterOrEqual(t, len(said), 3)
			assert.Contains(t, said[2].Text, c.told)
			assert.NotContains(t, said[2].Text, "may or may not")
		})
	}
}
