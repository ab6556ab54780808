package kittest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

// cuts checks that a response which breaks is of class network, so that it is retried: over HTTP/1.1 and
// HTTP/2, before the reply and within it, streamed or not. A server of another protocol is a wrong address,
// which no retry puts right.
func cuts(t *testing.T, c Config) {
	for _, http2 := range []bool{false, true} {
		for _, begun := range []bool{false, true} {
			bothWays(t, fmt.Sprintf("http2=%v/begun=%v", http2, begun), func(t *testing.T, stream bool) {
				s := breaking(t, http2, begun)
				_, err := reply(t, c, s.URL, s.Client(), plain(stream))
				f := mustFail(t, err)
				assert.Equal(t, fault.Network, f.Class, "%v: %v", err, chain(err))
				assert.False(t, f.Final)
			})
		}
	}
	t.Run("another protocol", func(t *testing.T) {
		s := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(s.Close)
		_, err := reply(t, c, strings.Replace(s.URL, "http", "https", 1), s.Client(), plain(false))
		isFinal(t, err, "the address or its port is wrong")
	})
}

// breaking is a server that breaks its response: before the reply, or where one has begun.
func breaking(t *testing.T, http2, begun bool) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if begun {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler) // it breaks the connection or the stream
	}))
	s.EnableHTTP2 = http2
	if http2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// chain shows the types of an error's chain.
func chain(err error) (types []string) {
	eachError(err, func(e error) { types = append(types, fmt.Sprintf("%T", e)) })
	return types
}
