package machine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// drawIdle draws the idle state of one kind of run.
func drawIdle(t *rapid.T) machine.State {
	st := idle(t)
	cfg := *st.Config
	if rapid.Bool().Draw(t, "plain") {
		cfg = machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		cfg.Single, cfg.Action = true, "a"
	case 1:
		cfg.CallsOnly = true
	case 2:
		cfg.UserPrompt = true
	case 3:
		cfg.Policy.AllOrNothing = true
	case 4:
		cfg.System = "{{if gt (len history) 1}}{{index (values `cart`) 9}}{{end}}" // cannot be rendered after two failures
	}
	st, err := machine.New(cfg, st.Session)
	require.NoError(t, err)
	return st
}

// drawAny draws an event, mostly one that fits.
func drawAny(t *rapid.T, st machine.State, pending machine.Effect) machine.Event {
	if rapid.IntRange(0, 9).Draw(t, "stray") == 0 {
		return rapid.SampledFrom(slices.Concat(anyEvents(st), rareEvents(st))).Draw(t, "event")
	}
	ev := drawEvent(t, st, pending)
	switch {
	case st.Phase == machine.Prompting && ev.Kind == machine.Started:
		ev.Kind, ev.System = machine.Prompted, "Be brief."
	case st.Phase == machine.Trying && ev.Kind == machine.Started:
		ev.Kind, ev.Try = machine.Tried, drawTry(t)
	case ev.Reduced != nil && rapid.IntRange(0, 5).Draw(t, "foreign") == 0:
		ev.Reduced = &machine.Reduced{Ops: []reducer.Op{{Slice: "nothing", Kind: reducer.OpClear}}}
	}
	return ev
}

// rareEvents are some that are mostly refused, and some that few runs see.
func rareEvents(st machine.State) []machine.Event {
	at := later(st.At, epoch)
	two := 2
	cut := &machine.Reply{Native: true, Message: message.Reply{Finish: message.Length, Calls: []message.Call{{ID: "c1", Name: "a"}}}}
	return []machine.Event{
		{}, {Kind: machine.Replied, At: at}, {Kind: machine.Cancelled, At: epoch.Add(-1)},
		{Kind: machine.Replied, At: at, Reply: cut},
		{Kind: machine.Replied, At: at, Reply: &machine.Reply{Message: message.Reply{Finish: message.Error}}},
		{Kind: machine.Replied, At: at, Reply: &machine.Reply{Message: message.Reply{Refusal: "no"}}},
		{Kind: machine.CallFailed, At: at, Failure: &fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Tool: "b"}},
		{Kind: machine.ToolEnded, At: at, Tool: &machine.ToolEnd{Index: 7, Verdict: machine.Done}},
		{Kind: machine.ToolEnded, At: at, Tool: &machine.ToolEnd{Verdict: "nearly"}},
		{Kind: machine.ToolEnded, At: at, Tool: &machine.ToolEnd{Verdict: machine.Broke, Failure: &fault.Failure{Plane: fault.Transport, Class: fault.Auth}}},
		{Kind: machine.Planned, At: at, Plan: &machine.Plan{Do: "wait"}}, {Kind: machine.Planned, At: at, Plan: &machine.Plan{Delay: -1}},
		{Kind: machine.Planned, At: at, Plan: &machine.Plan{Do: machine.Fallback, Model: "big", Policy: &policy.Layer{MaxAttempts: &two}, ResetBudgets: true, Warning: "w"}},
		{Kind: machine.Planned, At: at, Plan: &machine.Plan{Do: machine.Fallback, Delay: 2 * time.Hour}},
	}
}

func drawTry(t *rapid.T) *machine.Try {
	try := &machine.Try{Same: rapid.SampledFrom([]string{"", "x"}).Draw(t, "same"), Usage: message.Usage{OutputTokens: 3}}
	switch rapid.IntRange(0, 5).Draw(t, "try") {
	case 0:
		try.Failure = fault.Failure{Plane: fault.Transport, Class: fault.Network}
	case 1:
		try.Abandoned = true
	case 2, 3, 4:
		try.Failure = fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Tool: "a", Issues: []fault.Issue{
			{Pointer: rapid.SampledFrom([]string{"/m", "/n"}).Draw(t, "at"), Rule: "type", Expected: "string", Got: fault.Integer, Source: fault.FromSchema},
		}}
	}
	return try
}

