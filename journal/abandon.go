package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
)

// errAbandoned is the cause of the end of a run that was abandoned.
var errAbandoned = errors.New("the run was abandoned: nobody could continue it")

// Abandon ends the run of a session that nobody can continue, at the time now: one that a crash cut off and
// whose journal is redacted, if no store has what was left out ([ErrRedacted]). The run has failed as broken,
// calls that began are in doubt, and the session can have other runs. key is the secret key of a redacted
// journal, or nil. It returns [ErrConflict] if a writer holds the journal, and [ErrNoRun] if its last run has
// ended.
func Abandon(ctx context.Context, store Store, session string, key []byte, now time.Time) (err error) {
	j, err := Open(ctx, store, session, Settings{Redact: &Redaction{Key: key}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if !j.Unfinished() {
		return fmt.Errorf("abandoning the run of session %q: %w", session, ErrNoRun)
	}
	for j.Unfinished() { // reducers may have to hear of the end, which nobody has here
		if err := j.abandon(now); err != nil {
			return err
		}
	}
	return nil
}

// abandon records one event that ends the run.
func (j *Journal) abandon(now time.Time) error {
	st := j.file.State
	ev := machine.Event{Kind: machine.Broken, At: now.UTC().Round(0), Failure: new(fault.FailureOf(errAbandoned))}
	if ev.At.Before(st.At) {
		ev.At = st.At
	}
	for _, run := range j.file.Asked.Tools {
		began := func(n Note) bool { return n.Key == run.Key && n.Transport == run.Transport }
		if slices.ContainsFunc(j.file.Notes, began) {
			ev.Begun = append(ev.Begun, run.Index)
		}
	}
	effects, err := machine.Step(&st, &ev)
	if err != nil {
		return err
	}
	return j.Step(ev, effects, st)
}
