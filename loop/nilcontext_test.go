package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// TestNilContext: a context that is nil is an error that says so, and the session is free afterwards.
func TestNilContext(t *testing.T) {
	var none context.Context
	in := loop.Input{Prompt: "Where?"}
	l, err := loop.New(looptest.NewModel(looptest.Say("In Lisbon.")), loop.Config{})
	require.NoError(t, err)
	pool, err := loop.NewPool(loop.PoolConfig{Model: looptest.NewModel()})
	require.NoError(t, err)
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	tries := loop.Attempts(none, s, loop.FinalAnswer())
	never := func(context.Context, loop.Attempt) (int, error) {
		t.Error("a try was made")
		return 0, nil
	}
	for name, f := range map[string]func() error{
		"Run":      func() error { _, err := l.Run(none, s, in); return err },
		"Generate": func() error { _, err := loop.Generate[int](none, l, s, in); return err },
		"Resume":   func() error { _, err := l.Resume(none, s); return err },
		"Within":   func() error { _, err := l.Within(none, in); return err },
		"Do":       func() error { _, err := loop.Do(none, nil, loop.FinalAnswer(), never); return err },
		"Do, with a session": func() error {
			_, err := loop.Do(none, s, loop.FinalAnswer(), never)
			return err
		},
		"Attempts": func() error {
			for range tries.All() {
				t.Error("a try was made")
			}
			return tries.Err()
		},
		"Pool.Run":   func() error { return pool.Run(none, 1) },
		"Pool.Serve": func() error { return pool.Serve(none, 1) },
		"Pool.Await": func() error { _, err := pool.Await(none, s, in); return err },
	} {
		require.EqualError(t, f(), "loop: the context is nil: give one, such as context.Background()", name)
	}
	require.Zero(t, pool.Len())
	result, err := l.Run(t.Context(), s, in)
	looptest.AssertAnswer(t, result, err, "In Lisbon.")
}
