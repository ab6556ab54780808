package machine

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Signatures are in snapshots and keys are in journals, so they never change.
func TestMarksNeverChange(t *testing.T) {
	f := fault.Failure{Class: fault.ToolValidation, Issues: []fault.Issue{
		{Pointer: "/nights", Rule: "type", Expected: "integer", Got: fault.String, Source: fault.FromSchema},
		{Pointer: "/room", Rule: "required", Source: fault.FromSchema},
	}}
	for same, want := range map[string]string{
		"": "8dbaf5e75d68eff1", `{"nights":"two"}`: "93e5df0a04427365", strings.Repeat("long ", 1000): "4a49c5dc796d23fd",
	} {
		assert.Equal(t, want, signature("book_room", same, f))
	}
	for arguments, want := range map[string]string{
		"{}": "fb22dedd93b6558670ce2ca71dbd7f94", strings.Repeat("long ", 1000): "7117fde01f04d601beedb9a297d6e29e",
	} {
		assert.Equal(t, want, asks(t, "order-42", "payment-7").idempotencyKey(7, "book_room", 1, []byte(arguments)))
	}
	st := asks(t, "a", "b")
	assert.NotEqual(t, st.idempotencyKey(1, "bc", 0, []byte("{}")), st.idempotencyKey(1, "b", 0, []byte("c{}")))
}

// asks is a state with a session and a request.
func asks(t *testing.T, id, request string) *State {
	t.Helper()
	held, err := session.NewState(id)
	require.NoError(t, err)
	return &State{Config: &Config{RequestID: request}, Session: held}
}

func TestCallsAreMarkedByWhatTheyProposed(t *testing.T) {
	called := func(arguments, raw string) *BatchCall {
		return &BatchCall{ToolRun: ToolRun{Call: Call{Arguments: []byte(arguments), Raw: raw}}}
	}
	object, half, list := called("{}", "{ }"), called("", "{"), called("[]", "")
	for same, failed := range map[string][]*BatchCall{
		"{}\n": {object}, "{\n": {half}, "{}\n[]\n": {object, list}, "{\n[]\n": {half, list},
	} {
		assert.Equal(t, same, proposed(failed))
	}
}

// A repeated failure is recognised by its signature, which does not depend on other failures.
func TestAFailureThatComesAgainHasItsSignature(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.NoProgress = new(100)
	st, err := New(Config{Policy: set, Limits: feedback.DefaultLimits()}, session.State{})
	require.NoError(t, err)
	_, err = Step(&st, &Event{Kind: Started})
	require.NoError(t, err)
	one, two := fault.Issue{Pointer: "/a", Rule: "type", Expected: "string"}, fault.Issue{Pointer: "/b", Rule: "required"}
	for n, tt := range []struct {
		arguments, raw string
		class          fault.Class
		issues         []fault.Issue
		repeats        int
	}{
		{`{"a":1}`, "", fault.ToolValidation, []fault.Issue{one, two}, 0},
		{`{"a":1}`, "", fault.ToolValidation, []fault.Issue{one, two}, 1},
		{`{"a":1}`, "", fault.ToolValidation, []fault.Issue{two, one}, 2},
		{`{"a":2}`, "", fault.ToolValidation, []fault.Issue{one, two}, 0},
		{`{"a":2}`, "", fault.ToolValidation, []fault.Issue{one}, 0},
		{`{"a":2}`, "", fault.UnknownTool, []fault.Issue{one}, 0},
		{"", "{", fault.UnknownTool, []fault.Issue{one}, 0},
		{"", "{", fault.UnknownTool, []fault.Issue{one}, 1},
		{"", "[", fault.UnknownTool, []fault.Issue{one}, 0},
		{"", "", fault.UnknownTool, nil, 0},
		{"", "", fault.UnknownTool, nil, 1},
		{"[]", "", fault.UnknownTool, nil, 0},
		{"[]", "", fault.UnknownTool, nil, 1},
	} {
		call := Call{Tool: "t", Arguments: []byte(tt.arguments), Raw: tt.raw, Class: tt.class, Issues: tt.issues}
		st.Actions, st.Phase = slices.Clone(st.Actions), Calling // of whatever was decided, the next reply is looked at
		st.inner.Exhausted, st.Outcome = nil, nil
		_, err = Step(&st, &Event{Kind: Replied, Reply: &Reply{Native: true, Calls: []Call{call}}})
		require.NoError(t, err)
		f := fault.Failure{Class: tt.class, Issues: fault.SortIssues(tt.issues)}
		assert.Equal(t, signature("t", cmp.Or(tt.arguments, tt.raw)+"\n", f), st.Actions[0].Signature, n)
		assert.Equal(t, tt.repeats, st.Actions[0].Repeats, n)
	}
}
