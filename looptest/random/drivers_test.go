package random_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/looptest/random"
	"github.com/retake-go/retake/report"
	"github.com/retake-go/retake/session"
)

// The runs of a case leave much and keep little: to collect it less often saves a fifth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// cases is how many cases a test makes without an environment that says otherwise.
func cases() int {
	if testing.Short() {
		return random.Cases(300)
	}
	return random.Cases(1000)
}

func isRun(c random.Case) bool    { return c.Action == nil }
func isAction(c random.Case) bool { return c.Action != nil }

func endsAlone(c random.Case) bool { return !c.Cancels() }

// isOwn leaves out what needs a context that ends.
func isOwn(c random.Case) bool {
	if len(c.Answers) > 0 && !c.Input.Deadline.IsZero() {
		return false // at both deadlines at once, a run ends with its context
	}
	return isQuick(c)
}

// isAlone also leaves out agents: a runner calls tools by itself.
func isAlone(c random.Case) bool { return isOwn(c) && !c.Nests() }

func isQuick(c random.Case) bool { return endsAlone(c) && !c.Hangs }

// Every driver of package loop makes of a case what Run and Do make of it.
func TestDriversMakeTheSame(t *testing.T) {
	random.Check(t, cases(),
		random.Driver{Name: "Pool", Takes: func(c random.Case) bool { return isRun(c) && endsAlone(c) }, Run: inPool},
		random.Driver{Name: "Pool.Await", Takes: isRun, Run: awaited},
		random.Driver{Name: "Runner", Takes: isAlone, Run: byRunner},
		random.Driver{Name: "Runner in new journals", Takes: func(c random.Case) bool { return isAlone(c) && isRun(c) }, Run: inNewJournals},
		random.Driver{Name: "Attempts", Takes: isAction, Run: inAttempts},
	)
}

// A run that crashed after any append to its journal goes on as if nothing had happened.
func TestCrashesChangeNothing(t *testing.T) {
	random.Check(t, cases(), random.Driver{Name: "a resumed run", Run: crashing(1)})
}

// A run that crashed several times, the next time anywhere after the last, goes on as well. So it does from
// journals that were compacted in between.
func TestSeveralCrashesChangeNothing(t *testing.T) {
	random.Check(t, cases(), random.Driver{Name: "a run resumed three times", Run: crashingThrice, Takes: func(c random.Case) bool {
		return isRun(c) || c.Action.ID != "" // the value of an action without an ID is lost in a crash at its end
	}})
}

// A limiter changes nothing but when calls are made.
func TestGrantsChangeNothingElse(t *testing.T) {
	limited := func(run func(context.Context, *random.World) (random.Trace, error)) func(context.Context, *random.World) (random.Trace, error) {
		return func(ctx context.Context, w *random.World) (made random.Trace, err error) {
			// A limiter that learns would hold calls back, and time itself decides about polls and deadlines.
			w.Limiter, err = limiter.New(limiter.Config{Clock: w.Clock, Limit: limit.Config{Start: 1_000_000, Failures: 1 << 30}})
			if err != nil {
				return made, err
			}
			return run(ctx, w)
		}
	}
	timeless := func(c random.Case) bool {
		return isOwn(c) && len(c.Says) == 0 && c.Input.Deadline.IsZero() && (c.Action == nil || c.Action.Deadline.IsZero())
	}
	random.Check(t, cases()/6,
		random.Driver{Name: "a run with a limiter", Takes: timeless, Run: limited(random.Run)},
		random.Driver{Name: "a pool with a limiter", Takes: func(c random.Case) bool { return timeless(c) && isRun(c) }, Run: limited(inPool)},
		random.Driver{Name: "a resumed run with a limiter", Takes: timeless, Run: limited(crashing(1))},
	)
}

// A journal that leaves texts out changes nothing in the run, and decides the same; nor does a crash. The
// points of a case at which it crashes are a third of those of TestCrashesChangeNothing.
func TestRedactionChangesNothing(t *testing.T) { random.Check(t, cases(), redacted) }

// The calls that are the answer of a redacted run have nothing that only its journal needs.
func TestTheCallsOfARedactedRunAreThoseOfAnyRun(t *testing.T) {
	t.Setenv("RETAKE_SEED", "977000535")
	random.Check(t, 1, redacted)
}

var redacted = random.Driver{Name: "a redacted run", Run: func(ctx context.Context, w *random.World) (random.Trace, error) {
	w.Redact()
	made, err := crashing(3)(ctx, w)
	if err == nil {
		err = shown(w)
	}
	return made, err
}}

// Case 1010 has an agent that began only in the second try of its call: what it consumed before a crash was
// lost.
func TestWhatAnAgentOfALaterTryConsumedIsCounted(t *testing.T) {
	w, err := random.NewWorld(random.New(1010))
	require.NoError(t, err)
	w.Redact()
	_, err = crashing(1)(t.Context(), w)
	require.NoError(t, err)
}

