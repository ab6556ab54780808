package kittest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// secrets are keys that servers and gateways repeat: the client's, and others that are recognisable by
// their form.
var secrets = []string{
	Key, "sk-proj-Zq8xV2mN4bT7rW1pLs0dZq8xV2mN", "sk-ant-api03-Zq8xV2mN4bT7rW1pLs0d-AA",
	"AIzaSyZq8xV2mN4bT7rW1pLs0dZq8xV2mN4bT7r",
}

// repeating are responses of any server that repeat the key.
var repeating = map[string]string{
	"refusal": "401 Unauthorized\nContent-Type: application/json\n\n" +
		`{"error":{"message":"Incorrect API key provided: {key}"}}`,
	"id": "500 Internal Server Error\nX-Request-Id: {key}\nContent-Type: application/json\n\n" +
		`{"error":{"message":"no"}}`,
	"page": "502 Bad Gateway\nContent-Type: text/html\n\n<h1>upstream refused Authorization: Bearer " +
		"{key}</h1>",
	"garbage": "200 OK\nContent-Type: application/json\n\nBearer {key}\n",
}

// keys checks that a key which a server repeats is in no error, failure or journal, with a reply and with a
// stream.
func keys(t *testing.T, c Config) {
	responses := maps.Clone(repeating)
	maps.Copy(responses, c.Keys)
	for name, raw := range responses {
		require.Contains(t, raw, "{key}", "%s has no place for a key", name)
		for _, secret := range secrets {
			bothWays(t, fmt.Sprintf("%s/%.9s", name, secret), func(t *testing.T, stream bool) {
				holdsNoSecret(t, c, strings.ReplaceAll(raw, "{key}", secret), secret, stream)
			})
		}
	}
}

// holdsNoSecret makes a run whose only model call gets the response.
func holdsNoSecret(t *testing.T, c Config, raw, secret string, stream bool) {
	s := Serve(t, raw)
	model, err := c.New(s.URL, s.Client)
	require.NoError(t, err)
	once, dir := policy.DefaultSet(), t.TempDir()
	once.Transport.MaxAttempts, once.Global.MaxAttempts = new(1), new(1)
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
	require.NoError(t, err)
	sess, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	opts := []loop.Option{loop.WithClock(looptest.NewClock())}
	if stream {
		opts = append(opts, loop.WithStream(func(loop.Delta) {}))
	}
	l, err := loop.New(model, loop.Config{Policy: &once}, opts...)
	require.NoError(t, err)
	_, err = l.Run(t.Context(), sess, loop.Input{Prompt: "Hello."})
	require.Error(t, err)
	require.NoError(t, j.Close())
	texts := map[string]string{"the error": err.Error(), "the session": snapshot(t, sess)}
	eachError(err, func(e error) {
		if own, ok := e.(interface{ Failure() fault.Failure }); ok {
			texts[fmt.Sprintf("%T", e)], texts[fmt.Sprintf("the failure of %T", e)] = e.Error(),
				fmt.Sprint(own.Failure())
		}
	})
	lines, err := os.ReadFile(filepath.Join(dir, journal.FileName("order-42")))
	require.NoError(t, err)
	texts["the journal"] = string(lines)
	for where, text := range texts {
		assert.NotContains(t, text, secret, where)
	}
}

// eachError calls f with every error of a chain.
func eachError(err error, f func(error)) {
	if err == nil {
		return
	}
	f(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		eachError(e.Unwrap(), f)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			eachError(one, f)
		}
	}
}
