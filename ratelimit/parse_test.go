package ratelimit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/ratelimit"
)

var now = time.Date(2025, 11, 5, 10, 0, 0, 0, time.UTC)

// everyForm has headers of every form.
func everyForm() map[string][]string {
	return map[string][]string{
		"Retry-After":                          {"Wed, 05 Nov 2025 10:01:30 GMT"},
		"x-ratelimit-remaining-requests":       {"0"},
		"x-ratelimit-reset-requests":           {"6m30s"},
		"x-ratelimit-reset-tokens":             {"Wed Nov  5 10:00:05 2025"},
		"anthropic-ratelimit-requests-reset":   {"2025-11-05T12:00:00+02:00"},
		"anthropic-ratelimit-tokens-remaining": {"0"},
		"X-RateLimit-Reset":                    {"1762336860000"},
		"RateLimit":                            {`"burst";r=0;t=30`},
	}
}

func TestTimeZoneOfTheMachineDoesNotMatter(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	time.Local = time.UTC
	want := ratelimit.Parse(everyForm(), now)
	for _, zone := range []*time.Location{time.FixedZone("EST", -5*3600), time.FixedZone("GMT", 3600), time.FixedZone("UTC", 14*3600)} {
		time.Local = zone
		assert.Equal(t, want, ratelimit.Parse(everyForm(), now.In(zone)), zone)
	}
}

func TestCaseAndOrderDoNotMatter(t *testing.T) {
	t.Parallel()
	want := ratelimit.Parse(everyForm(), now)
	rapid.Check(t, func(t *rapid.T) {
		headers := map[string][]string{}
		for name, values := range everyForm() {
			if rapid.Bool().Draw(t, "upper") {
				name = strings.ToUpper(name)
			}
			headers[name] = values
		}
		require.Equal(t, want, ratelimit.Parse(headers, now))
	})
}

func TestOrderOfValuesDoesNotMatter(t *testing.T) {
	t.Parallel()
	values := []string{"0", "10", "7", "x", "-1"}
	rapid.Check(t, func(t *rapid.T) {
		mixed := rapid.Permutation(values).Draw(t, "values")
		at := rapid.IntRange(0, len(values)).Draw(t, "split")
		headers := map[string][]string{"x-ratelimit-remaining-requests": mixed[:at], "X-Ratelimit-Remaining-Requests": mixed[at:]}
		s := ratelimit.Parse(headers, now)
		require.Equal(t, ratelimit.Of(0), s.Windows[0].Remaining)
		require.Equal(t, ratelimit.Parse(map[string][]string{"x-ratelimit-remaining-requests": values}, now), s)
	})
}

// A State has the JSON of agent results: RateLimitState and RateLimitWindow.
func TestWireFormOfAgentResults(t *testing.T) {
	t.Parallel()
	headers := map[string][]string{
		"x-ratelimit-remaining-requests-minute": {"0"}, "x-ratelimit-limit-requests-minute": {"60"},
		"x-ratelimit-reset-requests-minute": {"45.5"}, "x-ratelimit-remaining-tokens-day": {"500000"}, "retry-after": {"60"},
	}
	out, err := json.Marshal(ratelimit.Parse(headers, now))
	require.NoError(t, err)
	const want = `{"limited":true,"retry_after":60,"windows":[` +
		`{"name":"requests_per_minute","resource":"requests","remaining":0,"limit":60,"resets_in":45.5,"reset_at":1762336845.5},` +
		`{"name":"tokens_per_day","resource":"tokens","remaining":500000}],"ignored":[]}`
	assert.Equal(t, want, string(out))
}

