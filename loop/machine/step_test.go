package machine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

var began = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func fresh(t testing.TB, cfg machine.Config) machine.State {
	t.Helper()
	cfg.Policy, cfg.Limits = policy.DefaultSet(), feedback.DefaultLimits()
	s, err := session.NewState("order-42")
	require.NoError(t, err)
	st, err := machine.New(cfg, s)
	require.NoError(t, err)
	return st
}

func start() machine.Event {
	return machine.Event{Kind: machine.Started, At: began, Messages: []message.Message{{Role: message.User, Text: "Book."}}}
}

// badCall is a reply with one unusable call.
func badCall(rule string) machine.Event {
	return machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{
		Message: message.Reply{Calls: []message.Call{{ID: "c1", Name: "book", Arguments: "{}"}}}, Native: true,
		Calls: []machine.Call{{ID: "c1", Tool: "book", Raw: "{}", Class: fault.ToolValidation,
			Issues: []fault.Issue{{Pointer: "/city", Rule: rule, Source: fault.FromSchema}}}},
	}}
}

func step(t testing.TB, st machine.State, events ...machine.Event) machine.State {
	t.Helper()
	for _, ev := range events {
		_, err := machine.Step(&st, &ev)
		require.NoError(t, err)
	}
	return st
}

func TestAStateMayBeSteppedTwice(t *testing.T) {
	st := step(t, fresh(t, machine.Config{}), start(), badCall("required"))
	before, err := st.Snapshot()
	require.NoError(t, err)
	var (
		wg       sync.WaitGroup
		branches [8]machine.State
	)
	for n := range branches {
		wg.Go(func() { branches[n] = step(t, st, badCall(fmt.Sprint("rule-", n))) })
	}
	wg.Wait()
	for n, branch := range branches {
		told := branch.Session.Feedback()
		require.Len(t, told, 2)
		assert.Equal(t, fmt.Sprint("rule-", n), told[1].Issues[0].Rule)
	}
	after, err := st.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "a step never changes the state it was given")
}

// Effects go to several receivers. What one appends is not visible to another.
func TestAppendingToEffectsCopiesThem(t *testing.T) {
	ev := badCall("required")
	ev.Reply.Calls = append(ev.Reply.Calls, machine.Call{ID: "c2", Tool: "pay", Class: fault.ToolValidation})
	st := step(t, fresh(t, machine.Config{}), start())
	effects, err := machine.Step(&st, &ev)
	require.NoError(t, err)
	require.Len(t, effects, 3)
	assert.Equal(t, 3, cap(effects))
}

func TestWhatAProviderWantsBackStandsInTheTranscript(t *testing.T) {
	reply := badCall("required")
	reply.Reply.Message.Opaque = `{"signature":"s1"}`
	st := step(t, fresh(t, machine.Config{}), start(), reply)
	assert.Equal(t, `{"signature":"s1"}`, st.Transcript()[1:2][0].Opaque)
}

func TestABrokenReplyIsAskedForAgain(t *testing.T) {
	broken := badCall("required")
	broken.Reply.Message.Finish = message.Error
	st := step(t, fresh(t, machine.Config{}), start(), broken)
	require.Len(t, st.Attempts(), 1)
	assert.Equal(t, fault.Transport, st.Attempts()[0].Plane)
	assert.Equal(t, 1, st.TranscriptLen(), "a reply that did not come through is not said")
}

func TestAnEventThatDoesNotFitNamesBothAndChangesNothing(t *testing.T) {
	idle := fresh(t, machine.Config{})
	calling := step(t, idle, start())
	for name, tt := range map[string]struct {
		st   machine.State
		ev   machine.Event
		want string
	}{
		"wrong_phase":       {idle, badCall("type"), `event "replied" does not fit a run that is idle: it waits for started`},
		"second_start":      {calling, start(), `event "started" does not fit a run that is calling: it waits for replied or call_failed`},
		"time_backwards":    {calling, machine.Event{Kind: machine.Cancelled, At: began.Add(-1)}, "its time is before that of the event before it"},
		"without_payload":   {calling, machine.Event{Kind: machine.Replied, At: began}, "it needs the payload reply"},
		"no_such_event":     {calling, machine.Event{Kind: "poked", At: began}, `event "poked" does not fit`},
		"failure_of_naught": {calling, machine.Event{Kind: machine.CallFailed, At: began, Failure: &fault.Failure{}}, "it needs the payload failure"},
	} {
		t.Run(name, func(t *testing.T) {
			st := tt.st
			effects, err := machine.Step(&st, &tt.ev)
			var misfit *machine.EventError
			require.ErrorAs(t, err, &misfit)
			require.ErrorContains(t, err, tt.want)
			assert.Empty(t, effects)
			assert.Equal(t, tt.st, st)
		})
	}
}

