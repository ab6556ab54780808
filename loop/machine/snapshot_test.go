package machine_test

import (
	"encoding/json"
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
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func idle(t require.TestingT) machine.State {
	s, err := session.NewState("order-42", session.StateSlice[string]("cart"))
	require.NoError(t, err)
	three, wait := 3, backoff.Linear(time.Second, time.Second)
	wait.Jitter = backoff.Jitter{Kind: backoff.Full}
	set := policy.DefaultSet()
	set.Global = policy.Layer{MaxAttempts: &three, Backoff: &wait}
	st, err := machine.New(machine.Config{
		Seed: "7", Policy: set, Limits: feedback.DefaultLimits(), Planner: true, Consult: []fault.Class{fault.RateLimit, fault.Network}, Deadline: epoch.Add(time.Hour),
		System: "{{with feedback}}{{.Message}}{{end}}", Feedback: "{{range issues}}{{.}}{{end}}",
	}, s)
	require.NoError(t, err)
	return st
}

// drawEvent draws an event that fits the state of a run of a scenario.
func drawEvent(t *rapid.T, st machine.State, pending machine.Effect) machine.Event {
	ev := machine.Event{At: st.At.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms")) * time.Millisecond)}
	if st.At.IsZero() {
		ev.At = epoch
	}
	if st.Phase != machine.Stopped && st.Phase != machine.Idle && rapid.IntRange(0, 19).Draw(t, "side") == 0 {
		return drawSideEvent(t, ev)
	}
	switch st.Phase {
	case machine.Calling:
		drawReply(t, &ev)
	case machine.Running:
		drawToolEnd(t, &ev, st.Batch.Cursor)
	case machine.Waiting:
		ev.Kind, ev.At = machine.Woke, later(pending.Wait.Until, ev.At)
	case machine.Planning:
		do := rapid.SampledFrom([]machine.PlanKind{machine.Follow, machine.Abort, machine.Fallback, machine.Degrade}).Draw(t, "do")
		ev.Kind, ev.Plan = machine.Planned, &machine.Plan{Do: do, Prompt: rapid.StringMatching("[a-z]{0,4}").Draw(t, "prompt"), Delay: time.Second}
	default:
		ev.Kind, ev.Messages = machine.Started, []message.Message{{Role: message.User, Text: "Go.\u2028<&>"}}
	}
	return ev
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func drawSideEvent(t *rapid.T, ev machine.Event) machine.Event {
	five := 5
	switch rapid.IntRange(0, 3).Draw(t, "which") {
	case 0:
		ev.Kind = machine.Cancelled
	case 1:
		ev.Kind, ev.Adjust = machine.Adjusted, &policy.Layer{MaxAttempts: &five, RetryableErrors: []fault.Class{fault.ToolValidation}}
	case 2:
		ev.Kind, ev.Reduced = machine.Dispatched, drawReduced(t)
	default:
		ev.Kind, ev.Reduced = machine.Dispatched, &machine.Reduced{}
	}
	return ev
}

func drawReduced(t *rapid.T) *machine.Reduced {
	if rapid.Bool().Draw(t, "refused") {
		return &machine.Reduced{Error: &fault.ReducerError{Reducer: "cart", Payload: `{"a":1}`, Message: "over budget"}}
	}
	return &machine.Reduced{Ops: []reducer.Op{{Slice: "cart", Kind: reducer.OpAppend, Values: []json.RawMessage{[]byte(`"tea"`)}}}}
}

func drawReply(t *rapid.T, ev *machine.Event) {
	if rapid.IntRange(0, 5).Draw(t, "fault") == 0 {
		f := fault.Failure{Plane: fault.Transport, Class: fault.RateLimit, RetryAfter: time.Second}
		ev.Kind, ev.Failure = machine.CallFailed, &f
		return
	}
	r := &machine.Reply{Message: message.Reply{Text: "text", Usage: message.Usage{InputTokens: 7}}, Native: rapid.Bool().Draw(t, "native")}
	ev.Kind, ev.Reply = machine.Replied, r
	for n := range rapid.IntRange(0, 3).Draw(t, "calls") {
		c := machine.Call{ID: "c" + string(rune('1'+n)), Tool: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "tool"), Arguments: []byte(`{"n":1}`)}
		if class := rapid.SampledFrom([]fault.Class{"", fault.ToolValidation, fault.UnknownTool}).Draw(t, "class"); class != "" {
			c.Class, c.Issues = class, []fault.Issue{{Pointer: "/n", Rule: "type", Expected: "string", Got: fault.Integer, Source: fault.FromSchema}}
			c.Arguments = rapid.SampledFrom([]json.RawMessage{[]byte(`{"n":1}`), []byte(`{"n":2}`), nil}).Draw(t, "arguments")
		}
		r.Calls = append(r.Calls, c)
	}
	if len(r.Calls) == 0 {
		r.Answer = &machine.Answer{Reduced: drawReduced(t)}
		if rapid.Bool().Draw(t, "bad") {
			r.Answer = &machine.Answer{Issues: []fault.Issue{{Rule: "required", Pointer: "/x", Source: fault.FromSchema}}}
		}
	}
}

func drawToolEnd(t *rapid.T, ev *machine.Event, at int) {
	end := &machine.ToolEnd{Index: at, Verdict: rapid.SampledFrom([]machine.Verdict{
		machine.Done, machine.AskAgain, machine.Failed, machine.Broke}).Draw(t, "verdict")}
	ev.Kind, ev.Tool = machine.ToolEnded, end
	switch end.Verdict {
	case machine.Done:
		end.Result, end.Reduced = []byte(`{"ok":true}`), drawReduced(t)
	case machine.AskAgain:
		end.Issues = []fault.Issue{{Pointer: "/n", Rule: "maximum", Expected: "at most 3", Source: fault.FromTool}}
	case machine.Failed:
		end.Text = "no"
	default:
		end.Failure = &fault.Failure{Plane: fault.Transport, Class: fault.Network}
	}
}

// A snapshot restores the same state, and so does a packed state: it has the same snapshot, and every event,
// restored from JSON, has the same effect.
func TestARestoredStateGoesOnAsTheOneThatWasNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := idle(t)
		var pending machine.Effect
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			snapshot, err := st.Snapshot()
			require.NoError(t, err)
			restored, err := machine.Restore(snapshot)
			require.NoError(t, err)
			again, err := restored.Snapshot()
			require.NoError(t, err)
			require.Equal(t, string(snapshot), string(again))
			require.Equal(t, machine.Bare(st), machine.Bare(restored))
			packed, err := st.Pack()
			require.NoError(t, err)
			unpacked, err := packed.State(st.Session)
			require.NoError(t, err)
			require.Equal(t, machine.Bare(st), machine.Bare(unpacked))
			requireSame(t, st, unpacked)

			ev := drawEvent(t, st, pending)
			text, err := json.Marshal(ev)
			require.NoError(t, err)
			var back machine.Event
			require.NoError(t, json.Unmarshal(text, &back))
			next := st
			effects, err := machine.Step(&next, &ev)
			require.NoError(t, err)
			for _, other := range []machine.State{restored, unpacked} {
				otherEffects, err := machine.Step(&other, &back)
				require.NoError(t, err)
				require.Equal(t, encoded(t, effects), encoded(t, otherEffects))
				requireSame(t, next, other)
			}
			requireUnchanged(t, st, snapshot)
			if n := len(effects); n > 0 && effects[n-1].Kind != machine.Decided {
				pending = effects[n-1]
			}
			st = next
		}
	})
}

