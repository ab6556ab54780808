package dbos

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// asking is the name of the event that has the questions.
const asking = "retake.asking"

// ErrNotTaken: an answer or a message is in the database, and the run has not taken it in time: no process
// has the run, or its tools or agents are at work. It counts once the run goes on: an answer if it is the
// first then, and a message if the run does not end before, which the warnings of its result say.
var ErrNotTaken = errors.New("dbos: the run has not taken it yet, and does when it goes on")

// board is what people see of a run's questions.
type board struct {
	Asks  []machine.Ask   `json:"asks"`
	Given []machine.Given `json:"given,omitempty"`
}

// AskPeople waits for people's answers. The questions are shown already.
func (f *flow) AskPeople(asks []machine.Ask) error {
	until := machine.AskedUntil(asks)
	over, err := f.hearUntil(until)
	switch {
	case err != nil:
		return err
	case over && until.Equal(f.st.Config.Deadline):
		return errLate // the run ends at both at once
	case over:
		err = f.step(engine.Woke(f.at, until))
	}
	if err != nil {
		return err
	}
	return f.publish()
}

// publish shows the questions, if they are not as they were shown.
func (f *flow) publish() error {
	text, err := engine.Marshal(board{f.st.Asks(), f.st.Given()})
	if err != nil {
		return broken("the questions: %w", err)
	}
	if string(text) == f.shown {
		return nil
	}
	f.shown = string(text)
	return sdk.SetEvent(f.ctx, asking, f.shown)
}

// answered feeds an answer to the core, if it fits.
func (f *flow) answered(key string, answer machine.Response) error {
	j, err := do(f, "answer", func(context.Context) (usercode.Judged, error) {
		return usercode.Judge(f.st, f.Config.Tools, f.at, answer), nil
	})
	if err == nil && j.Event != nil {
		err = f.reduced(*j.Event, nil)
	}
	if err != nil {
		return err
	}
	return f.tell(key, j.Refused)
}

// Asking returns the open questions of the run of an id, once it has asked any, or an error of DBOS after the
// timeout.
func Asking(c sdk.Client, id string, timeout time.Duration) ([]machine.Ask, error) {
	b, err := boardOf(c, id, timeout)
	if err != nil {
		return nil, fmt.Errorf("dbos: %w", err)
	}
	return b.Asks, nil
}

func boardOf(c sdk.Client, id string, timeout time.Duration) (b board, _ error) {
	text, err := sdk.GetEvent[string](c, id, asking, timeout)
	if err != nil {
		return b, err
	}
	return b, engine.Unmarshal([]byte(text), &b)
}

// Answer gives a person's answer to a run, and waits until it is taken, at most so long. Errors are a
// [*machine.AnswerError] for an answer that the run does not take, [loop.ErrNobodyAsks] for a run that has
// ended, [ErrNotTaken], and those of DBOS.
func Answer(c sdk.Client, id string, answer machine.Response, timeout time.Duration) error {
	if answer.At.IsZero() {
		answer.At = time.Now().UTC()
	}
	return post(c, id, letter{Key: rand.Text(), Answer: &answer}, timeout, func(run *Run) (why, err error) {
		return run.closed(c, id, answer.Question)
	})
}

// Say says something to a run: see [session.Words]. It waits until the run has taken it, at most so long. The
// message enters before the next model call. A run takes it while it waits, asks people or calls a model, and
// otherwise before it calls one. An empty ID is made; give one to be able to say it again after an error.
// Errors are [session.ErrNotHeld] for a run that has ended, [ErrNotTaken], that of an invalid message, and
// those of DBOS.
func Say(c sdk.Client, id string, w session.Words, timeout time.Duration) error {
	if w.ID == "" {
		w.ID = rand.Text()
	}
	if err := w.Validate(); err != nil {
		return err
	}
	if w.At.IsZero() {
		w.At = time.Now()
	}
	w.At = w.At.UTC().Round(0)
	return post(c, id, letter{Key: w.ID, Words: &w}, timeout, func(run *Run) (why, err error) {
		ended, err := run.ended()
		if ended {
			why = session.ErrNotHeld
		}
		return why, err
	})
}

// post sends a letter to a run, once for its key, and waits until it is taken, at most so long. closed
// returns why the run takes it no more; nil if it may.
func post(
	c sdk.Client, id string, l letter, timeout time.Duration, closed func(*Run) (why, err error),
) error {
	end, last := time.Now().Add(timeout), false
	run, err := Get(c, id)
	if err != nil {
		return err
	}
	text, err := engine.Marshal(l)
	if err != nil {
		return fmt.Errorf("dbos: the letter: %w", err)
	}
	for sent := false; ; {
		why, err := closed(run)
		if err != nil {
			return err
		}
		wait := min(time.Until(end), time.Second)
		if why != nil { // perhaps by this letter
			wait = 0
		} else if !sent {
			err = sdk.Send(c, id, string(text), mail, sdk.WithIdempotencyKey(mail+"."+l.Key))
			sent = err == nil
		}
		taken := false
		if err == nil {
			taken, err = whatCame(c, id, l.Key, wait)
		}
		switch {
		case taken:
			return err
		case err != nil:
			return fmt.Errorf("dbos: %w", err)
		case why != nil:
			return why
		case !time.Now().Before(end):
			ends, err := isClosing(c, id)
			if err != nil || last || !ends {
				return cmp.Or(err, ErrNotTaken)
			}
			end, last = time.Now().Add(closesWithin), true // it may not have read this
		}
	}
}

// closesWithin is how long a run takes at most that has ended, until its workflow has.
const closesWithin = 10 * time.Second

// isClosing reports whether a run has ended, and may not read what is sent now.
func isClosing(c sdk.Client, id string) (bool, error) {
	_, err := sdk.GetEvent[string](c, id, closing, 0)
	if errors.Is(err, sdk.ErrTimeout) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("dbos: %w", err)
	}
	return true, nil
}

// whatCame returns whether a run has told what came of the letter with a key, and why it was not taken.
func whatCame(c sdk.Client, id, key string, timeout time.Duration) (taken bool, _ error) {
	text, err := sdk.GetEvent[string](c, id, told+"."+key, max(timeout, 0))
	if errors.Is(err, sdk.ErrTimeout) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var refused *machine.AnswerError
	if err := engine.Unmarshal([]byte(text), &refused); err != nil || refused == nil {
		return err == nil, err
	}
	return true, refused
}

// ended reports whether no process goes on with the run.
func (r *Run) ended() (bool, error) {
	s, err := r.h.GetStatus()
	if err != nil {
		return false, fmt.Errorf("dbos: %w", err)
	}
	switch s.Status {
	case sdk.WorkflowStatusPending, sdk.WorkflowStatusEnqueued, sdk.WorkflowStatusDelayed:
		return false, nil
	}
	return true, nil
}

// closed returns why the run reads no answer to a question any more; nil if it may.
func (r *Run) closed(c sdk.Client, id, question string) (why, _ error) {
	if ended, err := r.ended(); ended || err != nil {
		return loop.ErrNobodyAsks, err
	}
	b, err := boardOf(c, id, 0)
	if errors.Is(err, sdk.ErrTimeout) || err == nil && len(b.Asks) > 0 { // it has not asked, or it reads it
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("dbos: %w", err)
	}
	sentinel := machine.ErrMovedOn
	for _, g := range b.Given {
		if g.Question == question && g.Nobody {
			sentinel = machine.ErrTooLate
		} else if g.Question == question {
			sentinel = machine.ErrAnswered
		}
	}
	return &machine.AnswerError{Question: question, Err: sentinel}, nil
}
