package loop

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Action is one line of tries under a policy, for [Do] and [Attempts]. Make one with [ToolCall] or
// [FinalAnswer], change its fields before its first use, and share it as you like: it is not changed.
type Action struct {
	// Tool is the tool that the tries are for; empty for a final answer.
	Tool string
	// Policy is for tries whose outcome cannot be used, Transport for tries that did not come through.
	Policy, Transport policy.RetryPolicy
	// Seed is what jitter is drawn from. Empty means the session's id; without a session [Do] draws one where
	// a wait needs it, and says which ([observe.Notice].Seed, [RetryExhaustedError].Seed): with it the waits
	// are the same again.
	Seed string
	// Deadline is the time no wait may outlast; zero means that of the context, if it has one.
	Deadline time.Time
	// ID names the action in its session's journal: once it has ended there, however it did, it is not made
	// again, and its recorded end is given. Empty means that each is a new action; without a journal an ID
	// does nothing. At most [machine.MaxActionID] bytes of printable text; it stands in journals and errors
	// as it is, so it must be no secret.
	ID string
}

// ToolCall is the action of calling a tool, under the default policies.
func ToolCall(name string) *Action {
	return &Action{Tool: name, Policy: policy.Correction(), Transport: policy.EffectiveTransport(&policy.Set{}).Clone()}
}

// FinalAnswer is the action of getting a final answer, under the default policies.
func FinalAnswer() *Action { return ToolCall("") }

// machine is the config of the core for the action: it is held to its own policies alone, and to no budget of
// a run.
func (a *Action) machine() machine.Config {
	free := policy.Unlimited
	return machine.Config{
		Seed: a.Seed, Deadline: a.Deadline, Single: true, Action: a.Tool, ActionID: a.ID, Limits: feedback.DefaultLimits(),
		Policy: policy.Set{
			Global: a.Policy.Layer(), Transport: a.Transport.TransportLayer(),
			Budgets: policy.Budgets{Tool: free, Run: free, UnknownTools: free}, MaxTurns: free, MaxCalls: free,
		},
	}
}

// Machine is the config of the core for the tries of the action. The error joins all that is wrong with it.
func (a *Action) Machine() (machine.Config, error) {
	if a == nil {
		return machine.Config{}, errNoAction
	}
	m := a.machine()
	_, err := machine.Compile(&m)
	return m, err
}

// compile is the config of the core for the action, made ready.
func (a *Action) compile() (*machine.Compiled, error) {
	if a == nil {
		return nil, errNoAction
	}
	m := a.machine()
	return machine.Compile(&m)
}

var (
	errNoAction = errors.New("loop: the action is nil: make one with ToolCall or FinalAnswer")
	errNoTry    = errors.New("loop: the function that makes a try is nil: give one")
)

// Attempt is one try as the function that makes it sees it.
type Attempt struct {
	// Number counts from 1 and counts the first; Max is [policy.Unlimited] where nothing bounds it.
	Number, Max int
	// Settings are those that the action's policy has for the attempt ([policy.RetryPolicy].Attempts): they
	// are for the caller to ask its model by.
	Settings policy.Settings
	// Transport is the attempt of this try on the transport plane, from 1: what did not come through is tried
	// again at no cost of Number.
	Transport int

	// InDoubt is set where this very try began before, and nobody knows what came of it: the process died, or
	// the run was left ([ErrSuspended]). What it does may have been done.
	InDoubt bool

	// Timeout bounds the try, by the transport policy; 0 where that does not. [Do] ends the context of the
	// try by it; in a loop over [Tries] that is the caller's.
	Timeout time.Duration

	// recorded is the feedback on the try before, as the session has it; nil without one.
	recorded *feedback.RetryFeedback
	// Without a session: the action, what its jitter is drawn from (empty where no wait has needed it), and
	// the errors of the two tries before.
	of           *Action
	seed         string
	last, before error
}

// Feedback is what was wrong with the try before; zero on the first, and where the policy emits none. In a
// session its slices are those of the record: read-only. Without one the clock is not read for it, and the
// time of its schedule is zero.
func (a Attempt) Feedback() feedback.RetryFeedback {
	switch {
	case a.recorded != nil:
		return *a.recorded
	case a.last == nil || !a.of.Policy.EmitFeedback:
		return feedback.RetryFeedback{}
	case a.before == nil:
		return a.feedback(a.Number-1, a.last, nil)
	}
	prev := a.feedback(a.Number-2, a.before, nil)
	return a.feedback(a.Number-1, a.last, &prev)
}

func (a Attempt) feedback(number int, err error, prev *feedback.RetryFeedback) feedback.RetryFeedback {
	f := fault.FailureOf(err)
	in := feedback.Input{
		Source: feedback.Tool, Tool: a.of.Tool, Attempt: number, MaxAttempts: a.Max, Class: f.Class, Issues: f.Issues, Prev: prev,
	}
	if a.of.Tool == "" {
		in.Source = feedback.StructuredOutput
	}
	fb := feedback.New(in)
	// Another try followed, or nobody would ask; the wait before it depends on nothing that is not here.
	pos := policy.Position{Attempt: number, Key: a.of.key(a.seed, fault.Correction)}
	fb.Schedule = &feedback.Schedule{Delay: policy.Decide(&a.of.Policy, &pos, &f).Delay}
	return fb
}

