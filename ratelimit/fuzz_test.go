package ratelimit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/httphint"
	"github.com/retake-go/retake/ratelimit"
)

// checkLaws checks the guarantees of Parse.
func checkLaws(t *testing.T, s ratelimit.State) {
	names := map[string]bool{}
	limited := false
	for _, w := range s.Windows {
		require.False(t, names[w.Name], "window %q twice", w.Name)
		names[w.Name] = true
		limited = limited || w.Exhausted()
		require.GreaterOrEqual(t, w.ResetsIn.Duration, httphint.MaxWait*0)
		require.LessOrEqual(t, w.ResetsIn.Duration, httphint.MaxWait)
	}
	require.Equal(t, limited, s.Limited)
	require.False(t, s.RetryAfter.Known && s.Wait.Known, "a wait beside retry-after")
	wait, _ := s.Delay()
	require.GreaterOrEqual(t, wait, httphint.MaxWait*0)
	require.LessOrEqual(t, wait, httphint.MaxWait)
	out, err := json.Marshal(s)
	require.NoError(t, err)
	var back ratelimit.State
	require.NoError(t, json.Unmarshal(out, &back))
	require.Equal(t, s.Windows, back.Windows)
}

func seeds(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.txt"))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		for block := range strings.SplitSeq(string(text), "\n\n") {
			f.Add(block)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		headers, body := response(text)
		s := ratelimit.Response{Headers: headers, At: now, Body: []byte(body)}.Limits()
		checkLaws(t, s)
		upper := map[string][]string{}
		for name, values := range headers {
			upper[strings.ToUpper(name)] = append(upper[strings.ToUpper(name)], values...)
		}
		ascii := !strings.ContainsFunc(text, func(r rune) bool { return r > 127 })
		if ascii {
			require.Equal(t, s, ratelimit.Response{Headers: upper, At: now, Body: []byte(body)}.Limits())
		}
	})
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"58s"}]}}`))
	f.Add([]byte(`[{"error":{"message":"Please retry in 58.217843437s."}}]`))
	f.Add([]byte(`{"error":{"metadata":{"headers":{"X-RateLimit-Reset":1}}}}`))
	f.Add([]byte(`try again after 9999999999999999999 days`))
	f.Fuzz(func(t *testing.T, body []byte) { checkLaws(t, ratelimit.Response{At: now, Body: body}.Limits()) })
}

func BenchmarkParse(b *testing.B) {
	headers := map[string][]string{
		"Content-Type": {"application/json"}, "Date": {"Wed, 05 Nov 2025 10:00:00 GMT"}, "X-Request-Id": {"req_1"},
		"X-Ratelimit-Limit-Requests": {"60"}, "X-Ratelimit-Limit-Tokens": {"150000"}, "X-Ratelimit-Remaining-Requests": {"59"},
		"X-Ratelimit-Remaining-Tokens": {"149984"}, "X-Ratelimit-Reset-Requests": {"1s"}, "X-Ratelimit-Reset-Tokens": {"6m0s"},
	}
	b.ReportAllocs()
	for b.Loop() {
		ratelimit.Parse(headers, now)
	}
}
