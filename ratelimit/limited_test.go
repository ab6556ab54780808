package ratelimit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

// The reset of an exhausted window is waited for only if the request failed for its limits. A wait that the
// server asked for always counts.
func TestTheWaitOfAFailure(t *testing.T) {
	t.Parallel()
	usedUp := map[string][]string{"x-ratelimit-remaining-requests-day": {"0"}, "x-ratelimit-reset-requests-day": {"9h"}}
	asked := map[string][]string{"Retry-After": {"7"}, "x-ratelimit-remaining-requests": {"0"}, "x-ratelimit-reset-requests": {"9h"}}
	for _, tt := range []struct {
		class   fault.Class
		headers map[string][]string
		want    time.Duration
	}{
		{fault.RateLimit, usedUp, 9 * time.Hour},
		{fault.Quota, usedUp, 9 * time.Hour},
		{fault.Unavailable, usedUp, 0},
		{fault.Overloaded, usedUp, 0},
		{fault.Unavailable, asked, 7 * time.Second},
		{fault.RateLimit, asked, 7 * time.Second},
	} {
		err := &ratelimit.LimitedError{Err: fault.Typed(fault.ProviderError{Class: tt.class}), State: ratelimit.Parse(tt.headers, now)}
		assert.Equal(t, tt.want, err.Failure().RetryAfter, "%s %v", tt.class, tt.headers)
	}
}
