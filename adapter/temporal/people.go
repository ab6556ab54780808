package temporal

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// AskPeople waits until a person has answered, or the first deadline is over.
func (f *flow) AskPeople(asks []machine.Ask) error {
	given := len(f.st.Given())
	answered := func() bool { return len(f.st.Given()) > given }
	ready, deadline := answered, machine.AskedUntil(asks)
	if !deadline.IsZero() {
		ctx, stop := workflow.WithCancel(f.ctx)
		defer stop()
		timer := workflow.NewTimer(ctx, max(deadline.Sub(f.now()), 1))
		ready = func() bool { return answered() || timer.IsReady() }
	}
	if on, err := f.until(ready); !on || err != nil || answered() {
		return err
	}
	return f.step(engine.Woke(f.now(), deadline))
}

// takePeople registers the updates of people.
func (f *flow) takePeople() error {
	answer := update[machine.Response]{
		name:  UpdateAnswer,
		fault: func(r machine.Response) error { return refusalOf(f.st.ResponseFault(&r, f.now())) },
		do:    f.respond,
		early: f.mayAskSoon,
		ended: func(r machine.Response) error {
			return &machine.AnswerError{Question: r.Question, Err: machine.ErrMovedOn}
		},
	}
	say := update[session.Words]{
		name: UpdateSay,
		fault: func(w session.Words) error {
			switch {
			case f.st.Phase == machine.Stopped:
				return refusalOf(session.ErrNotHeld)
			case f.st.Config.Single:
				return errors.New("a single action hears no user")
			}
			return w.Validate()
		},
		do:    f.say,
		ended: func(session.Words) error { return session.ErrNotHeld },
	}
	return errors.Join(answer.register(f), say.register(f))
}

// mayAskSoon reports whether a question that is not open is of the current reply or the next one, of which the
// state may not know yet.
func (f *flow) mayAskSoon(r machine.Response) bool {
	err := f.st.ResponseFault(&r, f.now())
	if f.st.Phase == machine.Stopped || !errors.Is(err, machine.ErrMovedOn) && !errors.Is(err, machine.ErrNotAsked) {
		return false
	}
	var run, turn int
	_, _ = fmt.Sscanf(r.Question, "%d.%d.", &run, &turn)
	return run == f.st.Run && (turn == f.st.Turn || turn == f.st.Turn+1)
}

// respond feeds a person's answer. What the worker's tool says of it is in the history.
func (f *flow) respond(answer machine.Response) error {
	if err := f.adjust(); err != nil {
		return err
	}
	st, at := f.st, f.now()
	j, err := once[usercode.Judged](workflow.SideEffect(f.ctx,
		func(workflow.Context) any { return over(f.agent.judge(f.in.Tools, st, at, answer)) }))
	if err != nil {
		return err
	}
	if j.Refused != nil {
		return j.Refused
	}
	return f.reduced(*j.Event, nil)
}

// judge checks an answer with the worker's tools.
func (a *agent) judge(
	offered []string, st machine.State, at time.Time, answer machine.Response,
) usercode.Judged {
	a.endReplay()
	tools, err := a.offered(offered)
	if err != nil {
		return usercode.Judged{Refused: &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit,
			Why: cut(utf8(err.Error()), maxText)}}
	}
	return usercode.Judge(st, tools, at, answer)
}

// say feeds a user's message. One that stops a model call leaves it, and the call is made again with the
// message.
func (f *flow) say(w session.Words) error {
	if w.At.IsZero() {
		w.At = f.now()
	}
	ev, leaves := engine.SpokenDuring(f.st, f.now(), w, f.leaves())
	if ev == nil {
		return nil
	}
	if err := f.step(*ev); err != nil {
		return err
	}
	f.left = f.left || leaves
	return nil
}

// The types of Temporal's errors of refusals: of a [machine.AnswerError], and of [session.ErrNotHeld].
const (
	refusedType = "retake.refused"
	notHeldType = "retake.not_held"
)

// refusalOf returns an error with which an update fails, so that [refusedAs] finds what it was.
func refusalOf(err error) error {
	if e, ok := errors.AsType[*machine.AnswerError](err); ok {
		return sdk.NewNonRetryableApplicationError(err.Error(), refusedType, nil, over(*e))
	}
	if errors.Is(err, session.ErrNotHeld) {
		return sdk.NewNonRetryableApplicationError(err.Error(), notHeldType, nil)
	}
	return err
}

// refusedAs returns the error of an update as it was in the workflow. ended is the error for one that has
// ended.
func refusedAs(ended, err error) error {
	if e, ok := errors.AsType[*sdk.ApplicationError](err); ok {
		switch e.Type() {
		case notHeldType:
			return session.ErrNotHeld
		case refusedType:
			var was wire[machine.AnswerError]
			if err := e.Details(&was); err != nil {
				return fmt.Errorf("temporal: %w", err)
			}
			return &was.v
		}
	}
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
}
