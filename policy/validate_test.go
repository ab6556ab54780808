package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

func TestDefaultsAreValid(t *testing.T) {
	require.NoError(t, policy.DefaultSet().Validate())
	require.NoError(t, policy.Correction().Validate())
	require.NoError(t, policy.Layer{}.Validate())
	none := policy.DefaultSet()
	none.Budgets = policy.Budgets{}
	require.NoError(t, none.Validate(), "0 means no retry")
}

func TestTheZeroPolicyIsRefused(t *testing.T) {
	err := policy.RetryPolicy{}.Validate()
	for _, field := range []string{"max_attempts", "backoff.kind", "retry_after", "text_repairs", "native_repairs", "on_reducer_error"} {
		assert.ErrorContains(t, err, field+": ")
	}
	four := 4
	assert.EqualError(t, policy.Set{Global: policy.Layer{MaxAttempts: &four}}.Validate(),
		`max_turns: 0 is too few; write 1 or more, or the word unlimited
max_calls: 0 is too few; write 1 or more, or the word unlimited
it allows no model call and no failed attempt; begin with DefaultSet, and change what should differ`)
}

func TestAListOfClassesIsBounded(t *testing.T) {
	var l policy.Layer
	for n := range 1001 {
		l.RetryableErrors = append(l.RetryableErrors, fault.Class(fmt.Sprintf("c%d", n)))
	}
	assert.EqualError(t, l.Validate(), "retryable_errors: want at most 1000 entries, got 1001")
	l.RetryableErrors = l.RetryableErrors[:1000]
	require.NoError(t, l.Validate())
}

func TestValidateReportsEveryFault(t *testing.T) {
	s := policy.DefaultSet()
	s.Global = policy.Layer{
		MaxAttempts:      new(0),
		RetryableErrors:  []fault.Class{"tool_validation", "Tool Validation", "", "tool_validation"},
		Bases:            map[fault.Class]time.Duration{"timeout": -1, "bad class": 1},
		RetryAfter:       "last",
		RetryAfterJitter: new(2 * backoff.One),
		MaxRetryAfter:    new(time.Duration(-2)),
		MaxTotalDelay:    new(-time.Hour),
		NoProgress:       new(-1),
		TextRepairs:      "no",
		NativeRepairs:    "yes",
		FormsOff:         []extract.Form{"tool_tag", "morse", "tool_tag"},
		OnReducerError:   "panic",
		Identity:         []string{"", strings.Repeat("a", 200), strings.Repeat("a", 201), "a\n"},
	}
	s.Tools = map[string]policy.Layer{
		"book_flight": {Backoff: new(backoff.Exponential(time.Second, backoff.One/2))},
		"":            {},
	}
	s.Answer = policy.Layer{Polling: new(time.Second), RetryAfterJitter: new(-backoff.One / 2)}
	s.Call = policy.Layer{MaxAttempts: new(-2)}
	s.Transport = policy.Layer{NoProgress: new(1), EmitFeedback: new(true)}
	s.Budgets = policy.Budgets{Tool: -2, Run: -3, UnknownTools: policy.Unlimited}
	s.MaxTurns = 0
	err := s.Validate()
	lines := strings.Split(err.Error(), "\n")
	assert.Equal(t, []string{
		`global.max_attempts: 0 is too few; write 1 or more, or the word unlimited`,
		`global.retryable_errors[1]: "Tool Validation" is not a valid class name; use 1 to 64 of a-z, 0-9, '_', '-' and '.'`,
		`global.retryable_errors[2]: "" is not a valid class name; use 1 to 64 of a-z, 0-9, '_', '-' and '.'`,
		`global.retryable_errors[3]: "tool_validation" appears twice; leave one out`,
		`global.bases.bad class: "bad class" is not a valid class name; use 1 to 64 of a-z, 0-9, '_', '-' and '.'`,
		`global.bases.timeout: -1ns is negative; write 0s or more`,
		`global.retry_after: "last" is not known; use one of floor, first`,
		`global.max_retry_after: -2ns is negative; write 0s or more, or the word unlimited`,
		`global.max_total_delay: -1h0m0s is negative; write 0s or more, or the word unlimited`,
		`global.no_progress: -1 is no number of repeats; write off, or 1 or more`,
		`global.identity[0]: is no name of an argument; use 1 to 200 bytes of printable text`,
		`global.identity[2]: is no name of an argument; use 1 to 200 bytes of printable text`,
		`global.identity[3]: is no name of an argument; use 1 to 200 bytes of printable text`,
		`global.text_repairs: "no" is not known; use one of accept, note, refuse`,
		`global.native_repairs: "yes" is not known; use one of accept, note, refuse`,
	}, lines[:15])
	assert.Contains(t, lines[15], `global.forms_off[1]: "morse" is not known; use one of tool_tag, `)
	assert.Equal(t, []string{
		`global.forms_off[2]: "tool_tag" appears twice; leave one out`,
		`global.on_reducer_error: "panic" is not known; use one of end_action, stop`,
		`global.retry_after_jitter: 2 is not a fraction; write 0 to 1, such as 0.5`,
		`tools: a tool without a name; use the name it is registered under`,
		`tools.book_flight.backoff.factor: want 1 to 1000000, got 0.5`,
		`answer.retry_after_jitter: -0.5 is too few; write 0 or more`,
		`call.max_attempts: -2 is too few; write 1 or more, or the word unlimited`,
		`budgets.tool: -2 is too few; write 0 or more, or the word unlimited`,
		`budgets.run: -3 is too few; write 0 or more, or the word unlimited`,
		`max_turns: 0 is too few; write 1 or more, or the word unlimited`,
		`answer.polling: has no meaning for an answer; write it under tools.NAME, or under global`,
		`transport.emit_feedback: the model is not told about transport faults; leave it out`,
		`transport.no_progress: has no meaning for transport; leave it out`,
	}, lines[16:])
	var field *policy.FieldError
	require.True(t, errors.As(err, &field))
	assert.Equal(t, "global.max_attempts", field.Path)
}

