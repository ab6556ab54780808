package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// process makes one run, or the tries of one action. It is the only code with a clock and goroutines. It
// carries out the effects of the core and stops when a wait or a try has to be made; [Loop.Run], [Do],
// [Attempts] and [Pool] differ in what they do then.
type process struct {
	*options
	*work
	cfg     *Config
	s       *session.Session
	journal *journal.Journal
	// runner makes the run; nil until the process has the session.
	runner *engine.Runner
	// values are the values of the tracers, and end reports the end of the run to them; nil without tracers.
	values context.Context
	end    func(*machine.Outcome, error)
	// asked is the next effect. Its Asks are only there while the process works: the state has them.
	asked *machine.Effect
	// teller tells the observers; nil without any.
	teller *observe.Teller

	// over reports that the end was reported, and asking that askers was told that the run waits for people.
	over, asking bool
	// takeBack reports that the last reply was not used, so that its streamed text has to be discarded.
	takeBack bool
	// cutOff reports that the model call that the process before had asked for was not made again.
	cutOff bool
	// mail reports that there may be something in the inbox, or that something was said.
	mail atomic.Bool
	// inbox is that of the session's store; nil without one. unread is its last error, and words are what was
	// said in this process.
	inbox  journal.Inbox
	unread string
	words  unrecordedWords
	// pooled is the run in its pool. woken is full if a run outside one has mail. Both are nil for tries.
	pooled *PoolRun
	woken  chan struct{}
	// leftToOthers are the questions that the approver has left to others.
	leftToOthers []string
	// depth is how many runs are around this one, and deepest how many there may be around another.
	depth, deepest int

	// granting is what is known of the limiter.
	granting granting
	// streaming is full while the function of WithStream runs.
	streaming chan struct{}
	// owed is what was consumed and is in no event yet.
	owed owed
	// err is the Go error behind the current event, and cause the one behind exhaustion.
	err, cause error
	// costs is what was told of the run's costs to the call of a tool that makes the run.
	costs int64
	// failed are the calls of a reply that failed, by index.
	failed map[int]failedCall
	last   time.Time
	// adjusted is the last layer of WithAdjust, or nil.
	adjusted *policy.Layer
}

// ErrSuspended is a cause for cancelling a context, for a process that shuts down: see [NotifyShutdown]. It
// leaves a run with a journal as it is: the cancellation is not recorded, the run returns this error, and
// [Loop.Resume] continues it. What tools return later is kept, except for errors that only say that their
// context has ended. Without a journal the run is cancelled as with any other cause. It is also the error of
// a run that is left because the journal of a run within it cannot be written: see [Loop.Within].
var ErrSuspended = errors.New("loop: the run was left to be resumed")

// errCallLeft is the error of a call that [process.until] cancelled. It has to be made again.
var errCallLeft = errors.New("loop: the call was left")

var errNoContext = errors.New("loop: the context is nil: give one, such as context.Background()")

// errExited is the cause of a run whose goroutine was ended by a function that it called.
var errExited = errors.New("loop: the model or another given function panicked or ended its goroutine (runtime.Goexit)")

// leftToResume is the kind at which [process.advance] stops if the run is left to be resumed.
const leftToResume machine.EffectKind = "left"

// newProcess returns a process without a run.
func newProcess(
	ctx context.Context, o *options, s *session.Session, cfg *Config, in *Input,
) (*process, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if in != nil {
		if err := in.Validate(); err != nil {
			return nil, fmt.Errorf("loop: input: %w", err)
		}
	}
	j, err := journal.Of(s)
	if err != nil {
		return nil, err
	}
	p := &process{options: o, work: o.work(), cfg: cfg, s: s, journal: j, asked: nothing}
	p.in = in
	p.deepest = cmp.Or(cfg.MaxDepth, DefaultDepth)
	if len(o.observers) > 0 {
		p.teller = &observe.Teller{Observers: o.observers, Tools: cfg.Tools, Output: cfg.Output}
	}
	p.life = p.guarded(ctx)
	p.ctx = p.life
	return p, nil
}

// close releases the session and the context of the work.
func (p *process) close() {
	p.dropGrant()
	_ = p.journal.Flush() // if it fails, [journal.Journal.Warning] says so
	p.askers.remove(p.s.ID())
	p.free()
	session.DriverOf(p.s).Release()
}

// take takes the session for a run.
func (p *process) take(of engine.RunnerConfig) (err error) {
	of.Session, of.Offer, of.Record = p.s, p.cfg.offer(), p.stepped
	if p.runner, err = engine.New(of); err == nil {
		if p.pooled != nil || p.woken != nil {
			session.DriverOf(p.s).Hearing(p.hear)
		}
		p.costs = p.runner.State().Charged.Cost
	}
	return err
}

