package engine

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// RunnerConfig says what a [Runner] makes: the run of Machine, the run in State, or, if both are nil, the run
// in the journal of the session, as with loop.Loop.Resume.
type RunnerConfig struct {
	// Session has the records of the run, its reducers and its journal. It belongs to the runner until
	// [Runner.Close]. Required.
	Session *session.Session
	// Machine is the config of a run that begins, or of the tries of one action: loop.Config.Machine and
	// loop.Action.Machine make it, and [machine.Compile] compiles it.
	Machine *machine.Compiled
	// State is where a run goes on whose engine keeps the states itself, best as [machine.State.Snapshot] and
	// [machine.Restore] write and read them, each beside the last effect of its step ([Marshal],
	// [Unmarshal]). The session is new, or that of the state, and gets its contents.
	State *machine.State
	// Offer is what replies are checked against.
	Offer Offer
	// Input is what a run that begins is given. Nil leaves all to the engine: what Machine has of the
	// request, and the messages, which it hands to [Runner.Start].
	Input *Input
	// Record is called with each step, in order; may be nil.
	Record func(machine.Event, []machine.Effect, machine.State)
	// Now is when a run is resumed, for the note in its journal.
	Now time.Time
}

// Runner converts outcomes to events and steps the core. It has no clock, goroutines or I/O and is for
// engines with their own; package loop is built on it. Each method returns the effects to carry out, in
// order; see package machine. It is for one goroutine at a time.
type Runner struct {
	offer Offer
	s     *session.Session
	// st is the state, and packed what it was packed to; one of them is nil.
	st     *machine.State
	packed *machine.Packed
	// record is called with each step; may be nil.
	record func(machine.Event, []machine.Effect, machine.State)
	// reading is of the latest reply; nil before the first and while people are asked, so that runs that wait
	// stay small.
	reading *reading
	// journal is nil if nothing is recorded.
	journal *journal.Journal
	// doubtful are the warnings about the config, which the next start records. changed are those about what
	// has changed since a resumed run began, and about what was not taken from the inbox.
	doubtful, changed []string
	// asked is what a resumed run asked for last. It is nil if the run was not resumed.
	asked *machine.Effect
	// older reports that the run began before the runner did: the journal may know of its calls.
	older bool
	// refused is the error of a reducer behind exhaustion, as it was returned in this process, or nil.
	refused *fault.ReducerError
	// unreported are the errors of reducers that OnReducerError has yet to be told of.
	unreported []fault.ReducerError
	// begun are the calls of the current reply, by index, that began and have no outcome.
	begun []int
	// opening is what a run begins with that was given its input; nil once it has begun.
	opening *opening
	// failing are the last errors of calls that failed, by key, and toolErrors those of
	// [machine.State.ToolFailures], nil for failures of another process.
	failing    map[string]error
	toolErrors []error
	// unrecorded reports that the journal is broken. The run can still end in memory. recorded reports that
	// the run had ended in the journal.
	unrecorded, recorded bool
}

// opening is what a run begins with.
type opening struct {
	// said is what the journal lacks of the conversation before the run, and the prompt. known is what is
	// known of the conversation besides the messages; nil if the state has it.
	said  []message.Message
	known *projection.Kept
}

// reading is how replies are read under a policy, and what the latest one has.
type reading struct {
	by       *policy.Set
	settings tool.Settings
	values   values
}

