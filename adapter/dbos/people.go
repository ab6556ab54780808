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
)

// The names of the event that has the questions, and of the topic of answers. What came of an answer is the
// event of that name with its key.
const (
	asking  = "retake.asking"
	answers = "retake.answer"
)

// patience is how long a run waits for a message at a time. DBOS wakes nobody for one that comes while the
// process does not listen yet; it is found when the time is over.
const patience = time.Hour

// ErrNotTaken: an answer is in the database, and no process has taken it in time. It counts once one goes on
// with the run, if it is the first then.
var ErrNotTaken = errors.New("dbos: the answer waits for a process that goes on with the run")

// board is what people see of a run's questions.
type board struct {
	Asks  []machine.Ask   `json:"asks"`
	Given []machine.Given `json:"given,omitempty"`
}

// answerMessage is a person's answer in a message, with the key by which its sender is told what came of it.
type answerMessage struct {
	Key    string           `json:"key"`
	Answer machine.Response `json:"answer"`
}

// AskPeople waits for people's answers, each a message of DBOS. The questions are shown already.
func (f *flow) AskPeople(asks []machine.Ask) error {
	until, given := machine.AskedUntil(asks), len(f.st.Given)
	for len(f.st.Given) == given {
		most := patience
		if !until.IsZero() {
			most = min(most, max(until.Sub(f.at), 0))
		}
		text, err := f.hooks.recv(f.ctx, answers, most)
		late := errors.Is(err, sdk.ErrTimeout)
		if err != nil && !late {
			return err
		}
		if err := f.time(); err != nil {
			return err
		}
		switch {
		case !late:
			err = f.answered(text)
		case most == patience: // the question is still open
			continue
		case until.Equal(f.st.Config.Deadline):
			err = errLate // the run ends at both at once
		default:
			err = f.step(engine.Woke(f.at, until))
		}
		if err != nil {
			return err
		}
	}
	return f.publish()
}

// publish shows the questions, if they are not as they were shown.
func (f *flow) publish() error {
	text, err := engine.Marshal(board{f.st.Asks(), f.st.Given})
	if err != nil {
		return broken("the questions: %w", err)
	}
	if string(text) == f.shown {
		return nil
	}
	f.shown = string(text)
	return sdk.SetEvent(f.ctx, asking, f.shown)
}

// answered feeds an answer to the core, if it fits, and tells its sender what came of it.
func (f *flow) answered(text string) error {
	var in answerMessage
	if engine.Unmarshal([]byte(text), &in) != nil {
		return nil
	}
	j, err := do(f, "answer", func(context.Context) (usercode.Judged, error) {
		return usercode.Judge(f.st, f.Config.Tools, f.at, in.Answer), nil
	})
	if err != nil {
		return err
	}
	if j.Event != nil {
		if err := f.reduced(*j.Event, nil); err != nil {
			return err
		}
	}
	told, err := engine.Marshal(j.Refused)
	if err != nil {
		return broken("the refusal of an answer: %w", err)
	}
	return sdk.SetEvent(f.ctx, answers+"."+in.Key, string(told))
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
	end := time.Now().Add(timeout)
	run, err := Get(c, id)
	if err != nil {
		return err
	}
	if ended, err := run.ended(); ended || err != nil {
		return cmp.Or(err, loop.ErrNobodyAsks)
	}
	if answer.At.IsZero() {
		answer.At = time.Now().UTC()
	}
	key := rand.Text()
	text, err := engine.Marshal(answerMessage{key, answer})
	if err != nil {
		return fmt.Errorf("dbos: the answer: %w", err)
	}
	if err := sdk.Send(c, id, string(text), answers); err != nil {
		return fmt.Errorf("dbos: %w", err)
	}
	for tries := 1; ; tries++ {
		closed, err := run.closed(c, id, answer.Question)
		if err != nil {
			return err
		}
		wait := min(time.Until(end), time.Second)
		if closed != nil { // perhaps by this answer
			wait = 0
		}
		told, err := whatCame(c, id, key, wait)
		switch {
		case told:
			return err
		case err != nil:
			return fmt.Errorf("dbos: %w", err)
		case closed != nil:
			return closed
		case !time.Now().Before(end):
			return ErrNotTaken
		case tries&(tries-1) == 0: // an empty message wakes a process that did not listen yet: see patience
			err = sdk.Send(c, id, "", answers)
		}
		if err != nil {
			return fmt.Errorf("dbos: %w", err)
		}
	}
}

// whatCame returns whether a run has told what came of the answer with a key, and why it was not taken.
func whatCame(c sdk.Client, id, key string, timeout time.Duration) (told bool, _ error) {
	text, err := sdk.GetEvent[string](c, id, answers+"."+key, max(timeout, 0))
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
