package loop_test

import (
	"context"
	"errors"
	"strings"
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
	"github.com/retake-go/retake/tool"
)

// What a planner or an approver is asked is its own: what it writes there is in no decision, no record and no
// error.
func TestAQuestionMayBeWrittenInto(t *testing.T) {
	tools, err := tool.NewSet(tool.New("book", "Books.", func(_ context.Context, v struct {
		Day int `json:"day"`
	}) (string, error) {
		return "booked", nil
	}, tool.Approval(policy.Approval{When: policy.ApproveAlways})))
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.MaxAttempts = new(1)
	dir := t.TempDir()
	j := recorded(t, journal.Dir(dir))
	plan := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		for n := range q.Failure.Issues {
			q.Failure.Issues[n].Pointer, q.Failure.Issues[n].Expected = "/written", "written"
		}
		if bad, ok := errors.AsType[*fault.ToolValidationError](q.Cause); ok {
			for n := range bad.Issues {
				bad.Issues[n].Expected = "written"
			}
		}
		for n := range q.Session.Feedback() {
			q.Session.Feedback()[n].Message = "written"
		}
		return machine.Plan{Do: machine.Abort}, nil
	})
	approve := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		copy(q.Arguments, strings.Repeat("w", len(q.Arguments)))
		return machine.Response{Verdict: machine.Approve}, nil
	}
	model := looptest.NewModel(looptest.Call(call("book", `{"day":7}`)), looptest.Call(call("book", `{"day":"seven"}`)))
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: &set},
		loop.WithPlanner(plan), loop.WithApprover(approve), loop.WithClock(looptest.NewClock()))
	var ended *loop.RetryExhaustedError
	require.ErrorAs(t, err, &ended)
	assert.NotContains(t, err.Error(), "written")
	assert.NotContains(t, ended.Failure.Issues[0].Expected, "written")
	require.NoError(t, j.Close())
	assert.NotContains(t, lines(t, journal.Dir(dir)), "written")
	assert.NotContains(t, lines(t, journal.Dir(dir)), "www")
	again := recorded(t, journal.Dir(dir)) // it folds and compares
	require.NoError(t, again.Close())
}
