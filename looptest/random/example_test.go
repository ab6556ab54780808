package random_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest/random"
)

// One case is made by an engine and by loop.Run. A test does this with many: see random.Check.
func Example() {
	c := random.New(1)
	want, err := play(c, random.Run)
	if err != nil {
		panic(err)
	}
	got, err := play(c, compiled)
	if err != nil {
		panic(err)
	}
	fmt.Printf("differs: %q\n", random.Diff(want, got))
	// Output: differs: ""
}

func play(c random.Case, run func(context.Context, *random.World) (random.Trace, error)) (random.Trace, error) {
	w, err := random.NewWorld(c)
	if err != nil {
		return random.Trace{}, err
	}
	return run(context.Background(), w)
}

// compiled is an engine: here a loop that is compiled once.
func compiled(ctx context.Context, w *random.World) (random.Trace, error) {
	s, j, err := w.Begin(ctx)
	if err != nil {
		return random.Trace{}, err
	}
	l, err := loop.New(w.Model, w.Config, w.Options()...)
	if err != nil {
		return random.Trace{}, err
	}
	result, ended := l.Run(ctx, s, w.Case.Prompt, j)
	if err := errors.Join(j.Close(), w.ReadJournal()); err != nil {
		return random.Trace{}, err
	}
	return w.End(result, ended)
}
