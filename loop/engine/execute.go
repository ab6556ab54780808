package engine

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Answers is an engine that steps the core itself: it has a method for each effect that needs a model, user
// code, time or people. A method carries the effect out and feeds the event of its answer, as the table in
// the package comment says. What it returns is returned by [Execute].
type Answers interface {
	CallModel(*machine.ModelCall) error
	MakePrompt(*machine.ModelCall) error
	Summarise(projection.Span) error
	// RunTools is given the calls that have no outcome yet.
	RunTools([]machine.ToolRun) error
	Try(machine.TryRun) error
	Wait(until time.Time) error
	AskPeople([]machine.Ask) error
	AskPlanner(machine.Effect) error
	// TellReducers is for the notices of the state.
	TellReducers() error
	// Answered is given the answer to an effect for which nobody has to be asked: see [Offer.Answer].
	Answered(machine.Event) error
}

// Execute has an engine carry out the effect that a step asked for last. The error is the engine's own, or
// says that Answers has no method for the effect.
func Execute(by Answers, st *machine.State, e machine.Effect, on Offer, at time.Time) error {
	switch e.Kind {
	case machine.CallModel:
		return by.CallModel(e.Model)
	case machine.MakePrompt:
		return by.MakePrompt(e.Model)
	case machine.Summarise:
		return by.Summarise(e.Summary.Span)
	case machine.RunTools:
		return by.RunTools(st.Left(e).Tools)
	case machine.TryAction:
		return by.Try(*e.Try)
	case machine.WaitUntil:
		return by.Wait(e.Wait.Until)
	case machine.AskPerson:
		return by.AskPeople(e.Asks)
	case machine.AskPlanner:
		return by.AskPlanner(e)
	case machine.Reduce:
		return by.TellReducers()
	}
	if ev, own := on.Answer(*st, e, at); own {
		return by.Answered(ev)
	}
	return fmt.Errorf("the core asks for %q, which this engine does not support", e.Kind)
}

// Begins reports whether an effect has an engine call models, tools or code of the user that may take long. A
// run begins nothing of that when its time is up.
func Begins(k machine.EffectKind) bool {
	switch k {
	case machine.CallModel, machine.MakePrompt, machine.Summarise, machine.RunTools, machine.TryAction,
		machine.AskPlanner:
		return true
	}
	return false
}

// Reducing has reducers make of an event what the core has to know, before it is fed: of an accepted answer,
// a successful call, and a result that a person gives. emitted are the events of the tool. heard reports
// which events have reducers, nil means all; others are not made. reduce runs them; its error is returned.
func Reducing(
	st *machine.State, ev *machine.Event, emitted []session.Event, heard func(event string) bool,
	reduce func([]session.Event) (*machine.Reduced, error),
) (err error) {
	if heard == nil {
		heard = func(string) bool { return true }
	}
	if a := accepted(ev.Reply); a != nil {
		a.Reduced, err = reduce(answerEvents(heard, ev.Reply.Message.Text, a))
	}
	end := ev.Tool
	if end == nil || end.Verdict != machine.Done || err != nil {
		return err
	}
	if b := st.Batch; b != nil && end.Index >= 0 && end.Index < len(b.Calls) { // else the core refuses it
		end.Reduced, err = reduce(toolEvents(heard, b.Calls[end.Index].ToolRun,
			tool.Outcome{Result: end.Result, Events: emitted}))
	}
	return err
}

// accepted returns the answer of a reply that is accepted unless a reducer refuses it; nil if there is none.
func accepted(read *machine.Reply) *machine.Answer {
	if read == nil || read.Answer == nil || len(read.Answer.Issues) > 0 {
		return nil
	}
	return read.Answer
}

// Answer returns the event that answers an effect for which nobody has to be asked: an estimate, or a plan
// for a shorter prompt. ok is false for other effects.
func (on Offer) Answer(st machine.State, e machine.Effect, at time.Time) (ev machine.Event, ok bool) {
	switch e.Kind {
	case machine.EstimateCall:
		return machine.Event{Kind: machine.Estimated, At: at, Tokens: on.estimate(&st, e.Model)}, true
	case machine.Shorten:
		return machine.Event{Kind: machine.Shortened, At: at, Cut: new(st.PlanCuts())}, true
	}
	return ev, false
}

// Woke returns the event that a wait until a time is over, or a question's deadline. now may be earlier if
// the clock was set back meanwhile.
func Woke(now, until time.Time) machine.Event {
	if now.Before(until) {
		now = until
	}
	return machine.Event{Kind: machine.Woke, At: now}
}

// Step is [machine.Step] for an engine that knows which calls run. If the event ends the run, its Begun is
// set to what begun returns: the calls of the reply, by index, that began and have no outcome after the
// event. The reply is that of the state before, and st is no longer that.
func Step(st *machine.State, ev *machine.Event, begun func() []int) ([]machine.Effect, error) {
	before := *st
	effects, err := machine.Step(st, ev)
	if err != nil || st.Outcome == nil || before.Outcome != nil && before.Phase == machine.Reducing {
		return effects, err
	}
	if ev.Begun = begun(); len(ev.Begun) == 0 {
		return effects, nil
	}
	*st = before
	return machine.Step(st, ev)
}