// key is the core's jitter key for the first action of a session without an id.
func (a *Action) key(seed string, plane fault.Plane) backoff.Key {
	number := 1
	if plane == fault.Transport {
		number = 0
	}
	return machine.JitterKey(seed, "", 1, number, a.Tool, plane)
}

// Do makes an action under its policy: try is called until it returns no error, or until the policy allows no
// further attempt. Its error decides: a [fault.ToolValidationError], [fault.StructuredOutputError] or
// [fault.ClassError] is a failed attempt of the correction plane; what classifies as a transport fault is
// retried under the transport policy and costs no attempt. An action that ends without success returns a
// [RetryExhaustedError].
//
// With a session, attempts and feedback are recorded in it. s may be nil: then nothing is recorded, no
// history is kept, and a try that succeeds at once allocates nothing; the decisions are the same. With a
// journal ([WithJournal]) there is always a session. An action that cannot be, a function that is nil and a
// context that has ended are errors before the first try; without a session only [Action.Machine] looks at
// what an action holds, and the end of a context is seen when a try fails.
//
// An action with an [Action].ID that has ended in the journal is not made again. Where it succeeded, its
// value is given, which the journal has as JSON; one that does not fit T is an error, and so is, before the
// first try, a T that is a channel or a function. Where it did not, its [RetryExhaustedError] is given again,
// with a [RecordedError] or the typed error in the place of its cause. s stays as it is then. An ID that the
// journal has of another tool is an error. A value that turns out to have no JSON form once its try has
// succeeded is returned beside an error that says so, and not given again.
//
// Of the options [WithClock] and [WithObserver] play a part, and with a session [WithJournal] and
// [WithAdjust]. Without one observers are told of tries that failed, of retries and of exhaustion, and not of
// what went well or was cancelled.
func Do[T any](ctx context.Context, s *session.Session, a *Action, try func(context.Context, Attempt) (T, error), opts ...Option) (T, error) {
	var none T
	if a == nil {
		return none, errNoAction
	}
	if try == nil {
		return none, errNoTry
	}
	o := standard
	if s != nil || len(opts) > 0 {
		var err error
		if s, o, err = recording(s, opts); err != nil {
			return none, err
		}
		if s != nil {
			return doRecorded(ctx, o, s, a, try, opts)
		}
	}
	l := unrecorded{o: o, a: a}
	l.at = Attempt{Number: 1, Transport: 1, Max: a.Policy.MaxAttempts, Settings: a.Policy.SettingsOf(1), of: a, seed: a.Seed}
	if l.at.Timeout = a.Transport.Timeout; l.at.Timeout == policy.Unlimited {
		l.at.Timeout = 0
	}
	for {
		value, err := within(ctx, o, l.at, try)
		if err == nil {
			return value, nil
		}
		if err := l.failed(ctx, err); err != nil {
			return none, err
		}
	}
}

// within makes a try in the time that it has.
func within[T any](ctx context.Context, o *options, at Attempt, try func(context.Context, Attempt) (T, error)) (T, error) {
	if at.Timeout <= 0 {
		return try(ctx, at)
	}
	ctx, late := o.within(ctx, at.Timeout, "the try did not return")
	defer late.stop()
	value, err := try(ctx, at)
	return value, late.instead(ctx, err)
}

// recording is the session that an action is recorded in, nil for none, and what the options come to. With a
// journal there is always a session.
func recording(s *session.Session, opts []Option) (*session.Session, *options, error) {
	o, err := collect(opts)
	if s == nil && err == nil && o.journal != nil {
		s, err = session.New(session.Config{})
	}
	return s, o, err
}

func doRecorded[T any](
	ctx context.Context, o *options, s *session.Session, a *Action, try func(context.Context, Attempt) (T, error), opts []Option,
) (value T, err error) {
	var none T
	if kind := reflect.TypeFor[T]().Kind(); o.journal != nil && a.ID != "" && (kind == reflect.Chan || kind == reflect.Func) {
		return none, fmt.Errorf("loop: action %q has an ID, and its value %T no JSON form, in which it is recorded", a.ID, none)
	}
	tries := Attempts(ctx, s, a, opts...)
	var lost error
	for t := range tries.All() {
		var came Tried
		if value, came.Err = within(ctx, o, t.Attempt, try); came.Err == nil && t.Keeps() {
			if came.Value, lost = canon.Marshal(value); lost != nil && !t.of.keeps() {
				lost = nil // reducers hear of the try without its value
			} else if lost != nil {
				lost = fmt.Errorf("loop: action %q has succeeded, and its value cannot be recorded, for it has no JSON form: %w", a.ID, lost)
			}
		}
		t.EndWith(came)
	}
	switch {
	case tries.Err() != nil:
		return none, tries.Err()
	case tries.ended != nil:
		return endOf[T](tries.ended)
	}
	return value, lost
}

// endOf is the recorded value of an action that has succeeded.
func endOf[T any](end *journal.Ended) (value T, err error) {
	if len(end.Outcome.Value) == 0 {
		return value, fmt.Errorf("loop: action %q has succeeded, and its journal has no value of it: give its ID only where Do made it", end.ID)
	}
	if err := canon.UnmarshalKnown(end.Outcome.Value, &value); err != nil {
		var none T
		return none, fmt.Errorf("loop: action %q has succeeded, and its recorded value does not fit %T: %w", end.ID, none, err)
	}
	return value, nil
}
