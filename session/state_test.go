package session_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

func rawValues(texts ...string) []json.RawMessage {
	raws := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		raws[i] = json.RawMessage(text)
	}
	return raws
}

func op(slice string, kind reducer.OpKind, values ...string) reducer.Op {
	return reducer.Op{Slice: slice, Kind: kind, Values: rawValues(values...)}
}

func toolFeedback(tool string, attempt int) feedback.RetryFeedback {
	issue := fault.Issue{Pointer: "/nights", Rule: "type", Expected: "integer", Got: fault.String, Source: fault.FromSchema}
	return feedback.New(feedback.Input{
		Tool: tool, Attempt: attempt, MaxAttempts: 3, Class: fault.ToolValidation, Issues: []fault.Issue{issue},
	})
}

func TestZeroStateIsUsable(t *testing.T) {
	var s session.State
	assert.Empty(t, s.ID())
	assert.Empty(t, s.Slices())
	_, ok := s.Values("cart")
	assert.False(t, ok)
	assert.Empty(t, s.Feedback())
	s = s.AddFeedback(toolFeedback("book", 1)).AddAttempt(session.Attempt{Action: "book", Attempt: 1}).AddReducerError(fault.ReducerError{Reducer: "r"})
	assert.Equal(t, []int{1, 1, 1}, []int{len(s.Feedback()), s.AttemptCount(), len(s.ReducerErrors())})
	assert.NotContains(t, snapshotOf(t, s), "null]")
}

func TestApply(t *testing.T) {
	s := must(session.NewState("order-42", total, audit))
	s = must(s.Apply([]reducer.Op{
		op("total", reducer.OpAppend, "1"), op("audit", reducer.OpExtend, `"a"`, ` "\u0062" `), op("total", reducer.OpReplace, "2", "3"),
		op("audit", reducer.OpAppend, `"c"`), op("audit", reducer.OpNone), op("audit", reducer.OpExtend),
	}))
	assert.Equal(t, []session.Info{{Name: "audit", Kind: session.KindLog, Len: 3}, {Name: "total", Kind: session.KindState, Len: 2}}, s.Slices())
	held, ok := s.Values("audit")
	require.True(t, ok)
	assert.Equal(t, `"b"`, string(held[1]), "values are kept in canonical form")

	cleared := must(s.Apply([]reducer.Op{op("total", reducer.OpClear)}))
	assert.Zero(t, cleared.Slices()[1].Len)
	assert.Equal(t, 2, s.Slices()[1].Len, "the state cleared from is as it was")
}

func TestApplyRefuses(t *testing.T) {
	cases := map[string]struct {
		op   reducer.Op
		want string
	}{
		"unknown_slice": {op("cart", reducer.OpAppend, "1"), `operation 1: append on slice "cart": unknown slice`},
		"replace_log":   {op("audit", reducer.OpReplace, `"x"`), `operation 1: replace on slice "audit": a log slice allows only append and extend`},
		"clear_log":     {op("audit", reducer.OpClear), `operation 1: clear on slice "audit": a log slice allows only append and extend`},
		"builtin":       {op("feedback", reducer.OpAppend, "1"), `operation 1: append on slice "feedback": only the loop writes to a built-in log`},
		"no_kind":       {op("total", ""), `operation 1:  on slice "total": a change without a kind: use Append, Extend, Replace, Clear or None`},
		"two_values":    {op("total", reducer.OpAppend, "1", "2"), `operation 1: append on slice "total": append takes exactly one value, got 2`},
		"no_json":       {op("total", reducer.OpAppend, "{"), `operation 1: append on slice "total": not strict JSON: syntax at byte 1`},
		"nil_value":     {reducer.Op{Slice: "total", Kind: reducer.OpAppend, Values: make([]json.RawMessage, 1)}, `operation 1: append on slice "total": not strict JSON: syntax at byte 0`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := must(session.NewState("order-42", total, audit))
			next, err := s.Apply([]reducer.Op{op("total", reducer.OpAppend, "1"), c.op})
			assert.EqualError(t, err, c.want)
			assert.Equal(t, snapshotOf(t, s), snapshotOf(t, next), "all or nothing")
		})
	}
	_, err := session.NewState("\n", nil)
	assert.EqualError(t, err, "session config: id: must be UTF-8 without control characters\nsession config: slices[0]: must be made by StateSlice or LogSlice, is nil")
}