// In case 76000927 a run ends while a read-only agent has asked its model. The run does not wait for it.
func TestARunDoesNotCountAnAgentThatItLeaves(t *testing.T) {
	w, err := random.NewWorld(random.New(76000927))
	require.NoError(t, err)
	_, err = random.Run(t.Context(), w)
	require.NoError(t, err)
}

// shown shows a redacted journal to people, who see none of its secrets either.
func shown(w *random.World) error {
	text := w.Store.Text(w.Session.ID)
	for _, show := range []func(io.Writer, io.Reader) error{
		report.Page{}.HTML, report.JSON,
		func(to io.Writer, in io.Reader) error { return report.Text(to, in, report.Style{}) },
	} {
		var seen bytes.Buffer
		if err := errors.Join(show(&seen, bytes.NewReader(text)), w.Leaks(seen.Bytes())); err != nil {
			return err
		}
		if seen.Len() == 0 {
			return errors.New("nothing is shown of the journal")
		}
	}
	return nil
}

// inPool makes each run in a pool.
func inPool(ctx context.Context, w *random.World) (t random.Trace, err error) {
	return each(ctx, w, func(s *session.Session, in loop.Input) error {
		return pooled(ctx, w, s, in)
	})
}

// each makes the runs of a session, and hands the session back.
func each(
	ctx context.Context, w *random.World, run func(*session.Session, loop.Input) error,
) (t random.Trace, err error) {
	s, j, err := w.Begin(ctx)
	if err != nil {
		return t, err
	}
	for in := range w.Inputs(s) {
		if err := run(s, in); err != nil {
			return t, err
		}
	}
	if err := errors.Join(j.Close(), w.ReadJournal()); err != nil {
		return t, err
	}
	if err := session.DriverOf(s).Acquire(); err != nil {
		return t, fmt.Errorf("after the run: %w", err)
	}
	return w.Trace()
}

// pooled makes a run in a pool, which is closed and made again a few times in between.
func pooled(ctx context.Context, w *random.World, s *session.Session, in loop.Input) error {
	over := false
	shared := loop.PoolConfig{Model: w.Model, Config: w.Config, Options: w.Options(), Done: func(_ *session.Session, r loop.Result, err error) {
		w.Ended(r, err)
		over = true
	}}
	p, err := loop.NewPool(shared)
	if err != nil {
		return err
	}
	if _, err = p.Add(s, in); err != nil {
		return err
	}
	closed := rand.New(rand.NewPCG(w.Case.Seed, 0))
	for n := closed.IntN(4); n > 0 && !over; n-- {
		if at, ok := p.Next(); ok && at.After(w.Clock.Now()) {
			w.Clock.Add(at.Sub(w.Clock.Now()))
		}
		p.Due(w.Clock.Now())
		left := p.Close()
		if p, err = loop.NewPool(shared); err != nil {
			return err
		}
		for _, k := range left {
			if _, err := p.AddParked(k); err != nil {
				return err
			}
		}
	}
	if err := p.Run(ctx, 2); err != nil {
		return err
	}
	if !over {
		return errors.New("Done was not called")
	}
	return nil
}

// awaited waits for the end of each run in a pool.
func awaited(ctx context.Context, w *random.World) (t random.Trace, err error) {
	return each(ctx, w, func(s *session.Session, in loop.Input) error {
		p, err := loop.NewPool(loop.PoolConfig{Model: w.Model, Config: w.Config, Options: w.Options()})
		if err != nil {
			return err
		}
		drive, stop := context.WithCancel(context.WithoutCancel(ctx))
		var driven sync.WaitGroup
		driven.Go(func() { _ = p.Serve(drive, 1) })
		w.Ended(p.Await(ctx, s, in))
		stop()
		driven.Wait()
		return nil
	})
}

// inNewJournals makes each run in a session that was restored from the snapshot of the one before, and begins
// a new journal. The journals of every second case leave texts out.
func inNewJournals(ctx context.Context, w *random.World) (t random.Trace, err error) {
	s, err := session.New(w.Session)
	if err != nil {
		return t, err
	}
	var settings journal.Settings
	if w.Case.Seed%2 == 0 {
		settings.Redact = new(loop.Redact(w.Case.Redact, w.Config))
	}
	e := &own{w: w, now: w.Clock.Now(), left: map[string]bool{}}
	w.Hear = e.hear
	for in := range w.Inputs(s) {
		before, err := s.Snapshot()
		if err != nil {
			return t, err
		}
		var store looptest.Store
		cfg := w.Session
		j, err := journal.Open(ctx, &store, cfg.ID, settings)
		if err != nil {
			return t, err
		}
		cfg.Journal = j
		if e.s, err = session.Restore(cfg, before); err != nil {
			return t, err
		}
		if err := errors.Join(e.run(ctx, in), j.Close()); err != nil {
			return t, err
		}
		text, key, leaks := store.Text(cfg.ID), []byte(nil), error(nil)
		if settings.Redact != nil {
			key, leaks = settings.Redact.Key, w.Leaks(text)
		}
		if _, err := journal.Replay(bytes.NewReader(text), key); err != nil || leaks != nil {
			return t, errors.Join(err, leaks)
		}
		d := session.DriverOf(s)
		if err := errors.Join(d.Acquire(), d.Conclude(session.DriverOf(e.s).Contents())); err != nil {
			return t, err
		}
		d.Release()
	}
	return w.Trace()
}

