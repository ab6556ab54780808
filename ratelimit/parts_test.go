package ratelimit_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/ratelimit"
)

// Headers that say only a part of a window make a window of that part, and no more is made up.
func TestPartsOfAWindow(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		headers [][2]string
		want    string
	}{
		{"what remains of a period", [][2]string{{"x-ratelimit-remaining-requests-minute", "10"}},
			`{"limited":false,"windows":[{"name":"requests_per_minute","resource":"requests","remaining":10}],"ignored":[]}`},
		{"an exhausted period without a reset is waited out", [][2]string{{"x-ratelimit-remaining-requests-minute", "0"}},
			`{"limited":true,"wait":60,"windows":[{"name":"requests_per_minute","resource":"requests","remaining":0}],"ignored":[]}`},
		{"a reset of 0s is at once", [][2]string{{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "0s"}},
			`{"limited":true,"wait":0,"windows":[{"name":"requests","resource":"requests","remaining":0,"resets_in":0,"reset_at":1893456000}],"ignored":[]}`},
		{"a bare 0 is unknown", [][2]string{{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "0"}},
			`{"limited":true,"windows":[{"name":"requests","resource":"requests","remaining":0}],` +
				`"ignored":[{"header":"x-ratelimit-reset-requests","value":"0","why":"stands for unknown"}]}`},
		{"a reset without a count limits nothing", [][2]string{{"x-ratelimit-reset-requests", "6m30s"}},
			`{"limited":false,"windows":[{"name":"requests","resource":"requests","resets_in":390,"reset_at":1893456390}],"ignored":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := http.Header{}
			for _, h := range c.headers {
				headers.Set(h[0], h[1])
			}
			got, err := json.Marshal(ratelimit.Parse(headers, now))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
}

// The length of a window is the period that it says, or that its name was given.
func TestTheLengthOfAWindow(t *testing.T) {
	for _, c := range []struct {
		name   string
		period time.Duration
		want   time.Duration
	}{
		{"requests_per_second", 0, time.Second},
		{"tokens_per_month", 0, 30 * 24 * time.Hour},
		{"requests_per_5h", 0, 5 * time.Hour},
		{"requests_per_400d", 0, 30 * 24 * time.Hour},
		{"requests_per_model_per_day", 0, 24 * time.Hour}, // as of x-ratelimit-limit-requests-per-model-per-day
		{"burst", 10 * time.Second, 10 * time.Second},
		{"requests_per_minute", 10 * time.Second, 10 * time.Second},
		{"requests_per_minute", time.Microsecond, time.Minute},
		{"requests", 0, 0},
		{"requests_per_seat", 0, 0},
		{"5h", 0, 0},
		{"requests_per_-5h", 0, 0},
		{"requests_per_99999999999999999999d", 0, 30 * 24 * time.Hour},
	} {
		w := ratelimit.Window{Name: c.name, Period: ratelimit.Span{Duration: c.period, Known: c.period > 0}}
		assert.Equal(t, c.want, w.Length(), "%s %v", c.name, c.period)
	}
}
