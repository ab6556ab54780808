package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// drawLayer draws a valid layer, now and then with an invalid number of attempts.
func drawLayer(t *rapid.T, label string) policy.Layer {
	list, linear := backoff.List(time.Second), backoff.Linear(time.Second, time.Second)
	return policy.Layer{
		MaxAttempts: rapid.SampledFrom([]*int{nil, nil, new(3), new(0)}).Draw(t, label+": attempts"),
		Backoff:     rapid.SampledFrom([]*backoff.BackoffStrategy{nil, &list, &linear}).Draw(t, label+": backoff"),
		Bases: rapid.SampledFrom([]map[fault.Class]time.Duration{nil, {}, {fault.Timeout: time.Second}}).
			Draw(t, label+": bases"),
	}
}

// drawSet draws a valid set of policies.
func drawSet(t *rapid.T) policy.Set {
	return rapid.Custom(func(t *rapid.T) policy.Set {
		set := policy.DefaultSet()
		set.Global, set.Answer, set.Call = drawLayer(t, "global"), drawLayer(t, "answer"), drawLayer(t, "call")
		set.Tools = map[string]policy.Layer{"a": drawLayer(t, "a")}
		return set
	}).Filter(func(set policy.Set) bool { return set.Validate() == nil }).Draw(t, "set")
}

func TestEveryStateThatIsReachedCanBeRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := session.NewState("order-42", session.StateSlice[string]("cart"))
		require.NoError(t, err)
		st, err := machine.New(machine.Config{Policy: drawSet(t), Limits: feedback.DefaultLimits(), Planner: true}, s)
		require.NoError(t, err)
		var pending machine.Effect
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			ev := drawEvent(t, st, pending)
			layer := drawLayer(t, "layer")
			switch {
			case st.Phase != machine.Idle && st.Phase != machine.Stopped && rapid.Bool().Draw(t, "adjust"):
				ev = machine.Event{Kind: machine.Adjusted, At: st.At, Adjust: &layer}
			case ev.Plan != nil:
				ev.Plan.Policy = &layer
			}
			next := st
			effects, err := machine.Step(&next, &ev)
			var refused *machine.EventError
			if err != nil {
				require.ErrorAs(t, err, &refused)
				require.Contains(t, refused.Why, st.AdjustFault(layer).Error())
				continue
			}
			snapshot, err := next.Snapshot()
			require.NoError(t, err)
			_, err = machine.Restore(snapshot)
			require.NoError(t, err)
			if n := len(effects); n > 0 && effects[n-1].Kind != machine.Decided {
				pending = effects[n-1]
			}
			st = next
		}
	})
}

func TestALayerThatDoesNotFitThoseInForceIsRefusedByField(t *testing.T) {
	s, err := session.NewState("order-42")
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.Bases = map[fault.Class]time.Duration{fault.Timeout: time.Second}
	st, err := machine.New(machine.Config{Policy: set, Limits: feedback.DefaultLimits()}, s)
	require.NoError(t, err)
	_, err = machine.Step(&st, &machine.Event{Kind: machine.Started, At: epoch, Messages: []message.Message{{Role: message.User, Text: "Go."}}})
	require.NoError(t, err)
	list := backoff.List(time.Second)
	_, err = machine.Step(&st, &machine.Event{Kind: machine.Adjusted, At: epoch, Adjust: &policy.Layer{Backoff: &list}})
	assert.EqualError(t, err, `event "adjusted" does not fit a run that is calling: answer.bases: a list of delays has no base to replace; `+
		`use another kind of backoff, or no bases`)
	none := policy.Layer{Backoff: &list, Bases: map[fault.Class]time.Duration{}}
	_, err = machine.Step(&st, &machine.Event{Kind: machine.Adjusted, At: epoch, Adjust: &none})
	assert.NoError(t, err)
}
