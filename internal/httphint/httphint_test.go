package httphint_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/httphint"
)

var now = time.Date(2025, 11, 5, 10, 0, 0, 0, time.UTC)

func TestSpans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"6m30s": 390 * time.Second, "7.66s": 7660 * time.Millisecond, "825ms": 825 * time.Millisecond, "1s": time.Second,
		"23h47m36.648s": 23*time.Hour + 47*time.Minute + 36648*time.Millisecond, "6m0s": 6 * time.Minute, "0s": 0,
		"1m26.4s": 86400 * time.Millisecond, "1d2h": 26 * time.Hour, "12us": 12 * time.Microsecond, "1h 2m 3s": 3723 * time.Second,
		".5s": 500 * time.Millisecond, "1.5h": 90 * time.Minute, "0.0000000019s": 1, "0.1234567891h": 444444440760, "3NS": 3, "12µs": 12 * time.Microsecond,
	} {
		got, err := httphint.Span(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "s", "5", "1s1s", "1s2m", "-1s", "1x", "1.2.3s", "9999999999999h", "400d", "1e3s", "NaNs", "1 second"} {
		_, err := httphint.Span(text)
		assert.Error(t, err, text)
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0": 0, "0.25": 250 * time.Millisecond, "26.28409242630005": 26284092426, " 7 ": 7 * time.Second,
		"11726.2840924263": 11726284092426, "5.7e-05": 57 * time.Microsecond, "1e3": 1000 * time.Second, "+3": 3 * time.Second, "007": 7 * time.Second,
	} {
		got, err := httphint.Seconds(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "NaN", "Inf", "1e99", "31622401", "1,5", "0x10", "1_000", ".", "e5", "99999999999999999999"} {
		_, err := httphint.Seconds(text)
		assert.Error(t, err, text)
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	want := time.Date(2025, 11, 5, 10, 1, 30, 0, time.UTC)
	for _, text := range []string{
		"Wed, 05 Nov 2025 10:01:30 GMT", "Wednesday, 05-Nov-25 10:01:30 GMT", "Wed Nov  5 10:01:30 2025", "Wed, 05 Nov 2025 10:01:30 UTC",
		"Wed, 05 Nov 2025 12:01:30 +0200", "2025-11-05T10:01:30Z", "2025-11-05t10:01:30z", "2025-11-05T05:01:30-05:00",
	} {
		got, err := httphint.Date(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "tomorrow", "Wed, 05 Nov 2025 10:01:30 EST", "2025-11-05T10:01:30", "2025-11-05", "0000-01-01T00:00:00Z", "1999-01-01T00:00:00Z", "9999-01-01T00:00:00Z"} {
		_, err := httphint.Date(text)
		assert.Error(t, err, text)
	}
}

func TestResets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"60": time.Minute, "26.5": 26500 * time.Millisecond, "1762336860": time.Minute, "1762336860.5": 60500 * time.Millisecond,
		"1762336860000": time.Minute, "2025-11-05T10:01:00Z": time.Minute, "Wed, 05 Nov 2025 10:01:00 GMT": time.Minute, "1m": time.Minute,
		"1762336700": 0, "0.5": 500 * time.Millisecond,
	} {
		got, err := httphint.Reset(text, now)
		assert.NoError(t, err, text)
		assert.True(t, got.HasIn, text)
		assert.Equal(t, want, got.In, text)
	}
	for _, text := range []string{"0", "-1", "0.0", "", "-60", "40000000", "5000000000000", "soon"} {
		_, err := httphint.Reset(text, now)
		assert.Error(t, err, text)
	}
}

func TestWaitsInSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"Please try again in 5.289s. Need more?":  5289 * time.Millisecond,
		"Please try again in 20s":                 20 * time.Second,
		"try again in 6m0s.":                      6 * time.Minute,
		"Please retry after 37 seconds.":          37 * time.Second,
		"Try again in 2 seconds.":                 2 * time.Second,
		"Please retry in 58.217843437s.":          58217843437,
		"Please wait 55 seconds before retrying.": 55 * time.Second,
		"retry after 1 minute":                    time.Minute,
		"try again later, or try again in 3s":     3 * time.Second,
		"TRY AGAIN IN 120MS":                      120 * time.Millisecond,
		"try again in 14m38.3s":                   878300 * time.Millisecond,
		"Rate limited. Retry-After: 60":           time.Minute,
		"retry-after: 1.5, or later":              1500 * time.Millisecond,
	} {
		got, ok := httphint.TextWait(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "try again later", "try again in 5", "try again in a minute", "try again in 5 sandwiches", "try again in 5seas", "retry-after: 5seas", "retry-after: soon",
		"retry in -5s", "please wait 9999999999999999 days", "wait for 1.2.3s"} {
		_, ok := httphint.TextWait(text)
		assert.False(t, ok, text)
	}
}

// The same number, read exactly and cut off at the nanosecond.
func TestSecondsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{1,7}(\.[0-9]{0,20})?`).Draw(t, "seconds")
		exact, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "."))
		require.True(t, ok)
		exact.Mul(exact, big.NewRat(1e9, 1))
		want := new(big.Int).Quo(exact.Num(), exact.Denom())
		got, err := httphint.Seconds(text)
		require.NoError(t, err)
		require.Equal(t, want.Int64(), int64(got))
	})
}

func FuzzDurations(f *testing.F) {
	for _, s := range []string{"6m30s", "7.66s", "825ms", "26.28409242630005", "1762336860000", "2025-11-05T10:01:30Z", "Wed, 05 Nov 2025 10:01:30 GMT", "-1", "0", "1e-05", "23h47m36.648s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := httphint.Span(s); err == nil {
			require.True(t, got >= 0 && got <= httphint.MaxWait)
			if want, err := time.ParseDuration(strings.TrimSpace(s)); err == nil {
				require.InDelta(t, float64(want), float64(got), 1)
			}
		}
		if got, err := httphint.Seconds(s); err == nil {
			require.True(t, got >= 0 && got <= httphint.MaxWait)
		}
		if got, err := httphint.Delay(s, now); err == nil {
			require.True(t, got >= 0 && got <= httphint.MaxWait)
		}
		if got, err := httphint.Reset(s, now); err == nil {
			require.True(t, got.In >= 0 && got.In <= httphint.MaxWait)
		}
		if n, err := httphint.Count(s); err == nil {
			require.GreaterOrEqual(t, n, int64(0))
		}
	})
}
