package random

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

// Driver makes runs in one engine.
type Driver struct {
	Name string
	// Takes reports whether the engine can make the run of a case; nil means all cases.
	Takes func(c Case) bool
	// Run makes the run and returns its trace: see [World.Trace]. The error is about the engine; the error of
	// the run is part of the trace. ctx is cancelled where the case says. Several may run at once, each in
	// its own world.
	Run func(ctx context.Context, w *World) (Trace, error)
}

// The environment variables that say which cases [Check] makes.
const (
	// envCases is the number of cases.
	envCases = "RETAKE_CASES"
	// envSeed is the seed of the first one; 1 without it. The others follow.
	envSeed = "RETAKE_SEED"
)

// Cases returns the number of cases of the environment (RETAKE_CASES), or n if it says nothing.
func Cases(n int) int {
	if own, err := strconv.Atoi(os.Getenv(envCases)); err == nil && own > 0 {
		return own
	}
	return n
}

func firstSeed() uint64 {
	if own, err := strconv.ParseUint(os.Getenv(envSeed), 10, 64); err == nil {
		return own
	}
	return 1
}

// Check makes n cases with each of the drivers, compares their traces with that of [Run], and fails t with
// the first case that differs. The cases are made on all processors.
func Check(t testing.TB, n int, drivers ...Driver) {
	t.Helper()
	first := firstSeed()
	c := &check{drivers: drivers, next: first, end: first + uint64(n), took: make([]int, len(drivers))}
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { c.work(t.Context()) })
	}
	all.Wait()
	if c.failed != "" {
		t.Errorf("case %d: %s\nthe case is random.New(%d); to make it alone: %s=%d %s=1 go test -run '%s'",
			c.at, c.failed, c.at, envSeed, c.at, envCases, t.Name())
		return
	}
	for n, d := range drivers {
		if c.took[n] == 0 {
			t.Errorf("%s took none of the cases", d.Name)
		}
	}
}

type check struct {
	drivers []Driver

	mu sync.Mutex
	// next and end are the seeds that are left.
	next, end uint64
	// failed is what is wrong with the case with the seed at; the lowest seed counts.
	failed string
	at     uint64
	// took counts the cases of each driver.
	took []int
}

// work makes cases until none is left, or one with a lower seed has failed.
func (c *check) work(ctx context.Context) {
	for {
		c.mu.Lock()
		seed := c.next
		if seed == c.end || c.failed != "" {
			c.mu.Unlock()
			return
		}
		c.next++
		c.mu.Unlock()
		took, err := compare(ctx, New(seed), c.drivers)
		c.mu.Lock()
		for n := range took {
			c.took[n] += took[n]
		}
		if err != nil && (c.failed == "" || seed < c.at) {
			c.failed, c.at = err.Error(), seed
		}
		c.mu.Unlock()
	}
}

// compare makes one case with all drivers that take it, and returns which.
func compare(ctx context.Context, c Case, drivers []Driver) ([]int, error) {
	took := make([]int, len(drivers))
	read := newRecords()
	want, err := one(ctx, Driver{Name: "Loop.Run", Run: Run}, c, read)
	if err != nil {
		return took, err
	}
	for n, d := range drivers {
		if d.Takes != nil && !d.Takes(c) {
			continue
		}
		took[n]++
		got, err := one(ctx, d, c, read)
		if err != nil {
			return took, err
		}
		if diff := Diff(want, got); diff != "" {
			return took, fmt.Errorf("%s (+) is not Loop.Run (-): %s", d.Name, diff)
		}
	}
	return took, nil
}

// one makes a case with one driver. read is what was read from journals of the case.
func one(ctx context.Context, d Driver, c Case, read *records) (t Trace, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v\n%s", d.Name, p, debug.Stack())
		}
	}()
	w, err := NewWorld(c)
	if err == nil {
		w.records = read
		t, err = d.Run(w.Context(ctx), w)
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", d.Name, err)
	}
	return t, nil
}

// Run makes the run of a world with [loop.Loop.Run], or the tries of its action with [loop.Do], in a journal.
// It is what other drivers are compared with. In a world after a crash it goes on: with [loop.Loop.Resume]
// for every second case, and where the journal has the end of the run.
func Run(ctx context.Context, w *World) (Trace, error) {
	ctx = w.Context(ctx)
	s, j, err := w.Begin(ctx)
	if err != nil {
		return Trace{}, err
	}
	for in := range w.Inputs(s) {
		w.Ended(w.make(ctx, s, j, in))
	}
	if err := errors.Join(j.Close(), w.ReadJournal()); err != nil {
		return Trace{}, err
	}
	return w.Trace()
}

func (w *World) make(
	ctx context.Context, s *session.Session, j *journal.Journal, in loop.Input,
) (result loop.Result, err error) {
	if w.Case.Action != nil {
		result.Value, err = loop.Do(ctx, s, w.Case.Action, w.Try, w.Options()...)
		return result, err
	}
	l, err := loop.New(w.Model, w.Config, w.Options()...)
	if err != nil {
		return result, err
	}
	if w.crashed && len(w.Case.Follows) == 0 && (w.Case.Seed%2 == 0 || !j.Unfinished()) {
		result, err = l.Resume(ctx, s)
		if !errors.Is(err, journal.ErrNoRun) {
			return result, err
		}
	}
	return l.Run(ctx, s, in)
}
