package file_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/policy/internal/draw"
)

// bare removes the origins from a set.
func bare(s policy.Set) policy.Set {
	for _, l := range []*policy.Layer{&s.Global, &s.Answer, &s.Call, &s.Adjusted, &s.Transport} {
		l.Origins = nil
	}
	for name, l := range s.Tools {
		l.Origins = nil
		s.Tools[name] = l
	}
	for name, l := range s.ToolTransport {
		l.Origins = nil
		s.ToolTransport[name] = l
	}
	return s
}

func TestReadOnePolicy(t *testing.T) {
	const yaml = `# the whole file is the global layer
max_attempts: 4
backoff: {kind: exponential, base: 500ms, factor: 2, cap: 30s, jitter: {kind: proportional, fraction: 0.2}}
retryable_errors: [tool_validation, structured_output]
emit_feedback: true
`
	const json = `{"max_attempts": 4, "backoff": {"kind": "exponential", "base": "500ms", "factor": 2, "cap": "30s",
		"jitter": {"kind": "proportional", "fraction": 0.2}},
		"retryable_errors": ["tool_validation", "structured_output"], "emit_feedback": true}`
	strategy := backoff.Exponential(500*time.Millisecond, 2*backoff.One)
	strategy.Cap = 30 * time.Second
	strategy.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.One / 5}
	want := policy.DefaultSet()
	want.Global = policy.Layer{
		MaxAttempts:     new(4),
		Backoff:         &strategy,
		RetryableErrors: []fault.Class{fault.ToolValidation, fault.StructuredOutput},
		EmitFeedback:    new(true),
	}
	for name, text := range map[string]string{
		"policy.yaml": yaml, "policy.json": json, "policy": json, "other": yaml, "policy.yml": json,
		"windows.yaml": "\ufeff" + strings.ReplaceAll(yaml, "\n", "\r\n"), "marked.yaml": "---\n" + yaml + "...\n",
	} {
		got, err := file.Read(name, []byte(text))
		require.NoError(t, err, name)
		assert.Equal(t, want, bare(got), name)
	}
}

func TestReadASet(t *testing.T) {
	got, err := file.Read("set.yaml", []byte(`
global:
  max_attempts: unlimited
  backoff: {kind: constant, delay: 0}
  bases: {rate_limit: 5s, timeout: 0s}
  retry_after: first
  max_retry_after: 1m30s
  max_total_delay: unlimited
tools:
  book_flight:
    max_attempts: 2
    no_progress: true
    backoff:
      kind: linear
      base: 1s
      step: 2s
  "odd name: here": {no_progress: 3, forms_off: [python_call, prose]}
  silent: {}
answer: {text_repairs: refuse, native_repairs: accept, on_reducer_error: stop}
call: {opt_out: true, no_progress: off, retryable_errors: []}
transport: {backoff: {kind: list, delays: [1s, 2s]}, max_attempts: 7}
budgets: {tool: unlimited, run: 0}
max_turns: 12
max_calls: 5
all_or_nothing: true
`))
	require.NoError(t, err)
	want := policy.Set{
		Global: policy.Layer{
			MaxAttempts:   new(policy.Unlimited),
			Backoff:       new(backoff.Constant(0)),
			Bases:         map[fault.Class]time.Duration{fault.RateLimit: 5 * time.Second, fault.Timeout: 0},
			RetryAfter:    policy.RetryAfterFirst,
			MaxRetryAfter: new(90 * time.Second),
			MaxTotalDelay: new(time.Duration(policy.Unlimited)),
		},
		Tools: map[string]policy.Layer{
			"book_flight":    {MaxAttempts: new(2), NoProgress: new(1), Backoff: new(backoff.Linear(time.Second, 2*time.Second))},
			"odd name: here": {NoProgress: new(3), FormsOff: []extract.Form{"python_call", "prose"}},
			"silent":         {},
		},
		Answer:       policy.Layer{TextRepairs: policy.RepairsRefuse, NativeRepairs: policy.RepairsAccept, OnReducerError: policy.ReducerStopsRun},
		Call:         policy.Layer{OptOut: new(true), NoProgress: new(0), RetryableErrors: []fault.Class{}},
		Transport:    policy.Layer{Backoff: new(backoff.List(time.Second, 2*time.Second)), MaxAttempts: new(7)},
		Budgets:      policy.Budgets{Tool: policy.Unlimited, Run: 0, UnknownTools: 2},
		MaxTurns:     12,
		MaxCalls:     5,
		AllOrNothing: true,
	}
	assert.Equal(t, want, bare(got))
}

