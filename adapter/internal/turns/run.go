package turns

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/benbjohnson/clock"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Config is what a run is held to.
type Config struct {
	// Loop is the core's config; its Tools are those of the first model call, and are set by [Run.Next].
	Loop loop.Config
	// Clock drives times and waits.
	Clock clock.Clock
	// Classify says what an error of the model or of a tool is; nil, or zero for an error, means
	// [fault.Classify].
	Classify func(error) fault.Failure
	// Record is told of every step, where it is not nil.
	Record func(machine.Event, []machine.Effect, machine.State)
	// Tell lets the run go on where a tool is exhausted: the model has been told so, and may do without that
	// tool.
	Tell bool
	// Sequential says that the runtime makes the calls of a reply one after the other: then a call cannot
	// wait for those after it, and a transport fault of a tool is not retried.
	Sequential bool
}

// Run is the core under way, for a runtime. It is safe for concurrent use.
type Run struct {
	cfg    Config
	runner *loop.Runner
	// reduces is set where the session may refuse a result.
	reduces bool

	mu sync.Mutex
	// changed is closed, and replaced, after every step.
	changed chan struct{}
	tools   *tool.Set
	calls   []call
	// byID are the places in calls of each id, in call order.
	byID map[string][]int
	// seen is how many calls of the open batch have been looked at for an answer; none again once they are
	// asked for anew.
	seen int
	// mark is the length of the transcript before the reply under way, replied says that there is one.
	mark    int
	replied bool
	// cause is the Go error behind the first exhaustion of a reply, last the one behind the event that is
	// fed.
	cause, last error
	at          time.Time
	// waiting is the wait that the core asked for last, asked the model call.
	waiting machine.Wait
	asked   machine.ModelCall
	result  loop.Result
	err     error
}

// Verdict is what follows from a model call.
type Verdict struct {
	// Again says that the model is to be asked again, with what was Said since its reply, the reply first
	// where there was one.
	Again bool
	Said  []message.Message
}

// New takes the session for a run, until [Run.End].
func New(s *session.Session, cfg Config) (*Run, error) {
	var opts []loop.Option
	if cfg.Tell {
		opts = append(opts, loop.WithPlanner(planner.PlannerFunc(nil)))
	}
	runner, err := loop.NewRunner(s, cfg.Loop, cfg.Record, opts...)
	if err != nil {
		return nil, err
	}
	r := &Run{cfg: cfg, runner: runner, changed: make(chan struct{})}
	r.reduces = len(runner.State().Session.Slices()) > 0
	return r, nil
}

// Next makes the waits that stand before a model call, which offers the given tools. The first call begins
// the run with what said returns, and so does the first after an accepted answer. Its error ends the
// runtime's run.
func (r *Run) Next(ctx context.Context, tools *tool.Set, said func() []message.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.err == nil {
		if ctx.Err() != nil {
			return r.cancel(ctx)
		}
		switch r.runner.State().Phase {
		case machine.Calling:
			r.tools, r.replied = tools, false
			return nil
		case machine.Waiting:
			r.wait(ctx)
		case machine.Running:
			r.giveUp()
		default:
			r.fed(r.runner.Start(r.now(), said()...))
		}
	}
	return r.err
}

// Asked is the model call that the core asks for: its temperature, model and stop sequences, and the forced
// choice of a tool where that tool is on offer.
func (r *Run) Asked() machine.ModelCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	_, offered := r.tools.Get(asked.ToolChoice.Tool())
	if asked.ToolChoice != message.NoTool && !offered && (asked.ToolChoice != message.AnyTool || len(r.tools.All()) == 0) {
		asked.ToolChoice = ""
	}
	return asked
}

// Replied reports whether the model call under way has been fed already.
func (r *Run) Replied() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replied
}

// Reply feeds a model's reply. Calls in its text are not looked for: the runtime would not run them.
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
	if len(reply.Calls) == 0 {
		r.fed(r.runner.Reply(r.now(), reply))
		return r.verdict(true)
	}
	settings := engine.Settings(r.runner.State().Policy)
	settings.Stop = func() bool { return ctx.Err() != nil }
	read := engine.Read(reply, engine.Offer{Tools: r.tools}, settings)
	if ctx.Err() != nil {
		r.replied, r.calls = false, nil
		return Verdict{}, context.Cause(ctx)
	}
	r.fed(r.runner.Step(machine.Event{Kind: machine.Replied, At: r.now(), Reply: read}))
	return r.verdict(machine.Unusable(reply))
}

// Failed feeds a model call that returned an error.
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

// mayReply says why a model call has no place now.
func (r *Run) mayReply(ctx context.Context) error {
	if r.err != nil {
		return r.err
	}
	if ctx.Err() != nil {
		return r.cancel(ctx)
	}
	if phase := r.runner.State().Phase; phase != machine.Calling {
		return fmt.Errorf("retake: a model replied while the run is %s: an agent within a tool of another needs a run of its own", phase)
	}
	r.mark, r.cause, r.last = r.runner.State().TranscriptLen(), nil, nil
	return nil
}

// verdict is what follows from a model call that is answered by words, or not.
func (r *Run) verdict(whole bool) (Verdict, error) {
	if r.err != nil {
		return Verdict{}, r.err
	}
	if st := r.runner.State(); whole && st.Phase != machine.Stopped {
		return Verdict{Again: true, Said: st.TranscriptFrom(r.mark)}, nil
	}
	return Verdict{}, nil
}

// Cancel ends the run where it stands, and returns the error that it ended with.
func (r *Run) Cancel(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancel(ctx)
}

// Err is the error that the run ended with; nil while it goes on, and where it ended well.
func (r *Run) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// End ends the run and lets the session go. It returns what [loop.Run] would; a run that is under way is
// cancelled.
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
