package random_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/retake-go/retake/looptest/random"
)

// A run whose process died goes on from compacted journals as if nothing had happened.
func TestCompactionsChangeNothing(t *testing.T) {
	random.Check(t, cases(), random.Driver{Name: "a compacted run", Run: compacted, Takes: func(c random.Case) bool {
		return isRun(c) || c.Action.ID != "" // the value of an action without an ID is lost in a crash at its end
	}})
}

func compacted(ctx context.Context, w *random.World) (t random.Trace, err error) {
	whole, err := random.Run(ctx, w)
	if err != nil {
		return t, err
	}
	var ends []int // after the decisions and headers
	at := 0
	for line := range strings.Lines(string(w.Store.Text(w.Session.ID))) {
		if at += len(line); strings.Contains(line, `"record":{"decision":`) || strings.Contains(line, `"record":{"header":`) {
			ends = append(ends, at)
		}
	}
	dice := rand.New(rand.NewPCG(w.Case.Seed, 4))
	cut := ends[dice.IntN(len(ends))]
	again, err := w.Crash(cut)
	if err != nil {
		return t, err
	}
	if err := again.Compact(ctx); err != nil {
		return t, fmt.Errorf("compact at %d: %w", cut, err)
	}
	resumed, err := random.Run(ctx, again)
	if err != nil {
		return t, fmt.Errorf("compacted at %d: %w", cut, err)
	}
	if diff := random.Diff(whole, resumed); diff != "" && !again.InDoubt {
		return t, fmt.Errorf("compacted at %d: %s", cut, diff)
	}
	return whole, nil
}