func TestLayersThatDoNotFitTogether(t *testing.T) {
	bases := policy.Layer{Bases: map[fault.Class]time.Duration{fault.NoOutput: time.Second}}
	list := policy.Layer{Backoff: new(backoff.List(time.Second))}
	const problem = "bases: a list of delays has no base to replace; use another kind of backoff, or no bases"

	s := policy.DefaultSet()
	s.Global, s.Tools = bases, map[string]policy.Layer{"a": {}, "b": list}
	assert.EqualError(t, s.Validate(), "tools.b."+problem)
	s.Global, s.Tools, s.Call = bases, nil, list
	assert.EqualError(t, s.Validate(), "answer."+problem)
	s.Global, s.Call, s.Transport = policy.Layer{}, policy.Layer{}, list
	require.NoError(t, s.Validate())
	s.Transport = list.Over(bases)
	assert.EqualError(t, s.Validate(), "transport."+problem)
	s.ToolTransport = map[string]policy.Layer{"a": {}}
	assert.EqualError(t, s.Validate(), "transport."+problem, "once")
	s.Transport, s.ToolTransport = bases, map[string]policy.Layer{"a": {}, "b": list}
	assert.EqualError(t, s.Validate(), "tool_transport.b."+problem)
	s.Transport, s.ToolTransport = policy.Layer{}, map[string]policy.Layer{"b": list.Over(bases)}
	assert.EqualError(t, s.Validate(), "tool_transport.b."+problem, "once")

	s = policy.DefaultSet()
	s.Global, s.Tools, s.MaxTurns = bases, map[string]policy.Layer{"b": list}, 0
	assert.EqualError(t, s.Validate(),
		"max_turns: 0 is too few; write 1 or more, or the word unlimited\ntools.b."+problem, "beside other faults")
	s.Global, s.Tools, s.MaxTurns = list.Over(bases), map[string]policy.Layer{"b": {}}, 1
	assert.EqualError(t, s.Validate(), "global."+problem, "once")
}

