package dbos

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// errSpokenTo is the cause of the end of a model call that a message stopped.
var errSpokenTo = errors.New("dbos: the call was left, because the user has said something")

// CallModel takes what people have sent, and calls the model. What comes meanwhile is taken at once, and may
// stop the call: it is asked for anew then.
func (f *flow) CallModel(m *machine.ModelCall) error {
	moves := f.moves
	if err := f.hearAll(); err != nil || f.moves != moves {
		return err
	}
	defer func() { f.call = noCall }()
	f.call = underWay
	c := &modelStep{begun: make(chan struct{}), ended: make(chan sdk.StepOutcome[string], 1)}
	spoken, leave := context.WithCancelCause(context.Background())
	defer leave(nil)
	work := f.asks(m, spoken)
	out, err := sdk.Go(f.ctx, record(f, &c.fresh, func(ctx context.Context) (machine.Event, error) {
		close(c.begun)
		return work(ctx)
	}), sdk.WithStepName("retake.model"))
	if err != nil {
		return err
	}
	c.out = out
	if err := f.hearDuring(c, func() { leave(errSpokenTo) }); err != nil || f.moves != moves {
		return err
	}
	f.fresh = c.fresh
	ev, err := taken[machine.Event](f, c.made.Result, c.made.Err)
	if isEnd(err) { // while it is known what runs
		return f.end(err, true)
	}
	if err != nil {
		return err
	}
	return f.reduced(ev, nil)
}

// modelStep is a step that calls a model.
type modelStep struct {
	out <-chan sdk.StepOutcome[string]
	// begun is closed when the step is made now, which fresh says once it has ended.
	begun chan struct{}
	fresh bool
	// ended has its outcome, which then is made.
	ended chan sdk.StepOutcome[string]
	made  sdk.StepOutcome[string]
}

// grace is how long a run waits to be woken when a call of a model has ended. A process that does not listen,
// or that asks the database each second, would wait longer.
const grace = 100 * time.Millisecond

// hearDuring takes letters while a step is made, and waits for its outcome. If the core asks for something
// else, the step is left. Where the letters end is in the record: by a mark, or by a wait without an outcome.
// A step that is in the record waits for none.
func (f *flow) hearDuring(c *modelStep, leave func()) error {
	ctx, end := sdk.WithCancel(f.ctx)
	defer end()
	mark, come := f.mark()
	var stopped atomic.Bool
	heard := make(chan struct{})
	stop := func() { stopped.Store(true); end() }
	select {
	case o := <-c.out:
		c.ended <- o
		stop()
	case <-c.begun:
		go func() {
			o := <-c.out
			if c.ended <- o; o.Err == nil && come() == nil {
				select {
				case <-heard:
				case <-time.After(grace):
				}
			}
			stop()
		}()
	}
	moves := f.moves
	cut, err := f.hearTo(ctx, mark)
	close(heard)
	if cut = cut && stopped.Load() && f.ctx.Err() == nil; f.moves != moves || err != nil && !cut {
		leave()
	}
	c.made = <-c.ended // steps end before the workflow does
	switch {
	case c.made.Err != nil && !errors.Is(c.made.Err, errCut):
		return c.made.Err
	case !cut:
		return err
	}
	f.call = over
	if err = f.hearAll(); errors.Is(err, errCut) {
		return nil // the outcome says that, too, unless it is in the record
	}
	return err
}

// asks returns the step that calls the model, and reads and checks its reply. The error of a model is a
// value. The call ends with spoken.
func (f *flow) asks(
	m *machine.ModelCall, spoken context.Context,
) func(context.Context) (machine.Event, error) {
	model := f.Model
	if m.Model != "" {
		model = f.Models[m.Model]
	}
	asked := usercode.Prompt{Session: f.id, Call: m, Said: f.st.Transcript(), Cuts: f.st.Cuts, Config: f.Config}
	settings := f.settings
	return inTime(f, func(ctx context.Context) (machine.Event, error) {
		ctx, end := context.WithCancelCause(ctx)
		defer end(nil)
		defer context.AfterFunc(spoken, func() { end(context.Cause(spoken)) })()
		reply, err := usercode.Reply(ctx, model, asked, f.ModelTimeout)
		if err != nil {
			return machine.Event{Kind: machine.CallFailed, Failure: new(fault.FailureOf(err)),
				RateLimit: engine.RateLimit(err)}, nil
		}
		read := engine.Read(reply, f.offer(), m.ToolChoice, settings)
		return machine.Event{Kind: machine.Replied, Reply: read}, nil
	})
}

