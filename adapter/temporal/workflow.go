package temporal

import (
	"errors"
	"fmt"
	"strings"
	"time"

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

// flow is a run in a workflow: the state of the core, and what a driver keeps beside it. All of it follows
// from the history.
type flow struct {
	*agent
	ctx   workflow.Context
	in    order
	begun begun
	st    machine.State
	// asked is what is to be done next.
	asked    machine.Effect
	settings tool.Settings
	adjusted policy.Layer
	// err is the error behind the event that is being fed, cause the one behind the first exhaustion not yet
	// answered, errs those of the calls of a reply, by their place in it.
	err, cause *RemoteError
	errs       map[int]*RemoteError
	// kept names what the store has of the conversation: its first keptLen messages.
	kept    string
	keptLen int
	trail   trail
	// vouched counts the events of the trail that the history holds.
	vouched int
	// entered counts the events that other histories have.
	entered int
	// plans counts the plans so far.
	plans int
	paid  int
	inbox []*command
	// over is set when nothing in the inbox will be done any more.
	over bool
	// concluding is set while user code is asked what follows from the state: what comes in meanwhile waits
	// for that.
	concluding bool
	running    []*running
	noted      attributes
}

// run is the workflow. Whatever becomes of the run is in its report: the workflow itself fails only for what
// its history cannot explain.
func (a *agent) run(ctx workflow.Context, in wire[order]) (wire[report], error) {
	f := &flow{agent: a, ctx: ctx, in: in.v}
	if err := f.answerQueries(); err != nil {
		return wire[report]{}, err
	}
	if err := f.enter(); err != nil {
		return over(report{Trouble: troubled(err)}), nil
	}
	if err := f.takeUpdates(); err != nil {
		return wire[report]{}, err
	}
	for f.st.Phase != machine.Stopped {
		f.vouch()
		err := f.settle()
		if err == nil && f.full() {
			var next order
			if next, err = f.next(); err == nil {
				return wire[report]{}, workflow.NewContinueAsNewError(f.ctx, f.Agent, over(next))
			}
		}
		if err == nil && f.st.Phase != machine.Stopped {
			err = f.carry(f.asked)
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

// enter begins the run, or goes on with one that another history holds the beginning of.
func (f *flow) enter() error {
	if f.in.Carried != nil {
		return f.goOn(*f.in.Carried)
	}
	if err := f.begin(); err != nil {
		return err
	}
	return f.step(machine.Event{Kind: machine.Started, Messages: f.in.Messages, Hears: f.begun.Hears})
}

// begin lets the worker say what it has, and makes the idle state.
func (f *flow) begin() error {
	var b wire[begun]
	err := workflow.SideEffect(f.ctx, func(workflow.Context) any { return over(f.agent.begin(f.in)) }).Get(&b)
	if err != nil {
		return err
	}
	f.begun = b.v
	if err := f.begun.Trouble.err(); err != nil {
		return err
	}
	m := f.in.Config
	m.Behaviours, m.UserPrompt, m.Planner = f.begun.Behaviours, f.begun.Prompt, f.begun.Planner || f.in.Person
	if f.begun.Policy != nil {
		m.Policy = *f.begun.Policy
	}
	if len(m.Consult) > 0 && !m.Planner {
		return fmt.Errorf("temporal: consult: there is no planner to ask: give the worker one, let a person plan, or leave it empty")
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

// answered waits until every update has its answer, which the end of the workflow would take away.
func (f *flow) answered() {
	f.over = true
	ctx, stop := workflow.NewDisconnectedContext(f.ctx)
	defer stop()
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

// report is how the workflow ends; err is why the run could not go on, nil where it stopped by itself.
func (f *flow) report(err error) (r report) {
	r = report{Trouble: troubled(err), MaybePaid: f.paid}
	for err != nil && f.st.Phase != machine.Idle && f.st.Phase != machine.Stopped { // twice where reducers are to hear of the end
		if cancel := f.step(machine.Event{Kind: machine.Cancelled}); cancel != nil {
			r.Trouble.Text += " (and the run could not be ended: " + cancel.Error() + ")"
			break
		}
	}
	f.vouch()
	r.Cause = f.cause
	state, err := f.st.Snapshot()
	if err == nil {
		whole := r
		whole.State = state
		err = f.measure("what the run came to", whole)
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

// utf8 is s with U+FFFD in the place of bytes that are not UTF-8, for which JSON has no form.
func utf8[S ~string](s S) S { return S(strings.ToValidUTF8(string(s), "\uFFFD")) }

// cut bounds a text.
func cut(text string, most int) string {
	if len(text) > most {
		return utf8(text[:most]) + "…"
	}
	return text
}

// fits says whether something may be sent in one piece.
func fits(limit int, what string, size int) error {
	if limit != policy.Unlimited && size > limit {
		return &SizeError{What: what, Bytes: size, Limit: limit}
	}
	return nil
}

// now is the workflow's time, never before a time it gave earlier.
func (f *flow) now() time.Time {
	if now := workflow.Now(f.ctx).UTC().Round(0); now.After(f.st.At) {
		return now
	}
	return f.st.At
}

// step feeds an event. Its time is now, where it has none.
func (f *flow) step(ev machine.Event) error {
	if ev.At.IsZero() {
		ev.At = f.now()
	}
	before := f.st.TranscriptLen()
	st, effects, err := machine.Step(f.st, ev)
	if err != nil {
		return err
	}
	if err := f.mark(ev, effects, st.TranscriptFrom(before)); err != nil {
		return err
	}
	f.st = st
	if ev.Adjust != nil || ev.Plan != nil || ev.Kind == machine.Started {
		f.settings = engine.Settings(st.Policy)
	}
	if n := len(effects); n > 0 && effects[n-1].Kind != machine.Decided {
		f.asked = effects[n-1]
	}
	f.tell(ev, effects)
	return f.showAttributes()
}

// tell notes what an exhaustion came from, and tells who listens.
func (f *flow) tell(ev machine.Event, effects []machine.Effect) {
	for _, e := range effects {
		if d := e.Decision; d != nil && !d.Retry && d.Class != "" && f.cause == nil {
			f.cause = f.err
		}
	}
	if f.hooks.step != nil {
		f.hooks.step(ev, effects, f.st)
	}
	if len(f.Observers) == 0 || workflow.IsReplaying(f.ctx) {
		return
	}
	for _, e := range effects {
		for _, n := range observe.NoticesOf(f.in.Session, ev.At, e, f.err.cause()) {
			tellAll(f.Observers, n)
		}
	}
}

// lost notes that the engine began a call more than once.
func (f *flow) lost(tries int32, what string) {
	if tries <= 1 {
		return
	}
	f.paid++
	text := fmt.Sprintf("%s was begun %d times, for its worker died: what was lost may have been paid for", what, tries)
	f.note(journal.Note{Kind: journal.MaybePaid, At: f.now(), Text: text})
}

func (f *flow) note(n journal.Note) {
	if f.hooks.note != nil {
		f.hooks.note(n)
	}
}

// carry carries one effect out and feeds what came of it.
func (f *flow) carry(e machine.Effect) error {
	switch e.Kind {
	case machine.CallModel:
		return f.call(e.Model)
	case machine.MakePrompt:
		return f.prompt(e.Model)
	case machine.RunTools:
		return f.runTools(f.st.Left(e).Tools)
	case machine.TryAction:
		return f.try(*e.Try)
	case machine.WaitUntil:
		return f.wait(*e.Wait)
	case machine.AskPlanner:
		return f.ask(e)
	case machine.Reduce:
		return f.tellReducers()
	}
	return fmt.Errorf("temporal: the core asks for %q, which this driver does not know", e.Kind)
}

// until waits, and does meanwhile what updates ask for, except while reducers are at work on the state.
// It reports false where that ended the run, or ended what was waited for.
func (f *flow) until(ready func() bool) (bool, error) {
	asked, phase := f.trail.Events, f.st.Phase
	for {
		f.vouch()
		err := workflow.Await(f.ctx, func() bool { return ready() || (len(f.inbox) > 0 && !f.concluding) })
		if err != nil || f.ctx.Err() != nil {
			return false, f.cancel(endOfContext)
		}
		if len(f.inbox) == 0 || f.concluding {
			return true, nil
		}
		f.serve()
		if f.trail.Events != asked && f.st.Phase != phase {
			return false, nil
		}
	}
}

// cancel ends the run.
func (f *flow) cancel(why string) error {
	f.cause = &RemoteError{Text: why, Seen: fault.Failure{Plane: fault.Transport, Class: fault.Cancelled,
		Message: why}}
	return f.step(machine.Event{Kind: machine.Cancelled, Failure: &f.cause.Seen})
}

// endOfContext is what the error of a cancelled run says in process.
const endOfContext = "context canceled"

// wait waits by the workflow's clock. A wait that is over sets no timer.
func (f *flow) wait(w machine.Wait) error {
	if left := w.Until.Sub(f.now()); left > 0 {
		ctx, stop := workflow.WithCancel(f.ctx)
		defer stop()
		timer := workflow.NewTimer(ctx, left)
		if on, err := f.until(timer.IsReady); !on || err != nil {
			return err
		}
	}
	at := f.now()
	if at.Before(w.Until) {
		at = w.Until
	}
	return f.step(machine.Event{Kind: machine.Woke, At: at})
}
