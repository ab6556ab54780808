package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Start begins a run with the messages of its [Input], if any, and the given ones. The error is
// [session.ErrUnanswered] if they leave calls without a result.
func (r *Runner) Start(at time.Time, messages ...message.Message) ([]machine.Effect, error) {
	opens := cmp.Or(r.opening, &opening{})
	messages = slices.Concat(opens.said, messages)
	before := r.st.Transcript()
	before = before[max(talk.LastReply(before), 0):]
	if err := session.Unanswered(slices.Concat(before, messages)); err != nil {
		return nil, err
	}
	effects, err := r.Step(machine.Event{Kind: machine.Started, At: at, Messages: talk.Printable(messages),
		Kept: opens.known, Warnings: r.doubtful, Hears: Hears(r.s)})
	if err == nil {
		r.opening = nil
	}
	return effects, err
}

// Reply feeds a model's reply: it reads and checks the reply, and runs the reducers for an answer.
func (r *Runner) Reply(at time.Time, reply message.Reply) ([]machine.Effect, error) {
	return r.Replied(at, r.Read(context.Background(), reply))
}

// Read reads and checks a reply. If the context ends, the result is not usable.
func (r *Runner) Read(ctx context.Context, reply message.Reply) *machine.Reply {
	if r.reading == nil || r.reading.by != r.st.Policy {
		r.reading = &reading{by: r.st.Policy, settings: settingsOf(r.st.Policy, r.st.PolicyOf)}
	}
	settings := r.reading.settings
	settings.Stop = func() bool { return ctx.Err() != nil }
	r.reading.values = values{}
	return r.reading.values.read(reply, r.offer, r.st.ToolChoice(), settings)
}

// values returns those of the latest reply.
func (r *Runner) values() values {
	if r.reading == nil {
		return values{}
	}
	return r.reading.values
}

// Checked returns what the check of the latest reply made of a call's arguments; nil if there is nothing.
func (r *Runner) Checked(run machine.ToolRun) *tool.Checked {
	if calls := r.values().calls; run.Index < len(calls) {
		return calls[run.Index]
	}
	return nil
}

// Answer returns the accepted answer as the check of the latest reply decoded it; nil if there is nothing.
func (r *Runner) Answer() any {
	answer := r.values().answer
	if o := r.st.Outcome; o == nil || !bytes.Equal(o.Value, answer.Raw) {
		return nil
	}
	return answer.Value
}

// Replied feeds what [Runner.Read] returned, after running the reducers for an answer.
func (r *Runner) Replied(at time.Time, read *machine.Reply) ([]machine.Effect, error) {
	ev := machine.Event{Kind: machine.Replied, At: at, Reply: read}
	r.reduceFor(&ev, nil)
	return r.Step(ev)
}

// CallFailed feeds the error of a model call.
func (r *Runner) CallFailed(at time.Time, err error) ([]machine.Effect, error) {
	f := fault.FailureOf(err)
	return r.Step(machine.Event{Kind: machine.CallFailed, At: at, Failure: &f,
		RateLimit: RateLimit(err)})
}

// ToolEnded feeds the outcome of one call, in call order, after running the reducers for its result and
// events.
func (r *Runner) ToolEnded(at time.Time, run machine.ToolRun, out tool.Outcome) ([]machine.Effect, error) {
	end := EndOf(r.s, run, out)
	if landed, ok := out.Err.(*landedError); ok {
		end = new(landed.end)
	}
	if err := out.Cause(); err != nil {
		if r.failing == nil {
			r.failing = map[string]error{}
		}
		r.failing[run.Key] = err
	}
	ev := machine.Event{Kind: machine.ToolEnded, At: at, Tool: end}
	r.reduceFor(&ev, out.Events)
	return r.Step(ev)
}

// Woke feeds the end of a wait.
func (r *Runner) Woke(at time.Time) ([]machine.Effect, error) {
	return r.Step(machine.Event{Kind: machine.Woke, At: at})
}

// PlannerFailed feeds the error of a planner. It ends the run.
func (r *Runner) PlannerFailed(at time.Time, err error) ([]machine.Effect, error) {
	return r.Step(machine.Event{Kind: machine.Planned, At: at, Plan: &machine.Plan{Do: machine.Abort},
		Failure: causeOf(err)})
}

// Planned feeds a planner's answer. An invalid plan changes nothing. Loop.Run checks it before, with
// [machine.Plan.Fault], and feeds the error to PlannerFailed.
func (r *Runner) Planned(at time.Time, p machine.Plan) ([]machine.Effect, error) {
	p = p.Printable()
	return r.Step(machine.Event{Kind: machine.Planned, At: at, Plan: &p})
}

// Summarised feeds a summary. What is not UTF-8 in it is replaced.
func (r *Runner) Summarised(at time.Time, s machine.Summary) ([]machine.Effect, error) {
	s.Text = canon.UTF8(s.Text)
	return r.Step(machine.Event{Kind: machine.Summarised, At: at, Summary: &s,
		Cut: new(r.st.PlanSummary(s.Text))})
}

// SummaryFault reports a summary that says nothing: it would take the place of what it sums up.
func SummaryFault(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it says nothing")
	}
	return nil
}

