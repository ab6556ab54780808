package policy_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/policy"
)

func TestAValueAboveTheBoundNeedsApproval(t *testing.T) {
	for _, c := range []struct {
		argument, arguments string
		exceeds             bool
	}{
		{"amount", `{"amount":100}`, false},
		{"amount", `{"amount":100.000000001}`, true},
		{"amount", `{"amount":1e2}`, false},
		{"amount", `{"amount":100.0000000001}`, true},
		{"amount", `{"amount":-5}`, false},
		{"amount", `{"amount":-1e400}`, false},
		{"amount", `{"amount":1e400}`, true},
		{"amount", `{"amount":"99"}`, true},
		{"amount", `{"amount":null}`, true},
		{"amount", `{"amount":"-"}`, true},
		{"amount", `{}`, true},
		{"amount", `[1]`, true},
		{"/amount/value", `{"amount":{"value":100}}`, false},
		{"/amount/value", `{"amount":{"value":101}}`, true},
		{"/amount/value", `{"amount":7}`, true},
		{"amount", `{"amount":5,"AMOUNT":500}`, true},
		{"Amount", `{"Amount":5,"amount":5}`, true},
		{"tokens", `{"tokens":5,"toKenſ":500}`, true},
		{"amount", `{"amount":5,"amount":500}`, true},
		{"amount", `{"amount":5,"\u0061mount":500}`, true},
		{"amount", `{"\u0061mount":5,"amounts":500}`, false},
		{"/amount/value", `{"amount":{"value":5,"Value":500}}`, true},
		{"/amount/value", `{"amount":{"value":5},"Amount":{"value":500}}`, true},
		{"a/b~1", `{"a/b~1":100}`, false},
		{"/a~1b", `{"a/b":100}`, false},
	} {
		a := policy.Approval{When: policy.ApproveAbove, Argument: c.argument, Above: new(100 * backoff.One)}
		assert.Equal(t, c.exceeds, a.Exceeds([]byte(c.arguments)), c.arguments)
	}
}

func TestARuleStandsForAnApproval(t *testing.T) {
	var a policy.Approval
	require.NoError(t, json.Unmarshal([]byte(`"first"`), &a))
	assert.Equal(t, policy.Approval{When: policy.ApproveFirst}, a)
	assert.Equal(t, `{when: first}`, a.String())
	require.NoError(t, json.Unmarshal([]byte(`{"timeout": "24h", "above": 1.5}`), &a))
	assert.Equal(t, policy.Approval{Timeout: 24 * time.Hour, Above: new(backoff.Dec("1.5"))}, a)
	data, err := json.Marshal(a)
	require.NoError(t, err)
	assert.JSONEq(t, `{"above": 1.5, "timeout": "24h0m0s"}`, string(data))
	assert.Equal(t, "by declaration", policy.Approval{}.String())
	before := a
	assert.EqualError(t, json.Unmarshal([]byte(`{"timeout": "1h", "whem": "first"}`), &a), "whem: this key is not known here; did you mean when?")
	assert.EqualError(t, json.Unmarshal([]byte(`"often"`), &a), `"often" is not known; use one of declared, never, always, undeclared, first, above`)
	assert.Equal(t, before, a, "left as it was")
	assert.EqualError(t, policy.Layer{Approval: &policy.Approval{Argument: "/a~2"}}.Validate(),
		`approval.argument: "/a~2" is no JSON Pointer; write one such as /amount/value`)
}

// A layer that sets one member keeps the others of the layers below, and a rule for values may get its bound
// from another layer.
func TestApprovalsAreMergedByMember(t *testing.T) {
	s := policy.DefaultSet()
	s.Global.Approval = &policy.Approval{When: policy.ApproveAlways, Timeout: time.Hour}
	s.Tools = map[string]policy.Layer{"pay": {Approval: &policy.Approval{When: policy.ApproveAbove, Argument: "amount"}}}
	assert.EqualError(t, s.Validate(), "tools.pay.approval.above: is missing; write the largest value that needs no approval")

	s.Adjusted.Approval = &policy.Approval{Above: new(backoff.One)}
	require.NoError(t, s.Validate())
	assert.Equal(t, policy.Approval{When: policy.ApproveAbove, Argument: "amount", Above: new(backoff.One), Timeout: time.Hour},
		s.Policy(policy.Target{Tool: "pay"}).Approval)

	s.Adjusted.Approval, s.Global.Approval.Above = nil, new(backoff.Dec("2.5"))
	assert.Equal(t, new(backoff.Dec("2.5")), s.Policy(policy.Target{Tool: "pay"}).Approval.Above, "that of a layer below")
}

func TestWhichCallsNeedApproval(t *testing.T) {
	for when, needs := range map[policy.ApprovalRule]func(policy.ApprovalCall) bool{
		"":                       func(policy.ApprovalCall) bool { return false },
		policy.ApproveDeclared:   func(policy.ApprovalCall) bool { return false },
		policy.ApproveAlways:     func(policy.ApprovalCall) bool { return true },
		policy.ApproveUndeclared: func(c policy.ApprovalCall) bool { return !c.Repeatable },
		policy.ApproveFirst:      func(c policy.ApprovalCall) bool { return !c.Approved },
		policy.ApproveAbove:      func(c policy.ApprovalCall) bool { return c.Exceeds },
	} {
		for n := range 16 {
			c := policy.ApprovalCall{Declared: n&1 > 0, Repeatable: n&2 > 0, Approved: n&4 > 0, Exceeds: n&8 > 0}
			want := policy.ApprovalRule("")
			if needs(c) {
				want = when
			} else if c.Declared {
				want = policy.ApproveDeclared
			}
			assert.Equal(t, want, policy.Approval{When: when}.Needs(c), "%s: %+v", when, c)
			assert.Empty(t, policy.Approval{When: policy.ApproveNever}.Needs(c))
		}
	}
}
