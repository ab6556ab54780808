package chat_test

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/loop"
)

// A reply of 64 MiB must not take a machine's memory: it is copied as it is read and decoded, and not at each
// level of its JSON.
func TestALargeReplyTakesAFewTimesItsSize(t *testing.T) {
	long := strings.Repeat(`Twelve bytes\n`, 300_000)
	const event = `{"choices":[{"delta":{"content":"`
	end := []string{`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]"}
	pieces := strings.Split(strings.Repeat(event+strings.Repeat(`Twelve bytes\n`, 5000)+`"}}]}|`, 60), "|")
	for name, c := range map[string]struct {
		says string
		most float64
	}{
		"a text":              {`{"choices":[{"message":{"content":"` + long + `"},"finish_reason":"stop"}]}`, 8},
		"arguments":           {`{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":\"` + strings.ReplaceAll(long, `\`, `\\`) + `\"}"}}]},"finish_reason":"tool_calls"}]}`, 8},
		"a text in one event": {streamOf(append([]string{event + long + `"}}]}`}, end...)...), 9},
		"a text in pieces":    {streamOf(append(pieces[:60], end...)...), 9},
	} {
		body := []byte(c.says)
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
		})
		model, err := over("http://server.invalid", &http.Client{Transport: transport}, chat.Config{Model: "m"})
		require.NoError(t, err)
		req := hello()
		if strings.HasPrefix(c.says, "data:") {
			req.Stream = func(loop.Delta) {}
		}
		var before, then runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = model.Reply(t.Context(), req)
		runtime.ReadMemStats(&then)
		require.NoError(t, err)
		taken := float64(then.TotalAlloc-before.TotalAlloc) / float64(len(body))
		t.Logf("%s: %.1f times", name, taken)
		assert.Less(t, taken, c.most, name)
	}
}