// SummaryFailed feeds the error of who was asked for a summary, and what models consumed.
func (r *Runner) SummaryFailed(at time.Time, err error, u message.Usage) ([]machine.Effect, error) {
	return r.Step(machine.Event{Kind: machine.Summarised, At: at, Summary: &machine.Summary{Usage: u},
		Failure: causeOf(err)})
}

// Adjusted merges a layer over the run's policy. An invalid layer changes nothing.
func (r *Runner) Adjusted(at time.Time, l policy.Layer) ([]machine.Effect, error) {
	if err := r.st.AdjustFault(l); err != nil {
		return nil, fmt.Errorf("adjusting the policy: %w", err)
	}
	return r.Step(machine.Event{Kind: machine.Adjusted, At: at, Adjust: &l})
}

// causeOf returns the cause of an end for an event, or nil.
func causeOf(err error) *fault.Failure {
	if err == nil {
		return nil
	}
	return new(fault.FailureOf(err))
}

// Cancel ends the run at its current position. cause is why; may be nil. Its types count, not its words. A
// model call that was asked for counts as left: see [machine.Event].Left.
func (r *Runner) Cancel(at time.Time, cause error) ([]machine.Effect, error) {
	return r.Step(machine.Event{Kind: machine.Cancelled, At: at, Failure: CauseOf(cause),
		Left: r.st.Phase == machine.Calling})
}

// Break ends a run that cannot continue, at its current position. cause is why; may be nil.
func (r *Runner) Break(at time.Time, cause error) ([]machine.Effect, error) {
	return r.Step(machine.Event{Kind: machine.Broken, At: at, Failure: CauseOf(cause)})
}

// Dispatch runs the reducers for a user's events, as one transaction. It also returns the error of a reducer
// that failed.
func (r *Runner) Dispatch(at time.Time, events ...session.Event) ([]machine.Effect, error) {
	reduced := r.reduce(r.st.Session, events)
	effects, err := r.Step(machine.Event{Kind: machine.Dispatched, At: at, Reduced: reduced})
	if err == nil && reduced.Error != nil {
		return effects, reduced.Error
	}
	return effects, err
}

// ToolBegins must be called before each call is run, in call order. It records that the call begins, so that
// a call that may have had an effect is not run again after a crash. If the journal already has an outcome,
// or the call began before and may not be repeated, ToolBegins returns the outcome: pass it to
// [Runner.ToolEnded] and do not run the tool. After an error, which means that the start could not be
// recorded, the tool must not be run either. Without a journal it is only known that the call has begun, for
// the result.
func (r *Runner) ToolBegins(at time.Time, run machine.ToolRun) (*tool.Outcome, error) {
	again := slices.Contains(r.begun, run.Index)
	if !again {
		r.begun = append(r.begun, run.Index)
	}
	if r.journal == nil {
		return nil, nil
	}
	began, landed := r.journal.Call(run.Key, run.Transport)
	if landed != nil { // also where other calls of the reply were left in this process
		out := outcomeOf(landed)
		return &out, nil
	}
	t, ok := r.offer.Tools.Get(run.Tool)
	if (again || r.older && began) && (!ok || !run.Repeatable || !t.Repeatable()) {
		return &tool.Outcome{Err: tool.ErrUnknown}, nil
	}
	if r.unrecorded {
		return nil, nil
	}
	begins := journal.Note{Kind: journal.ToolBegan, At: at, Key: run.Key, Transport: run.Transport,
		Tool: run.Tool}
	if err := r.journal.Note(begins); err != nil {
		r.unrecorded = true // the run can still end in memory
		return nil, err
	}
	return nil, nil
}

// ToolPaused takes [Runner.ToolBegins] back, for a call that has stopped without an outcome and that the
// engine makes again later. If the run ends before that, the call is not in doubt. A journal keeps that it
// began.
func (r *Runner) ToolPaused(run machine.ToolRun) {
	r.begun = slices.DeleteFunc(r.begun, func(n int) bool { return n == run.Index })
}

// keepToolErrors keeps the Go errors of calls that have failed since.
func (r *Runner) keepToolErrors() {
	failed := r.st.ToolFailures()
	if len(failed) < len(r.toolErrors) { // another run
		r.toolErrors = nil
	}
	for n := len(r.toolErrors); n < len(failed); n++ {
		r.toolErrors = append(r.toolErrors, r.failing[failed[n].Key])
	}
	if r.st.Batch == nil {
		r.failing = nil
	}
}

// reduceFor adds to an event what reducers make of it. emitted are the events of its tool.
func (r *Runner) reduceFor(ev *machine.Event, emitted []session.Event) {
	_ = Reducing(r.st, ev, emitted, session.DriverOf(r.s).Hears, // the error is that of reduce
		func(events []session.Event) (*machine.Reduced, error) { return r.reduce(r.st.Session, events), nil })
}

// reduce runs the session's reducers for events. What fails is reported with the step that takes it.
func (r *Runner) reduce(st session.State, events []session.Event) *machine.Reduced {
	made := reduced(r.s, st, events)
	if made.Error != nil {
		r.unreported = append(r.unreported, *made.Error)
	}
	return made
}

// report calls the function of [session.Session.OnReducerError]. It may panic, which loses nothing: the step
// that the errors belong to is recorded.
func (r *Runner) report() {
	for len(r.unreported) > 0 {
		e := r.unreported[0]
		r.unreported = r.unreported[1:]
		session.DriverOf(r.s).Report(e)
	}
}
