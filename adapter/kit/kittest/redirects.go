package kittest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

// redirects checks that a redirect to another host, port or scheme is not followed, that the error says so
// and is final, and that a redirect within one origin is followed, but not in a circle.
func redirects(t *testing.T, c Config) {
	elsewhere, _ := redirecting(t, 0, c.Whole[0], func(string, *http.Request) string { return "" })
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, to := range map[string]func(here string) string{
			"another port": func(string) string { return elsewhere },
			"another host": func(here string) string {
				return strings.Replace(here, "127.0.0.1", "localhost", 1)
			},
			"another scheme": func(here string) string { return "https" + strings.TrimPrefix(here, "http") },
		} {
			bothWays(t, fmt.Sprintf("%d/%s", status, name), func(t *testing.T, stream bool) {
				url, client := redirecting(t, status, "", func(here string, r *http.Request) string {
					return to(here) + r.URL.RequestURI()
				})
				_, err := reply(t, c, url, client, plain(stream))
				isFinal(t, err, "the server redirects to "+to(url)+", which is another host, port or scheme")
			})
		}
	}
	t.Run("within one origin", func(t *testing.T) {
		url, client := redirecting(t, 307, c.Whole[0], func(_ string, r *http.Request) string {
			if strings.HasPrefix(r.URL.Path, "/moved") {
				return ""
			}
			return "/moved" + r.URL.RequestURI()
		})
		_, err := reply(t, c, url, client, plain(false))
		require.NoError(t, err)
	})
	t.Run("in a circle", func(t *testing.T) {
		url, client := redirecting(t, 307, "", func(_ string, r *http.Request) string {
			return r.URL.RequestURI()
		})
		_, err := reply(t, c, url, client, plain(false))
		isFinal(t, err, "the server redirects in a circle")
	})
	t.Run("by a client that follows by itself", func(t *testing.T) {
		url, client := redirecting(t, 307, "", func(_ string, r *http.Request) string {
			return elsewhere + r.URL.RequestURI()
		})
		for _, stream := range []bool{false, true} {
			got, err := reply(t, c, url, &http.Client{Transport: following{client}}, plain(stream))
			isFinal(t, err, "the HTTP client followed a redirect to "+elsewhere)
			assert.Empty(t, got.Text, "the reply of another host is not taken")
		}
	})
	t.Run("to nowhere", func(t *testing.T) {
		for _, status := range []int{300, 304, 307} {
			s := Serve(t, fmt.Sprintf("%d Moved\n\n", status))
			_, err := reply(t, c, s.URL, s.Client, plain(false))
			isFinal(t, err, fmt.Sprintf("the server redirects (%d) without an address to follow", status))
		}
	})
}

// redirecting is a server that redirects to what where says, and replies where it says nothing.
func redirecting(
	t *testing.T, status int, reply string, where func(here string, r *http.Request) string,
) (string, *http.Client) {
	s := httptest.NewUnstartedServer(nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		to := where(s.URL, r)
		if to == "" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, reply)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	})
	s.Start()
	t.Cleanup(s.Close)
	transport := &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	return s.URL, &http.Client{Transport: transport}
}

// following is a transport that follows redirects by itself, as some clients of users do.
type following struct{ *http.Client }

func (f following) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	own.RequestURI = ""
	return f.Do(own)
}

// isFinal checks that an error is one of configuration that no retry can help, and what it says.
func isFinal(t *testing.T, err error, says string) {
	t.Helper()
	f := mustFail(t, err)
	assert.Equal(t, fault.Config, f.Class)
	assert.True(t, f.Final)
	assert.ErrorContains(t, err, says)
}
