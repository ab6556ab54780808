package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/benbjohnson/clock"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// newStore makes the store of a directory.
var newStore = func(dir string) journal.Store { return journal.Dir(dir) }

// recordings are the journals of a run's sessions. They are safe for concurrent use.
type recordings struct {
	dir      string
	store    journal.Store
	settings journal.Settings

	mu sync.Mutex
	// lines has the line of each session.
	lines map[string]rawLine
}

// openRecordings looks at the directory of -journal; nil where there is none.
func openRecordings(dir string, sync journal.Sync) (*recordings, error) {
	if dir == "" && sync != "" {
		return nil, misused("-sync is for -journal")
	}
	if dir == "" {
		return nil, nil
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, misused("-journal: %s is a file: give a directory, which is made where it is not there", dir)
	}
	if sync == "" {
		sync = journal.SyncNever
	}
	return &recordings{dir: dir, store: newStore(dir), settings: journal.Settings{Sync: sync}, lines: map[string]rawLine{}}, nil
}

// claim takes a session's journal for a line. Two lines cannot have one.
func (r *recordings) claim(id string, l rawLine) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other, taken := r.lines[id]; taken {
		return fmt.Errorf("%s:%d: id %q stands on line %d too: a session has one journal, so give it another id",
			l.file, max(l.number, other.number), id, min(l.number, other.number))
	}
	r.lines[id] = rawLine{number: l.number}
	return nil
}

// play runs a session in its journal: from the beginning, from where the journal ends, or not at all where
// all is done.
func (r *recordings) play(q question, cfg loop.Config, t *trace) (st machine.State, err error) {
	j, err := journal.Open(context.Background(), r.store, q.id, r.settings)
	if err != nil {
		return st, fmt.Errorf("%s: %w", r.path(q.id), err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	past, err := j.Past()
	if err != nil {
		return st, fmt.Errorf("%s: %w", r.path(q.id), err)
	}
	begun := past.Header.Format != ""
	if begun {
		if err := r.fits(past.Header, q, cfg); err != nil {
			return st, err
		}
	}
	if !begun || past.State.Phase == machine.Idle {
		return t.fresh(q, cfg, loop.WithJournal(j), stoppedClock())
	}
	if err := t.past(r.path(q.id), q, past.State); err != nil {
		return st, err
	}
	if st = past.State; over(past.State, past.Asked, q) {
		return st, nil
	}
	return t.resume(q, cfg, j)
}

// stoppedClock is the clock of what is noted beside a session.
func stoppedClock() loop.Option {
	c := clock.NewMock()
	c.Set(epoch)
	return loop.WithClock(c)
}

func (r *recordings) path(id string) string { return filepath.Join(r.dir, journal.FileName(id)) }

// over reports whether there is nothing left to do in a run: it has stopped, or asks for a reply that the
// script does not have.
func over(st machine.State, asked machine.Effect, q question) bool {
	return st.Phase == machine.Stopped || (asked.Kind == machine.CallModel && asked.Model.Turn > len(q.script()))
}

// fits says what a journal was written under that is not what the session is to be run under.
func (r *recordings) fits(then journal.Header, q question, cfg loop.Config) error {
	m, err := configOf(q.id, cfg)
	if err != nil {
		return err
	}
	now := then
	now.Config, now.Resolved, now.Tools, now.Output = m, nil, engine.Header(m, engine.Offer{Tools: q.tools}).Tools, ""
	if d, differ := journal.DiffHeaders(then, now); differ {
		return fmt.Errorf("%s: session %q was recorded under another config (recorded -> now):\n%s\ngive another directory, or remove the file",
			r.path(q.id), q.id, d)
	}
	return nil
}

// configOf is what a session is held to.
func configOf(id string, cfg loop.Config) (machine.Config, error) {
	s, err := session.New(session.Config{ID: id})
	if err != nil {
		return machine.Config{}, err
	}
	runner, err := loop.NewRunner(s, cfg, nil)
	if err != nil {
		return machine.Config{}, err
	}
	defer runner.Close()
	return *runner.State().Config, nil
}

// past takes down what a journal holds.
func (t *trace) past(path string, q question, st machine.State) error {
	t.begin(st, q.tools)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	steps := journal.NewSteps(f)
	for {
		_, step, err := steps.Next()
		switch {
		case errors.Is(err, io.EOF):
			t.said = st.Transcript.Len()
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case step == nil:
			continue
		case step.Event.Kind == machine.Started && (step.Number > 1 || !asks(step.Event, q)):
			return fmt.Errorf("%s: session %q was recorded with another question: give another directory, or remove the file", path, q.id)
		}
		line, err := step.Trace()
		t.step(line, err, step.Decision.Effects)
	}
}

// asks reports whether a run begins with a question.
func asks(ev machine.Event, q question) bool {
	return len(ev.Messages) == 1 && ev.Messages[0].Text == q.prompt
}

// resume goes on with a session where its journal ends.
func (t *trace) resume(q question, cfg loop.Config, j *journal.Journal) (machine.State, error) {
	s, err := session.New(session.Config{ID: q.id})
	if err != nil {
		return machine.State{}, err
	}
	runner, asked, err := loop.ResumeRunner(s, cfg, t.record, loop.WithJournal(j), stoppedClock())
	if err != nil {
		return machine.State{}, err
	}
	defer runner.Close()
	err = drive(runner, q.script(), []machine.Effect{asked})
	return runner.State(), err
}
