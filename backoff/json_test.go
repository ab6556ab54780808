package backoff_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

var goodForms = []struct {
	json string
	s    backoff.BackoffStrategy
}{
	{`{"kind":"constant","delay":"0s"}`, backoff.Constant(0)},
	{`{"kind":"constant","delay":"1.5s","jitter":{"kind":"full"}}`, with(backoff.Constant(1500*ms), 0, backoff.Jitter{Kind: backoff.Full})},
	{`{"kind":"linear","base":"1s","step":"500ms"}`, backoff.Linear(s, 500*ms)},
	{`{"kind":"linear","step":"1m0s","cap":"1h0m0s"}`, with(backoff.Linear(0, time.Minute), time.Hour, backoff.Jitter{})},
	{`{"kind":"exponential","base":"500ms","factor":2,"cap":"30s","jitter":{"kind":"proportional","fraction":0.2,"after_cap":true}}`,
		with(backoff.Exponential(500*ms, 2*backoff.One), 30*s,
			backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2"), AfterCap: true})},
	{`{"kind":"exponential","base":"1ns","factor":1.000000001,"jitter":{"kind":"equal"}}`,
		with(backoff.Exponential(1, backoff.Dec("1.000000001")), 0, backoff.Jitter{Kind: backoff.Equal})},
	{`{"kind":"list","delays":["2s","8s","16s","35s"],"jitter":{"kind":"proportional","fraction":0.1}}`,
		with(backoff.List(2*s, 8*s, 16*s, 35*s), 0, backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.1")})},
}

func TestJSONForm(t *testing.T) {
	t.Parallel()
	for _, c := range goodForms {
		data, err := json.Marshal(c.s)
		require.NoError(t, err)
		assert.Equal(t, c.json, string(data))
		var back backoff.BackoffStrategy
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, c.s, back)
	}
}

func TestJSONReadsEquivalentForms(t *testing.T) {
	t.Parallel()
	want := with(backoff.Exponential(500*ms, backoff.Dec("1.5")), 30*s, backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")})
	for _, form := range []string{
		`{"kind":"exponential","base":"500ms","factor":1.5,"cap":"30s","jitter":{"kind":"proportional","fraction":0.2}}`,
		`{"jitter":{"after_cap":false,"fraction":"0.20","kind":"proportional"},"cap":"0.5m","factor":"1.5","base":"0.5s","kind":"exponential"}`,
		" {\n\t\"k\\u0069nd\" : \"exponential\" ,\r\n \"base\":\"500000us\",\"factor\":15e-1,\"cap\":\"30s\",\"jitter\" : { \"kind\" : \"proportional\", \"fraction\": 2e-1 } } ",
	} {
		var got backoff.BackoffStrategy
		require.NoError(t, json.Unmarshal([]byte(form), &got), form)
		assert.Equal(t, want, got)
	}
}

func TestJSONRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyStrategy().Draw(t, "strategy")
		data, err := json.Marshal(want)
		require.NoError(t, err)
		var got backoff.BackoffStrategy
		require.NoError(t, json.Unmarshal(data, &got))
		assert.Equal(t, want, got)
		again, err := json.Marshal(got)
		require.NoError(t, err)
		assert.Equal(t, string(data), string(again))
	})
}

func TestLongestListRoundTrips(t *testing.T) {
	t.Parallel()
	delays := make([]time.Duration, 1000)
	for i := range delays {
		delays[i] = longest - time.Duration(i)
	}
	data, err := json.MarshalIndent(backoff.List(delays...), "", "    ")
	require.NoError(t, err)
	var got backoff.BackoffStrategy
	require.NoError(t, json.Unmarshal(data, &got))
	assert.Equal(t, delays, got.Delays)
}

func TestJSONRefuses(t *testing.T) {
	t.Parallel()
	const (
		object  = "expected a mapping of keys to values, got "
		keys    = "this key is not known here; use one of kind, delay, base, step, factor, delays, cap, jitter"
		noKind  = "there is no kind; add kind: constant, linear, exponential or list"
		jitter  = "expected none, or a mapping such as {kind: proportional, fraction: 0.2}, got "
		oneOnly = "this key appears twice; leave one out"
		decimal = "factor: want a decimal from 0 to 9223372036.854775807 with at most 9 decimals, such as 1.5, got "
		span    = "expected a duration such as 500ms or 2s, got "
	)
	for _, c := range []struct {
		name, form string
		want       []string
	}{
		{"nothing", ``, []string{"no valid JSON; expected JSON that is complete"}},
		{"null", `null`, []string{object + "nothing"}},
		{"text", `"constant"`, []string{object + "text"}},
		{"cut_off", `{"kind":"constant"`, []string{"no valid JSON; expected JSON that is complete"}},
		{"trailing", `{"kind":"constant","delay":"1s"} {}`, []string{"no valid JSON; there is more than one value"}},
		{"bad_utf8", "{\"kind\":\"\xff\"}", []string{"no valid JSON; expected text in UTF-8"}},
		{"deep", strings.Repeat("[", 20_000), []string{"no valid JSON; expected valid JSON"}},
		{"empty", `{}`, []string{noKind}},
		{"duplicate", `{"kind":"constant","kind":"constant","delay":"1s"}`, []string{"kind: " + oneOnly}},
		{"escaped_duplicate", `{"kind":"constant","k\u0069nd":"constant","delay":"1s"}`, []string{"kind: " + oneOnly}},
		{"duplicate_in_jitter", `{"kind":"constant","delay":"1s","jitter":{"kind":"full","kind":"full"}}`,
			[]string{"jitter.kind: " + oneOnly}},
		{"unknown", `{"kind":"constant","delay":"1s","max":3}`, []string{"max: " + keys}},
		{"other_case", `{"Kind":"constant","delay":"1s"}`, []string{"Kind: this key is not known here; did you mean kind?", noKind}},
		{"odd_name", `{"kind":"constant","delay":"1s","a\nb":3}`, []string{`a\nb: ` + keys}},
		{"unknown_in_jitter", `{"kind":"constant","delay":"1s","jitter":{"kind":"full","seed":3}}`,
			[]string{"jitter.seed: this key is not known here; use one of kind, fraction, after_cap"}},
		{"constant_without_delay", `{"kind":"constant"}`, []string{"delay: constant backoff needs this key; add it"}},
		{"field_of_another_kind", `{"kind":"constant","delay":"1s","base":"0s"}`,
			[]string{"base: constant backoff does not take this key; leave it out"}},
		{"zero_cap", `{"kind":"constant","delay":"1s","cap":"0s"}`,
			[]string{"cap: 0 is not a cap; leave cap out for no cap, or write a duration above 0"}},
		{"null_cap", `{"kind":"constant","delay":"1s","cap":null}`,
			[]string{"cap: there is no value; write one, or leave the key out"}},
		{"number_delay", `{"kind":"constant","delay":5}`, []string{"delay: 5 has no unit; write 5s or 5ms"}},
		{"unitless_delay", `{"kind":"constant","delay":"5"}`, []string{"delay: 5 has no unit; write 5s or 5ms"}},
		{"negative_delay", `{"kind":"constant","delay":"-5s"}`, []string{"delay: -5s is negative; write it without the sign"}},
		{"absurd_delay", `{"kind":"constant","delay":"9999999h"}`,
			[]string{`delay: "9999999h" is longer than a duration can be; write at most 2562047h`}},
		{"long_delay", `{"kind":"constant","delay":"` + strings.Repeat("1x", 40) + `"}`,
			[]string{`delay: "` + strings.Repeat("1x", 20) + `…" is no duration; write one such as 500ms, 2s or 1m30s`}},
		{"bad_factor_blamed_once", `{"kind":"exponential","base":"1s","factor":"NaN"}`, []string{decimal + `"NaN"`}},
		{"precise_factor", `{"kind":"exponential","base":"1s","factor":1.0000000001}`,
			[]string{decimal + `"1.0000000001"`}},
		{"list_of_numbers", `{"kind":"list","delays":["1s",2,"x"]}`, []string{"delays[1]: 2 has no unit; write 2s or 2ms",
			`delays[2]: "x" is no duration; write one such as 500ms, 2s or 1m30s`}},
		{"list_no_array", `{"kind":"list","delays":"1s"}`, []string{`delays: expected a list, such as [a, b], got text "1s"`}},
		{"empty_list", `{"kind":"list","delays":[]}`, []string{"delays: want 1 to 1000 durations, got 0"}},
		{"long_list", `{"kind":"list","delays":[` + strings.Repeat(`"1s",`, 1000) + `"1s"]}`,
			[]string{"delays: want 1 to 1000 durations, got 1001"}},
		{"jitter_text", `{"kind":"constant","delay":"1s","jitter":"full"}`, []string{"jitter: " + jitter + `text "full"`}},
		{"jitter_number", `{"kind":"constant","delay":"1s","jitter":0.2}`, []string{"jitter: " + jitter + `a number "0.2"`}},
		{"jitter_empty", `{"kind":"constant","delay":"1s","jitter":{}}`,
			[]string{"jitter: there is no kind; add kind: proportional, full or equal; or write jitter: none"}},
		{"jitter_kind_blamed_once", `{"kind":"constant","delay":"1s","jitter":{"kind":5}}`,
			[]string{`jitter.kind: expected one of none, proportional, full, equal, got a number "5"`}},
		{"jitter_after_cap_text", `{"kind":"constant","delay":"1s","cap":"1s","jitter":{"kind":"proportional","fraction":1,"after_cap":"true"}}`,
			[]string{`jitter.after_cap: expected true or false, got text "true"`}},
		{"full_with_fraction", `{"kind":"constant","delay":"1s","jitter":{"kind":"full","fraction":0.1}}`,
			[]string{"jitter.fraction: only for proportional jitter, not for full"}},
		{"many", `{"kind":7,"delay":[],"speed":1,"jitter":{"kind":"full","seed":"x"}}`, []string{
			`kind: expected one of constant, linear, exponential, list, got a number "7"`,
			"delay: " + span + "a list",
			"speed: " + keys,
			"jitter.seed: this key is not known here; use one of kind, fraction, after_cap",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := backoff.Constant(s)
			got := before
			assert.Equal(t, c.want, lines(got.UnmarshalJSON([]byte(c.form))))
			assert.Equal(t, before, got, "left as it was")
		})
	}
}

func TestJitterThatIsNoJSONIsRefused(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"", "{"} {
		got := backoff.Jitter{Kind: backoff.Full}
		assert.Equal(t, []string{"no valid JSON; expected JSON that is complete"}, lines(got.UnmarshalJSON([]byte(form))))
		assert.Equal(t, backoff.Jitter{Kind: backoff.Full}, got, "left as it was")
	}
}

