package turns

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Config configures a run.
type Config struct {
	// Settings are those of the adapter.
	Settings Settings
	// Deadline is the end of the run's time; zero means none.
	Deadline time.Time
	// Clock is the clock for times and waits.
	Clock loop.Clock
	// Classify classifies the errors of the model and of tools; nil, or a zero failure, means
	// [fault.Classify].
	Classify func(error) fault.Failure
	// Observers are told of every step, as those of a loop are. Tracers follow runs, model calls and tools.
	Observers []observe.Observer
	// Sequential means that the runtime makes the calls of a reply one after the other. A call cannot wait
	// for later ones then, so a transport fault of a tool is not retried.
	Sequential bool
}

// Run is a run of the core, for a runtime. It is safe for concurrent use.
type Run struct {
	cfg    Config
	runner *engine.Runner
	// reduces is set if the session may refuse a result.
	reduces bool

	mu sync.Mutex
	// ctx has the values for the observers: those of the runtime's last call.
	ctx context.Context
	// secrets are what the observers must not log, and since is when the run began.
	secrets observe.Secrets
	since   time.Time
	work    work
	// changed is closed and replaced after every step.
	changed chan struct{}
	tools   *tool.Set
	calls   []call
	// byID maps an id to the indexes of its calls, in call order.
	byID map[string][]int
	// seen counts the calls of the open batch that were checked for an answer. It is reset when they are
	// repeated.
	seen int
	// mark is the length of the transcript before the current reply. replied is set if there is one.
	mark    int
	replied bool
	// told is set once the model was told that a tool has no attempt left.
	told bool
	// cause is the Go error behind the first exhaustion of a reply, last the one behind the current event.
	cause, last error
	at          time.Time
	// waiting is the latest wait, asked the latest model call.
	waiting machine.Wait
	asked   machine.ModelCall
	result  loop.Result
	err     error
}

// Verdict is the next step after a model call.
type Verdict struct {
	// Again means that the model is to be asked again. Said are the messages since its reply, with the
	// reply first if there was one.
	Again bool
	Said  []message.Message
}

// New begins a run in a session, which belongs to it until [Run.End].
func New(s *session.Session, cfg Config) (*Run, error) {
	var opts []loop.Option
	if cfg.Settings.OnExhausted == TellModel {
		opts = append(opts, loop.WithPlanner(planner.PlannerFunc(nil)))
	}
	r := &Run{cfg: cfg, changed: make(chan struct{}), ctx: context.Background()}
	r.work.tracers = observe.TracersOf(cfg.Observers)
	own := cfg.Settings.loop()
	m, err := own.Machine(opts...)
	if err != nil {
		return nil, err
	}
	m.Deadline = cfg.Deadline
	compiled, err := machine.Compile(&m)
	if err != nil {
		return nil, err
	}
	runner, err := engine.New(engine.RunnerConfig{Session: s, Machine: compiled, Record: r.record,
		Offer: engine.Offer{Output: own.Output}})
	if err != nil {
		return nil, err
	}
	r.runner = runner
	r.reduces = len(runner.State().Session.Slices()) > 0
	return r, nil
}

// record passes a step on.
func (r *Run) record(ev machine.Event, effects []machine.Effect, st machine.State) {
	if len(r.cfg.Observers) > 0 {
		r.tellStep(&ev, effects, &st)
		r.replyEnds(&ev, effects)
	}
}

// tellStep tells the observers about a step.
func (r *Run) tellStep(ev *machine.Event, effects []machine.Effect, st *machine.State) {
	switch {
	case ev.Reply != nil:
		r.secrets.Read(ev.Reply, r.tools, r.cfg.Settings.Output)
	case ev.Kind == machine.Started:
		r.since = ev.At
		r.secrets.ReadSaid(st.Transcript(), r.tools)
	}
	ctx := observe.WithSecrets(r.work.within(r.ctx), &r.secrets)
	ends := st.Exhaustion() != nil
	for _, e := range effects {
		for _, n := range observe.NoticesOf(st, ev.At, e, r.last) {
			if n.Kind == observe.Exhausted && !ends {
				n.Kind = observe.ToolFailed
			}
			if _, known := r.tools.Get(n.Action); !known {
				n.Invented = n.Action != machine.AnswerAction
			}
			if n.Kind == observe.Ended {
				n.Took = n.At.Sub(r.since)
			}
			for _, o := range r.cfg.Observers {
				tell(ctx, o, n)
			}
		}
	}
}

// tell tells one observer and recovers its panics.
func tell(ctx context.Context, o observe.Observer, n observe.Notice) {
	defer func() { _ = recover() }()
	o.Observe(ctx, n)
}

