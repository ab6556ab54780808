package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Action is one line of attempts under a policy, for [Do] and [Attempts]. Make one with [ToolCall] or
// [FinalAnswer] and change its fields before the first use; it may then be shared. Its policies are compiled
// at the first use and must not change any more. A copy is an action of its own.
type Action struct {
	// Tool is the name of the tool; empty for a final answer.
	Tool string
	// Policy is for tries whose result cannot be used, and Transport for tries whose request failed.
	Policy, Transport policy.RetryPolicy
	// Seed is the seed of the jitter, as [Config].Seed. If it is empty, it is the session's id, which
	// [Do] without a session draws. [RetryExhaustedError].Seed has it, so that the waits can be reproduced.
	Seed string
	// Deadline is the end of the action's time; no wait may outlast it. The context that [Do] gives to a try
	// ends then. Zero means the deadline of the context, if any.
	Deadline time.Time
	// ID identifies the action in its session's journal. Once it has ended there, with or without success, it
	// is not made again, and its recorded end is returned. Empty means a new action; without a journal the ID
	// has no effect. At most 256 bytes of printable text. It appears in journals and
	// errors, so it must not be secret.
	ID string
	// Scope is whose limits the tries take from, if a limiter grants them: see [WithLimiter]. Empty means the
	// tool.
	Scope string

	// kept is what the action was compiled to, also by copies of it; nil if it was not made by [ToolCall].
	kept *atomic.Pointer[compiled]
}

// compiled is what an action was compiled to. Read-only.
type compiled struct {
	of *Action
	to *machine.Compiled
}

// ToolCall returns the action of calling a tool, with the default policies.
func ToolCall(name string) *Action {
	return &Action{Tool: name, Policy: policy.Correction(), Transport: policy.Transport(),
		kept: new(atomic.Pointer[compiled])}
}

// FinalAnswer returns the action of getting a final answer, with the default policies.
func FinalAnswer() *Action { return ToolCall("") }

// machine returns the config of the core for the action, with its own policies and no budgets.
func (a *Action) machine(o *options) machine.Config {
	free := policy.Unlimited
	return machine.Config{
		Seed: a.Seed, Deadline: a.Deadline, Single: true, Action: a.Tool, ActionID: a.ID,
		Planner: o.planner != nil, Limited: o.limiter != nil,
		Limits: feedback.DefaultLimits(),
		Policy: policy.Set{
			Global: a.Policy.Layer(), Transport: a.Transport.TransportLayer(),
			Budgets: policy.Budgets{Tool: free, Run: free, UnknownTools: free}, MaxTurns: policy.DefaultSet().MaxTurns,
			MaxCalls: free,
		},
	}
}

// Machine returns the config of the core for the tries of the action with the options. The error joins
// everything that is wrong with them.
func (a *Action) Machine(opts ...Option) (machine.Config, error) {
	if err := a.missing(); err != nil {
		return machine.Config{}, err
	}
	o, err := collect(opts)
	m := a.machine(o)
	_, refused := machine.Compile(&m)
	return m, errors.Join(err, refused)
}

// missing reports an action that was not made by [ToolCall] or [FinalAnswer].
func (a *Action) missing() error {
	if a == nil {
		return errNoAction
	}
	if a.Policy.MaxAttempts == 0 && a.Transport.MaxAttempts == 0 {
		return errNoPolicies
	}
	return nil
}

// compile returns the compiled config of the core for the action. It keeps the last one, because compiling
// the policies takes longer than a failed try.
func (a *Action) compile(o *options) (*machine.Compiled, error) {
	if err := a.missing(); err != nil {
		return nil, err
	}
	if a.kept != nil {
		if last := a.kept.Load(); last != nil && last.fits(a, o) {
			return last.to, nil
		}
	}
	m := a.machine(o)
	to, err := machine.Compile(&m)
	if err == nil && a.kept != nil {
		a.kept.Store(&compiled{a, to})
	}
	return to, err
}

// fits reports whether it is what a compiles to with the options. The policies of a do not change.
func (c *compiled) fits(a *Action, o *options) bool {
	m := c.to.Config()
	return c.of == a && m.Action == a.Tool && m.ActionID == a.ID && m.Seed == a.Seed &&
		m.Deadline == a.Deadline && m.Planner == (o.planner != nil) && m.Limited == (o.limiter != nil)
}

var (
	errNoAction   = errors.New("loop: the action is nil: make one with ToolCall or FinalAnswer")
	errNoPolicies = errors.New("loop: the action has no policies: make one with ToolCall or FinalAnswer")
	errNoTry      = errors.New("loop: the function that makes a try is nil")
)

