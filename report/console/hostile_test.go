package console_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Another server of the same host may set cookies of the same name, for paths that browsers send first. They
// lock nobody out, and open nothing.
func TestCookiesOfAnotherServerLockNobodyOut(t *testing.T) {
	c := open(t, folder(t))
	foreign := func(values ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Cookie")
			for _, value := range values {
				r.AddCookie(&http.Cookie{Name: "retake8080", Value: value})
			}
		}
	}
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/inbox", foreign("foreign", "", token)).StatusCode)
	assert.Equal(t, http.StatusForbidden, ask(t, c, "GET", "/inbox", foreign("foreign", "", token[1:])).StatusCode)
}