// A name of another vocabulary is not a class: a policy that lists it would retry nothing.
func TestForeignNamesOfClassesAreRefused(t *testing.T) {
	l := policy.Layer{
		RetryableErrors: []fault.Class{"RATE_LIMITED", "server_error", "no-output", "my_own", fault.Class(strings.Repeat("x", 64))},
		Bases:           map[fault.Class]time.Duration{"llm-timeout": 1, "timeout": 1},
	}
	assert.EqualError(t, l.Validate(), strings.Join([]string{
		`retryable_errors[0]: "RATE_LIMITED" is another vocabulary's name for a class; write rate_limit`,
		`retryable_errors[1]: "server_error" is another vocabulary's name for a class; write unavailable`,
		`retryable_errors[2]: "no-output" is another vocabulary's name for a class; write no_output`,
		`bases.llm-timeout: "llm-timeout" is another vocabulary's name for a class; write timeout`,
	}, "\n"))
	l.RetryableErrors, l.Bases = []fault.Class{fault.Class(strings.Repeat("x", 65))}, nil
	assert.ErrorContains(t, l.Validate(), "use 1 to 64 of")
	for _, class := range append(fault.Transport.Classes(), fault.Correction.Classes()...) {
		l := policy.Layer{RetryableErrors: []fault.Class{class}}
		require.NoError(t, l.Validate(), class)
	}
}

func TestJSONOfAPolicy(t *testing.T) {
	data, err := json.MarshalIndent(policy.Correction(), "", "  ")
	require.NoError(t, err)
	assert.Equal(t, `{
  "max_attempts": 3,
  "backoff": {
    "kind": "constant",
    "delay": "0s"
  },
  "retryable_errors": [
    "tool_validation",
    "structured_output",
    "unknown_tool",
    "no_output"
  ],
  "emit_feedback": true,
  "bases": {},
  "retry_after": "floor",
  "retry_after_jitter": 0.5,
  "max_retry_after": "5m0s",
  "max_total_delay": "unlimited",
  "model_timeout": "unlimited",
  "tool_timeout": "unlimited",
  "first_token_timeout": "unlimited",
  "idle_timeout": "unlimited",
  "no_progress": "off",
  "progress": {},
  "identity": [],
  "polling": "0s",
  "max_successes": "unlimited",
  "max_session_successes": "unlimited",
  "equal_calls": "run",
  "equal_in_reply": "declared",
  "approval": {},
  "opt_out": false,
  "classify_words": false,
  "text_repairs": "note",
  "native_repairs": "refuse",
  "forms_off": [],
  "on_reducer_error": "end_action",
  "attempts": []
}`, string(data))
}

func TestJSONOfASet(t *testing.T) {
	s := policy.DefaultSet()
	s.Tools = map[string]policy.Layer{"b": {MaxAttempts: new(policy.Unlimited)}, "a": {RetryableErrors: []fault.Class{}}}
	s.Budgets.Run = policy.Unlimited
	data, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, `{"tools":{"a":{"retryable_errors":[]},"b":{"max_attempts":"unlimited"}},`+
		`"budgets":{"tool":4,"run":"unlimited","unknown_tools":2},"max_turns":100,"max_calls":128,"all_or_nothing":false}`, string(data))

	plain, empty := policy.DefaultSet(), policy.DefaultSet()
	empty.Tools, empty.ToolTransport, empty.Prices = map[string]policy.Layer{}, map[string]policy.Layer{}, policy.Prices{}
	want, err := json.Marshal(plain)
	require.NoError(t, err)
	data, err = json.Marshal(empty)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(data))
	assert.Equal(t, []int{128, 1000, 1000, 7}, []int{plain.CallLimit(), (&policy.Set{MaxCalls: policy.Unlimited}).CallLimit(),
		(&policy.Set{MaxCalls: 5000}).CallLimit(), (&policy.Set{MaxCalls: 7}).CallLimit()})
}

func TestJSONThatIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"max_atempts": 3}`, `{"max_attempts": "many"}`, `{"max_attempts": 1.5}`, `{"max_retry_after": 5}`,
		`{"max_retry_after": "5"}`, `{"max_attempts": -1}`, `{"max_retry_after": "-1ns"}`, `{"no_progress": "on"}`, `{"backoff": {"kind": "exponential"}}`, `{"opt_out": 1}`, `[]`,
	} {
		var p policy.RetryPolicy
		assert.Error(t, json.Unmarshal([]byte(text), &p), text)
		var s policy.Set
		assert.Error(t, json.Unmarshal([]byte(`{"global":`+text+`}`), &s), text)
	}
	var p policy.RetryPolicy
	require.NoError(t, json.Unmarshal([]byte(`{}`), &p))
	assert.Equal(t, policy.Correction(), p)
	var s policy.Set
	require.NoError(t, json.Unmarshal([]byte(`{}`), &s))
	assert.Equal(t, policy.DefaultSet(), s)
	require.NoError(t, json.Unmarshal([]byte(`{"tools": {}, "tool_transport": {}, "prices": {}}`), &s))
	assert.Equal(t, policy.DefaultSet(), s, "an empty mapping says nothing")
}

// A valid layer is refused if it does not fit the layers in force, even for a single tool.
func TestAnAdjustmentIsLookedAtOverTheLayersInForce(t *testing.T) {
	bases := map[fault.Class]time.Duration{fault.NoOutput: time.Second}
	list := backoff.List(time.Second)
	based, listed := policy.DefaultSet(), policy.DefaultSet()
	based.Tools = map[string]policy.Layer{"a": {Bases: bases}}
	listed.Global.Backoff = &list
	for _, tt := range []struct {
		name  string
		set   policy.Set
		layer policy.Layer
		want  string
	}{
		{"alone", based, policy.Layer{MaxAttempts: new(0)}, `max_attempts: 0 is too few; write 1 or more, or the word unlimited`},
		{"a_list_over_bases", based, policy.Layer{Backoff: &list}, "tools.a.bases: a list of delays has no base to replace; use another kind of backoff, or no bases"},
		{"bases_over_a_list", listed, policy.Layer{Bases: bases}, "answer.bases: a list of delays has no base to replace; use another kind of backoff, or no bases"},
		{"a_list_and_no_bases", based, policy.Layer{Backoff: &list, Bases: map[fault.Class]time.Duration{}}, ""},
		{"bases_and_another_backoff", listed, policy.Layer{Backoff: new(backoff.Constant(0)), Bases: bases}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next, err := policy.Adjust(tt.set, tt.layer)
			if tt.want != "" {
				require.EqualError(t, err, tt.want)
				assert.Equal(t, tt.set, next)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, adjusted(tt.set, tt.layer), next)
		})
	}
}

func TestAToolWithoutALayerHasAPolicyTooThatMakesSense(t *testing.T) {
	s := policy.DefaultSet()
	s.Global.Backoff, s.Answer.Backoff = new(backoff.List(time.Second)), new(backoff.Constant(0))
	s.Call.Bases = map[fault.Class]time.Duration{fault.NoOutput: time.Second}
	assert.EqualError(t, s.Validate(), "global.bases: a list of delays has no base to replace; use another kind of backoff, or no bases")
}

// A class with almost the name of a built-in class is a misspelling: no failure would have it.
func TestMisspeltClassesAreRefusedWithTheNearest(t *testing.T) {
	for misspelt, near := range map[fault.Class]fault.Class{
		"truncatd": fault.Truncated, "tool_validaton": fault.ToolValidation, "timeouts": fault.Timeout, "rate_limt": fault.RateLimit,
	} {
		l := policy.Layer{RetryableErrors: []fault.Class{misspelt}}
		assert.EqualError(t, l.Validate(), fmt.Sprintf("retryable_errors[0]: %q looks like a misspelled class; write %s, or choose another name for your own class",
			misspelt, near))
		l = policy.Layer{Bases: map[fault.Class]time.Duration{misspelt: time.Second}}
		assert.ErrorContains(t, l.Validate(), "write "+string(near))
	}
	own := policy.Layer{RetryableErrors: []fault.Class{"payment_declined", "my_output", "fruncated", "out_of_stock", "v2.timeout"}}
	assert.NoError(t, own.Validate())
}

func TestOwnClassesAreThoseOfTheProgramAlone(t *testing.T) {
	s := policy.DefaultSet()
	assert.Empty(t, s.OwnClasses())
	s.Global.RetryableErrors = []fault.Class{fault.ToolValidation, "out_of_stock"}
	s.Tools = map[string]policy.Layer{"pay": {RetryableErrors: []fault.Class{"declined", "out_of_stock"}}}
	s.Transport.Bases = map[fault.Class]time.Duration{fault.RateLimit: 1, "busy": 2}
	assert.Equal(t, []fault.Class{"busy", "declined", "out_of_stock"}, s.OwnClasses())
}

func TestSettingsOfAttempts(t *testing.T) {
	var s policy.Set
	require.NoError(t, json.Unmarshal([]byte(`{"global": {"attempts": [{}, {"temperature": 0}, {"temperature": 0.5, "model": "big"}]},
		"tools": {"pay": {"attempts": []}, "search": {"attempts": [{"model": "small"}]}}, "budgets": {}, "max_turns": 1, "max_calls": 1}`), &s))
	require.NoError(t, s.Validate())
	answer, explained := s.Policy(policy.Target{}), s.Explain(policy.Target{})
	assert.Equal(t, policy.Explained{
		Field: "attempts", Value: "{}, {temperature: 0}, {temperature: 0.5, model: big}", Layer: "global",
	}, explained[len(explained)-1])
	big := policy.Settings{Temperature: new(0.5), Model: "big"}
	for attempt, want := range []policy.Settings{{}, {}, {Temperature: new(0.0)}, big, big, big} {
		assert.Equal(t, want, answer.SettingsOf(attempt), "attempt %d", attempt)
	}
	pay, search := s.Policy(policy.Target{Tool: "pay"}), s.Policy(policy.Target{Tool: "search"})
	assert.Zero(t, pay.SettingsOf(2), "a layer replaces the whole list")
	assert.Equal(t, policy.Settings{Model: "small"}, search.SettingsOf(2))

	own := answer.Clone()
	*own.PerAttempt[1].Temperature = 2
	assert.Zero(t, *answer.PerAttempt[1].Temperature, "a clone has numbers of its own")

	assert.NoError(t, s.CheckModels([]string{"small", "big"}))
	other := policy.DefaultSet()
	other.Answer.PerAttempt, other.Call.PerAttempt, other.Adjusted.PerAttempt = search.PerAttempt, search.PerAttempt, search.PerAttempt
	assert.EqualError(t, other.CheckModels([]string{"big"}), strings.Join([]string{
		`answer.attempts[0].model: there is no model "small"; use one of big`,
		`call.attempts[0].model: there is no model "small"; use one of big`,
		`adjusted.attempts[0].model: there is no model "small"; use one of big`,
	}, "\n"))
	assert.EqualError(t, s.CheckModels([]string{"small"}), `global.attempts[2].model: there is no model "big"; use one of small`)
	assert.EqualError(t, s.CheckModels(nil), `global.attempts[2].model: there is no model "big"; the run has no models by name