// beginRun takes the session for a run under m.
func (p *process) beginRun(m *machine.Compiled) error {
	p.in.Deadline = earlier(p.life, p.in.Deadline)
	if err := p.take(engine.RunnerConfig{Machine: m, Input: p.in}); err != nil {
		return err
	}
	if session.DriverOf(p.s).Seed() == "" {
		p.runner.Warn(p.seeds.serve(m.Config().Seed, p.s.ID())...)
	}
	p.live(p.life)
	return nil
}

// start begins the run with its prompt, after the earlier conversation.
func (p *process) start() {
	p.trace(false)
	p.fed(p.runner.Start(p.now()))
}

// begun reports whether there is a run that can be ended.
func (p *process) begun() bool {
	phase := p.runner.State().Phase
	return phase != "" && phase != machine.Idle
}

// fed takes the effects of a step, or its error.
func (p *process) fed(effects []machine.Effect, err error) {
	switch {
	case errors.Is(err, errCallLeft):
	case err != nil:
		p.broke = err
	default:
		p.asked = &effects[len(effects)-1]
	}
}

// advance carries out effects until a wait or a try has to be made, a person or the limiter has to answer, or
// the run is over or left to be resumed. It returns which. Waits until now are over, whatever the clock says.
func (p *process) advance(now time.Time) machine.EffectKind {
	for p.broke == nil && p.recorded == nil && p.runner.State().Phase != machine.Stopped {
		if p.asked.Kind != machine.AskPerson {
			p.stopAsking()
		}
		switch {
		case p.ctx.Err() != nil || p.asksTooLong():
			p.fed(p.cancel())
		case p.hasMail():
			p.takeMail(false)
		case p.asked.Kind == machine.WaitUntil && p.asked.Wait.Until.After(now) &&
			p.asked.Wait.Until.After(p.now()):
			return machine.WaitUntil
		case p.waitsForPeople(now):
			return machine.AskPerson
		case p.waitsForGrant():
			err := p.journal.Flush()
			if err == nil {
				return machine.AskGrant
			}
			p.fed(nil, err)
		case p.away():
			return leftToResume
		case p.asked.Kind == machine.TryAction:
			return machine.TryAction
		default:
			p.fed(p.carry(*p.asked, now))
		}
	}
	p.stopAsking()
	return machine.Stop
}

// pause waits by the clock. If the context ends, [process.advance] cancels the run.
func (p *process) pause() {
	select {
	case <-p.clock.After(p.asked.Wait.Until.Sub(p.now())):
		p.fed(p.woke(p.asked.Wait.Until))
	case <-p.woken:
	case <-p.ctx.Done():
	case <-p.leaving():
	}
}

// away reports whether the run has to leave this process.
func (p *process) away() bool { return p.until != nil && p.until.Err() != nil }

// leaving is closed when the run has to leave this process; nil if it never has to.
func (p *process) leaving() <-chan struct{} {
	if p.until == nil {
		return nil
	}
	return p.until.Done()
}

// finish makes a run that has its session to its end, including waits, and releases the session. fresh means
// that it begins.
func (p *process) finish(fresh bool) (Result, error) {
	defer p.leave()
	defer p.watchMail()()
	if fresh {
		p.start()
	}
	for {
		switch next := p.advance(time.Time{}); {
		case next != machine.Stop && p.away():
			p.broke = ErrSuspended
			return p.result()
		case next == machine.WaitUntil:
			p.pause()
		case next == machine.AskPerson:
			p.pausePeople()
		case next == machine.AskGrant:
			p.pauseGrant()
		default:
			return p.result()
		}
	}
}

// result returns the result of a run that has stopped or cannot continue, and tells the tracers.
func (p *process) result() (result Result, err error) {
	switch {
	case p.broke != nil:
		if err = p.broken(p.broke); p.begun() {
			result, _ = ResultOf(p.runner.End(), err)
		}
	case p.recorded != nil:
		result, err = recordedEnd(p.recorded)
	default:
		p.clearMail()
		result, err = ResultOf(p.runner.End(), p.why(p.runner.State().Outcome))
	}
	p.ended(err)
	return result, err
}

// ended tells the tracers about the end.
func (p *process) ended(err error) {
	if p.over = true; p.end != nil {
		p.end(p.runner.State().Outcome, err)
	}
}

// broken ends a run that cannot continue, so that the session is consistent.
func (p *process) broken(err error) error {
	if !p.begun() || errors.Is(err, ErrSuspended) || p.runner.State().Phase == machine.Stopped {
		return err
	}
	if _, cancel := p.runner.Break(p.now(), err); cancel != nil && !errors.Is(cancel, err) {
		return fmt.Errorf("%w (and the run could not be ended: %w)", err, cancel)
	}
	return err
}

// leave releases the session. It first ends a run whose goroutine was ended by a function that it called.
// After a panic the run is left as it is, to be resumed.
func (p *process) leave() {
	defer p.close()
	if p.over {
		return
	}
	if panicked := recover(); panicked != nil {
		panic(panicked)
	}
	_, _ = p.exit()
}