func TestAConfigOfANewerVersionIsRefused(t *testing.T) {
	_, err := machine.New(machine.Config{
		Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits(), Behaviours: []machine.Behaviour{"time_travel"},
	}, session.State{})
	require.ErrorContains(t, err, `behaviours[0]: "time_travel" is unknown`)
}

func TestAConfigSaysAllThatIsWrongWithIt(t *testing.T) {
	_, err := machine.New(machine.Config{System: "{{", Feedback: "{{nope}}"}, session.State{})
	for _, want := range []string{"system:", "feedback:", "policy: max_turns", "limits:"} {
		require.ErrorContains(t, err, want)
	}
}

// BenchmarkStep steps a bad reply and what follows through the core, again and again.
func BenchmarkStep(b *testing.B) {
	b.ReportAllocs()
	idle := fresh(b, machine.Config{})
	ev, first := badCall("required"), start()
	for b.Loop() {
		st := idle
		_, _ = machine.Step(&st, &first)
		for range 3 {
			_, _ = machine.Step(&st, &ev)
		}
	}
	b.ReportMetric(4*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkGoodCall steps good calls, each with other arguments and another result, which are watched for
// cycles.
func BenchmarkGoodCall(b *testing.B) {
	b.ReportAllocs()
	first := step(b, fresh(b, machine.Config{}), start())
	st := first
	for n := 0; b.Loop(); n++ {
		if n%60 == 0 {
			st = first
		}
		id, arguments := fmt.Sprint("c", n), fmt.Appendf(nil, `{"id":%d,"name":"some name or other","to":"Berlin"}`, n)
		st = step(b, st, machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{
			Message: message.Reply{Calls: []message.Call{{ID: id, Name: "book", Arguments: string(arguments)}}}, Native: true,
			Calls: []machine.Call{{ID: id, Tool: "book", Arguments: arguments, ReadOnly: true}},
		}}, machine.Event{Kind: machine.ToolEnded, At: began, Tool: &machine.ToolEnd{
			Verdict: machine.Done, Result: fmt.Appendf(nil, `{"ok":true,"id":%d}`, n),
		}})
	}
}

// Keys are promises to tools and are in journals. A call like an earlier bad one counts as the second of
// its kind.
func TestABadCallCountsAmongThoseThatAreTheSame(t *testing.T) {
	ev := badCall("required")
	ev.Reply.Calls[0].Arguments = []byte("{}")
	good := machine.Call{ID: "c2", Tool: "book", Arguments: []byte("{}"), Repeatable: true}
	key := func(calls ...machine.Call) string {
		ev.Reply.Calls = calls
		st := step(t, fresh(t, machine.Config{}), start())
		effects, err := machine.Step(&st, &ev)
		require.NoError(t, err)
		runs := effects[len(effects)-1].Tools
		return runs[len(runs)-1].Key
	}
	bad := ev.Reply.Calls[0]
	assert.Equal(t, key(good, good), key(bad, good))
	assert.NotEqual(t, key(good), key(bad, good))
}

// A plan after the last call of a reply finishes the reply, and with it a call that equals another.
func TestAReplyThatAPlanFinishesStaysInTheStateBefore(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.MaxAttempts = new(1)
	s, err := session.NewState("order-42")
	require.NoError(t, err)
	st, err := machine.New(machine.Config{Policy: set, Limits: feedback.DefaultLimits(), Planner: true}, s)
	require.NoError(t, err)
	call := machine.Call{ID: "c1", Tool: "pay", Arguments: []byte("{}")}
	st = step(t, st, start(), machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{
		Native: true, Calls: []machine.Call{call, call},
	}}, machine.Event{Kind: machine.ToolEnded, At: began, Tool: &machine.ToolEnd{
		Verdict: machine.AskAgain, Issues: []fault.Issue{{Pointer: "/amount", Rule: "required"}},
	}})
	require.Equal(t, machine.Planning, st.Phase)
	before, err := st.Snapshot()
	require.NoError(t, err)
	plan := machine.Event{Kind: machine.Planned, At: began, Plan: &machine.Plan{Do: machine.Fallback}}
	assert.Equal(t, machine.Calling, step(t, st, plan).Phase)
	after, err := st.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}