tools.search.attempts[0].model: there is no model "small"; the run has no models by name`)
}

func TestFaultsOfSettings(t *testing.T) {
	s := policy.DefaultSet()
	s.Global.PerAttempt = []policy.Settings{{Temperature: new(2.0), Model: strings.Repeat("m", 200)}, {Temperature: new(3.0)}, {Temperature: new(-0.1)}, {Temperature: new(math.NaN())}}
	s.Answer.PerAttempt = []policy.Settings{{Model: "a\x00b"}, {Model: strings.Repeat("m", 201)}}
	s.Call.PerAttempt = make([]policy.Settings, 101)
	s.Transport.PerAttempt = []policy.Settings{}
	const name = "is not a valid model name; use at most 200 bytes of printable text"
	assert.Equal(t, []string{
		"global.attempts[1].temperature: must be 0 to 2, got 3",
		"global.attempts[2].temperature: must be 0 to 2, got -0.1",
		"global.attempts[3].temperature: must be 0 to 2, got NaN",
		"answer.attempts[0].model: " + name,
		"answer.attempts[1].model: " + name,
		"call.attempts: want the settings of at most 100 attempts, got 101",
		"transport.attempts: has no meaning for transport; leave it out",
	}, strings.Split(s.Validate().Error(), "\n"))
	for text, want := range map[string]string{
		`{"attempts": [{"temperature": "hot"}]}`: `attempts[0].temperature: expected a number, got text "hot"`,
		`{"attempts": [{"temprature": 1}]}`:      "attempts[0].temprature: this key is not known here; did you mean temperature?",
		`{"attempts": {"model": "big"}}`:         "attempts: expected a list, such as [a, b], got a mapping",
		`{"attempts": [{"model": 3}]}`:           "attempts[0].model: expected a name, got a number \"3\"",
	} {
		assert.EqualError(t, new(policy.Layer).UnmarshalJSON([]byte(text)), want)
	}
}

// A timeout is above 0, and belongs to the transport plane.
func TestATimeoutIsOfTheTransportPlane(t *testing.T) {
	s := policy.DefaultSet()
	s.Transport.ModelTimeout = new(time.Duration(0))
	s.Transport.ToolTimeout = new(time.Duration(-2))
	s.Tools = map[string]policy.Layer{"pay": {ToolTimeout: new(time.Second)}}
	s.Call.ModelTimeout = new(time.Second)
	s.Answer.IdleTimeout = new(time.Second)
	s.ToolTransport = map[string]policy.Layer{"pay": {FirstTokenTimeout: new(time.Second)}}
	assert.Equal(t, []string{
		`transport.model_timeout: 0s leaves no time; write more than 0s, or the word unlimited`,
		`transport.tool_timeout: -2ns leaves no time; write more than 0s, or the word unlimited`,
		"answer.idle_timeout: has no meaning for corrections; write it under transport",
		"call.model_timeout: has no meaning for corrections; write it under transport",
		"tools.pay.tool_timeout: has no meaning for corrections; write it under tool_transport.pay (in Go also tool.WithTransport)",
		"tool_transport.pay.first_token_timeout: has no meaning for tools; write it under transport",
	}, strings.Split(s.Validate().Error(), "\n"))
	s = policy.DefaultSet()
	s.Global.ClassifyWords, s.Transport.ClassifyWords = new(true), new(true)
	s.ToolTransport = map[string]policy.Layer{"pay": {ClassifyWords: new(true)}}
	assert.Equal(t, []string{
		"global.classify_words: has no meaning for corrections; write it under transport",
		"tool_transport.pay.classify_words: has no meaning for tools; write it under transport",
	}, strings.Split(s.Validate().Error(), "\n"))
	s = policy.DefaultSet()
	s.Global = policy.Correction().Layer()
	s.ToolTransport = map[string]policy.Layer{"pay": {ToolTimeout: new(time.Second)}}
	assert.NoError(t, s.Validate())
}

// The paths of fields are put together for faults only.
func TestCheckingAValidSetTakesLittleMemory(t *testing.T) {
	set := policy.DefaultSet()
	set.Global, set.Transport = policy.Correction().Layer(), policy.Transport().TransportLayer()
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = set.Validate() }), 25.0)
}