func TestRecordsAreKeptAsTheyWillBeReadBack(t *testing.T) {
	issue := fault.Issue{Pointer: "/a\xff", Rule: "type", Expected: "integer"}
	f := toolFeedback("book\xff", 1)
	f.Issues = []fault.Issue{{Pointer: "/", Rule: "type"}, issue}
	f.Diff = feedback.Diff{Fixed: f.Issues, New: f.Issues, Persistent: f.Issues}
	east := time.FixedZone("east", 3600)
	f.Schedule = &feedback.Schedule{At: time.Date(2026, 1, 2, 3, 4, 5, 6, east), Delay: time.Second}
	at := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("west", -3600))
	s := session.State{}.
		AddFeedback(f).
		AddAttempt(session.Attempt{Action: "book\xff", Attempt: 1, Issues: []fault.Issue{issue}, At: f.Schedule.At, Delay: time.Second, Retry: true}).
		AddAttempt(session.Attempt{Action: "book", Attempt: 2, Issues: []fault.Issue{}, At: at}).
		AddReducerError(fault.ReducerError{Reducer: "r", Message: "\xff", Cause: assert.AnError})
	back := must(session.ParseState([]byte(snapshotOf(t, s))))
	assert.Equal(t, s.Feedback(), back.Feedback())
	assert.Equal(t, s.Attempts(), back.Attempts())
	assert.Equal(t, s.ReducerErrors(), back.ReducerErrors())

	kept := s.Feedback()[len(s.Feedback())-1]
	assert.Equal(t, "book\uFFFD", kept.ToolName)
	assert.Equal(t, "/a\uFFFD", kept.Issues[1].Pointer)
	assert.Equal(t, "/a\xff", f.Issues[1].Pointer, "the caller's issues are left as they were")
	forgotten := s.Forget(true)
	assert.Equal(t, []int{1, 0, 0}, []int{len(forgotten.Feedback()), len(forgotten.Attempts()), len(forgotten.ReducerErrors())})
	assert.Empty(t, s.Forget(false).Feedback())
	last := s.Attempts()[len(s.Attempts())-1]
	assert.True(t, last.At.IsZero(), "a time that JSON has no form for is left out")
	assert.True(t, last.Passed())
}

func TestValuesOfBuiltinLogs(t *testing.T) {
	s := session.State{}.AddFeedback(toolFeedback("book", 1)).AddFeedback(feedback.RetryFeedback{}).
		AddAttempt(session.Attempt{Action: "book", Attempt: 1, Delay: time.Second}).AddReducerError(fault.ReducerError{Reducer: "r", Payload: "{}", Message: "m"})
	want := map[string]string{
		"attempts":       `{"action":"book","attempt":1,"class":"","delay_ns":1000000000,"max_attempts":0,"reason":"","retry":false}`,
		"reducer_errors": `{"message":"m","payload":"{}","reducer":"r"}`,
	}
	for name, text := range want {
		held, ok := s.Values(name)
		require.True(t, ok)
		require.Equal(t, 1, len(held))
		assert.Equal(t, text, string(held[0]))
	}
	held, _ := s.Values("feedback")
	require.Equal(t, 2, len(held))
	var f feedback.RetryFeedback
	require.NoError(t, json.Unmarshal(held[0], &f))
	assert.Equal(t, toolFeedback("book", 1), f)
	assert.Equal(t, "null", string(held[1]))
	_, err := s.Snapshot()
	assert.Error(t, err, "no snapshot pretends that a record without a form was not there")
}

// A state never changes, whatever is made from it.
func TestBranchesOfStatesNeverSeeEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []session.State{must(session.NewState("s", total, audit))}
		snapshots := []string{string(must(states[0].Snapshot()))}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			from := states[rapid.IntRange(0, len(states)-1).Draw(t, "from")]
			next := step(t, from)
			states, snapshots = append(states, next), append(snapshots, string(must(next.Snapshot())))
		}
		for i, s := range states {
			if got := string(must(s.Snapshot())); got != snapshots[i] {
				t.Fatalf("state %d was %s, is %s", i, snapshots[i], got)
			}
		}
	})
}

func step(t *rapid.T, s session.State) session.State {
	n := rapid.IntRange(1, 9).Draw(t, "n")
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		return s.AddFeedback(toolFeedback("book", n))
	case 1:
		return s.AddAttempt(session.Attempt{Action: rapid.String().Draw(t, "action"), Attempt: n})
	case 2:
		return s.AddReducerError(fault.ReducerError{Reducer: "r", Message: rapid.String().Draw(t, "message")})
	case 3:
		return must(s.Apply([]reducer.Op{op("total", reducer.OpReplace, fmt.Sprint(n))}))
	case 4:
		return must(s.Apply([]reducer.Op{op("total", reducer.OpClear), op("audit", reducer.OpAppend, fmt.Sprintf("%q", "n"))}))
	}
	return must(s.Apply([]reducer.Op{op("audit", reducer.OpExtend, `"a"`, `"b"`), op("total", reducer.OpAppend, fmt.Sprint(n))}))
}

