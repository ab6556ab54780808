package backoff_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

// lines returns the faults of an error, one per line.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestValidate(t *testing.T) {
	t.Parallel()
	type strategy = backoff.BackoffStrategy
	full := backoff.Jitter{Kind: backoff.Full}
	for _, c := range []struct {
		name string
		s    strategy
		want []string
	}{
		{"zero_value", strategy{}, []string{`kind: want constant, linear, exponential or list`}},
		{"unknown_kind", strategy{Kind: "fibonacci", Base: s}, []string{`kind: "fibonacci" is not known; use one of constant, linear, exponential, list`}},
		{"long_kind", strategy{Kind: backoff.Kind(strings.Repeat("x", 99))},
			[]string{`kind: "` + strings.Repeat("x", 40) + `…" is not known; use one of constant, linear, exponential, list`}},
		{"negative_delay", backoff.Constant(-s), []string{"delay: -1s is negative; write 0s or more"}},
		{"constant_with_all_else", strategy{Kind: backoff.KindConstant, Base: s, Step: s, Factor: backoff.One, Delays: []time.Duration{s}},
			[]string{
				"base: not a field of constant backoff, which takes delay",
				"step: not a field of constant backoff, which takes delay",
				"factor: not a field of constant backoff, which takes delay",
				"delays: not a field of constant backoff, which takes delay",
			}},
		{"linear_of_nothing", backoff.Linear(0, 0), []string{"base: want base or step above 0; for no delay use constant"}},
		{"negative_linear", backoff.Linear(-1, -2), []string{
			"base: -1ns is negative; write 0s or more", "step: -2ns is negative; write 0s or more"}},
		{"linear_with_factor", strategy{Kind: backoff.KindLinear, Base: s, Factor: backoff.One},
			[]string{"factor: not a field of linear backoff, which takes base and step"}},
		{"exponential_of_nothing", backoff.Exponential(0, 0), []string{
			"base: want a duration above 0, got 0s", "factor: want 1 to 1000000, got 0"}},
		{"shrinking", backoff.Exponential(s, backoff.Dec("0.999999999")), []string{"factor: want 1 to 1000000, got 0.999999999"}},
		{"growing_too_fast", backoff.Exponential(s, backoff.Dec("1000000.000000001")),
			[]string{"factor: want 1 to 1000000, got 1000000.000000001"}},
		{"exponential_with_delay", strategy{Kind: backoff.KindExponential, Base: s, Factor: backoff.One, Delay: s},
			[]string{"delay: not a field of exponential backoff, which takes base and factor"}},
		{"empty_list", backoff.List(), []string{"delays: want 1 to 1000 durations, got 0"}},
		{"long_list", backoff.List(make([]time.Duration, 1001)...), []string{"delays: want 1 to 1000 durations, got 1001"}},
		{"negative_entries", backoff.List(s, -1, s, -2), []string{
			"delays[1]: -1ns is negative; write 0s or more", "delays[3]: -2ns is negative; write 0s or more"}},
		{"negative_cap", with(backoff.Constant(s), -s, backoff.Jitter{}),
			[]string{"cap: -1s is negative; write 0s or more"}},
		{"jitter_without_kind", with(backoff.Constant(s), 0, backoff.Jitter{Fraction: 1}),
			[]string{`jitter.kind: want proportional, full, equal or none`}},
		{"unknown_jitter", with(backoff.Constant(s), 0, backoff.Jitter{Kind: "some"}),
			[]string{`jitter.kind: "some" is not known; use one of none, proportional, full, equal`}},
		{"no_fraction", with(backoff.Constant(s), 0, backoff.Jitter{Kind: backoff.Proportional}),
			[]string{"jitter.fraction: want above 0, at most 1, got 0"}},
		{"more_than_all", with(backoff.Constant(s), 0, backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("1.1")}),
			[]string{"jitter.fraction: want above 0, at most 1, got 1.1"}},
		{"after_no_cap", with(backoff.Constant(s), 0, backoff.Jitter{Kind: backoff.Proportional, Fraction: 1, AfterCap: true}),
			[]string{"jitter.after_cap: only with a cap: set cap, or leave it out"}},
		{"full_with_all_else", with(backoff.Constant(s), s, backoff.Jitter{Kind: backoff.Full, Fraction: 1, AfterCap: true}),
			[]string{"jitter.fraction: only for proportional jitter, not for full",
				"jitter.after_cap: only for proportional jitter, not for full"}},
		{"equal_with_fraction", with(backoff.Constant(s), 0, backoff.Jitter{Kind: backoff.Equal, Fraction: 1}),
			[]string{"jitter.fraction: only for proportional jitter, not for equal"}},
		{"none_with_fraction", with(backoff.Constant(s), 0, backoff.Jitter{Kind: backoff.NoJitter, Fraction: 1}),
			[]string{"jitter.fraction: only for proportional jitter, not for none"}},
		{"many_at_once", strategy{Kind: backoff.KindExponential, Base: -1, Cap: -1, Delay: 1, Jitter: backoff.Jitter{Kind: "x"}},
			[]string{
				"base: -1ns is negative; write 0s or more",
				"cap: -1ns is negative; write 0s or more",
				`jitter.kind: "x" is not known; use one of none, proportional, full, equal`,
				"delay: not a field of exponential backoff, which takes base and factor",
				"factor: want 1 to 1000000, got 0",
			}},
		{"good_at_the_bounds", with(backoff.Exponential(1, 1_000_000*backoff.One), 1, full), nil},
		{"good_list_at_the_bound", backoff.List(make([]time.Duration, 1000)...), nil},
		{"good_zero", backoff.Constant(0), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, lines(c.s.Validate()))
			_, err := c.s.MarshalJSON()
			assert.Equal(t, c.want, lines(err), "what cannot be read back is not written")
		})
	}
}

func TestGeneratedStrategiesAreValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { assert.NoError(t, anyStrategy().Draw(t, "s").Validate()) })
}

func TestFaultsAreFieldErrors(t *testing.T) {
	t.Parallel()
	err := backoff.List(-1).Validate()
	var fault *backoff.FieldError
	require.True(t, errors.As(err, &fault))
	assert.Equal(t, backoff.FieldError{Path: "delays[0]", Problem: "-1ns is negative; write 0s or more"}, *fault)
	assert.Equal(t, "whole", (&backoff.FieldError{Problem: "whole"}).Error())
}

func TestString(t *testing.T) {
	t.Parallel()
	jitter := func(kind backoff.JitterKind, fraction string, after bool) backoff.Jitter {
		return backoff.Jitter{Kind: kind, Fraction: backoff.Dec(fraction), AfterCap: after}
	}
	twice := backoff.Exponential(500*ms, 2*backoff.One)
	for _, c := range []struct {
		s    backoff.BackoffStrategy
		want string
	}{
		{backoff.BackoffStrategy{}, "no backoff"},
		{backoff.BackoffStrategy{Kind: "odd\n"}, `unknown backoff "odd\n"`},
		{backoff.Constant(0), "constant 0s"},
		{backoff.Linear(s, 500*ms), "linear 1s +500ms"},
		{twice, "exponential 500ms ×2"},
		{with(twice, 30*s, jitter("proportional", "0.2", false)), "exponential 500ms ×2, cap 30s, jitter ±20%"},
		{with(twice, 30*s, jitter("proportional", "0.125", true)), "exponential 500ms ×2, cap 30s, jitter ±12.5% after the cap"},
		{with(twice, 0, jitter("full", "0", false)), "exponential 500ms ×2, jitter full"},
		{with(backoff.Exponential(s, backoff.Dec("1.5")), 0, jitter("equal", "0", false)), "exponential 1s ×1.5, jitter equal"},
		{backoff.List(2*s, 8*s), "list 2s 8s"},
		{backoff.List(make([]time.Duration, 12)...), "list 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s"},
		{backoff.List(make([]time.Duration, 13)...), "list 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s and 1 more"},
		{backoff.List(make([]time.Duration, 14)...), "list 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s 0s and 2 more"},
	} {
		assert.Equal(t, c.want, c.s.String())
	}
	assert.Equal(t, "none", backoff.Jitter{}.String())
}
