package otel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

// loopRun makes a loop for one run.
func loopRun(
	ctx context.Context, model loop.Model, s *session.Session, prompt string, cfg loop.Config, opts ...loop.Option,
) (loop.Result, error) {
	l, err := loop.New(model, cfg, opts...)
	if err != nil {
		return loop.Result{}, err
	}
	return l.Run(ctx, s, loop.Input{Prompt: prompt})
}

// loopResume makes a loop to continue a run.
func loopResume(
	ctx context.Context, model loop.Model, s *session.Session, cfg loop.Config, opts ...loop.Option,
) (loop.Result, error) {
	l, err := loop.New(model, cfg, opts...)
	if err != nil {
		return loop.Result{}, err
	}
	return l.Resume(ctx, s)
}

// recorded returns the session of the tests with a journal.
func recorded(t testing.TB, j *journal.Journal) *session.Session {
	t.Helper()
	s := newSession(t)
	require.NoError(t, session.DriverOf(s).Record(j))
	return s
}