// New takes the session for a runner. Errors are those of the input ([Input.Validate]), of a session in use
// ([session.ErrBusy]), of a journal that cannot be written, of an offer that a resumed run does not fit, and
// [journal.ErrNoRun] if there is none to resume.
func New(cfg RunnerConfig) (_ *Runner, err error) {
	if cfg.Input != nil {
		if err := cfg.Input.Validate(); err != nil {
			return nil, fmt.Errorf("loop: input: %w", err)
		}
	}
	r := &Runner{offer: cfg.Offer, s: cfg.Session, record: cfg.Record}
	if err := r.acquire(cfg.State); err != nil {
		return nil, err
	}
	begun := false // false if the journal panics or ends the goroutine
	defer func() {
		if !begun {
			r.Close()
		}
	}()
	switch {
	case cfg.State != nil:
		r.st, r.older = new(*cfg.State), r.journal != nil
		err = session.DriverOf(r.s).Replace(r.st.Session)
	case cfg.Machine != nil:
		err = r.begin(cfg.Machine, cfg.Input)
	default:
		err = r.resume(cfg.Now)
	}
	if begun = err == nil; !begun {
		return nil, err
	}
	return r, nil
}

// acquire takes the session for the runner, with its journal. A session without an id gets that of the state,
// or a random one.
func (r *Runner) acquire(st *machine.State) error {
	var err error
	if r.journal, err = journal.Of(r.s); err != nil {
		return err
	}
	d, id := session.DriverOf(r.s), r.s.ID()
	if st != nil {
		id = st.Session.ID()
	} else if id == "" {
		id = "session-" + rand.Text()
	}
	if err := d.Acquire(); err != nil {
		return err
	}
	if err = d.Adopt(id); err != nil {
		d.Release()
	}
	return err
}

// begin makes the idle state of a run and opens its journal.
func (r *Runner) begin(m *machine.Compiled, in *Input) error {
	cfg := m.Config()
	single, id, deadline := cfg.Single, cfg.RequestID, cfg.Deadline
	if err := r.inherit(in, single); err != nil {
		return err
	}
	if in != nil {
		id, deadline = in.RequestID, in.Deadline
	}
	m = m.For(id, deadline, cmp.Or(session.DriverOf(r.s).Seed(), cfg.Seed))
	r.st = new(m.New(r.s.State()))
	r.doubtful, _ = r.offer.Tools.Absent(&m.Config().Policy) // similar names were refused before
	if in != nil {
		if err := r.goOn(in, single); err != nil {
			return err
		}
	}
	if r.journal == nil {
		return nil
	}
	return r.journal.Begin(Header(*m.Config(), r.offer), *r.st)
}

// goOn continues the conversation before the run.
func (r *Runner) goOn(in *Input, single bool) error {
	said, known, err := r.before(in, single)
	if err == nil && !single {
		err = session.Unanswered(said)
	}
	switch {
	case err != nil:
	case r.journal != nil:
		said = r.journal.GoOn(r.st, said)
	case !single && !in.anew():
		r.st.Continue(said, known)
		said = nil
	}
	if len(said) == 0 {
		known = nil
	}
	if !single {
		said = append(slices.Clip(said), in.Message())
	}
	r.opening = &opening{said, known}
	return err
}

// before returns the conversation before the run, and what is known of it. A single action says nothing: it
// keeps the conversation of its journal for the next run.
func (r *Runner) before(in *Input, single bool) ([]message.Message, *projection.Kept, error) {
	switch {
	case single && r.journal == nil:
		return in.History, nil, nil
	case single:
		held, err := r.journal.Contents()
		if errors.Is(err, journal.ErrRedacted) {
			err = nil // it is of no use to the tries
		}
		return held.Conversation, held.Known(), err
	}
	said, known, err := Before(in, session.DriverOf(r.s).Contents())
	if err != nil {
		err = fmt.Errorf("loop: input: %w", err)
	}
	return said, known, err
}

// inherit gives a session that has nothing yet what its journal has.
func (r *Runner) inherit(in *Input, single bool) error {
	if r.journal == nil {
		return nil
	}
	held, err := r.journal.Contents()
	if errors.Is(err, journal.ErrRedacted) && (single || in.anew() || len(r.s.Conversation()) > 0) {
		err = nil // it has what counts across runs
	}
	if in.anew() {
		held = session.Contents{State: held.State}
	}
	if err == nil {
		err = session.DriverOf(r.s).Inherit(held)
	}
	return err
}

