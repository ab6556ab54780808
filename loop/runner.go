package loop

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Runner converts outcomes to events and steps the core. It has no clock, goroutines or I/O and is for
// engines with their own; [Loop.Run] is built on it. Each method returns the effects to carry out, in order; see
// package machine. It is for one goroutine at a time.
type Runner struct {
	cfg *Config
	s   *session.Session
	st  machine.State
	// record is called with each step; may be nil.
	record func(machine.Event, []machine.Effect, machine.State)
	// settings are those for replies under readBy, the policy of the latest reply.
	settings tool.Settings
	readBy   *policy.Set
	// journal is nil if nothing is recorded.
	journal *journal.Journal
	// doubtful are the warnings about the config, which the next start records. changed are those about what has
	// changed since a resumed run began.
	doubtful, changed []string
	// refused is the error of a reducer behind exhaustion, as it was returned in this process, or nil.
	refused *fault.ReducerError
	// recorded is when the run ended, if it had ended in the journal.
	recorded time.Time
	// resumed reports that the run was resumed, so that the journal may know of its calls.
	resumed bool
	// begun are the calls of the current reply, by index, that began and have no outcome.
	begun []int
	// history is what the run records of the conversation before it. Its journal has the rest.
	history []message.Message
	// failing are the last errors of calls that failed, by key, and toolErrors those of [machine.State.ToolFailures],
	// nil for failures of another process.
	failing    map[string]error
	toolErrors []error
	// unrecorded reports that the journal is broken. The run can still end in memory.
	unrecorded bool
}

// NewRunner returns a runner for runs in s under cfg. The error joins everything that is wrong with cfg; it
// does not check ToolChoice against Tools, because an engine that runs the tools itself may know them only
// later. record, if not nil, is called with every step, in order. The session belongs to the runner until
// [Runner.Close].
func NewRunner(
	s *session.Session, cfg Config, record func(machine.Event, []machine.Effect, machine.State),
	opts ...Option,
) (*Runner, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	m, err := cfg.ready(o)
	if err != nil {
		return nil, err
	}
	return newRunner(s, cfg, m, o, record)
}

// NewActionRunner returns a runner for the tries of one action in s, for engines with their own clock;
// [Attempts] is built on it. Start asks for the first try; a [machine.Tried] event reports the outcome of a
// try. The rest is as for [NewRunner].
func NewActionRunner(
	s *session.Session, a *Action, record func(machine.Event, []machine.Effect, machine.State),
	opts ...Option,
) (*Runner, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	m, err := a.compile(o)
	if err != nil {
		return nil, err
	}
	return newRunner(s, Config{}, m, o, record)
}