// Attempt is one try of an action. [Do] gives it to the function that makes the try. In a loop over
// [Attempts] it is over when [Attempt.End] was called.
type Attempt struct {
	// Number is the number of the attempt, from 1. Max may be [policy.Unlimited].
	Number, Max int
	// Settings are the policy's settings for the attempt ([policy.RetryPolicy].PerAttempt). The caller
	// applies them to its model.
	Settings policy.Settings
	// Transport is the attempt of this try on the transport plane, from 1. Tries again after a failed request
	// do not increase Number.
	Transport int

	// InDoubt reports that this try began before and its outcome is unknown: the process died, or the run was
	// left ([ErrSuspended]). It may have had its effect.
	InDoubt bool

	// Timeout is the transport policy's ModelTimeout; 0 means none. [Do] holds the try to it; in a loop
	// over [Attempts] the caller has to.
	Timeout time.Duration

	// Usage is what the try consumed, and Value the result of a successful one as JSON, to be recorded if
	// [Attempt.Keeps]. A loop over [Attempts] sets them before it calls [Attempt.End]; in [Do] they have no
	// effect. Within a tool, leave out of Usage what runs made with the tool's context consumed: they add it
	// to the call by themselves.
	Usage message.Usage
	Value json.RawMessage

	// in is the run of the action that ends the attempt, and nth the number there; nil in [Do].
	in  *tries
	nth int
	// told is the feedback on the previous try, or nil. later makes it when it is asked for; nil if told has
	// it.
	told  *feedback.RetryFeedback
	later *deferred
}

// Feedback returns what was wrong with the previous try. It is zero for the first try, and if the policy
// emits no feedback. Its slices are shared and read-only.
func (a Attempt) Feedback() feedback.RetryFeedback {
	if a.later != nil {
		a.told = a.later.feedback(a.Number)
	}
	if a.told == nil {
		return feedback.RetryFeedback{}
	}
	return *a.told
}

// Do makes an action under its policy. It calls try until it succeeds or the policy allows no further
// attempt. A [fault.ToolValidationError], a [fault.StructuredOutputError] and a [fault.ClassError] with a
// class of your own are failed attempts of the correction plane. A [fault.ReducerError], such as that of an
// event that the try dispatched, ends the action as in [Loop.Run], unless the policy retries its class. An
// error whose type is that of a transport failure is retried under the transport policy and costs no attempt:
// see [fault.TryRules] and [WithClassifier]. What a run, an action or a tool within the try gave up on has
// had its attempts: the try is not made again for it. Words of an error count only if the policy says so
// ([policy.RetryPolicy].ClassifyWords), and never for an action made for a tool. An action that ends without
// success returns a [RetryExhaustedError].
//
// With a session, attempts and feedback are recorded in it, and the usage of runs and actions that the try
// makes with its context is that of the attempt ([tool.AddUsage]). If s is nil, the action has its own
// session. It is made when something needs it, so that a try that succeeds at once allocates nothing. Unless
// there is a planner, an observer or a time limit, no usage is added to it, and an invalid action
// ([Action.Machine]) or an ended context is an error only when the first try has failed. A nil action or
// function is one before.
//
// try runs on the caller's goroutine. If the transport policy sets a timeout, each try has its own goroutine,
// and Do does not wait for a try that ignores its context: such a try must not share variables with later
// ones.
//
// An action with an [Action].ID that has ended in the journal is not made again. If it succeeded, its
// recorded value is returned; it is an error if the value does not fit T. If it failed, its
// [RetryExhaustedError] is returned again, with a [fault.RecordedError] or a typed error as its cause. s does
// not change then. It is an error if the journal has the ID for another tool. If a try succeeds but its value
// has no JSON form, the value is returned with an error and is not recorded.
//
// Do uses the options [WithClock], [WithObserver], [WithClassifier], [WithPlanner], [WithAdjust] and
// [WithLimiter]. The planner is asked at exhaustion: a fallback begins the attempts anew.
func Do[T any](
	ctx context.Context, s *session.Session, a *Action, try func(context.Context, Attempt) (T, error),
	opts ...Option,
) (T, error) {
	var none T
	if a == nil {
		return none, errNoAction
	}
	if try == nil {
		return none, errNoTry
	}
	if ctx == nil {
		return none, errNoContext
	}
	o, err := collect(opts)
	if err != nil {
		return none, err
	}
	if s != nil || !a.plain(o) {
		return made(ctx, o, s, a, try, nil, nil)
	}
	value, err := try(ctx, Attempt{
		Number: 1, Transport: 1, Max: a.Policy.MaxAttempts, Settings: a.Policy.SettingsOf(1),
	})
	if err != nil {
		return again(ctx, o, a, try, err)
	}
	return value, nil
}

