package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

func TestResolveTakesTheMostSpecificFieldByField(t *testing.T) {
	s := policy.DefaultSet()
	s.Global = policy.Layer{MaxAttempts: new(4), EmitFeedback: new(false), NoProgress: new(1), OptOut: new(true)}
	s.Tools = map[string]policy.Layer{
		"book_room": {MaxAttempts: new(5), NoProgress: new(2)},
		"other":     {MaxAttempts: new(9)},
	}
	s.Answer = policy.Layer{MaxAttempts: new(6)}
	s.Call = policy.Layer{NoProgress: new(3), OptOut: new(false)}
	s.Transport = policy.Layer{MaxAttempts: new(7)}

	tool := s.Policy(policy.Target{Tool: "book_room"})
	want := policy.Correction()
	want.MaxAttempts, want.EmitFeedback, want.NoProgress, want.OptOut = 5, false, 3, false
	assert.Equal(t, want, tool)

	answer := s.Policy(policy.Target{})
	assert.Equal(t, 6, answer.MaxAttempts)
	unknown := s.Policy(policy.Target{Tool: "no_such_tool"})
	assert.Equal(t, 4, unknown.MaxAttempts, "a tool without a layer has the global one")

	one := adjusted(s, policy.Layer{MaxAttempts: new(1)})
	adjusted := one.Policy(policy.Target{Tool: "book_room"})
	assert.Equal(t, 1, adjusted.MaxAttempts)
	assert.Equal(t, 3, adjusted.NoProgress)

	transport := s.Policy(policy.Target{Plane: fault.Transport})
	assert.Equal(t, 7, transport.MaxAttempts)
	assert.Equal(t, policy.RetryAfterFloor, transport.RetryAfter, "the default lies below")
	assert.Equal(t, transport, one.Policy(policy.Target{Plane: fault.Transport}))
}

// The tries of a tool have the layer of the tool over that of the whole plane, and those of models only the
// latter.
func TestTheTransportOfAToolLiesOverThatOfThePlane(t *testing.T) {
	s := policy.DefaultSet()
	s.Transport = policy.Layer{MaxAttempts: new(7), MaxTotalDelay: new(time.Hour)}
	s.ToolTransport = map[string]policy.Layer{"pay": {MaxAttempts: new(2)}}
	type found struct {
		target, layer string
		attempts      int
		total         time.Duration
	}
	for _, c := range []struct {
		of   policy.Target
		want found
	}{
		{policy.Target{Plane: fault.Transport}, found{"transport", "transport", 7, time.Hour}},
		{policy.Target{Plane: fault.Transport, Tool: "pay"}, found{"tool_transport pay", "tool_transport pay", 2, time.Hour}},
		{policy.Target{Plane: fault.Transport, Tool: "search"}, found{"tool_transport search", "transport", 7, time.Hour}},
		{policy.Target{Plane: fault.Correction, Tool: "pay"}, found{"tool pay", "default", 3, policy.Unlimited}},
		{policy.Target{Tool: "pay"}, found{"tool pay", "default", 3, policy.Unlimited}},
		{policy.Target{}, found{"answer", "default", 3, policy.Unlimited}},
	} {
		p := s.Policy(c.of)
		assert.Equal(t, c.want, found{c.of.String(), s.Explain(c.of)[0].Layer, p.MaxAttempts, p.MaxTotalDelay})
	}
}

// What a policy of the transport plane says is all in the layer that is made of it.
func TestATransportPolicyIsALayer(t *testing.T) {
	for _, name := range policy.Presets()[1:] {
		p, _ := policy.Preset(name)
		p.ToolTimeout, p.ClassifyWords = time.Minute, true
		told := p
		told.EmitFeedback = true
		s := policy.DefaultSet()
		s.Transport = told.TransportLayer()
		require.NoError(t, s.Validate())
		assert.Equal(t, p, s.Policy(policy.Target{Plane: fault.Transport}), name)
	}
}

func TestAnEmptyListIsSaidAndAnAbsentOneIsNot(t *testing.T) {
	s := policy.Set{Global: policy.Layer{RetryableErrors: []fault.Class{}}}
	none := s.Policy(policy.Target{})
	assert.Empty(t, none.RetryableErrors)
	standard := new(policy.Set).Policy(policy.Target{})
	assert.Equal(t, policy.Correction(), standard)
}