// inAttempts makes the tries of an action with Attempts.
func inAttempts(ctx context.Context, w *random.World) (t random.Trace, err error) {
	return each(ctx, w, func(s *session.Session, _ loop.Input) error {
		var result loop.Result
		tries := loop.Attempts(ctx, s, w.Case.Action, w.Options()...)
		for try := range tries.All() {
			value, err := w.Try(ctx, *try)
			try.Value = value
			if try.End(err); err == nil {
				result.Value = value
			}
		}
		if tries.Err() != nil {
			result.Value = nil
		}
		w.Ended(result, tries.Err())
		return nil
	})
}

// crashing returns a driver that makes a run, and then resumes it from the points at which its process may
// have died: from each with every 1, or from one of so many, by turns from case to case.
func crashing(every int) func(context.Context, *random.World) (random.Trace, error) {
	return func(ctx context.Context, w *random.World) (random.Trace, error) { return crashAt(ctx, w, every) }
}

func crashAt(ctx context.Context, w *random.World, every int) (t random.Trace, err error) {
	whole, err := random.Run(ctx, w)
	if err != nil {
		return t, err
	}
	lines := strings.SplitAfter(string(w.Store.Text(w.Session.ID)), "\n")
	lines = lines[:len(lines)-2] // the last line ends the run
	if a := w.Case.Action; a != nil && a.ID == "" {
		// Without an ID the value of the last try is not recorded, and once the action has ended Do makes it
		// again.
		end := len(lines) - 1
		for ; !strings.Contains(lines[end], `"kind":"tried"`) && !strings.Contains(lines[end], `"kind":"cancelled"`); end-- {
		}
		lines = lines[:end]
	}
	cut, point := 0, int(w.Case.Seed%uint64(every))
	for n, line := range lines {
		cut += len(line)
		if within := strings.Contains(line, `"record":{"event":`) || n == 0; within && w.Case.Seed%3 != 0 {
			continue // an append has an event and its decision; the file ends between them in some cases only
		}
		if point++; point%every != 0 {
			continue
		}
		again, err := w.Crash(cut)
		if err != nil {
			return t, fmt.Errorf("after line %d: %w", n+1, err)
		}
		resumed, err := random.Run(ctx, again)
		if err != nil {
			return t, fmt.Errorf("after line %d: %w", n+1, err)
		}
		if diff := random.Diff(whole, resumed); diff != "" && !again.InDoubt {
			return t, fmt.Errorf("after line %d: %s", n+1, diff)
		}
	}
	return whole, nil
}

// crashingThrice makes a run, and resumes it after a crash, and so on.
func crashingThrice(ctx context.Context, w *random.World) (t random.Trace, err error) {
	whole, err := random.Run(ctx, w)
	dice, cut, doubt := rand.New(rand.NewPCG(w.Case.Seed, 3)), 0, false
	for range 3 {
		if err != nil {
			return t, err
		}
		var ends []int // of the lines after the last crash, without the one that ends the run
		at, events := 0, map[int]bool{}
		for line := range strings.Lines(string(w.Store.Text(w.Session.ID))) {
			if at += len(line); at > cut {
				ends = append(ends, at)
			}
			events[at] = strings.Contains(line, `"record":{"event":`)
		}
		if len(ends) < 2 {
			break
		}
		cut = ends[dice.IntN(len(ends)-1)]
		if w, err = w.Crash(cut); err != nil {
			return t, err
		}
		if dice.IntN(2) == 0 && !events[cut] { // the trace would lack the decision on the last event
			if err = w.Compact(ctx); err != nil {
				return t, fmt.Errorf("compacted after %d bytes: %w", cut, err)
			}
			cut = len(w.Store.Text(w.Session.ID))
		}
		var resumed random.Trace
		if resumed, err = random.Run(ctx, w); err == nil {
			doubt = doubt || w.InDoubt
			if diff := random.Diff(whole, resumed); diff != "" && !doubt {
				err = fmt.Errorf("after %d bytes: %s", cut, diff)
			}
		}
	}
	return whole, err
}

// A reducer refuses the failure of a call whose action is over: the feedback on it has an attempt, and a
// journal can be written.
func TestARefusalOfAnActionThatIsOverIsWritten(t *testing.T) {
	w, err := random.NewWorld(random.New(977000368))
	require.NoError(t, err)
	_, err = inPool(t.Context(), w)
	require.NoError(t, err)
}
