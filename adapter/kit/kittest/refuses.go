package kittest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
)

// Refuses checks that the adapter refuses a request with an error of class invalid_request, which is not
// retried and contains want, and that it sends nothing.
func Refuses(t *testing.T, c Config, req loop.Request, want string) {
	t.Helper()
	s := Serve(t)
	_, err := reply(t, c, s.URL, s.Client, req)
	require.ErrorContains(t, err, want)
	failure := fault.FailureOf(err)
	assert.Equal(t, fault.InvalidRequest, failure.Class)
	assert.True(t, failure.Final)
}