func TestWireFormIsReadAsWritten(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"seed_001": `{"limited":true,"retry_after":60,"windows":[{"name":"requests_per_minute","resource":"requests","remaining":0,` +
			`"limit":60,"resets_in":45,"reset_at":1234567890.0},{"name":"tokens_per_day","resource":"tokens","remaining":500000,"limit":1000000,"resets_in":43200}]}`,
		"nulls":  `{"limited":false,"retry_after":null,"windows":[{"name":"n","resource":"r","remaining":null,"limit":null,"resets_in":null,"reset_at":null}]}`,
		"floats": `{"limited":false,"wait":0.000000001,"windows":[{"name":"n","resource":"r","remaining":1.0,"reset_at":1762336826.284092426}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first, second ratelimit.State
			require.NoError(t, json.Unmarshal([]byte(text), &first))
			out, err := json.Marshal(first)
			require.NoError(t, err)
			assert.NotContains(t, strings.ReplaceAll(string(out), `"ignored":null`, ""), "null")
			require.NoError(t, json.Unmarshal(out, &second))
			assert.Equal(t, first, second)
		})
	}
}

func TestWhatIsUnknownIsNull(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		`[null,null,null]`: []any{ratelimit.Count{N: 3}, ratelimit.Span{Duration: 3}, ratelimit.Date{}},
		`[0,0,-0.5,-1.5,-2]`: []any{ratelimit.Of(0), ratelimit.In(0), ratelimit.Date{Time: time.Unix(-1, 5e8)}, ratelimit.Date{Time: time.Unix(-2, 5e8)},
			ratelimit.Date{Time: time.Unix(-2, 0)}},
	} {
		out, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
	}
}

func TestWireFormRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"negative_wait":    `{"wait":-1}`,
		"endless_wait":     `{"retry_after":1e30}`,
		"text":             `{"retry_after":"60"}`,
		"half_a_request":   `{"windows":[{"remaining":0.5}]}`,
		"negative_limit":   `{"windows":[{"limit":-1}]}`,
		"date_out_of_time": `{"windows":[{"reset_at":1e18}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s ratelimit.State
			assert.Error(t, json.Unmarshal([]byte(text), &s))
		})
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	exhausted := map[string][]string{"x-ratelimit-remaining-requests": {"0"}, "x-ratelimit-reset-requests": {"3s"}}
	wait, known := ratelimit.Parse(exhausted, now).Delay()
	assert.True(t, known)
	assert.Equal(t, 3*time.Second, wait)
	wait, known = ratelimit.Response{Headers: exhausted, At: now, RetryAfter: ratelimit.In(time.Second)}.Limits().Delay()
	assert.True(t, known)
	assert.Equal(t, time.Second, wait)
	_, known = ratelimit.Response{At: now, RetryAfter: ratelimit.In(-1)}.Limits().Delay()
	assert.False(t, known)
}

func TestArgumentsAreLeftAlone(t *testing.T) {
	t.Parallel()
	headers := everyForm()
	ratelimit.Response{Headers: headers, At: now, Body: []byte(`{"error":{"metadata":{"headers":{"X-RateLimit-Limit":"1"}}}}`)}.Limits()
	assert.Equal(t, everyForm(), headers)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	headers := map[string][]string{}
	for i := range 500 {
		name := "x-ratelimit-remaining-thing" + strings.Repeat("i", i%40) + string(rune('a'+i%26))
		headers[name] = []string{strings.Repeat("9", 5000), "0", "1"}
	}
	s := ratelimit.Parse(headers, now)
	assert.LessOrEqual(t, len(s.Windows), 64)
	assert.LessOrEqual(t, len(s.Ignored), 64)
	for _, i := range s.Ignored {
		assert.Less(t, len(i.Value), 200)
	}
	for _, name := range []string{"x-ratelimit-remaining-requests", "ratelimit", "ratelimit-policy"} {
		s = ratelimit.Parse(map[string][]string{name: {strings.Repeat("9", 5000)}}, now)
		assert.Empty(t, s.Windows)
		require.Len(t, s.Ignored, 1)
		assert.Equal(t, "too long", s.Ignored[0].Why)
	}
}