func TestLatestFeedback(t *testing.T) {
	for range (session.State{}).NewestFeedback() {
		t.Fatal("there is none")
	}
	state := session.State{}.AddFeedback(toolFeedback("book", 1)).AddFeedback(toolFeedback("book", 2))
	for f := range state.NewestFeedback() {
		assert.Equal(t, 2, f.Attempt)
		assert.Equal(t, state.Feedback()[1], f)
		break
	}
}

// full is a state with something in each of its parts, and each way to change one part.
func full() (s session.State, changes map[string]func(session.State) session.State) {
	type state = session.State
	changes = map[string]func(state) state{
		"feedback":       func(s state) state { return s.AddFeedback(toolFeedback("book", 1)) },
		"attempts":       func(s state) state { return s.AddAttempt(session.Attempt{Action: "book", Attempt: 1}) },
		"reducer errors": func(s state) state { return s.AddReducerError(fault.ReducerError{Reducer: "r", Message: "m"}) },
		"charged":        func(s state) state { return s.AddCharge(policy.Charge{Cost: 3}) },
		"runs":           func(s state) state { return s.AddRun() },
		"successes":      func(s state) state { return s.AddSuccesses("book", 2) },
		"approved":       func(s state) state { return s.AddApproved("pay") },
		"largest reply":  func(s state) state { return s.WithMaxReply("small", 100) },
		"values": func(s state) state {
			return must(s.Apply([]reducer.Op{{Slice: "total", Kind: reducer.OpAppend, Values: rawValues("1")}}))
		},
	}
	s = must(session.NewState("s", total))
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		s = changes[name](s)
	}
	return s, changes
}

func TestTheSameStateIsTheSameInAllItsParts(t *testing.T) {
	s, changes := full()
	assert.True(t, s.Same(s))
	changes["approved"] = func(s session.State) session.State { return s.AddApproved("other") }
	changes["largest reply"] = func(s session.State) session.State { return s.WithMaxReply("small", 200) }
	for name, change := range changes {
		next := change(s)
		assert.False(t, next.Same(s), name)
		assert.False(t, s.Same(next), name)
	}
	other := must(session.NewState("s", session.LogSlice[int]("total")))
	assert.False(t, other.Same(must(session.NewState("s", total))), "a slice of another kind")
	assert.False(t, must(session.NewState("s", cart)).Same(must(session.NewState("s", total))), "a slice of another name")
	assert.False(t, must(session.NewState("t", total)).Same(must(session.NewState("s", total))), "another id")
}

func TestASnapshotHasAllPartsOfAState(t *testing.T) {
	s, _ := full()
	back := must(session.ParseState([]byte(snapshotOf(t, s))))
	assert.Equal(t, snapshotOf(t, s), snapshotOf(t, back))
	tokens, known := back.MaxReply("small")
	assert.Equal(t, []any{s.Charged(), 1, 2, true, false, int64(100), true},
		[]any{back.Charged(), back.Runs(), back.Successes("book"), back.Approved("pay"), back.Approved("book"), tokens, known})
	forgotten := back.WithMaxReply("small", 0).AddSuccesses("book", -5)
	_, known = forgotten.MaxReply("small")
	assert.False(t, known)
	assert.Zero(t, forgotten.Successes("book"))
	assert.Equal(t, 2, back.Successes("book"), "the state before is as it was")
}

// An attempt has passed if nothing was wrong with it, its tool did not fail for good, and the run was not
// given up.
func TestWhichAttemptsHavePassed(t *testing.T) {
	for _, c := range []struct {
		attempt session.Attempt
		passed  bool
	}{
		{session.Attempt{Reason: policy.ReasonAccepted}, true},
		{session.Attempt{Class: fault.Timeout, Reason: policy.ReasonBackoff}, false},
		{session.Attempt{Reason: policy.ReasonFailedForGood}, false},
		{session.Attempt{Reason: policy.ReasonCancelled}, false},
		{session.Attempt{Reason: policy.ReasonDeadline}, false},
	} {
		assert.Equal(t, c.passed, c.attempt.Passed(), c.attempt.Reason)
	}
}
