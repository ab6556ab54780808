package kit_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/fault"
)

func TestAnOriginIsSchemeHostAndPort(t *testing.T) {
	parse := func(s string) *url.URL {
		u, err := url.Parse(s)
		require.NoError(t, err)
		return u
	}
	for other, same := range map[string]bool{
		"https://api.test/v2?x=1": true, "HTTPS://API.test:443": true,
		"http://api.test": false, "https://api.test:8443": false, "https://eu.api.test": false, "https://api.test.evil.test": false,
	} {
		assert.Equal(t, same, kit.SameOrigin(parse("https://api.test/v1"), parse(other)), other)
	}
}

// What a client of the user's own followed cannot be undone, but its reply is not taken.
func TestAReplyFromElsewhereIsNotTaken(t *testing.T) {
	at := func(address string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, nil)
		require.NoError(t, err)
		return r
	}
	asked := at("https://api.test/v1")
	require.NoError(t, kit.Elsewhere(asked, &http.Response{Request: at("https://api.test/v2")}))
	require.NoError(t, kit.Elsewhere(asked, &http.Response{}))
	err := kit.Elsewhere(asked, &http.Response{Request: at("https://user:pass@evil.test/v1?key=k")})
	require.EqualError(t, err, "the HTTP client followed a redirect to https://evil.test, which is another host, port or scheme: "+
		"the reply is not read, and the key may be known there")
	h := kit.Head{Provider: "p", Status: 200}
	typed, ok := errors.AsType[*fault.ConfigError](h.Fail(t.Context(), kit.Trouble{Cause: err}))
	require.True(t, ok)
	assert.True(t, typed.Final)
}

func TestAClientsOwnRuleForRedirectsIsKept(t *testing.T) {
	no := errors.New("no")
	c := kit.Guarded(&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return no }})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.test", nil)
	require.NoError(t, err)
	assert.Equal(t, no, c.CheckRedirect(r, []*http.Request{r}))
}