// Steps that are made in place, in a room or in none, come to what [machine.Step] comes to; that changes neither the state nor the
// event that it is given, and what was shown of a room that is not used any more stays as it is.
func TestStepsInPlaceAreThoseOfStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type shown struct {
			st   machine.State
			text string
		}
		var (
			st, room = drawIdle(t), new(machine.Room)
			here     = st
			pending  machine.Effect
			kept     []shown
		)
		for range rapid.IntRange(1, 16).Draw(t, "events") {
			if rapid.IntRange(0, 5).Draw(t, "show") == 0 {
				kept, room = append(kept, shown{here, snapshotOf(t, here)}), new(machine.Room)
			}
			ev, before := drawAny(t, st, pending), snapshotOf(t, st)
			given := encoded(t, ev)
			next, effects, err := machine.Step(st, ev)
			requireUnchanged(t, st, []byte(before))

			alone := st
			for _, in := range []struct {
				room *machine.Room
				st   *machine.State
			}{{room, &here}, {nil, &alone}} {
				own, failed := in.room.Step(in.st, &ev)
				require.Equal(t, err, failed)
				require.Equal(t, encoded(t, effects), encoded(t, own))
				require.Equal(t, machine.Bare(next), machine.Bare(*in.st))
				require.Equal(t, snapshotOf(t, next), snapshotOf(t, *in.st))
			}
			requireUnchanged(t, st, []byte(before))
			require.Equal(t, given, encoded(t, ev))
			if n := len(effects); n > 0 && effects[n-1].Kind != machine.Decided {
				pending = effects[n-1]
			}
			st = next
		}
		for _, k := range kept {
			requireUnchanged(t, k.st, []byte(k.text))
		}
	})
}

func snapshotOf(t require.TestingT, st machine.State) string {
	text, err := st.Snapshot()
	require.NoError(t, err)
	return string(text)
}

// Positions are handed to models, which may keep them.
func TestPositionsOutliveTheNextStepInARoom(t *testing.T) {
	st, room := fresh(t, machine.Config{}), new(machine.Room)
	var all [][]machine.Position
	for _, ev := range []machine.Event{start(), badCall("required"), badCall("type")} {
		effects, err := room.Step(&st, &ev)
		require.NoError(t, err)
		all = append(all, effects[len(effects)-1].Model.At)
	}
	assert.Equal(t, [][]machine.Position{
		{{Attempt: 1, MaxAttempts: 3}}, {{Action: "book", Attempt: 2, MaxAttempts: 3}}, {{Action: "book", Attempt: 3, MaxAttempts: 3}},
	}, all)
}

// A room holds on to nothing of a run once it is cleared.
func TestARoomThatIsClearedIsAsGoodAsNew(t *testing.T) {
	room := new(machine.Room)
	for range 3 {
		st := fresh(t, machine.Config{})
		other := st
		for _, ev := range []machine.Event{start(), badCall("required"), badCall("required"), badCall("type")} {
			own, err := room.Step(&st, &ev)
			require.NoError(t, err)
			next, effects, err := machine.Step(other, ev)
			require.NoError(t, err)
			require.Equal(t, encoded(t, effects), encoded(t, own))
			other = next
		}
		requireSame(t, other, st)
		room.Clear()
	}
}

// Where nobody sees the states, what only the no-progress rule reads may be left out; the effects are the same, also under that rule.
func TestARoomWhoseStatesNobodySeesDecidesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits(), Single: true, Action: "a"}
		rule := rapid.IntRange(0, 2).Draw(t, "no progress")
		cfg.Policy.Global.MaxAttempts, cfg.Policy.Global.NoProgress = new(6), &rule
		st, err := machine.New(cfg, session.State{})
		require.NoError(t, err)
		here, room := st, &machine.Room{Unseen: true}
		for ev := (machine.Event{Kind: machine.Started, At: epoch}); ; ev.Kind, ev.Try = machine.Tried, drawTry(t) {
			next, effects, err := machine.Step(st, ev)
			require.NoError(t, err)
			own, err := room.Step(&here, &ev)
			require.NoError(t, err)
			require.Equal(t, encoded(t, effects), encoded(t, own))
			if rule > 0 {
				requireSame(t, next, here)
			}
			if st = next; st.Phase != machine.Trying {
				return
			}
		}
	})
}

// tries are the events of one action: two failures, and a success.
func tries() []machine.Event {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	bad := &machine.Try{Failure: fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Tool: "a", Issues: []fault.Issue{
		{Pointer: "/n", Rule: "type", Expected: "string", Got: fault.Integer, Source: fault.FromSchema},
	}}}
	return []machine.Event{
		{Kind: machine.Started, At: at}, {Kind: machine.Tried, At: at, Try: bad}, {Kind: machine.Tried, At: at, Try: bad},
		{Kind: machine.Tried, At: at, Try: &machine.Try{}},
	}
}

func TestAStepInARoomAllocatesWhatTheSessionKeeps(t *testing.T) {
	st, room := fresh(t, machine.Config{Single: true, Action: "a"}), new(machine.Room)
	before, events := st, tries()
	for range 2 { // the first time, the room grows
		assert.LessOrEqual(t, testing.AllocsPerRun(20, func() {
			st = before
			for n := range events {
				_, _ = room.Step(&st, &events[n])
			}
		}), 5.0, "two records, of each failure a text and a signature, and schedules by the piece")
	}
}
