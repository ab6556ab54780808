package temporal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// flow is a run within a workflow: the state of the core, and that of its driver. All of it follows from
// the history.
type flow struct {
	*agent
	ctx   workflow.Context
	in    order
	begun begun
	st    machine.State
	// asked is the next effect to execute.
	asked    machine.Effect
	settings tool.Settings
	adjusted policy.Layer
	// err is the error behind the current event, cause the one behind exhaustion, and ending why the run was
	// ended from outside. errs are the errors of the calls of a reply, by their index.
	err, cause, ending *RemoteError
	errs               map[int]*RemoteError
	// exhaustion is that of the run's state, or nil.
	exhaustion *machine.Question
	// kept is the name of the stored part of the conversation: its first keptLen messages.
	kept    string
	keptLen int
	trail   trail
	// teller tells the observers.
	teller *observe.Teller
	// checked is the number of events that were compared with the history.
	checked int
	// entered is the number of events in earlier histories.
	entered int
	// plans is the number of plans so far.
	plans int
	paid  int
	inbox []*command
	// calling is set while a model call is under way, and left when the user said something that stops it.
	calling, left bool
	// over is set when no further update will be executed.
	over bool
	// inUserCode is set while user code works on the state. Updates wait for its end.
	inUserCode bool
	running    []*running
	// cost is what a run within a call has cost so far; nil if that is unknown. doubtful are the outcomes of
	// the agents that left something in doubt, by the ids of their runs.
	cost     *int64
	doubtful map[string]toolResult
	noted    attributes
	// deadline is the timer of the run's deadline; nil if it has none.
	deadline workflow.Future
}

// run is the workflow. Its report has the end of the run. The workflow itself fails only if its history
// cannot be explained.
func (a *agent) run(ctx workflow.Context, in wire[order]) (wire[report], error) {
	f := &flow{agent: a, ctx: ctx, in: in.v, teller: a.teller(in.v)}
	if err := f.answerQueries(); err != nil {
		return wire[report]{}, err
	}
	if err := f.enter(); err != nil {
		return over(report{Trouble: troubled(err)}), nil
	}
	if err := f.takeUpdates(); err != nil {
		return wire[report]{}, err
	}
	if at := f.st.Config.Deadline; !at.IsZero() {
		f.deadline = workflow.NewTimer(f.ctx, max(at.Sub(f.now()), 1))
	}
	for f.st.Phase != machine.Stopped {
		f.checkTrail()
		err := f.settle()
		if err == nil && f.full() {
			var next order
			if next, err = f.next(); err == nil {
				return wire[report]{}, workflow.NewContinueAsNewError(f.ctx, f.Agent, over(next))
			}
		}
		if err == nil && f.st.Phase != machine.Stopped {
			err = f.execute(f.asked)
		}
		if err != nil && !errors.Is(err, errEnded) {
			r := f.report(err)
			f.answered()
			return over(r), nil
		}
	}
	f.answered()
	return over(f.report(nil)), nil
}

// teller returns what tells the observers of a run.
func (a *agent) teller(of order) *observe.Teller {
	t := &observe.Teller{Observers: a.Observers, Tools: a.Tools, Single: of.Config.Single}
	if len(a.Observers) > 0 {
		t.Output, _ = a.outputSchema(of.Output) // replies are checked against it
	}
	return t
}

// enter begins the run, or continues one from an earlier history.
func (f *flow) enter() error {
	if f.in.Carried != nil {
		return f.takeOver(*f.in.Carried)
	}
	if err := f.begin(); err != nil {
		return err
	}
	return f.step(machine.Event{Kind: machine.Started, Messages: f.in.Messages, Kept: f.in.Known,
		Warnings: f.begun.Warnings, Hears: f.begun.Hears})
}

// begin asks the worker what it has, and makes the idle state.
func (f *flow) begin() error {
	var err error
	f.begun, err = once[begun](workflow.SideEffect(f.ctx,
		func(workflow.Context) any { return over(f.agent.begin(f.in)) }))
	if err != nil {
		return err
	}
	if err := f.begun.Trouble.err(); err != nil {
		return err
	}
	m := f.in.Config
	m.Behaviours, m.UserPrompt, m.Planner = f.begun.Behaviours, f.begun.Prompt, f.begun.Planner || f.in.Person
	m.Summaries = f.begun.Summaries
	if f.begun.Policy != nil {
		m.Policy = *f.begun.Policy
	}
	if m.Policy.Meters() {
		m.Models, m.Offered, m.Estimates = f.begun.Described, f.begun.Offered, true
	}
	if len(m.Consult) > 0 && !m.Planner {
		return errors.New("temporal: consult: there is no planner; set Worker.Planner or Options.Person, " +
			"or leave Consult empty")
	}
	held, err := session.ParseState(f.begun.Session)
	if err != nil {
		return err
	}
	if f.st, err = machine.New(m, held); err != nil {
		return err
	}
	if f.settings = engine.Settings(f.st.Policy); f.hooks.opened != nil {
		f.hooks.opened(f.in, f.begun, f.st)
	}
	return nil
}