func TestExplanationAsTable(t *testing.T) {
	s := policy.DefaultSet()
	s.Global = policy.Layer{
		Backoff: new(backoff.Linear(time.Second, time.Second)),
		Bases:   map[fault.Class]time.Duration{fault.NoOutput: time.Minute, fault.Class("a"): 0},
		Origins: map[string]policy.Source{
			"backoff":      {File: "policy.yaml", Line: 3, Column: 1},
			"max_attempts": {File: "not said", Line: 9, Column: 9},
		},
	}
	s.Tools = map[string]policy.Layer{"book_room": {MaxAttempts: new(policy.Unlimited), NoProgress: new(2)}}
	s = adjusted(s, policy.Layer{OptOut: new(true)})
	explanation := s.Explain(policy.Target{Tool: "book_room"})
	b := backoff.Linear(time.Second, time.Second).String()
	assert.Equal(t, policy.Explained{Field: "backoff", Value: b, Layer: "global", Source: "policy.yaml:3:1"}, explanation[1])
	explanation[1].Value = "linear"
	assert.Equal(t, `max_attempts           unlimited                                                    tool book_room
backoff                linear                                                       global          policy.yaml:3:1
retryable_errors       tool_validation, structured_output, unknown_tool, no_output  default
emit_feedback          true                                                         default
bases                  a 0s, no_output 1m0s                                         global
retry_after            floor                                                        default
retry_after_jitter     0.5                                                          default
max_retry_after        5m0s                                                         default
max_total_delay        unlimited                                                    default
model_timeout          unlimited                                                    default
tool_timeout           unlimited                                                    default
first_token_timeout    unlimited                                                    default
idle_timeout           unlimited                                                    default
no_progress            2                                                            tool book_room
progress               by declaration                                               default
identity               none                                                         default
polling                0s                                                           default
max_successes          unlimited                                                    default
max_session_successes  unlimited                                                    default
equal_calls            run                                                          default
equal_in_reply         declared                                                     default
approval               by declaration                                               default
opt_out                true                                                         adjusted
classify_words         false                                                        default
text_repairs           note                                                         default
native_repairs         refuse                                                       default
forms_off              none                                                         default
on_reducer_error       end_action                                                   default
attempts               none                                                         default
`, explanation.String())
}

func TestOverKeepsTheOriginsOfWhatWins(t *testing.T) {
	above, under := policy.Source{File: "upper", Line: 1, Column: 1}, policy.Source{File: "lower", Line: 1, Column: 1}
	upper := policy.Layer{MaxAttempts: new(1), Origins: map[string]policy.Source{"max_attempts": above}}
	lower := policy.Layer{MaxAttempts: new(2), OptOut: new(true),
		Origins: map[string]policy.Source{"opt_out": under, "max_attempts": under}}
	both := upper.Over(lower)
	assert.Equal(t, map[string]policy.Source{"max_attempts": above, "opt_out": under}, both.Origins)
	assert.Equal(t, []string{"max_attempts", "opt_out"}, both.Sets())
	assert.Empty(t, both.Origins["backoff"].String())
	lower.Origins["no_progress"] = under
	assert.NotContains(t, upper.Over(lower).Origins, "no_progress", "the origin of a field that is not set")
}

// The jitter is that of the next layer that has one, whatever the layers between them say: with a cap it
// comes after the cap if that layer says so, and without one it does not.
func TestALayerBetweenKeepsTheJitterAfterTheCap(t *testing.T) {
	jittered := backoff.Exponential(time.Second, 2*backoff.One)
	jittered.Cap = 10 * time.Second
	jittered.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.One / 5, AfterCap: true}
	capless, capped := backoff.Constant(time.Second), backoff.Constant(time.Minute)
	capped.Cap = time.Minute
	s := policy.DefaultSet()
	s.Global.Backoff, s.Answer.Backoff, s.Call.Backoff = &jittered, &capless, &capped
	p := s.Policy(policy.Target{})
	assert.Equal(t, jittered.Jitter, p.Backoff.Jitter)
	assert.Equal(t, p.Backoff, *s.Call.Over(s.Answer).Over(s.Global).Backoff)
	require.NoError(t, s.Answer.Over(s.Global).Validate())
	s.Call.Backoff = nil
	p = s.Policy(policy.Target{})
	assert.False(t, p.Backoff.Jitter.AfterCap, "there is no cap")
	require.NoError(t, p.Validate())
}

// Merging layers does not mend what one of them says wrongly of itself.
func TestAJitterAfterACapThatIsNotThereStaysAFault(t *testing.T) {
	own := backoff.Linear(time.Second, time.Second)
	own.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.25"), AfterCap: true}
	below := backoff.Constant(time.Second)
	below.Cap = 4 * time.Second
	merged := policy.Layer{Backoff: &own}.Over(policy.Layer{Backoff: &below})
	require.ErrorContains(t, merged.Validate(), "only with a cap")
}

// adjusted returns a set with an adjustment that need not be valid.
func adjusted(s policy.Set, l policy.Layer) policy.Set {
	s.Adjusted = l.Over(s.Adjusted)
	return s
}
