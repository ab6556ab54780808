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
			return print(t, said(t, d, headers, body).Limits())
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

func said(
	t *testing.T, d *datadriven.TestData, headers map[string][]string, body string,
) ratelimit.Response {
	r := ratelimit.Response{Headers: headers, Body: []byte(body), At: nowOf(t, d)}
	d.MaybeScanArgs(t, "provider", &r.Provider)
	var text string
	if d.MaybeScanArgs(t, "retry-after", &text) {
		wait, err := time.ParseDuration(text)
		require.NoError(t, err)
		r.RetryAfter = ratelimit.In(wait)
	}
	return r
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
