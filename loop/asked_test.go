package loop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// A planner is asked the same after a crash, and its error says the same of what it was asked about, in the
// record too.
func TestAPlannerIsAskedTheSameAfterACrash(t *testing.T) {
	wrong := []fault.Issue{{Pointer: "/a", Rule: "required", Expected: "a text"}}
	for name, turn := range map[string]looptest.Turn{
		"arguments":         looptest.Call(call("book_room", `{}`)),
		"answer_of_model":   looptest.Fail(fmt.Errorf("asking: %w", &fault.StructuredOutputError{Issues: wrong})),
		"class_with_issues": looptest.Fail(fmt.Errorf("asking: %w", &fault.ClassError{Class: "mine", Issues: wrong, Cause: errBoom})),
		"class":             looptest.Fail(&fault.ClassError{Class: "mine", Cause: errBoom}),
		"provider":          looptest.Fail(fmt.Errorf("asking: %w", errNoKey)),
	} {
		t.Run(name, func(t *testing.T) {
			set := policy.DefaultSet()
			set.Global.OptOut = new(true)
			cfg := loop.Config{Tools: bookRoom(t, booked), Policy: &set}
			store := &looptest.Store{}
			opened := func() *journal.Journal {
				j, err := journal.Open(t.Context(), store, "order-42", plainSettings)
				require.NoError(t, err)
				return j
			}
			fresh := func() *session.Session {
				s, err := session.New(session.Config{})
				require.NoError(t, err)
				return s
			}
			var asked []string
			plan := func(end func() error) loop.Option {
				return loop.WithPlanner(planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
					asked = append(asked, fmt.Sprint(q.Failure, ": ", q.Cause))
					return machine.Plan{}, end()
				}))
			}
			lost := func() error { return errors.New("no plan") }
			_, alone := fixture.Run(t.Context(), looptest.NewModel(turn), newSession(t), loop.Input{Prompt: "Go."}, cfg, plan(lost))
			j := opened()
			assert.Panics(t, func() {
				_, _ = fixture.Run(t.Context(), looptest.NewModel(turn), fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, cfg, plan(func() error { panic("the process died") }))
			})
			require.NoError(t, j.Close())
			j = opened()
			_, resumed := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(fresh(), j), cfg, plan(lost))
			r, _, err := fixture.ResumeRunner(fixture.In(fresh(), j), cfg)
			require.NoError(t, err)
			_, read := loop.ResultOf(r.End(), nil)
			r.Close()
			require.NoError(t, j.Close())
			require.Len(t, asked, 3)
			assert.Equal(t, asked[0], asked[1])
			assert.Equal(t, asked[0], asked[2])
			var of [3]*loop.RetryExhaustedError
			for n, err := range []error{alone, resumed, read} {
				require.ErrorAs(t, err, &of[n])
			}
			assert.Equal(t, of[0].Cause.Error(), of[1].Cause.Error())
			assert.Equal(t, of[0].Cause.Error(), of[2].Cause.Error())
			assert.EqualError(t, resumed, alone.Error())
		})
	}
}