// exit ends a run whose goroutine was ended by a function that it called.
func (p *process) exit() (Result, error) {
	p.ending, p.broke = errExited, nil
	if _, err := p.cancelled(); err != nil {
		p.broke = err
	}
	return p.result()
}

// now returns the clock's time, but never an earlier time than before.
func (p *process) now() time.Time {
	p.last = p.since(p.last)
	return p.last
}

// since returns the clock's time, or last if that is later.
func (o *options) since(last time.Time) time.Time {
	if now := o.clock.Now().UTC().Round(0); now.After(last) {
		return now
	}
	return last
}

// stepped records the cause of an exhaustion, and tells the observers about one step.
func (p *process) stepped(ev machine.Event, effects []machine.Effect, st machine.State) {
	if x := st.Exhaustion(); x != p.exhaustion {
		p.err = p.behind(ev.Kind, x)
		p.exhaustion, p.cause = x, p.err
	}
	if used := usageOf(&ev); used != (message.Usage{}) {
		_ = tool.AddUsage(p.life, used) // an error says that no tool makes the run, or no longer waits for it
	}
	if cost := engine.Cost(&st, p.costs, &ev); cost != nil {
		p.costs = st.Charged.Cost
		_ = tool.AddCost(p.life, *cost)
	}
	if p.teller != nil {
		p.tellStep(&ev, effects, &st)
	}
}

// usageOf returns what an event adds to the usage of the run.
func usageOf(ev *machine.Event) message.Usage {
	switch {
	case ev.Reply != nil:
		return ev.Reply.Message.Usage
	case ev.Tool != nil:
		return ev.Tool.Usage
	case ev.Try != nil:
		return ev.Try.Usage
	}
	return ev.Usage
}

// carry carries out one effect and feeds its outcome. Deadlines until now are over, whatever the clock says.
func (p *process) carry(e machine.Effect, now time.Time) ([]machine.Effect, error) {
	switch e.Kind {
	case machine.AskGrant:
		return p.granted()
	case machine.CallModel:
		return p.call(e.Model)
	case machine.MakePrompt:
		return p.makePrompt(e.Model)
	case machine.RunTools:
		return p.runTools(p.ctx, e.Tools)
	case machine.WaitUntil:
		return p.woke(e.Wait.Until)
	case machine.AskPerson:
		return p.askPeople(now)
	case machine.AskPlanner:
		return p.askPlanner(e)
	case machine.Summarise:
		return p.summarise(e.Summary)
	}
	return nil, fmt.Errorf("loop: this driver does not know the effect %q", e.Kind)
}

func (p *process) cancel() ([]machine.Effect, error) {
	kept := p.journal != nil
	if p.ending = whyDone(p.life, kept); p.ending == nil && p.asksTooLong() {
		p.ending = context.DeadlineExceeded // by the clock; the context follows
	}
	if kept && errors.Is(p.ending, ErrSuspended) {
		return nil, p.ending
	}
	if p.asked.Kind == machine.AskPerson { // an answer that was given in time counts, even if no call can follow
		if p.takeMail(false); p.broke != nil || p.runner.State().Phase == machine.Stopped {
			return nil, errCallLeft
		}
	}
	return p.cancelled()
}

// cancelled feeds that the run has ended because of p.ending, with what was consumed until then.
func (p *process) cancelled() ([]machine.Effect, error) {
	ev := machine.Event{Kind: machine.Cancelled, At: p.now(), Failure: engine.CauseOf(p.ending)}
	ev.Usage, ev.Left = p.owed.take()
	ev.Left = ev.Left || p.cutOff
	return p.runner.Step(ev)
}

// woke feeds that a wait, or the earliest deadline of the questions to people, is over. It counts even if the
// clock was set back in the meantime.
func (p *process) woke(until time.Time) ([]machine.Effect, error) {
	if p.now().Before(until) {
		p.last = until
	}
	return p.runner.Woke(p.last)
}

// adjustPolicy calls the user's function before a decision. An unchanged layer is not an event.
func (p *process) adjustPolicy() error {
	if p.adjust == nil {
		return nil
	}
	layer, ok := p.adjust(p.runner.State().Session)
	if !ok || reflect.DeepEqual(layer, *cmp.Or(p.adjusted, &policy.Layer{})) {
		return nil
	}
	layer = layer.Clone() // the function may write into it later
	p.adjusted = &layer
	_, err := p.runner.Adjusted(p.now(), layer)
	return err
}

// earlier returns the earlier of the given deadline and that of the context.
func earlier(ctx context.Context, deadline time.Time) time.Time {
	if d, ok := ctx.Deadline(); ok {
		deadline = after.Sooner(deadline, d)
	}
	return deadline.UTC().Round(0)
}
