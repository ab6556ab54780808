package dbos

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// The names of the event that has the open questions, and of the topic of answers.
const (
	asking  = "retake.asking"
	answers = "retake.answer"
)

// forever is how long a question without a deadline is open at a time: then it is asked again.
const forever = 24 * 365 * time.Hour

// AskPeople waits for people's answers, each a message of DBOS. One that does not fit is passed over.
func (f *flow) AskPeople(asks []machine.Ask) error {
	if err := f.publish(asks); err != nil {
		return err
	}
	until, phase := machine.AskedUntil(asks), f.st.Phase
	for f.st.Phase == phase && len(f.st.Asks()) > 0 {
		patience := forever
		if !until.IsZero() {
			patience = max(until.Sub(f.at), 0)
		}
		text, err := sdk.Recv[string](f.ctx, answers, patience)
		late := errors.Is(err, sdk.ErrTimeout)
		if err != nil && !late {
			return err
		}
		if err := f.time(); err != nil {
			return err
		}
		if late {
			if until.IsZero() {
				continue
			}
			return f.step(engine.Woke(f.at, until))
		}
		if took, err := f.answered(text); err != nil || took {
			return err
		}
	}
	return nil
}

// publish shows the open questions.
func (f *flow) publish(asks []machine.Ask) error {
	text, err := engine.Marshal(asks)
	if err != nil {
		return broken("the questions: %w", err)
	}
	return sdk.SetEvent(f.ctx, asking, string(text))
}

// answered feeds an answer to the core, and reports whether it was taken.
func (f *flow) answered(text string) (bool, error) {
	var answer machine.Response
	if engine.Unmarshal([]byte(text), &answer) != nil {
		return false, nil
	}
	ev, err := do(f, "answer", func(context.Context) (*machine.Event, error) {
		ev, err := engine.Answered(f.st, f.Config.Tools, f.at, answer)
		if err != nil {
			return nil, nil
		}
		return &ev, nil
	})
	if err != nil || ev == nil {
		return false, err
	}
	err = f.reduced(*ev, nil)
	return err == nil, err
}

// Asking returns the questions that the run of an id asked last, once it has asked any, or an error of DBOS
// after the timeout.
func Asking(c sdk.Client, id string, timeout time.Duration) (asks []machine.Ask, _ error) {
	text, err := sdk.GetEvent[string](c, id, asking, timeout)
	if err != nil {
		return nil, fmt.Errorf("dbos: %w", err)
	}
	return asks, engine.Unmarshal([]byte(text), &asks)
}

// Answer sends a person's answer to a run. It does not wait for the run: an answer that does not fit changes
// nothing, and its question stays open.
func Answer(c sdk.Client, id string, answer machine.Response) error {
	text, err := engine.Marshal(answer)
	if err != nil {
		return fmt.Errorf("dbos: the answer: %w", err)
	}
	if err := sdk.Send(c, id, string(text), answers); err != nil {
		return fmt.Errorf("dbos: %w", err)
	}
	return nil
}