// once returns what a side effect made: in a replay it is that of the history.
func once[T any](effect converter.EncodedValue) (T, error) {
	var out wire[T]
	err := effect.Get(&out)
	return out.v, err
}

// answered waits until every update has its answer. Otherwise the end of the workflow would drop them.
func (f *flow) answered() {
	f.over = true
	ctx, stop := workflow.NewDisconnectedContext(f.ctx)
	defer stop()
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

// report returns the result of the workflow. err says why the run could not continue; nil if it stopped by
// itself.
func (f *flow) report(err error) (r report) {
	r = report{Trouble: troubled(err), MaybePaid: f.paid}
	// Twice where reducers are to hear of the end.
	for err != nil && f.st.Phase != machine.Idle && f.st.Phase != machine.Stopped {
		broken := machine.Event{Kind: machine.Broken, Failure: engine.CauseOf(err)}
		if cancel := f.step(broken); cancel != nil {
			r.Trouble.Text += " (and the run could not be ended: " + cancel.Error() + ")"
			break
		}
	}
	f.checkTrail()
	if r.Cause = f.why(); f.in.Depth > 0 {
		r.Usage, r.Cost = f.st.Usage, f.cost
	}
	state, err := f.st.Snapshot()
	if err == nil {
		whole := r
		whole.State = state
		err = f.measure("the report of the run", whole)
	}
	if err == nil {
		r.State = state
		return r
	}
	if r.Cause = nil; r.Trouble == nil {
		r.Trouble = troubled(err)
	}
	return r
}

// why returns the error behind the end of the run, or nil.
func (f *flow) why() *RemoteError {
	switch o := f.st.Outcome; {
	case o == nil, o.Exhaustion == nil && o.Cause == nil:
		return nil
	case o.Exhaustion == nil:
		return f.ending
	}
	return f.cause
}

// utf8 replaces bytes that are not UTF-8 by U+FFFD, because JSON cannot hold them.
func utf8[S ~string](s S) S { return S(strings.ToValidUTF8(string(s), "\uFFFD")) }

// cut bounds a text.
func cut(text string, most int) string {
	if len(text) > most {
		return utf8(text[:most]) + "…"
	}
	return text
}

// fits returns an error if a payload is too large.
func fits(limit int, what string, size int) error {
	if limit != policy.Unlimited && size > limit {
		return &SizeError{What: what, Bytes: size, Limit: limit}
	}
	return nil
}

// measured is fits for a value that has yet to be encoded.
func measured(limit int, what string, v any) error {
	doc, err := engine.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fits(limit, what, len(doc))
}

// now returns the workflow's time, which never goes back.
func (f *flow) now() time.Time {
	if now := workflow.Now(f.ctx).UTC().Round(0); now.After(f.st.At) {
		return now
	}
	return f.st.At
}

// step feeds an event to the core. An event without a time gets the current one.
func (f *flow) step(ev machine.Event) error {
	if ev.At.IsZero() {
		ev.At = f.now()
	}
	before := f.st
	effects, err := engine.Step(&f.st, &ev, func() []int { return f.underWay(&ev) })
	if err != nil {
		return err
	}
	if err := f.extendTrail(ev, effects, f.st.TranscriptFrom(before.TranscriptLen())); err != nil {
		f.st = before
		return err
	}
	if added := engine.Cost(&f.st, before.Charged.Cost, &ev); added != nil {
		f.cost = new(cost(f.cost) + *added)
	}
	if f.st.Policy != before.Policy || ev.Kind == machine.Started {
		f.settings = engine.Settings(f.st.Policy)
	}
	if n := len(effects); n > 0 && effects[n-1].Kind != machine.Decided {
		f.asked = effects[n-1]
	}
	f.tell(ev, effects)
	return f.showAttributes()
}

// underWay returns the calls of the current reply that have begun and have no outcome after an event.
func (f *flow) underWay(ev *machine.Event) (begun []int) {
	for _, r := range f.running {
		if n := r.run.Index; r.began && !r.entered && (ev.Tool == nil || ev.Tool.Index != n) {
			begun = append(begun, n)
		}
	}
	return begun
}

// tell keeps the error behind an exhaustion, and calls hooks and observers.
func (f *flow) tell(ev machine.Event, effects []machine.Effect) {
	if x := f.st.Exhaustion(); x != f.exhaustion {
		if ev.Kind == machine.ReducersRan {
			f.err = nil // the reducer's error is its cause
		}
		f.exhaustion, f.cause = x, f.err
	}
	if f.hooks.step != nil {
		f.hooks.step(ev, effects, f.st)
	}
	if len(f.Observers) > 0 {
		f.teller.Step(f.teller.Context(context.Background()), &f.st, &ev, effects, f.behind, workflow.IsReplaying(f.ctx))
	}
}

// behind returns the error behind an effect, or nil.
func (f *flow) behind(e machine.Effect) error {
	switch e.Kind {
	case machine.AskSettled:
		return f.errs[e.Settled.Ask.Index].cause()
	case machine.Stop:
		return f.why().cause()
	}
	return f.err.cause()
}

// lost notes that Temporal began a call more than once.
func (f *flow) lost(tries int32, what string) {
	if tries <= 1 {
		return
	}
	f.maybePaid(fmt.Sprintf("%s was begun %d times, because its worker died: it may have been paid for "+
		"more than once", what, tries))
}

// maybePaid notes that a call may have been paid for in vain.
func (f *flow) maybePaid(text string) {
	f.paid++
	if f.hooks.note != nil {
		f.hooks.note(journal.Note{Kind: journal.MaybePaid, At: f.now(), Text: text})
	}
}

// execute runs one effect and feeds its result to the core.
func (f *flow) execute(e machine.Effect) error {
	if d := f.st.Config.Deadline; !d.IsZero() && !f.now().Before(d) && engine.Begins(e.Kind) {
		return f.end(fault.DeadlineExceeded, context.DeadlineExceeded.Error())
	}
	return engine.Execute(f, &f.st, e, engine.Offer{}, f.now())
}

// Answered feeds an answer that needs nobody.
func (f *flow) Answered(ev machine.Event) error { return f.step(ev) }

// reduced feeds an event with what reducers make of it. emitted are the events of its tool.
func (f *flow) reduced(ev machine.Event, emitted []session.Event) error {
	if err := engine.Reducing(&f.st, &ev, emitted, nil, f.reduce); err != nil {
		return err
	}
	return f.step(ev)
}

// until waits, and executes updates meanwhile, except while reducers work on the state. It returns false if
// the deadline of the run or an update ended the run or the wait.
func (f *flow) until(ready func() bool) (bool, error) {
	asked, phase := f.trail.Events, f.st.Phase
	for {
		f.checkTrail()
		err := workflow.Await(f.ctx, func() bool {
			return ready() || f.outOfTime() || (len(f.inbox) > 0 && !f.inUserCode)
		})
		switch {
		case err != nil || f.ctx.Err() != nil:
			return false, f.cancel(endOfContext)
		case f.outOfTime() && !ready():
			return false, f.end(fault.DeadlineExceeded, context.DeadlineExceeded.Error())
		}
		if len(f.inbox) == 0 || f.inUserCode {
			return true, nil
		}
		f.serve()
		if f.left || f.trail.Events != asked && f.st.Phase != phase {
			return false, nil
		}
	}
}

// outOfTime reports whether the run's deadline has come.
func (f *flow) outOfTime() bool { return f.deadline != nil && f.deadline.IsReady() }

// cancel ends the run.
func (f *flow) cancel(why string) error { return f.end(fault.Cancelled, why) }

// end ends the run from outside.
func (f *flow) end(class fault.Class, why string) error {
	seen := fault.Failure{Plane: fault.Transport, Class: class, Message: why}
	f.ending = &RemoteError{Text: why, Seen: seen}
	return f.step(machine.Event{Kind: machine.Cancelled, Failure: &f.ending.Seen, Left: f.leaves()})
}

// leaves reports whether a model call is left now, and was not before. Nobody knows what it consumed.
func (f *flow) leaves() bool { return f.calling && !f.left }

// endOfContext is the error text of a cancelled run in process.
const endOfContext = "context canceled"

// Wait waits by the workflow's clock. A wait that is over sets no timer.
func (f *flow) Wait(until time.Time) error {
	if left := until.Sub(f.now()); left > 0 {
		ctx, stop := workflow.WithCancel(f.ctx)
		defer stop()
		timer := workflow.NewTimer(ctx, left)
		if on, err := f.until(timer.IsReady); !on || err != nil {
			return err
		}
	}
	return f.step(engine.Woke(f.now(), until))
}
