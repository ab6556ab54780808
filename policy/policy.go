package policy

import (
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// Unlimited means "no limit". It is an untyped constant that fits counts and durations. In files and JSON it
// is written "unlimited".
const Unlimited = -1

// RetryAfter is how a server's retry-after combines with the wait of the backoff strategy. The zero value is
// invalid in a policy and means "absent" in a layer.
type RetryAfter string

// The rules for a server's retry-after.
const (
	// RetryAfterFloor waits at least as long as the server asks; jitter may add to that wait (see
	// [RetryPolicy.RetryAfterJitter]). A backoff that is longer whatever its jitter stays as it is.
	RetryAfterFloor RetryAfter = "floor"
	// RetryAfterFirst waits exactly as long as the server asks, whatever the backoff.
	RetryAfterFirst RetryAfter = "first"
)

// Repairs is what to do with JSON that could only be read after a repair. The zero value is invalid in a
// policy and means "absent" in a layer.
type Repairs string

// The ways to treat repaired JSON.
const (
	// RepairsAccept uses it like correct JSON.
	RepairsAccept Repairs = "accept"
	// RepairsNote uses it and records the repairs: in the event of the call or answer, and in the attempt,
	// which the result has. The model is not told.
	RepairsNote Repairs = "note"
	// RepairsRefuse counts it as a failed attempt.
	RepairsRefuse Repairs = "refuse"
)

// ReducerAction is what happens when a session's reducer fails. The zero value is invalid in a policy and
// means "absent" in a layer.
type ReducerAction string

// The ways to go on after a reducer failed.
const (
	// ReducerEndsAction ends the action without charging an attempt. The next prompt shows the reducer's
	// feedback.
	ReducerEndsAction ReducerAction = "end_action"
	// ReducerStopsRun ends the whole run.
	ReducerStopsRun ReducerAction = "stop"
)

// RetryPolicy decides how the failures of one action are answered. All fields are set. Make one with
// [Correction], [Preset] or [Set.Policy]; the zero value is invalid. Do not write to its slices or map once
// it is in use. No count is above 2,147,483,647.
//
// Its JSON has the names in brackets below, in that order. Durations are Go duration strings; "unlimited" and
// "off" are written as words. A field that is absent from the JSON has the value of [Correction]; an unknown
// field is refused.
type RetryPolicy struct {
	// MaxAttempts (max_attempts) is the most attempts of an action, including the first: at least 1, or
	// [Unlimited].
	MaxAttempts int `policy:"max_attempts,unlimited,least=1"`
	// Backoff (backoff) is the wait before each retry.
	Backoff backoff.BackoffStrategy `policy:"backoff"`
	// RetryableErrors (retryable_errors) are the classes that are retried: classes of package fault and your
	// own, at most 1000. Empty means none. Names from other vocabularies (RATE_LIMITED) are refused, and so
	// are misspelled classes of package fault. [Set.OwnClasses] returns your own.
	RetryableErrors []fault.Class `policy:"retryable_errors,each=class"`
	// EmitFeedback (emit_feedback) controls whether the model is told what was wrong.
	EmitFeedback bool `policy:"emit_feedback"`
	// Bases (bases) sets the delay of a constant strategy, or the base of a linear or exponential one, for
	// failures of one class. At least 0. Not allowed with a list, which has no base.
	Bases map[fault.Class]time.Duration `policy:"bases,each=class"`
	// RetryAfter (retry_after) is how a server's retry-after combines with Backoff.
	RetryAfter RetryAfter `policy:"retry_after,words=floor|first"`
	// RetryAfterJitter (retry_after_jitter) is the largest part of a server's retry-after that jitter adds to
	// it: 0 to 1, 0.5 by default. It needs a [backoff.Key] and has no effect if Backoff has
	// [backoff.NoJitter].
	RetryAfterJitter backoff.Decimal `policy:"retry_after_jitter"`
	// MaxRetryAfter (max_retry_after) is the longest wait a server may ask for. A longer one is not
	// shortened: the action stops. Jitter on top of the server's wait does not count. 0 refuses every such
	// wait; [Unlimited] accepts all.
	MaxRetryAfter time.Duration `policy:"max_retry_after,unlimited"`
	// MaxTotalDelay (max_total_delay) is the longest sum of all waits of an action. 0 allows only immediate
	// retries; [Unlimited] means no limit.
	MaxTotalDelay time.Duration `policy:"max_total_delay,unlimited"`
	// ModelTimeout (model_timeout) bounds one model call, and one try of Do or Attempts. ToolTimeout
	// (tool_timeout) bounds one run of a tool. Both are measured by the driver's clock. What takes longer
	// fails with [fault.Timeout]. More than 0, or [Unlimited], the default. Layers of the correction plane
	// must set neither, and a tool's transport layer must not set ModelTimeout.
	ModelTimeout time.Duration `policy:"model_timeout,unlimited,positive"`
	ToolTimeout  time.Duration `policy:"tool_timeout,unlimited,positive"`
	// FirstTokenTimeout (first_token_timeout) bounds the time until the first piece of a model's reply,
	// IdleTimeout (idle_timeout) the time between two pieces. A slower reply fails with [fault.Timeout]. If
	// either is set, the model is asked for a stream. Limits and layers are those of ModelTimeout.
	FirstTokenTimeout time.Duration `policy:"first_token_timeout,unlimited,positive"`
	IdleTimeout       time.Duration `policy:"idle_timeout,unlimited,positive"`
	// NoProgress (no_progress) stops an action after the same failure was repeated this many times in a row;
	// 0 turns the check off.
	NoProgress int `policy:"no_progress,off,correction"`
	// Progress (progress) is what follows if valid calls are repeated and their results stay the same.
	Progress Progress `policy:"progress,correction,calls"`
	// Identity (identity) are the arguments by which calls of a tool count as the same for Progress, at most
	// 1000 names of top-level members; empty, the default, means all. A call with none of them counts by all
	// its arguments.
	Identity []string `policy:"identity,each=argument,correction,calls"`
	// Polling (polling) declares that calls of a tool look whether something has happened, and how long to
	// wait between two equal calls. They never count as repeated. A call that comes earlier waits, without a
	// charge. 0, the default, declares nothing.
	Polling time.Duration `policy:"polling,correction,calls"`
	// MaxSuccesses (max_successes) is the most successful calls of a tool in a run, and MaxSessionSuccesses
	// (max_session_successes) in a session, counted while it is bounded: at least 1, or [Unlimited], the
	// default. A further call is refused as a failed attempt. A call that may have had its effect counts.
	MaxSuccesses        int `policy:"max_successes,unlimited,least=1,correction,calls"`
	MaxSessionSuccesses int `policy:"max_session_successes,unlimited,least=1,correction,calls"`
	// EqualCalls (equal_calls) says what happens to a call that equals an earlier one of the run with a
	// result. EqualInReply (equal_in_reply) is the same for two calls of one reply, where EqualCalls is
	// [EqualRun].
	EqualCalls   Equal `policy:"equal_calls,words=run|recorded|refuse,correction,calls"`
	EqualInReply Equal `policy:"equal_in_reply,words=declared|run|recorded|refuse,correction,calls"`
	// Approval (approval) says which calls of a tool wait until a person approves them.
	Approval Approval `policy:"approval,correction,calls"`
	// OptOut (opt_out) allows no retries at all, whatever the other fields say. Use it for runs with a strict
	// time budget.
	OptOut bool `policy:"opt_out"`
	// ClassifyWords (classify_words) classifies an error that a try of an action returns by its words, such
	// as "connection reset", if its type says nothing. Off by default: an error may have such words although
	// the try had its effect. It has no effect on actions made for a tool, and on model calls and tools of a
	// run. Layers of the correction plane must not set it.
	ClassifyWords bool `policy:"classify_words"`
	// TextRepairs (text_repairs) applies to JSON found in a reply's text.
	TextRepairs Repairs `policy:"text_repairs,words=accept|note|refuse,correction"`
	// NativeRepairs (native_repairs) applies to the arguments of native tool calls.
	NativeRepairs Repairs `policy:"native_repairs,words=accept|note|refuse,correction"`
	// FormsOff (forms_off) are the text forms of a call or value that are not read.
	FormsOff []extract.Form `policy:"forms_off,each=form,correction"`
	// OnReducerError (on_reducer_error) applies when a session's reducer fails. It has no effect if
	// RetryableErrors has the class [fault.Reducer]: then the model is asked again as after any other
	// failure.
	OnReducerError ReducerAction `policy:"on_reducer_error,words=end_action|stop,correction"`
	// PerAttempt (attempts) are the settings of each attempt, starting with the first. The last entry also
	// applies to all later attempts. Empty, the default, means that the model is used as configured. At most
	// 100.
	//
	// If several actions are corrected at once, the settings of the action with the most attempts apply;
	// among equals, the one that began first. A model chosen by a planner wins over the model named here.
	PerAttempt []Settings `policy:"attempts,correction"`
}

// Correction returns the default policy of the correction plane: 3 attempts, no wait, feedback on. It retries
// bad arguments, bad structured output, unknown tools and empty replies. It does not retry truncated replies,
// refusals and reducer errors; to retry those too, add them to the list, as in
// append(policy.Correction().RetryableErrors, fault.Truncated).
func Correction() RetryPolicy {
	return RetryPolicy{
		MaxAttempts: 3,
		Backoff:     backoff.Constant(0),
		RetryableErrors: []fault.Class{
			fault.ToolValidation, fault.StructuredOutput, fault.UnknownTool, fault.NoOutput,
		},
		EmitFeedback:     true,
		Bases:            map[fault.Class]time.Duration{},
		RetryAfter:       RetryAfterFloor,
		RetryAfterJitter: backoff.One / 2,
		MaxRetryAfter:    5 * time.Minute,
		MaxTotalDelay:    Unlimited,
		ModelTimeout:     Unlimited,
		ToolTimeout:      Unlimited,

		FirstTokenTimeout: Unlimited,
		IdleTimeout:       Unlimited,
		Identity:          []string{},

		MaxSuccesses:        Unlimited,
		MaxSessionSuccesses: Unlimited,
		EqualCalls:          EqualRun,
		EqualInReply:        EqualDeclared,

		TextRepairs:    RepairsNote,
		NativeRepairs:  RepairsRefuse,
		FormsOff:       []extract.Form{},
		OnReducerError: ReducerEndsAction,
		PerAttempt:     []Settings{},
	}
}

// Clone returns a deep copy of the policy.
func (p RetryPolicy) Clone() RetryPolicy { return fields.Clone(p) }

// Layer returns the policy as a layer with every field set. It shares no memory with p.
func (p RetryPolicy) Layer() Layer {
	var l Layer
	fields.Copy(&l, &p)
	return l
}

// TransportLayer returns [RetryPolicy.Layer] without the fields that only the correction plane has.
func (p RetryPolicy) TransportLayer() Layer {
	l := p.Layer()
	for n, f := range layerFields {
		if f.CorrectionOnly {
			fields.Unset(&l, n)
		}
	}
	l.EmitFeedback = nil
	return l
}

// Retries reports whether p retries failures of class c.
func (p RetryPolicy) Retries(c fault.Class) bool { return slices.Contains(p.RetryableErrors, c) }

// MarshalJSON writes every field.
func (p RetryPolicy) MarshalJSON() ([]byte, error) { return p.Layer().MarshalJSON() }

// UnmarshalJSON replaces p. Fields that are absent from the JSON have the value of [Correction]. It is as
// strict as [Layer.UnmarshalJSON].
func (p *RetryPolicy) UnmarshalJSON(data []byte) error {
	var l Layer
	if err := l.UnmarshalJSON(data); err != nil {
		return err
	}
	*p = Correction()
	fields.Over(p, &l)
	return nil
}
