package kittest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

// failing are refusals that all providers mean alike, and their classes.
var failing = map[string]struct {
	says  string
	class fault.Class
}{
	"auth":        {"401 Unauthorized\n\n", fault.Auth},
	"rate limit":  {"429 Too Many Requests\nRetry-After: 7\n\n", fault.RateLimit},
	"error":       {"500 Internal Server Error\n\n", fault.Unavailable},
	"unavailable": {"503 Service Unavailable\n\n", fault.Unavailable},
	"bad gateway": {"502 Bad Gateway\nContent-Type: text/html\n\n<h1>502</h1>", fault.Unavailable},
}

// statuses checks that a refused request is made once, and is an error of its class with the rate limits of
// its response.
func statuses(t *testing.T, c Config) {
	for name, f := range failing {
		bothWays(t, name, func(t *testing.T, stream bool) {
			s := Serve(t, f.says)
			model, err := c.New(s.URL, s.Client)
			require.NoError(t, err)
			req := plain(stream)
			req.Tools = Asks()["tools"].Tools
			got := ask(t, s, model, req)
			require.Error(t, got.err)
			assert.Equal(t, f.class, got.failure.Class, "%v", got.err)
			limited, isLimited := errors.AsType[*ratelimit.LimitedError](got.err)
			require.True(t, isLimited, "%T has no rate limits in its chain", got.err)
			if f.class == fault.RateLimit {
				assert.Equal(t, 7*time.Second, got.failure.RetryAfter)
				assert.Equal(t, 7*time.Second, limited.State.RetryAfter.Duration)
			}
		})
	}
}
