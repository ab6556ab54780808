package ratelimit_test

import (
	"encoding/json"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/ratelimit"
)

// fixtures are the header fixtures, one file per provider. `go test ./ratelimit -run Fixtures -rewrite`
// rewrites the results; read the diff before you commit it.
const fixtures = "../testdata/headers"

func TestFixtures(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, fixtures, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.Equal(t, "limits", d.Cmd, "the one command of these files")
			headers, body := response(d.Input)
			return print(t, ratelimit.Parse(headers, nowOf(t, d), options(t, d, body)...))
		})
	})
}

func nowOf(t *testing.T, d *datadriven.TestData) time.Time {
	var text string
	if !d.MaybeScanArgs(t, "now", &text) {
		return time.Time{}
	}
	now, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return now
}

func options(t *testing.T, d *datadriven.TestData, body string) []ratelimit.Option {
	opts := []ratelimit.Option{ratelimit.WithBody([]byte(body))}
	var text string
	if d.MaybeScanArgs(t, "provider", &text) {
		opts = append(opts, ratelimit.ForProvider(text))
	}
	if d.MaybeScanArgs(t, "retry-after", &text) {
		wait, err := time.ParseDuration(text)
		require.NoError(t, err)
		opts = append(opts, ratelimit.WithRetryAfter(wait))
	}
	return opts
}

// response splits a response into headers and, after an empty line, a body. Text that begins like JSON is
// only a body.
func response(input string) (map[string][]string, string) {
	if strings.HasPrefix(input, "{") || strings.HasPrefix(input, "[") {
		return nil, input
	}
	head, body, _ := strings.Cut(input, "\n\n")
	headers := map[string][]string{}
	for line := range strings.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok {
			name = textproto.TrimString(name)
			headers[name] = append(headers[name], strings.TrimSpace(value))
		}
	}
	return headers, body
}

// print returns a State in its wire form, with one window or ignored header per line.
func print(t *testing.T, s ratelimit.State) string {
	var b strings.Builder
	windows, ignored := s.Windows, s.Ignored
	s.Windows, s.Ignored = nil, nil
	whole := strings.NewReplacer(`,"windows":null`, "", `,"ignored":null`, "").Replace(wire(t, s))
	b.WriteString(whole + "\n")
	for _, w := range windows {
		b.WriteString("window  " + wire(t, w) + "\n")
	}
	for _, i := range ignored {
		b.WriteString("ignored " + wire(t, i) + "\n")
	}
	return b.String()
}

func wire(t *testing.T, v any) string {
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}