func FuzzUnmarshalJSON(f *testing.F) {
	for _, c := range goodForms {
		f.Add([]byte(c.json))
	}
	for _, seed := range []string{``, `null`, `[]`, `{}`, `{"kind":"list","delays":["1s",2,null]}`, `{"kind":"constant","kind":"x"}`,
		`{"kind":"exponential","base":"1ns","factor":1e6,"cap":"2562047h47m16.854775807s"}`,
		`{"kind":"exponential","base":"0.1ns","factor":"1.000000001","jitter":{"fraction":1e-9,"kind":"proportional"}}`,
		"{\"\xff\":1}", `{"jitter":{"jitter":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got backoff.BackoffStrategy
		if err := got.UnmarshalJSON(data); err != nil {
			require.Less(t, len(err.Error()), 300*(len(data)+2))
			require.Equal(t, backoff.BackoffStrategy{}, got)
			return
		}
		require.NoError(t, got.Validate())
		form, err := json.Marshal(got)
		require.NoError(t, err)
		var back backoff.BackoffStrategy
		require.NoError(t, json.Unmarshal(form, &back))
		require.Equal(t, got, back)
		lo, hi := got.Bounds(100)
		d := got.After(100, backoff.NewKey("seed", "stream"))
		require.True(t, 0 <= lo && lo <= d && d <= hi)
	})
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"", "0", "1.5", "-1", "NaN", "1e3", "0.000000001", "9223372036.854775807", "1e-9999", "00", "1."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := backoff.ParseDecimal(text)
		if err != nil {
			require.Zero(t, d)
			return
		}
		require.GreaterOrEqual(t, d, backoff.Decimal(0))
		require.Equal(t, d, backoff.Dec(d.String()))
		require.True(t, json.Valid([]byte(text)), "what is read is a JSON number")
	})
}

// A jitter alone is read as it is written, too.
func TestAJitterHasItsOwnJSON(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]backoff.Jitter{
		`"none"`:          {Kind: backoff.NoJitter},
		`{"kind":"full"}`: {Kind: backoff.Full},
		`{"kind":"proportional","fraction":0.2,"after_cap":true}`: {
			Kind: backoff.Proportional, Fraction: backoff.Dec("0.2"), AfterCap: true},
	} {
		var got backoff.Jitter
		require.NoError(t, json.Unmarshal([]byte(form), &got))
		assert.Equal(t, want, got)
		data, err := json.Marshal(got)
		require.NoError(t, err)
		assert.Equal(t, form, string(data))
	}
	got := backoff.Jitter{Kind: backoff.Full}
	assert.EqualError(t, json.Unmarshal([]byte(`{"kind":"proportional"}`), &got),
		"fraction: proportional jitter needs this key; add it: 0.2 is 20 percent up or down")
	assert.Equal(t, backoff.Jitter{Kind: backoff.Full}, got, "left as it was")
	assert.EqualError(t, json.Unmarshal([]byte(`{"kind":"full","fraction":0.2}`), &got),
		"fraction: only for proportional jitter, not for full")
	var s backoff.BackoffStrategy
	assert.EqualError(t, json.Unmarshal([]byte(`{"kind":"constant","delay":"1s","jitter":{"kind":"proportional","fraction":5,"after_cap":"x"}}`), &s),
		"jitter.after_cap: expected true or false, got text \"x\"\njitter.fraction: want above 0, at most 1, got 5", "all faults at once")
}