// RunnerAt returns a runner that continues from a state, for engines that keep states themselves. The session
// is new, or the one of the state; it gets the contents of the state.
func RunnerAt(
	s *session.Session, cfg Config, st machine.State,
	record func(machine.Event, []machine.Effect, machine.State),
) (*Runner, error) {
	r := &Runner{cfg: &cfg, s: s, st: st, record: record}
	if s == nil {
		return nil, errNoSession
	}
	if err := session.DriverOf(s).Adopt(st.Session.ID()); err != nil {
		return nil, err
	}
	if err := r.acquire(); err != nil {
		return nil, err
	}
	if err := session.DriverOf(s).Replace(st.Session); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// newRunner returns a runner that has begun.
func newRunner(
	s *session.Session, cfg Config, m *machine.Compiled, o *options,
	record func(machine.Event, []machine.Effect, machine.State),
) (*Runner, error) {
	r := &Runner{cfg: &cfg, s: s, record: record}
	if err := r.open(m, o, false); err != nil {
		return nil, err
	}
	return r, nil
}

// acquire takes the session for the runner, with its journal. A session without an id gets a random one.
func (r *Runner) acquire() error {
	if r.s == nil {
		return errNoSession
	}
	if err := session.DriverOf(r.s).Acquire(); err != nil {
		return err
	}
	err := r.name()
	if err != nil {
		r.Close()
	}
	return err
}

var errNoSession = errors.New("loop: the session is nil: make one with session.New")

// open takes the session and begins. If goOn is set, the run may continue the history in the journal.
func (r *Runner) open(m *machine.Compiled, o *options, goOn bool) error {
	if err := r.acquire(); err != nil {
		return err
	}
	begun := false // false if the journal panics or ends the goroutine
	defer func() {
		if !begun {
			r.Close()
		}
	}()
	err := r.begin(m, o, goOn)
	begun = err == nil
	return err
}

// begin makes the idle state of a run and opens its journal.
func (r *Runner) begin(m *machine.Compiled, o *options, goOn bool) error {
	if err := r.inherit(m.Config().Single); err != nil {
		return err
	}
	m = m.Seeded(session.DriverOf(r.s).Seed())
	r.st = m.New(r.s.State())
	r.doubtful, _ = r.cfg.Tools.Absent(&m.Config().Policy) // similar names were refused before
	if session.DriverOf(r.s).Seed() == "" {
		r.doubtful = append(r.doubtful, o.seeds.serve(m.Config().Seed, r.s.ID())...)
	}
	if goOn {
		if err := r.goOn(m.Config().Single); err != nil {
			return err
		}
	}
	if r.journal == nil {
		return nil
	}
	return r.journal.Begin(engine.Header(*m.Config(), r.cfg.offer()), r.st)
}

// goOn continues the conversation before the run.
func (r *Runner) goOn(single bool) error {
	said, err := r.before(single)
	if err == nil && !single {
		err = unanswered(said)
	}
	if err == nil && r.journal != nil {
		said = r.journal.GoOn(&r.st, said)
	}
	r.history = said
	return err
}

// before returns the conversation before the run. A single action says nothing: it keeps the conversation of
// its journal for the next run.
func (r *Runner) before(single bool) ([]message.Message, error) {
	given, held := r.cfg.History, r.s.Conversation()
	switch {
	case single && r.journal == nil:
		return given, nil
	case single:
		_, said, err := r.journal.Contents()
		if errors.Is(err, journal.ErrRedacted) {
			err = nil // it is of no use to the tries
		}
		return said, err
	case r.cfg.NewConversation:
		return given, nil
	case len(given) > 0 && len(held) > 0:
		return given, fmt.Errorf("loop: config: history: the session holds a conversation of %d messages: leave History out to continue it, "+
			"or set NewConversation to begin another", len(held))
	case len(given) > 0:
		return given, nil
	}
	return held, nil
}

// name takes the journal of the session, and gives the session an id if it has none.
func (r *Runner) name() (err error) {
	if r.journal, err = journal.Of(r.s); err != nil || r.s.ID() != "" {
		return err
	}
	return session.DriverOf(r.s).Adopt("session-" + rand.Text())
}

// inherit gives a session that has nothing yet what its journal has.
func (r *Runner) inherit(single bool) error {
	if r.journal == nil {
		return nil
	}
	other := r.cfg.NewConversation || len(r.cfg.History) > 0
	state, said, err := r.journal.Contents()
	if errors.Is(err, journal.ErrRedacted) && (single || other || len(r.s.Conversation()) > 0) {
		return nil
	}
	if other {
		said = nil
	}
	if err == nil {
		err = session.DriverOf(r.s).Inherit(state, said)
	}
	return err
}

// exhaustion returns that of an action of the run, unhandled or at the end of the run, or nil.
func (r *Runner) exhaustion() *machine.Exhaustion {
	if x := r.st.Exhausted; x != nil || r.st.Outcome == nil {
		return x
	}
	return r.st.Outcome.Exhaustion
}

// Close releases the session. The runner must not be used afterwards.
func (r *Runner) Close() {
	session.DriverOf(r.s).Release()
}

// State returns the core's state after the last step.
func (r *Runner) State() machine.State { return r.st }

// Step passes one event to the core unchanged. An event that does not fit or cannot be recorded changes
// nothing. If the core asks for the reducers, Step runs them.
func (r *Runner) Step(ev machine.Event) ([]machine.Effect, error) {
	effects, err := r.step(ev)
	if err != nil {
		return effects, err
	}
	return r.settle(ev.At, effects)
}

// settle runs the reducers as long as the last of the effects asks for them, and returns the effects with
// those that followed. What one step of reducers does, such as ending the run, may ask for the next.
func (r *Runner) settle(at time.Time, effects []machine.Effect) ([]machine.Effect, error) {
	for last := len(effects) - 1; last >= 0 && effects[last].Kind == machine.Reduce; last = len(effects) - 1 {
		more, err := r.tellReducers(at)
		if err != nil {
			return effects, err
		}
		effects = append(effects[:last:last], more...)
	}
	return effects, nil
}

// underWay returns the calls of the current reply that have begun and have no outcome after an event.
func (r *Runner) underWay(ev *machine.Event) []int {
	open := slices.Clone(r.begun)
	if r.st.Batch != nil && r.resumed { // they may have begun in another process
		for n, c := range r.st.Batch.Calls {
			began, landed := r.journal.Call(c.Key, c.Transport)
			if !c.Ended() && (began || landed != nil) && !slices.Contains(open, n) {
				open = append(open, n)
			}
		}
	}
	return slices.DeleteFunc(open, func(n int) bool { return ev.Tool != nil && ev.Tool.Index == n })
}

// tellReducers runs the reducers for the open notices.
func (r *Runner) tellReducers(at time.Time) ([]machine.Effect, error) {
	reductions := engine.Heard(r.s, r.st.Session, r.st.Notices)
	return r.step(machine.Event{Kind: machine.ReducersRan, At: at, Reductions: reductions})
}

// step passes one event to the core and records the step.
func (r *Runner) step(ev machine.Event) ([]machine.Effect, error) {
	st, effects, err := engine.Step(r.st, &ev, func() []int { return r.underWay(&ev) })
	if err != nil {
		return nil, err
	}
	if st.Batch == nil {
		r.begun = nil
	} else if ev.Tool != nil {
		r.begun = slices.DeleteFunc(r.begun, func(n int) bool { return n == ev.Tool.Index })
	}
	if err := r.write(ev, effects, st); err != nil {
		return nil, err
	}
	before := r.exhaustion()
	r.st = st
	if x := r.exhaustion(); x != before {
		r.refused = refusedBy(&ev, x)
	}
	r.keepToolErrors()
	if err := r.keep(); err != nil {
		return nil, err
	}
	if r.record != nil {
		r.record(ev, effects, st)
	}
	return effects, nil
}

// refusedBy returns the error of a reducer in an event that is behind an exhaustion, or nil.
func refusedBy(ev *machine.Event, x *machine.Exhaustion) *fault.ReducerError {
	if x == nil || x.Failure.Class != fault.Reducer {
		return nil
	}
	var all []*machine.Reduced
	switch {
	case ev.Tool != nil:
		all = append(all, ev.Tool.Reduced)
	case ev.Try != nil:
		all = append(all, ev.Try.Reduced)
	case ev.Reply != nil && ev.Reply.Answer != nil:
		all = append(all, ev.Reply.Answer.Reduced)
	}
	for n := range ev.Reductions {
		all = append(all, &ev.Reductions[n])
	}
	for _, r := range all {
		if r != nil && r.Error != nil && r.Error.Error() == x.Failure.Message {
			return r.Error
		}
	}
	return nil
}

// keep stores the state in the session and, if a run has ended, its conversation.
func (r *Runner) keep() error {
	if r.st.Phase == machine.Stopped && !r.st.Config.Single {
		return session.DriverOf(r.s).Conclude(r.st.Session, r.st.Transcript())
	}
	return session.DriverOf(r.s).Replace(r.st.Session)
}

// write records a step.
func (r *Runner) write(ev machine.Event, effects []machine.Effect, st machine.State) error {
	if r.journal == nil || r.unrecorded {
		return nil
	}
	err := r.journal.Step(ev, effects, st)
	r.unrecorded = err != nil
	return err
}

// Result returns what [Loop.Run] would return for a run that has stopped. cause is the Go error behind its end;
// nil means the recorded one: a [RecordedError], a typed error of package fault, or none. If the run has not
// stopped, the result is zero.
func (r *Runner) Result(cause error) (Result, error) {
	o := r.st.Outcome
	if o == nil {
		return Result{}, nil
	}
	own := r.st.Attempts()
	result := Result{
		Text: o.Text, Value: o.Value, Calls: o.Calls, Degraded: o.Degraded, Recorded: r.recorded,
		Warnings: r.warned(), InDoubt: o.InDoubt,
		ToolFailures: toolFailures(o.ToolFailures, r.toolErrors),
		Transcript:   r.st.Transcript(), Attempts: own, Usage: o.Usage, Waited: o.Waited, Turns: o.Turns,
	}
	if o.OK {
		return result, nil
	}
	if cause == nil {
		cause = r.recordedCause()
	}
	e := exhausted(r.st, own, cause)
	e.Recorded, e.ToolFailures = r.recorded, result.ToolFailures
	return result, e
}

// warned adds warnings about what has changed and the journal.
func (r *Runner) warned() []string {
	all := slices.Concat(r.st.Warned(), r.changed)
	if r.journal != nil {
		if text := r.journal.Warning(); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// Start begins a run with the given messages. The error is [ErrUnanswered] if they leave calls without a result.
func (r *Runner) Start(at time.Time, messages ...message.Message) ([]machine.Effect, error) {
	before := r.st.Transcript()
	before = before[max(message.LastReply(before), 0):]
	if err := unanswered(slices.Concat(before, messages)); err != nil {
		return nil, err
	}
	return r.Step(machine.Event{Kind: machine.Started, At: at, Messages: message.Printable(messages),
		Warnings: r.doubtful, Hears: engine.Hears(r.s)})
}

// Reply feeds a model's reply: it reads and checks the reply, and runs the reducers for an answer.
func (r *Runner) Reply(at time.Time, reply message.Reply) ([]machine.Effect, error) {
	return r.feedReply(at, r.read(context.Background(), reply))
}

// read reads and checks a reply. If the context ends, the result is not usable.
func (r *Runner) read(ctx context.Context, reply message.Reply) *machine.Reply {
	if r.readBy != r.st.Policy {
		r.settings, r.readBy = engine.Settings(r.st.Policy), r.st.Policy
	}
	settings := r.settings
	settings.Stop = func() bool { return ctx.Err() != nil }
	return engine.Read(reply, r.cfg.offer(), settings)
}

func (r *Runner) feedReply(at time.Time, read *machine.Reply) ([]machine.Effect, error) {
	if a := read.Answer; a != nil && len(a.Issues) == 0 {
		a.Reduced = r.reduce(engine.AnswerEvents(session.DriverOf(r.s).Hears, read.Message.Text, a))
	}
	return r.Step(machine.Event{Kind: machine.Replied, At: at, Reply: read})
}

// CallFailed feeds the error of a model call.
func (r *Runner) CallFailed(at time.Time, err error) ([]machine.Effect, error) {
	f := fault.FailureOf(err)
	return r.Step(machine.Event{Kind: machine.CallFailed, At: at, Failure: &f,
		RateLimit: engine.RateLimit(err)})
}

// ToolEnded feeds the outcome of one call, in call order, after running the reducers for its result and
// events.
func (r *Runner) ToolEnded(at time.Time, run machine.ToolRun, out tool.Outcome) ([]machine.Effect, error) {
	end := engine.EndOf(run, out)
	if landed, ok := out.Err.(*landedError); ok {
		end = new(landed.end)
	}
	if err := out.Cause(); err != nil {
		if r.failing == nil {
			r.failing = map[string]error{}
		}
		r.failing[run.Key] = err
	}
	if end.Verdict == machine.Done {
		end.Reduced, end.Unheard = r.reduce(engine.ToolEvents(session.DriverOf(r.s).Hears, run, out)), engine.Unheard(r.s, out)
	}
	return r.Step(machine.Event{Kind: machine.ToolEnded, At: at, Tool: end})
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

// Planned feeds a planner's answer. An invalid plan changes nothing. [Loop.Run] checks it before, with
// [machine.Plan.Fault], and feeds the error to PlannerFailed.
func (r *Runner) Planned(at time.Time, p machine.Plan) ([]machine.Effect, error) {
	p = p.Printable()
	return r.Step(machine.Event{Kind: machine.Planned, At: at, Plan: &p})
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

// Cancel ends the run at its current position. cause is why; may be nil. Its types count, not its words.
func (r *Runner) Cancel(at time.Time, cause error) ([]machine.Effect, error) {
	return r.Step(machine.Event{Kind: machine.Cancelled, At: at, Failure: engine.CauseOf(cause)})
}

// Break ends a run that cannot continue, at its current position. cause is why; may be nil.
func (r *Runner) Break(at time.Time, cause error) ([]machine.Effect, error) {
	return r.Step(machine.Event{Kind: machine.Broken, At: at, Failure: engine.CauseOf(cause)})
}

// Dispatch runs the reducers for a user's events, as one transaction. It also returns the error of a reducer
// that failed.
func (r *Runner) Dispatch(at time.Time, events ...session.Event) ([]machine.Effect, error) {
	reduced := r.reduce(events)
	effects, err := r.Step(machine.Event{Kind: machine.Dispatched, At: at, Reduced: reduced})
	if err == nil && reduced.Error != nil {
		return effects, reduced.Error
	}
	return effects, err
}

// refusal returns the error of a reducer behind a failure: as it was returned, or as recorded in the session.
func (r *Runner) refusal(f *fault.Failure) error {
	if r.refused != nil {
		return r.refused
	}
	for _, e := range slices.Backward(r.st.Session.ReducerErrors()) {
		if e.Error() == f.Message {
			return &e
		}
	}
	return nil
}

// reduce runs the session's reducers for events.
func (r *Runner) reduce(events []session.Event) *machine.Reduced {
	return engine.Reduce(r.s, r.st.Session, events)
}
