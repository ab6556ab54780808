package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

const (
	known    = "this key is not known here; "
	ofPolicy = known + "use one of preset, max_attempts, backoff, retryable_errors, emit_feedback, bases, retry_after, " +
		"retry_after_jitter, max_retry_after, max_total_delay, no_progress, progress, identity, polling, max_successes, max_session_successes, equal_calls, equal_in_reply, approval, opt_out, text_repairs, native_repairs, forms_off, on_reducer_error, attempts"
	ofSet = known + "use one of global, tools, answer, call, adjusted, transport, tool_transport, budgets, prices, spending, context, max_turns, " +
		"max_calls, all_or_nothing"
	object = "expected a mapping of keys to values, got "
	twice  = "this key appears twice; leave one out"
	null   = "there is no value; write one, or leave the key out"
	or     = ", or the word unlimited"
	toggle = "expected true or false, got "
)

// The error for a policy's JSON lists every fault, each with the name of its member.
func TestJSONFaultsNameTheirMember(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"null", `null`, []string{object + "nothing"}},
		{"list", `[]`, []string{object + "a list"}},
		{"unknown", `{"max_atempts": 3}`, []string{"max_atempts: " + ofSet}},
		{"unknown_in_layer", `{"call": {"max_atempts": 3}}`, []string{"call.max_atempts: " + known + "did you mean max_attempts?"}},
		{"odd_name", `{"a\nb": 3}`, []string{`a\nb: ` + ofSet}},
		{"other_case", `{"Global": {}, "global": {"Zzz": 3}, "Max_Turns": 2}`, []string{
			"Global: " + known + "did you mean global?", "global.Zzz: " + ofPolicy,
			"Max_Turns: " + known + "did you mean max_turns?"}},
		{"twice", `{"max_turns": 2, "max_turns": 3, "answer": {"opt_out": true, "opt_out": false}, "answer": {}}`, []string{
			"max_turns: " + twice, "answer.opt_out: " + twice, "answer: " + twice}},
		{"twice_escaped", `{"budgets": {"tool": 2, "t\u006fol": 3}}`, []string{"budgets.tool: " + twice}},
		{"twice_in_tables", `{"tools": {"a": {}, "a": {}}, "call": {"bases": {"x": "1s", "x": "2s"}}}`, []string{
			"tools.a: " + twice, "call.bases.x: " + twice}},
		{"backoff", `{"tools": {"a": {"backoff": {"kind": "exponential", "Base": "1s"}}}}`, []string{
			"tools.a.backoff.Base: " + known + "did you mean base?",
			"tools.a.backoff.base: exponential backoff needs this key; add it",
			"tools.a.backoff.factor: exponential backoff needs this key; add it"}},
		{"nulls", `{"max_turns": null, "global": {"retryable_errors": null}, "tools": {"a": null}}`, []string{
			"max_turns: " + null, "global.retryable_errors: " + null, "tools.a: " + null}},
		{"counts", `{"budgets": {"tool": -1, "run": "many", "unknown_tools": 1.5}, "max_turns": []}`, []string{
			"budgets.tool: -1 is negative; write 0 or more" + or,
			`budgets.run: expected a whole number` + or + `, got text "many"`,
			`budgets.unknown_tools: "1.5" is no whole number that can be read; write digits alone, such as 3`,
			"max_turns: expected a whole number" + or + ", got a list"}},
		{"spans", `{"global": {"max_retry_after": 5, "max_total_delay": "-1ns", "bases": {"x": "5", "y": 7}}}`, []string{
			"global.max_retry_after: 5 has no unit; write 5s or 5ms" + or,
			"global.max_total_delay: -1ns is negative; write it without the sign" + or,
			"global.bases.x: 5 has no unit; write 5s or 5ms", "global.bases.y: 7 has no unit; write 7s or 7ms"}},
		{"repeats", `{"global": {"no_progress": "on"}}`, []string{
			`global.no_progress: expected off, true or a count, got text "on"`}},
		{"switches", `{"all_or_nothing": 1, "call": {"opt_out": "yes"}}`, []string{
			"all_or_nothing: " + toggle + `a number "1"`, "call.opt_out: " + toggle + `text "yes"`}},
		{"words", `{"global": {"retryable_errors": ["a", 3, null], "forms_off": "fence", "retry_after": ["floor"]}}`, []string{
			`global.retryable_errors[1]: expected a name, got a number "3"`,
			"global.retryable_errors[2]: expected a name, got nothing",
			`global.forms_off: expected a list, such as [a, b], got text "fence"`,
			"global.retry_after: expected one of floor, first, got a list"}},
		{"long", `{"global": {"opt_out": "` + strings.Repeat("x", 99) + `"}}`, []string{
			"global.opt_out: " + toggle + `text "` + strings.Repeat("x", 40) + `…"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := policy.DefaultSet()
			before.MaxTurns = 7
			got := before
			err := json.Unmarshal([]byte(c.text), &got)
			require.Error(t, err)
			assert.Equal(t, c.want, strings.Split(err.Error(), "\n"))
			assert.ErrorAs(t, err, new(*policy.FieldError))
			assert.Equal(t, before, got, "left as it was")
		})
	}
}

// The number of reported faults is bounded, and the time to find them is linear in the text.
func TestJSONFaultsAreBounded(t *testing.T) {
	var wrong, good strings.Builder
	listed := strings.Repeat(",1", 40_000)[1:]
	for n := range 10_000 {
		fmt.Fprintf(&wrong, `,"k%d":1`, n)
		fmt.Fprintf(&good, `,"k%d":{}`, n)
	}
	for _, text := range []string{"{" + wrong.String()[1:] + "}", `{"global":{"forms_off":[` + listed + `],"retryable_errors":[` + listed + `]}}`, `{"tools":{"a":{` + wrong.String()[1:] + "}" + wrong.String() + "}" + wrong.String() + "}"} {
		var s policy.Set
		err := json.Unmarshal([]byte(text), &s)
		require.Error(t, err)
		lines := strings.Split(err.Error(), "\n")
		assert.Len(t, lines, 101)
		assert.Equal(t, "there is more that is wrong: mend this first", lines[100])
	}
	var s policy.Set
	require.NoError(t, json.Unmarshal([]byte(`{"tools":{`+good.String()[1:]+"}}"), &s))
	assert.Len(t, s.Tools, 10_000)
}

// The length of a reported name is bounded, too.
func TestJSONNamesInFaultsAreBounded(t *testing.T) {
	long := `{"` + strings.Repeat("é", 100_000) + `":`
	for _, text := range []string{long + "1}", `{"tools":` + long + "1}}", `{"tools":` + long + long + "1}}}", `{"global":{"bases":` + long + "1}}}"} {
		var s policy.Set
		err := json.Unmarshal([]byte(text), &s)
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 2000)
	}
}

// A preset has the classes of both planes, and a layer takes those of its own.
func TestAPresetLeavesTheClassesOfThePlane(t *testing.T) {
	var l policy.Layer
	require.NoError(t, json.Unmarshal([]byte(`{"preset": "rate-limit"}`), &l))
	assert.NotNil(t, l.Backoff)
	assert.Nil(t, l.RetryableErrors)
	for _, preset := range policy.Presets() {
		p, _ := policy.Preset(preset)
		var s policy.Set
		require.NoError(t, json.Unmarshal([]byte(`{"global": {"preset": "`+preset+`"}, "tools": {"pay": {"preset": "`+preset+`"}},
			"transport": {"preset": "`+preset+`"}, "tool_transport": {"pay": {"preset": "`+preset+`"}}}`), &s))
		assert.Nil(t, s.Global.RetryableErrors, preset)
		assert.Nil(t, s.Tools["pay"].RetryableErrors, preset)
		if preset == "correction" {
			p.RetryableErrors = nil
		}
		assert.Equal(t, p.RetryableErrors, s.Transport.RetryableErrors, preset)
		assert.Equal(t, p.RetryableErrors, s.ToolTransport["pay"].RetryableErrors, preset)
	}
}

// The JSON of a policy and of budgets is read as strictly.
func TestJSONOfTheParts(t *testing.T) {
	p, b := policy.Correction(), policy.DefaultSet().Budgets
	assert.EqualError(t, json.Unmarshal([]byte(`{"Opt_out": true}`), &p), "Opt_out: "+known+"did you mean opt_out?")
	assert.EqualError(t, json.Unmarshal([]byte(`{"max_attempts": -1}`), &p), "max_attempts: -1 is negative; write 1 or more"+or)
	assert.EqualError(t, json.Unmarshal([]byte(`{"Tool": 3}`), &b), "Tool: "+known+"did you mean tool?")
	assert.Equal(t, policy.Correction(), p)
	assert.Equal(t, policy.DefaultSet().Budgets, b)
	g := policy.Progress{Stop: 3}
	assert.EqualError(t, json.Unmarshal([]byte(`{"Nudge": 3}`), &g), "Nudge: "+known+"did you mean nudge?")
	assert.Equal(t, policy.Progress{Stop: 3}, g)
}

func TestAProgressHasItsOwnJSON(t *testing.T) {
	want := policy.Progress{Nudge: policy.Unlimited, Stop: 5}
	data, err := json.Marshal(want)
	require.NoError(t, err)
	var got policy.Progress
	require.NoError(t, json.Unmarshal(data, &got), "%s", data)
	assert.Equal(t, want, got)
}

// A member of a wrong type hides no wrong value beside it.
func TestFaultsOfAnApprovalAreToldAtOnce(t *testing.T) {
	var a policy.Approval
	assert.EqualError(t, json.Unmarshal([]byte(`{"when": 3, "argument": "\u0000", "timeout": "-5s"}`), &a),
		`when: expected one of declared, never, always, undeclared, first, above, got a number "3"
timeout: -5s is negative; write it without the sign, or the word unlimited
argument: is no name of an argument; use 1 to 200 bytes of printable text`)
}

// A set that was read is written and read back as the same set. Refused JSON changes nothing.
func FuzzSetJSON(f *testing.F) {
	set := policy.DefaultSet()
	three, wait, strategy := 3, time.Second, backoff.Constant(time.Second)
	set.Global = policy.Layer{MaxAttempts: &three, Backoff: &strategy, MaxRetryAfter: &wait, Bases: map[fault.Class]time.Duration{"x": wait}}
	set.Tools = map[string]policy.Layer{"a": {RetryableErrors: []fault.Class{}}}
	good, err := json.Marshal(set)
	require.NoError(f, err)
	f.Add(good)
	for _, seed := range []string{``, `null`, `{}`, `{"global":{"max_attempts":"unlimited"}}`, `{"tools":{"a":{},"a":{}}}`, `{"tools":{},"tool_transport":{}}`, `{"max_turns":1e1}`,
		`{"call":{"max_retry_after":"-1ns","forms_off":["fence",3]}}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got policy.Set
		if err := got.UnmarshalJSON(data); err != nil {
			require.Equal(t, policy.Set{}, got)
			return
		}
		form, err := json.Marshal(got)
		require.NoError(t, err)
		var back policy.Set
		require.NoError(t, json.Unmarshal(form, &back))
		require.Equal(t, got, back, "%s", form)
	})
}