// Next waits before a model call, which offers the given tools. The first call begins the run with the
// result of said, and so does the first after an accepted answer. An error ends the runtime's run.
func (r *Run) Next(ctx context.Context, tools *tool.Set, said func() []message.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx = context.WithoutCancel(ctx)
	for r.err == nil {
		if ctx.Err() != nil {
			return r.cancel(ctx)
		}
		switch r.runner.State().Phase {
		case machine.Calling:
			r.tools, r.replied = tools, false
			r.modelBegins()
			return nil
		case machine.Waiting:
			r.wait(ctx)
		case machine.Running:
			r.giveUp()
		default:
			r.told = false
			r.runBegins()
			r.fed(r.runner.Start(r.now(), said()...))
		}
	}
	return r.err
}

// Asked returns the model call that the core asks for: its temperature, model, stop sequences and bound on
// the reply, and the forced tool if that is offered.
func (r *Run) Asked() machine.ModelCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	asked.ToolChoice = r.choice()
	return asked
}

// choice is the choice of tools that the current model call asks for. No call is required of a tool that is
// not offered, and none once the model was told that a tool has no attempt left.
func (r *Run) choice() message.ToolChoice {
	c := r.asked.ToolChoice
	_, offered := r.tools.Get(c.Tool())
	if c.Required() && (r.told || !offered && (c != message.AnyTool || len(r.tools.All()) == 0)) {
		return ""
	}
	return c
}

// Replied reports whether the current model call has its outcome already.
func (r *Run) Replied() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replied
}

// Reply passes a reply to the core. It does not look for calls in text.
func (r *Run) Reply(ctx context.Context, reply message.Reply) (Verdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.mayReply(ctx); err != nil {
		return Verdict{}, err
	}
	r.replied = true
	r.calls = make([]call, len(reply.Calls))
	for n, c := range reply.Calls {
		r.calls[n] = call{id: c.ID, name: c.Name, arguments: c.Arguments}
	}
	r.index()
	r.seen = 0
	on := engine.Offer{Tools: r.tools}
	if len(reply.Calls) == 0 { // the runtime would not run calls in the text
		on.Tools, on.Output = nil, r.cfg.Settings.Output
	}
	settings := engine.Settings(r.runner.State().Policy)
	settings.Stop = func() bool { return ctx.Err() != nil }
	settings.Exact = true // the runtime finds tools by the names that the model wrote
	read := engine.Read(reply, on, r.choice(), settings)
	if ctx.Err() != nil {
		r.replied, r.calls = false, nil
		return Verdict{}, context.Cause(ctx)
	}
	r.fed(r.runner.Replied(r.now(), read))
	return r.verdict(len(reply.Calls) == 0 || read.CallsOver > 0 || machine.Unusable(reply))
}

// Failed passes the error of a model call to the core.
func (r *Run) Failed(ctx context.Context, err error) (Verdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stop := r.mayReply(ctx); stop != nil {
		return Verdict{}, stop
	}
	r.replied, r.calls, r.byID, r.last = true, nil, nil, err
	r.fed(r.runner.CallFailed(r.now(), r.classified(err)))
	return r.verdict(true)
}

// mayReply returns an error if no model call is due.
func (r *Run) mayReply(ctx context.Context) error {
	r.ctx = context.WithoutCancel(ctx)
	if r.err != nil {
		return r.err
	}
	if ctx.Err() != nil {
		return r.cancel(ctx)
	}
	if phase := r.runner.State().Phase; phase != machine.Calling {
		return fmt.Errorf("retake: a model replied while the run is %s; an agent that is a tool of another "+
			"agent needs its own run", phase)
	}
	r.mark, r.cause, r.last = r.runner.State().TranscriptLen(), nil, nil
	return nil
}

// verdict returns the next step. whole reports that the whole reply was judged, and no calls run.
func (r *Run) verdict(whole bool) (Verdict, error) {
	if r.err != nil {
		return Verdict{}, r.err
	}
	if st := r.runner.State(); whole && st.Phase != machine.Stopped {
		return Verdict{Again: true, Said: st.TranscriptFrom(r.mark)}, nil
	}
	return Verdict{}, nil
}

// Cancel ends the run and returns its error.
func (r *Run) Cancel(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancel(ctx)
}

// Err returns the error that ended the run; nil while it runs, and if it ended well.
func (r *Run) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// End ends the run and releases the session. It returns what [loop.Loop.Run] would. A run that has not ended
// is cancelled.
func (r *Run) End() (loop.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if phase := r.runner.State().Phase; phase != machine.Idle && phase != machine.Stopped {
		r.cause = nil
		r.fed(r.runner.Cancel(r.now(), nil))
	}
	r.runner.Close()
	return r.result, r.err
}