func encoded(t require.TestingT, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func requireSame(t require.TestingT, a, b machine.State) {
	x, err := a.Snapshot()
	require.NoError(t, err)
	requireUnchanged(t, b, x)
}

func requireUnchanged(t require.TestingT, st machine.State, snapshot []byte) {
	now, err := st.Snapshot()
	require.NoError(t, err)
	require.Equal(t, string(snapshot), string(now))
}

func TestRestoreRefusesWhatIsNoSnapshot(t *testing.T) {
	good, err := idle(t).Snapshot()
	require.NoError(t, err)
	with := func(key, value string) string {
		var m map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(good, &m))
		m[key] = json.RawMessage(value)
		return encoded(t, m)
	}
	none, err := machine.State{}.Snapshot()
	require.NoError(t, err)
	st := idle(t)
	st.Policy = nil
	lawless, err := st.Snapshot()
	require.NoError(t, err)
	const is = ", is \"\": the snapshot was changed"
	for _, tt := range []struct{ name, text, want string }{
		{"no_json", "{", "snapshot: "},
		{"empty", "{}", `snapshot: format: must be "retake.machine/2", is ""`},
		{"other_format", with("format", `"retake.machine/1"`), `is "retake.machine/1"`},
		{"no_digest", with("digest", `""`), `snapshot: digest: must be that of the state` + is},
		{"other_state", with("state", `{"phase":"dreaming"}`), `snapshot: digest: must be that of the state`},
		{"no_run", string(none), "snapshot: config: missing: the state is of no run"},
		{"no_policy", string(lawless), "snapshot: policy: missing: the state is of no run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := machine.Restore([]byte(tt.text))
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// anyEvents has one event of each kind, at a time after every state.
func anyEvents(st machine.State) []machine.Event {
	all := []machine.Event{
		{Kind: machine.Started}, {Kind: machine.Prompted}, {Kind: machine.Woke}, {Kind: machine.Cancelled},
		{Kind: machine.Replied, Reply: &machine.Reply{Calls: []machine.Call{{Tool: "a", Arguments: []byte(`{}`)}}}},
		{Kind: machine.Replied, Reply: &machine.Reply{Answer: &machine.Answer{Issues: []fault.Issue{{Rule: "required"}}}}},
		{Kind: machine.CallFailed, Failure: &fault.Failure{Plane: fault.Transport, Class: fault.Network}},
		{Kind: machine.Tried, Try: &machine.Try{Failure: fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation}}},
		{Kind: machine.Planned, Plan: &machine.Plan{Do: machine.Fallback, Prompt: "Go on."}},
		{Kind: machine.Planned, Plan: &machine.Plan{Do: machine.Degrade}},
		{Kind: machine.Planned, Plan: &machine.Plan{Do: machine.Follow}},
		{Kind: machine.Adjusted, Adjust: &policy.Layer{}},
		{Kind: machine.Dispatched, Reduced: &machine.Reduced{}},
	}
	for _, v := range []machine.Verdict{machine.Done, machine.AskAgain, machine.Failed, machine.Broke} {
		end := &machine.ToolEnd{Verdict: v, Failure: &fault.Failure{Plane: fault.Transport, Class: fault.Network}}
		if st.Batch != nil {
			end.Index = st.Batch.Cursor
		}
		all = append(all, machine.Event{Kind: machine.ToolEnded, Tool: end})
	}
	for n := range all {
		all[n].At = later(st.At, epoch.Add(24*time.Hour))
	}
	return all
}

// Whatever can be read as a snapshot can be written again unchanged, and accepts any event without a panic.
func FuzzRestore(f *testing.F) {
	st := idle(f)
	for _, ev := range []machine.Event{
		{Kind: machine.Started, At: epoch, Messages: []message.Message{{Role: message.User, Text: "Go."}}},
		{Kind: machine.Replied, At: epoch, Reply: &machine.Reply{Native: true, Calls: []machine.Call{
			{ID: "c1", Tool: "a", Arguments: []byte(`{}`)},
			{ID: "c2", Tool: "b", Class: fault.ToolValidation, Issues: []fault.Issue{{Rule: "required", Pointer: "/x"}}},
		}}},
		{Kind: machine.ToolEnded, At: epoch, Tool: &machine.ToolEnd{Verdict: machine.Broke, Failure: &fault.Failure{Plane: fault.Transport, Class: fault.Network}}},
	} {
		_, err := machine.Step(&st, &ev)
		require.NoError(f, err)
		text, err := st.Snapshot()
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		st, err := machine.Restore(text)
		if err != nil {
			return
		}
		snapshot, err := st.Snapshot()
		require.NoError(t, err)
		again, err := machine.Restore(snapshot)
		require.NoError(t, err)
		requireUnchanged(t, again, snapshot)
		for _, ev := range anyEvents(st) {
			next := st
			_, _ = machine.Step(&next, &ev)
		}
	})
}
