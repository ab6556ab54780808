package backoff_test

import (
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

func TestYAMLForm(t *testing.T) {
	t.Parallel()
	b := with(backoff.Exponential(500*ms, backoff.Dec("1.5")), 30*s,
		backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2"), AfterCap: true})
	data, err := yaml.Marshal(map[string]backoff.BackoffStrategy{"backoff": b})
	require.NoError(t, err)
	assert.Equal(t, `backoff:
  kind: exponential
  base: 500ms
  factor: 1.5
  cap: 30s
  jitter:
    kind: proportional
    fraction: 0.2
    after_cap: true
`, string(data))
	data, err = yaml.Marshal(backoff.List(2*s, 8*s))
	require.NoError(t, err)
	assert.Equal(t, "kind: list\ndelays:\n- 2s\n- 8s\n", string(data))
}

func TestYAMLRoundTrips(t *testing.T) {
	t.Parallel()
	type holder struct {
		Backoff backoff.BackoffStrategy  `yaml:"backoff"`
		Pointer *backoff.BackoffStrategy `yaml:"pointer,omitempty"`
		Number  backoff.Decimal          `yaml:"number"`
	}
	rapid.Check(t, func(t *rapid.T) {
		b := anyStrategy().Draw(t, "strategy")
		want := holder{Backoff: b, Number: backoff.Decimal(rapid.Int64Min(0).Draw(t, "number"))}
		if rapid.Bool().Draw(t, "pointer") {
			want.Pointer = &b
		}
		data, err := yaml.Marshal(want)
		require.NoError(t, err)
		var got holder
		require.NoError(t, yaml.Unmarshal(data, &got), "%s", data)
		assert.Equal(t, want, got)
		var strict holder
		require.NoError(t, yaml.UnmarshalWithOptions(data, &strict, yaml.Strict()))
		assert.Equal(t, want, strict)
	})
}

func TestYAMLReadsWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	want := with(backoff.Exponential(500*ms, 2*backoff.One), 30*s,
		backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")})
	for _, text := range []string{
		"kind: exponential\nbase: 500ms   # half a second\nfactor: 2\ncap: 30s\njitter: {kind: proportional, fraction: 0.2}\n",
		"kind: exponential\nbase: 500ms\nfactor: 2.0\ncap: 30s\njitter:\n  kind: proportional\n  fraction: 2e-1\n",
		"{kind: 'exponential', base: \"0.5s\", factor: '2', cap: 0.5m, jitter: {kind: proportional, fraction: '0.2'}}",
		`{"kind":"exponential","base":"500ms","factor":2,"cap":"30s","jitter":{"kind":"proportional","fraction":0.2}}`,
	} {
		var got backoff.BackoffStrategy
		require.NoError(t, yaml.Unmarshal([]byte(text), &got), text)
		assert.Equal(t, want, got)
	}
}

func TestYAMLRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"scalar", "constant", "want a mapping with the field kind"},
		{"list", "- constant", "want a mapping with the field kind"},
		{"unknown", "kind: constant\ndelay: 1s\nmax: 3", "max: unknown field"},
		{"duplicate", "kind: constant\nkind: constant\ndelay: 1s", ""}, // in the library's words
		{"not_a_number", "kind: exponential\nbase: 1s\nfactor: .nan", `factor: want a decimal from 0 to 9223372036.854775807 with at most 9 decimals, such as 1.5, got "NaN"`},
		{"infinite", "kind: exponential\nbase: 1s\nfactor: .inf", `got "+Inf"`},
		{"huge", "kind: exponential\nbase: 1s\nfactor: 1e300", "factor: want a decimal"},
		{"precise", "kind: exponential\nbase: 1s\nfactor: 1.0000000001", `got "1.0000000001"`},
		{"negative", "kind: exponential\nbase: 1s\nfactor: -2", `got "-2"`},
		{"fraction_above_one", "kind: constant\ndelay: 1s\njitter: {kind: proportional, fraction: 2}", "jitter.fraction: want above 0, at most 1, got 2"},
		{"bare_number", "kind: constant\ndelay: 5", "delay: want a Go duration string"},
		{"null_jitter", "kind: constant\ndelay: 1s\njitter:", `jitter: want a JSON object or "none", got null`},
		{"wrong_jitter_member", "kind: constant\ndelay: 1s\njitter: {1: 2}", "jitter.1: unknown field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got backoff.BackoffStrategy
			require.ErrorContains(t, yaml.Unmarshal([]byte(c.text), &got), c.want)
			assert.Equal(t, backoff.BackoffStrategy{}, got)
		})
	}
}

func TestDecimalYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0\n", "2": "2\n", "1.5": "1.5\n", "0.000000001": "1e-09\n", "999999.123456789": "999999.123456789\n",
		"9223372036.854775807": "\"9223372036.854775807\"\n",
	} {
		data, err := yaml.Marshal(backoff.Dec(text))
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
		var back backoff.Decimal
		require.NoError(t, yaml.Unmarshal(data, &back))
		assert.Equal(t, text, back.String())
	}
	for _, text := range []string{"-1", ".nan", "[1]", "{a: 1}", "true", "1.0000000001"} {
		var d backoff.Decimal
		assert.ErrorContains(t, yaml.Unmarshal([]byte(text), &d), "want a decimal", text)
	}
	_, err := yaml.Marshal(backoff.Decimal(-1))
	assert.ErrorContains(t, err, "want a decimal")
}
