package kittest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

// redirects checks that a redirect to another host, port or scheme is not followed, that the error says so
// and is final, and that a redirect within one origin is followed, but not in a circle.
func redirects(t *testing.T, c Config) {
	good := c.Whole[0]
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, to := range map[string]func(here string) (string, *atomic.Int64){
			"another port": func(string) (string, *atomic.Int64) { return thief(t, good) },
			"another host": func(here string) (string, *atomic.Int64) {
				return strings.Replace(here, "127.0.0.1", "localhost", 1), new(atomic.Int64)
			},
			"another scheme": func(here string) (string, *atomic.Int64) {
				if plain, isTLS := strings.CutPrefix(here, "https:"); isTLS {
					return "http:" + plain, new(atomic.Int64)
				}
				return "https:" + strings.TrimPrefix(here, "http:"), new(atomic.Int64)
			},
		} {
			bothWays(t, fmt.Sprintf("%d/%s", status, name), func(t *testing.T, stream bool) {
				isNotFollowed(t, c, status, to, stream)
			})
		}
	}
	t.Run("within one origin", func(t *testing.T) {
		url, client := redirecting(t, func(r *http.Request, _ string) string {
			if strings.HasPrefix(r.URL.Path, "/moved") {
				return ""
			}
			return "/moved" + r.URL.RequestURI()
		}, 307, good)
		_, err := reply(t, c, url, client, plain(false))
		require.NoError(t, err)
	})
	t.Run("in a circle", func(t *testing.T) {
		url, client := redirecting(t, func(r *http.Request, _ string) string { return r.URL.RequestURI() },
			307, good)
		_, err := reply(t, c, url, client, plain(false))
		isFinal(t, err)
		assert.ErrorContains(t, err, "the server redirects in a circle")
	})
	t.Run("by a client that follows by itself", func(t *testing.T) {
		there, _ := thief(t, good)
		url, client := redirecting(t, func(r *http.Request, _ string) string {
			return there + r.URL.RequestURI()
		}, 307, "")
		for _, stream := range []bool{false, true} {
			got, err := reply(t, c, url, &http.Client{Transport: following{client}}, plain(stream))
			isFinal(t, err)
			assert.ErrorContains(t, err, "the HTTP client followed a redirect to "+there)
			assert.Empty(t, got.Text, "the reply of another host is not taken")
		}
	})
	t.Run("to nowhere", func(t *testing.T) {
		for _, status := range []int{300, 304, 307} {
			s := Serve(t, fmt.Sprintf("%d Moved\n\n", status))
			_, err := reply(t, c, s.URL, s.Client, plain(false))
			isFinal(t, err)
			assert.ErrorContains(t, err, fmt.Sprintf("the server redirects (%d) without an address to follow",
				status))
		}
	})
}

func isNotFollowed(
	t *testing.T, c Config, status int, to func(string) (string, *atomic.Int64), stream bool,
) {
	var there string
	var stolen *atomic.Int64
	asked := new(atomic.Int64)
	url, client := redirecting(t, func(r *http.Request, here string) string {
		if asked.Add(1) > 1 {
			return "" // it was followed to here
		}
		there, stolen = to(here)
		return there + r.URL.RequestURI()
	}, status, "")
	_, err := reply(t, c, url, client, plain(stream))
	isFinal(t, err)
	assert.Equal(t, int64(1), asked.Load(), "requests to the server itself")
	assert.Zero(t, stolen.Load(), "requests that followed")
	assert.ErrorContains(t, err, "the server redirects to "+there+", which is another host, port or scheme")
}

// redirecting is a server that redirects to what where says, and replies where it says nothing.
func redirecting(
	t *testing.T, where func(r *http.Request, here string) string, status int, reply string,
) (string, *http.Client) {
	var here string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		to := where(r, here)
		if to == "" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, reply)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	here = s.URL
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

// thief is a server that counts the requests that it gets and answers them.
func thief(t *testing.T, reply string) (string, *atomic.Int64) {
	got := new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		got.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// isFinal checks that an error is one of configuration that no retry can help.
func isFinal(t *testing.T, err error) {
	t.Helper()
	f := mustFail(t, err)
	assert.Equal(t, fault.Config, f.Class)
	assert.True(t, f.Final)
}