// reduced feeds an event with what reducers make of it. emitted are the events of its tool.
func (f *flow) reduced(ev machine.Event, emitted []session.Event) error {
	heard := session.DriverOf(f.reducing).Hears
	err := engine.Reducing(&f.st, &ev, emitted, heard, f.reduce)
	if ev.Tool != nil && errors.Is(err, errCut) { // what it did is known
		ev.Tool.Reduced, err = &machine.Reduced{}, nil
	}
	if err != nil {
		return err
	}
	return f.step(ev)
}

// reduce runs the reducers on events, in a step if there are any.
func (f *flow) reduce(events []session.Event) (*machine.Reduced, error) {
	if len(events) == 0 {
		return &machine.Reduced{}, nil
	}
	return do(f, "reduce", func(context.Context) (*machine.Reduced, error) {
		return engine.Reduce(f.reducing, f.st.Session, events), nil
	})
}

// TellReducers runs the reducers on the notices of the run.
func (f *flow) TellReducers() error {
	reductions, err := do(f, "reduce", func(context.Context) ([]machine.Reduced, error) {
		return engine.Heard(f.reducing, f.st.Session, f.st.Notices), nil
	})
	if err != nil {
		return err
	}
	return f.step(machine.Event{Kind: machine.ReducersRan, Reductions: reductions})
}

// running is a tool call that was begun.
type running struct {
	run machine.ToolRun
	out <-chan sdk.StepOutcome[string]
	// fresh is set if the step is made now.
	fresh *bool
	// child is the run of an agent instead; nil for other tools.
	child *child
	// entered is set once the core has its outcome.
	entered bool
}

// toolResult is the outcome of a call before reducers ran.
type toolResult struct {
	End    *machine.ToolEnd `json:"end"`
	Events []session.Event  `json:"events,omitempty"`
}

// underWay returns the calls that have begun and have no outcome after an event.
func (f *flow) underWay(ev *machine.Event) (begun []int) {
	for _, r := range f.running {
		if n := r.run.Index; !r.entered && (ev.Tool == nil || ev.Tool.Index != n) {
			begun = append(begun, n)
		}
	}
	return begun
}

// RunTools runs the calls of a reply and feeds their outcomes in call order. A call begins once the outcome
// of that Parallel places before it is known, so that the order of the steps is the same in each execution.
func (f *flow) RunTools(runs []machine.ToolRun) (err error) {
	ctx, stop := sdk.WithCancel(f.ctx)
	defer func() {
		if _, own := errors.AsType[*RunError](err); err == nil || own {
			err = cmp.Or(err, f.leave())
		}
		stop()
		for _, r := range f.running {
			if r.child == nil {
				<-r.out // steps end before the workflow does
			}
		}
		f.running = nil
	}()
	for n := range runs {
		err = f.startUpTo(ctx, runs[:n+min(f.Parallel, len(runs)-n)])
		if err == nil {
			err = f.ended(f.running[n])
		}
		if isEnd(err) { // while it is known what runs
			err = f.end(err, false)
		}
		if err != nil || f.st.Phase != machine.Running {
			return err
		}
	}
	return nil
}

// startUpTo begins the calls that have not begun.
func (f *flow) startUpTo(ctx sdk.Context, runs []machine.ToolRun) error {
	for _, run := range runs[min(len(f.running), len(runs)):] {
		if f.outOfTime() {
			return errLate
		}
		r, err := f.start(ctx, run)
		if err != nil {
			return err
		}
		f.running = append(f.running, r)
	}
	return nil
}