func TestReadRemembersWhereFieldsWereWritten(t *testing.T) {
	const text = "global:\n  max_attempts: 4\ntools:\n  book:\n    opt_out: false\n    no_progress: true\n" +
		"transport: {preset: rate-limit,\n  max_attempts: 2}\n"
	set, err := file.Read("policy.yaml", []byte(text))
	require.NoError(t, err)
	explanation := set.Explain(policy.Target{Tool: "book"})
	assert.Equal(t, "policy.yaml:2:3", explanation[0].Source)
	assert.Equal(t, "policy.yaml:6:5", explanation[13].Source)
	assert.Equal(t, "policy.yaml:5:5", explanation[22].Source)
	assert.Empty(t, explanation[1].Source)

	explanation = set.Explain(policy.Target{Plane: fault.Transport})
	assert.Equal(t, policy.Explained{Field: "max_attempts", Value: "2", Layer: "transport", Source: "policy.yaml:8:3"}, explanation[0])
	assert.Equal(t, "policy.yaml:7:13", explanation[1].Source, "a preset's fields come from where it is named")

	for _, layer := range []string{"global", "answer", "call", "adjusted", "transport", "tools: {a", "tool_transport: {a"} {
		text := layer + ": {max_attempts: 2}" + strings.Repeat("}", strings.Count(layer, "{"))
		set, err := file.Read("policy.yaml", []byte(text))
		require.NoError(t, err, text)
		of := policy.Target{Plane: fault.Correction}
		if strings.Contains(layer, "transport") {
			of.Plane = fault.Transport
		}
		if strings.Contains(layer, "{a") {
			of.Tool = "a"
		}
		assert.Equal(t, fmt.Sprintf("policy.yaml:1:%d", len(layer)+4), set.Explain(of)[0].Source, text)
	}

	set, err = file.Read("policy.json", []byte("{\n  \"max_attempts\": 4,\"opt_out\":\ttrue}"))
	require.NoError(t, err)
	explanation = set.Explain(policy.Target{})
	assert.Equal(t, "policy.json:2:3", explanation[0].Source)
	assert.Equal(t, "policy.json:2:21", explanation[22].Source)
}

func TestPresetsInFiles(t *testing.T) {
	for _, name := range policy.Presets() {
		want, _ := policy.Preset(name)
		set, err := file.Read("p.yaml", []byte("transport: {preset: "+name+"}\ntools: {a: {preset: "+name+"}}"))
		require.NoError(t, err, name)
		got := set.Policy(policy.Target{Plane: fault.Transport})
		if want.Backoff.Jitter.Kind == "" {
			want.Backoff.Jitter = got.Backoff.Jitter // that of the layer below
			want.Backoff.Jitter.AfterCap = false
		}
		assert.Equal(t, want.Backoff, got.Backoff)
		assert.Equal(t, want.MaxAttempts, got.MaxAttempts)
		assert.Equal(t, want.Bases, got.Bases)
		assert.Equal(t, want.RetryAfter, got.RetryAfter)
		assert.True(t, got.Retries(fault.RateLimit), "transport goes on retrying transport faults")
		tool := set.Policy(policy.Target{Tool: "a"})
		want, _ = policy.Preset(name)
		assert.Equal(t, want.Backoff, tool.Backoff)
		assert.Equal(t, policy.Correction().RetryableErrors, tool.RetryableErrors, "correction goes on retrying its own")
	}
}

// A file that changes a delay keeps the jitter that keeps clients from coming back together. The word none
// takes it away.
func TestABackoffWithoutJitterKeepsTheDefaultJitter(t *testing.T) {
	for text, want := range map[string]string{
		"{kind: constant, delay: 2s}":                                        "constant 2s, jitter ±25%",
		"{kind: exponential, base: 2s, factor: 3, cap: 9s}":                  "exponential 2s ×3, cap 9s, jitter ±25% after the cap",
		"{kind: constant, delay: 2s, jitter: none}":                          "constant 2s, jitter none",
		"{kind: constant, delay: 2s, jitter: {kind: full}}":                  "constant 2s, jitter full",
		"{kind: constant, delay: 2s}\n  preset: rate-limit":                  "constant 2s, jitter ±10%",
		"{kind: constant, delay: 2s}\n  preset: result-envelope":             "constant 2s, jitter none",
		"{kind: list, delays: [1s, 2s], jitter: {kind: equal}}\n  bases: {}": "list 1s 2s, jitter equal",
	} {
		set, err := file.Read("p.yaml", []byte("transport:\n  backoff: "+text))
		require.NoError(t, err, text)
		got := set.Policy(policy.Target{Plane: fault.Transport})
		assert.Equal(t, want, got.Backoff.String())
	}
	set, err := file.Read("p.yaml", []byte("transport: {backoff: {kind: constant, delay: 2s, jitter: none}}\n"+
		"tool_transport: {pay: {backoff: {kind: constant, delay: 3s}}}\ntools: {pay: {backoff: {kind: constant, delay: 1s}}}"))
	require.NoError(t, err)
	got := set.Policy(policy.Target{Plane: fault.Transport, Tool: "pay"})
	assert.Equal(t, "constant 3s, jitter none", got.Backoff.String(), "the layer below says none")
	got = set.Policy(policy.Target{Tool: "pay"})
	assert.Equal(t, "constant 1s", got.Backoff.String(), "corrections have no default jitter")
}