// again makes the tries of an action without a session after the first, which failed with err.
func again[T any](
	ctx context.Context, o *options, a *Action, try func(context.Context, Attempt) (T, error), err error,
) (T, error) {
	d := a.deferred(ctx, o)
	for d.again(err) {
		var value T
		if value, err = try(ctx, d.attempt()); err == nil {
			return value, nil
		}
	}
	return made(ctx, o, nil, a, try, err, d)
}

// plain reports whether nothing but the caller takes part in the first try of the action.
func (a *Action) plain(o *options) bool {
	return a.Transport.ModelTimeout <= 0 && a.Deadline.IsZero() &&
		o.planner == nil && len(o.observers) == 0 && o.limiter == nil
}

// within makes a try within its time limit.
func within[T any](
	ctx context.Context, clock *alarms, at Attempt, try func(context.Context, Attempt) (T, error),
) (T, error) {
	if at.Timeout <= 0 {
		return try(ctx, at)
	}
	return timed(ctx, clock, at, try)
}

// timed makes a try that has a time limit. Its closure is apart from within, which allocates nothing.
func timed[T any](
	ctx context.Context, clock *alarms, at Attempt, try func(context.Context, Attempt) (T, error),
) (T, error) {
	lim := engine.Limits{Whole: at.Timeout, Late: "the try did not return"}
	return called(ctx, lim, clock, func(ctx context.Context, _ engine.Tell) (T, error) { return try(ctx, at) })
}

// called is [engine.Call]; a call that ends its goroutine ends that of the caller.
func called[T any](
	ctx context.Context, lim engine.Limits, clock *alarms, call func(context.Context, engine.Tell) (T, error),
) (T, error) {
	value, err := engine.Call(ctx, lim, clock.set, call)
	if err == tool.ErrExited {
		runtime.Goexit()
	}
	return value, err
}

// made makes an action in a session. failed is the error of its last try, if tries were made before, else
// nil, and before has those that failed before it; may be nil.
func made[T any](
	ctx context.Context, o *options, s *session.Session, a *Action,
	try func(context.Context, Attempt) (T, error), failed error, before *deferred,
) (value T, err error) {
	var none T
	metered := s != nil || failed == nil
	run := &ActionRun{ctx: ctx, s: s, a: a, o: o, before: before}
	var lost error
	for at := range run.All() {
		if failed != nil {
			at.end(failed)
			failed = nil
			continue
		}
		ctx, spent := at.in.trying, func() (none message.Usage) { return none }
		if metered {
			ctx, spent = tool.Metered(ctx)
		}
		own := *at
		own.in = nil
		value, err = counted(at, spent, func() (T, error) { return within(ctx, &at.in.alarms, own, try) })
		if err == nil && at.Keeps() {
			if at.Value, lost = canon.Marshal(value); lost != nil && !at.in.keeps() {
				lost = nil // reducers get the try without its value
			} else if lost != nil {
				lost = fmt.Errorf("loop: action %q succeeded, but its value cannot be recorded: it has no JSON form: %w",
					a.ID, lost)
			}
		}
		at.end(err)
	}
	switch {
	case failed != nil && !run.began:
		return none, fmt.Errorf("%w; its first try failed: %w", run.Err(), failed)
	case run.Err() != nil:
		return none, run.Err()
	case run.ended != nil:
		return endOf[T](run.ended)
	}
	return value, lost
}

// counted makes a try and takes what it consumed. If the try panics, its attempt never ends: what it consumed
// is that of the cancelled action, or, if the action is left to be resumed, of the run around it alone.
func counted[T any](at *Attempt, spent func() message.Usage, try func() (T, error)) (value T, err error) {
	panicked := true
	defer func() {
		if at.Usage = spent(); !panicked {
			return
		}
		if at.in.owed.add(at.Usage); at.in.journal != nil {
			_ = tool.AddUsage(at.in.life, at.Usage)
		}
	}()
	value, err = try()
	panicked = false
	return value, err
}

// endOf returns the recorded value of an action that succeeded.
func endOf[T any](end *journal.Ended) (value T, err error) {
	if end.ID == "" {
		return value, errors.New("loop: the action succeeded before its process died, and its value was not " +
			"recorded: give the action an ID")
	}
	if len(end.Outcome.Value) == 0 {
		return value, fmt.Errorf("loop: action %q succeeded, but its journal has no value: use its ID only with Do",
			end.ID)
	}
	if err := canon.UnmarshalKnown(end.Outcome.Value, &value); err != nil {
		var none T
		return none, fmt.Errorf("loop: action %q succeeded, but its recorded value does not fit %T: %w",
			end.ID, none, err)
	}
	return value, nil
}