// resume fills the session from its journal.
func (r *Runner) resume(now time.Time) error {
	if r.journal == nil {
		return errors.New("loop: there is no journal to resume from: make the session with one " +
			"(session.Config.Journal)")
	}
	held, err := r.journal.Past()
	if err != nil {
		return err
	}
	if held.Header.Format == "" {
		return fmt.Errorf("%w: no run was begun in session %q", journal.ErrNoRun, r.s.ID())
	}
	if err := r.offer.fits(held); err != nil {
		return err
	}
	if err := session.DriverOf(r.s).Replace(held.State.Session); err != nil {
		return fmt.Errorf("loop: the unfinished run in the journal has slices that the session does not declare so: %w", err)
	}
	then := held.State.Session.Slices()
	for _, now := range r.s.State().Slices() {
		if !slices.ContainsFunc(then, func(in session.Info) bool { return in.Name == now.Name }) {
			return fmt.Errorf("loop: the unfinished run in the journal has no slice %q: leave it out until the run has "+
				"ended", now.Name)
		}
	}
	r.st, r.changed = new(held.State), append(r.offer.changed(&held.Header), held.Warnings()...)
	if err := r.keep(); err != nil {
		return err
	}
	if r.st.Phase == machine.Stopped {
		r.recorded = true
		return nil
	}
	r.asked, r.older = new(held.Asked), true
	return r.journal.Resumed(now, held.Asked.Kind)
}

// Next returns the next effect of a run that the journal of the session has. Its kind is empty if the run has
// ended, and for all others, whose engine has the effect. The engine must call [Runner.ToolBegins] before it
// runs a tool; otherwise a call that was in progress is run twice.
func (r *Runner) Next() (machine.Effect, error) {
	if r.asked == nil || r.st.Phase == machine.Stopped {
		return machine.Effect{}, nil
	}
	effects, err := r.settle(r.st.At, []machine.Effect{r.st.Left(*r.asked)})
	return effects[len(effects)-1], err
}

// Close releases the session. The runner must not be used afterwards.
func (r *Runner) Close() {
	session.DriverOf(r.s).Release()
}

// State returns the core's state after the last step; the zero state for a nil runner.
func (r *Runner) State() machine.State {
	switch {
	case r == nil:
		return machine.State{}
	case r.packed != nil:
		r.unpack()
	}
	return *r.st
}

// Pack lets the runner take little memory while its run waits for long, until State is called, which must
// come before any other call. It does nothing if the state has no JSON form.
func (r *Runner) Pack() {
	if p, err := r.st.Pack(); err == nil {
		r.st, r.packed = nil, p
	}
}

func (r *Runner) unpack() {
	st, err := r.packed.State(r.s.State())
	if err != nil {
		panic(fmt.Errorf("loop: the state of a run that waited cannot be read: %w", err)) // it was just written
	}
	r.st, r.packed = &st, nil
}

// End is what is known of a run that has stopped.
type End struct {
	// State is the state in which it stopped.
	State machine.State
	// Recorded is when it ended, if that was read from the journal.
	Recorded time.Time
	// Changed says what is not as it was when a resumed run began and what was not taken from the inbox, and
	// Unrecorded why the journal lacks something.
	Changed    []string
	Unrecorded string
	// ToolErrors are the Go errors of [machine.State.ToolFailures], nil for those of another process, and
	// Refused is that of the reducer behind exhaustion, if it was this process's.
	ToolErrors []error
	Refused    *fault.ReducerError
}

// End returns what is known of the run, for loop.ResultOf.
func (r *Runner) End() End {
	e := End{State: *r.st, Changed: r.changed, ToolErrors: r.toolErrors, Refused: r.refused}
	if r.recorded {
		e.Recorded = r.st.At
	}
	if r.journal != nil {
		e.Unrecorded = r.journal.Warning()
	}
	return e
}

