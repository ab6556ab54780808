package turns_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// A runtime has no way to ask a person, so a policy that wants it ends the run and says which key to set.
func TestARunThatAsksAPersonSaysWhatToSet(t *testing.T) {
	for name, tt := range map[string]struct {
		approval  policy.Approval
		arguments string
		want      string
	}{
		"approval": {policy.Approval{When: policy.ApproveAlways}, `{"n": 1}`,
			"a call of add needs a person's approval, and nobody can be asked here: set approval to never"},
		"in doubt": {policy.Approval{InDoubt: policy.DoubtAsk}, `{"n": 1}`,
			"what became of a call of add is asked, and nobody can be asked here: set approval.in_doubt to tell"},
		"exhausted": {policy.Approval{Exhausted: policy.ExhaustedAsk}, `{"n": "one"}`,
			"add has no attempt left and a person is asked what is to follow, " +
				"but nobody can be asked here: set approval.exhausted to end"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, set := t.Context(), policy.DefaultSet()
			set.Global.Approval, set.Budgets.Tool = &tt.approval, 0
			run := asked(t, &set)
			c := message.Call{ID: "c1", Name: "add", Arguments: tt.arguments}
			_, err := run.Reply(ctx, message.Reply{Calls: []message.Call{c}})
			if err == nil && name == "in doubt" {
				call, _ := run.Claim(c.ID, c.Name, c.Arguments)
				_, err = call.End(ctx, call.Invoke(ctx, func(context.Context, json.RawMessage) (json.RawMessage, error) {
					return nil, errors.New("cut off")
				}))
			}
			if err == nil {
				_, err = run.End()
			}
			assert.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, "or run the loop with package loop")
		})
	}
}

// A runtime that makes one call after the other waits for the answer to a call in doubt before it makes the
// next, so the run cannot wait for that one before it asks.
func TestASequentialRunThatAsksAboutADoubtEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := policy.DefaultSet()
		set.Global.Approval = &policy.Approval{InDoubt: policy.DoubtAsk}
		run := begun(t, turns.Config{Sequential: true, Settings: turns.Settings{Policy: &set}})
		first := made(t, run, `{"n": 1}`, `{"n": 2}`)[0]
		_, err := first.End(t.Context(), does(t, first, "", errors.New("cut off")))
		assert.ErrorContains(t, err, "what became of a call of add is asked, and nobody can be asked here")
	})
}