// The JSON of a set is a policy file.
func TestLawOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := draw.Set().Draw(t, "set")
		data, err := set.MarshalJSON()
		require.NoError(t, err)
		back, err := file.Read("set.json", data)
		require.NoError(t, err, string(data))
		require.Equal(t, set, bare(back), string(data))
	})
}

func TestEveryFieldOfAPolicyCanBeRead(t *testing.T) {
	for _, name := range policy.Correction().Layer().Sets() {
		_, err := file.Read("p.yaml", []byte(name+": [[]]"))
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "not known here", name)
	}
}

func ExampleRead() {
	_, err := file.Read("policy.yaml", []byte(`max_atempts: 4
backoff: {kind: exponential, base: 5, factor: 2}
emit_feedback: yes please
`))
	fmt.Println(err)
	var fault *file.Fault
	fmt.Println(errors.As(err, &fault), fault.Line, fault.Path)

	set, err := file.Read("policy.yaml", []byte(`tools: {book_room: {max_attempts: 4}}`))
	why := set.Explain(policy.Target{Tool: "book_room"})
	fmt.Println(err, why[0])
	// Output:
	// policy.yaml:1:1: max_atempts: this key is not known here; did you mean max_attempts?
	// policy.yaml:2:36: backoff.base: 5 has no unit; write 5s or 5ms
	// policy.yaml:3:16: emit_feedback: expected true or false, got text "yes please"
	// true 1 max_atempts
	// <nil> {max_attempts 4 tool book_room policy.yaml:1:21}
}

// YAML has more ways to write a number than JSON.
func TestNumbersAreReadAsYAMLWritesThem(t *testing.T) {
	for text, want := range map[string]float64{".5": 0.5, "0.5": 0.5, "1.": 1, "+1": 1, "+.25": 0.25} {
		set, err := file.Read("a.yaml", []byte("global:\n  attempts:\n    - {temperature: "+text+"}\n"))
		require.NoError(t, err, text)
		assert.InDelta(t, want, *set.Global.PerAttempt[0].Temperature, 0, text)
	}
	_, err := file.Read("a.yaml", []byte("global:\n  attempts:\n    - {temperature: -.5}\n"))
	require.ErrorContains(t, err, "a.yaml:3:21: global.attempts[0].temperature")
}

// A value on a line of its own, a list over two lines, an escape and a text that goes on are YAML as any
// other.
func TestYAMLIsReadAsItStands(t *testing.T) {
	got, err := file.Read("p.yaml", []byte("max_attempts:\n  4\nretryable_errors: [tool_validation,\n  refusal]\n"+
		"\"emit_\\x66eedback\": false\n? on_reducer_error\n: stop\n"))
	require.NoError(t, err)
	want, err := file.Read("p.json", []byte(`{"max_attempts": 4, "retryable_errors": ["tool_validation", "refusal"],
		"emit_feedback": false, "on_reducer_error": "stop"}`))
	require.NoError(t, err)
	assert.Equal(t, policy.Source{File: "p.yaml", Line: 5, Column: 1}, got.Global.Origins["emit_feedback"])
	assert.Equal(t, bare(want), bare(got))
}

func TestAFleetStandsBesideEitherForm(t *testing.T) {
	want := limit.Fleet{
		Limit: limit.Config{
			Windows:     []limit.Window{{Resource: "requests", Limit: 500, Period: time.Minute}},
			Concurrency: 20, ProbeEvery: 5 * time.Second,
		},
		Scopes:  map[string]limit.Config{"openai/gpt-4.1": {Failures: 5}},
		MaxWait: 2 * time.Minute, Processes: 8,
	}
	const fleet = `
fleet:
  limit: {windows: [{resource: requests, limit: 500, period: 1m}], concurrency: 20, probe_every: 5s}
  scopes: {openai/gpt-4.1: {failures: 5}}
  max_wait: 2m
  processes: 8
`
	for _, beside := range []string{"", "max_attempts: 7", "global: {max_attempts: 7}\nmax_turns: 9"} {
		got, err := file.ReadFleet("policy.yaml", []byte(beside+fleet))
		require.NoError(t, err, beside)
		assert.Equal(t, want, got, beside)
		set, err := file.Read("policy.yaml", []byte(beside+fleet))
		require.NoError(t, err, beside)
		assert.Equal(t, beside == "", set.Global.IsZero(), beside)
	}
	none, err := file.ReadFleet("policy.json", []byte(`{"max_attempts": 7}`))
	require.NoError(t, err)
	assert.Zero(t, none)
}

// A misspelt "fleet" is told as such, beside the keys of a set, of a layer, and of neither.
func TestAMisspeltFleetIsNamed(t *testing.T) {
	for _, beside := range []string{"", "max_attempts: 4\n", "global: {max_attempts: 4}\n"} {
		_, err := file.Read("policy.yaml", []byte(beside+"flet: {max_wait: 2m}\n"))
		line := 1 + strings.Count(beside, "\n")
		require.EqualError(t, err, fmt.Sprintf("policy.yaml:%d:1: flet: this key is not known here; did you mean fleet?", line))
	}
}