// Warn adds warnings about the config to those that [Runner.Start] records.
func (r *Runner) Warn(warnings ...string) { r.doubtful = append(r.doubtful, warnings...) }

// Step passes one event to the core unchanged. An event that does not fit or cannot be recorded changes
// nothing. If the core asks for the reducers, Step runs them.
func (r *Runner) Step(ev machine.Event) ([]machine.Effect, error) {
	effects, err := r.step(ev)
	if err != nil {
		return effects, err
	}
	return r.settle(ev.At, effects)
}

// settle answers the effects that need no driver, as long as the last of the effects is one: it runs the
// reducers, makes estimates, and plans shorter prompts. It returns the effects with those that followed.
func (r *Runner) settle(at time.Time, effects []machine.Effect) ([]machine.Effect, error) {
	for last := len(effects) - 1; last >= 0; last = len(effects) - 1 {
		var more []machine.Effect
		var err error
		switch effects[last].Kind {
		case machine.Reduce:
			more, err = r.step(machine.Event{Kind: machine.ReducersRan, At: at,
				Reductions: heard(r.st.Session, r.st.Notices, r.reduce)})
		case machine.AskPerson:
			r.reading = nil // people take long, and many runs may wait for them; what it has is decoded again
			return effects, nil
		default:
			ev, own := r.offer.Answer(*r.st, effects[last], at)
			if !own {
				return effects, nil
			}
			more, err = r.step(ev)
		}
		if err != nil {
			return effects, err
		}
		effects = append(effects[:last:last], more...)
	}
	return effects, nil
}

// underWay returns the calls of a reply that have begun and have no outcome after an event.
func (r *Runner) underWay(batch *machine.Batch, ev *machine.Event) []int {
	open := slices.Clone(r.begun)
	if batch != nil && r.older { // they may have begun before, in another process
		for n, c := range batch.Calls {
			began, landed := r.journal.Call(c.Key, c.Transport)
			if !c.Ended() && c.Lost == nil && (began || landed != nil) && !slices.Contains(open, n) {
				open = append(open, n)
			}
		}
	}
	return slices.DeleteFunc(open, func(n int) bool { return ev.Tool != nil && ev.Tool.Index == n })
}

// step passes one event to the core and records the step.
func (r *Runner) step(ev machine.Event) ([]machine.Effect, error) {
	before := *r.st
	effects, err := Step(r.st, &ev, func() []int { return r.underWay(before.Batch, &ev) })
	if err != nil {
		return nil, err
	}
	if r.st.Batch == nil {
		r.begun = nil
	} else if ev.Tool != nil {
		r.begun = slices.DeleteFunc(r.begun, func(n int) bool { return n == ev.Tool.Index })
	}
	if err := r.write(ev, effects); err != nil {
		*r.st = before
		return nil, err
	}
	if x := r.st.Exhaustion(); x != before.Exhaustion() {
		r.refused = refusedBy(&ev, x)
	}
	r.keepToolErrors()
	if err := r.keep(); err != nil {
		return nil, err
	}
	if r.record != nil {
		r.record(ev, effects, *r.st)
	}
	r.report()
	return effects, nil
}

// refusedBy returns the error of a reducer in an event that is behind an exhaustion, or nil.
func refusedBy(ev *machine.Event, x *machine.Question) *fault.ReducerError {
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
		return session.DriverOf(r.s).Conclude(r.st.Contents())
	}
	return session.DriverOf(r.s).Replace(r.st.Session)
}

// write records a step. The forms of its questions come before it, so that who sees a question has its form.
func (r *Runner) write(ev machine.Event, effects []machine.Effect) error {
	if r.journal == nil || r.unrecorded {
		return nil
	}
	var err error
	if last := len(effects) - 1; last >= 0 && effects[last].Kind == machine.AskPerson {
		err = r.recordForms(ev.At, effects[last].Asks)
	}
	if err == nil {
		err = r.journal.Step(ev, effects, *r.st)
	}
	r.unrecorded = err != nil
	return err
}