// start begins one call. The step before a call that must not be repeated says that it begins.
func (f *flow) start(ctx sdk.Context, run machine.ToolRun) (*running, error) {
	t, known := f.Config.Tools.Get(run.Tool)
	if !known {
		return nil, broken("there is no tool %q", run.Tool)
	}
	if within, ok := f.agents[run.Tool]; ok {
		c, err := f.nest(f.ctx, within, run)
		return &running{run: run, child: c}, err
	}
	// In a workflow that is made again, a step after one that was read from the record may have begun before.
	repeatable, now, again := run.Repeatable && t.Repeatable(), false, !f.fresh
	if !repeatable {
		_, err := do(f, "begun", func(context.Context) (bool, error) {
			now = true
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	at := f.st.Attempt(run.Tool)
	work := func(ctx context.Context) (toolResult, error) {
		o := tool.Outcome{Err: tool.ErrUnknown}
		if repeatable || now {
			o = f.invoke(ctx, t, run, at)
		}
		if repeatable && again && !run.ReadOnly {
			engine.CutOff(&o)
		}
		return toolResult{End: engine.EndOf(f.reducing, run, o), Events: o.Events}, nil
	}
	r := &running{run: run, fresh: new(bool)}
	var err error
	r.out, err = sdk.Go(ctx, record(f, r.fresh, inTime(f, work)), sdk.WithStepName("retake.tool"))
	return r, err
}

// invoke calls a tool.
func (f *flow) invoke(
	ctx context.Context, t *tool.Tool, run machine.ToolRun, at machine.Position,
) tool.Outcome {
	ctx = tool.WithInvocation(ctx, tool.Invocation{
		Key: run.Key, CallID: run.ID, SessionID: f.id, Attempt: at.Attempt, MaxAttempts: at.MaxAttempts,
		Transport: run.Transport, Progress: run.Progress, Report: func([]byte) {},
	})
	return t.InvokeWithin(ctx, run.Arguments, cmp.Or(run.Timeout, f.ToolTimeout), usercode.After)
}

// ended feeds the outcome of a call.
func (f *flow) ended(r *running) error {
	if r.child != nil {
		return f.childEnded(r)
	}
	done := <-r.out
	closed := make(chan sdk.StepOutcome[string])
	close(closed)
	r.out, f.fresh = closed, *r.fresh
	out, err := taken[toolResult](f, done.Result, done.Err)
	if err != nil {
		return err
	}
	err = f.reduced(machine.Event{Kind: machine.ToolEnded, Tool: out.End}, out.Events)
	r.entered = true
	return err
}

// MakePrompt has the user's code make a prompt.
func (f *flow) MakePrompt(m *machine.ModelCall) error {
	ev, err := do(f, "prompt", inTime(f, func(ctx context.Context) (ev machine.Event, err error) {
		ev.Kind = machine.Prompted
		ev.System, ev.Messages, err = f.Prompt(ctx, f.st.Session, m.At)
		ev.Messages = slices.Clone(ev.Messages)
		return ev, err
	}))
	if err != nil {
		return err
	}
	return f.step(ev)
}

// Summarise has messages summed up.
func (f *flow) Summarise(span projection.Span) error {
	ev, err := do(f, "summary", inTime(f, func(ctx context.Context) (ev machine.Event, _ error) {
		made, err := usercode.SumUp(ctx, f.Summary, f.st.Span(span), f.ModelTimeout)
		if ev.Kind, ev.Summary = machine.Summarised, &made; err != nil {
			ev.Failure = new(fault.FailureOf(err))
			return ev, nil
		}
		ev.Cut = new(f.st.PlanSummary(made.Text))
		return ev, nil
	}))
	if err != nil {
		return err
	}
	return f.step(ev)
}

// AskPlanner asks the planner. Its error is a value, and ends the run. The error that it is asked about is
// the recorded one.
func (f *flow) AskPlanner(e machine.Effect) error {
	ev, err := do(f, "planner", inTime(f, func(ctx context.Context) (machine.Event, error) {
		p, err := usercode.Plan(ctx, f.Planner, f.st, planner.NewQuestion(f.st, e, askedAbout(e.Question)), f.modelNames())
		ev := machine.Event{Kind: machine.Planned, Plan: &p}
		if err != nil {
			ev.Failure = new(fault.FailureOf(err))
		}
		return ev, nil
	}))
	if err != nil {
		return err
	}
	return f.step(ev)
}

// askedAbout returns the recorded error behind a question to the planner, as in a run in process that was
// resumed. It is nil if only issues are recorded, or if the session has the error of a reducer.
func askedAbout(q *machine.Question) error {
	f := q.Failure
	wordless := f.Plane != fault.Transport && f.Message == "" && f.Text == ""
	if q.Exhausted && (wordless || f.Class == fault.Reducer) {
		return nil
	}
	f.Issues = slices.Clone(f.Issues) // the planner may write into the error
	return &fault.RecordedError{Recorded: f}
}

func (f *flow) modelNames() (all []string) {
	for name, m := range f.Models {
		if m != nil {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// estimate has the user's code estimate what a call adds to the prompt.
func (f *flow) estimate(e machine.Effect) error {
	ev, err := do(f, "estimate", func(context.Context) (machine.Event, error) {
		ev, _ := f.offer().Answer(f.st, e, f.at)
		return ev, nil
	})
	if err != nil {
		return err
	}
	return f.step(ev)
}
