package policy

import (
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// Unlimited stands where a bound is given up on purpose: an untyped constant that fits counts and durations
// alike. In files and JSON it is spelled "unlimited".
const Unlimited = fields.Unlimited

// RetryAfter says how a wait that the server asked for meets the wait of the backoff strategy. The zero value
// is invalid in a policy and means "not said" in a layer.
type RetryAfter string

// The rules for a server's retry-after.
const (
	// Floor waits at least as long as the server asks, and by jitter longer: see [RetryPolicy]'s
	// RetryAfterJitter. A longer backoff stands.
	Floor RetryAfter = "floor"
	// First waits exactly as long as the server asks, whatever the backoff says.
	First RetryAfter = "first"
)

// Repairs says what becomes of JSON that had to be repaired to be read. The zero value is invalid in a policy
// and means "not said" in a layer.
type Repairs string

// What becomes of repaired JSON.
const (
	// Accept takes it as if it had been right.
	Accept Repairs = "accept"
	// Note takes it and keeps what was repaired with the call or answer, in its event. The model is not told.
	Note Repairs = "note"
	// Refuse makes it a failed attempt.
	Refuse Repairs = "refuse"
)

// ReducerAction says what follows when a session's reducer fails. The zero value is invalid in a policy and
// means "not said" in a layer.
type ReducerAction string

// What follows a failing reducer.
const (
	// EndAction ends the action without charging an attempt; the next prompt shows the reducer's feedback.
	EndAction ReducerAction = "end_action"
	// StopRun ends the whole run.
	StopRun ReducerAction = "stop"
)

// RetryPolicy says how one action's failures are answered: a resolved, complete value. Make one with
// [Correction], [Preset] or [Resolve]: the zero value is invalid. Its slices and map are read-only once it is
// in use.
//
// Its JSON has the names below in that order, durations as Go duration strings, and "unlimited" and "off"
// spelled out. A field that is absent from JSON has the value of [Correction]; an unknown one is refused.
type RetryPolicy struct {
	// MaxAttempts (max_attempts) bounds the attempts of an action and counts the first: at least 1, or
	// [Unlimited].
	MaxAttempts int
	// Backoff (backoff) is the wait before each retry.
	Backoff backoff.BackoffStrategy
	// RetryableErrors (retryable_errors) are the classes that are retried: those of fault and your own, at
	// most 1000. Empty means none. The names that a vocabulary has for a class (RATE_LIMITED) are refused,
	// and so are misspellings of the classes of fault; [Set.OwnClasses] has your own.
	RetryableErrors []fault.Class
	// EmitFeedback (emit_feedback) says whether the model is told what was wrong.
	EmitFeedback bool
	// Bases (bases) replaces, for failures of a class, the delay of a constant strategy or the base of a
	// linear or exponential one. At least 0. A list has no base.
	Bases map[fault.Class]time.Duration
	// RetryAfter (retry_after) says how a wait that the server asked for meets Backoff.
	RetryAfter RetryAfter
	// RetryAfterJitter (retry_after_jitter) is how much jitter adds at most to a wait that the server asked
	// for, as a part of that wait: 0 to 1, 0.5 by default. It needs a [backoff.Key], and plays no part where
	// Backoff has [backoff.NoJitter].
	RetryAfterJitter backoff.Decimal
	// MaxRetryAfter (max_retry_after) is the longest wait a server may ask for: a longer one is not
	// shortened, it stops the action. What jitter adds to the server's word does not count. 0 refuses every
	// such wait; [Unlimited] none.
	MaxRetryAfter time.Duration
	// MaxTotalDelay (max_total_delay) bounds the sum of all waits of an action. 0 allows immediate retries
	// only; [Unlimited] does not bound it.
	MaxTotalDelay time.Duration
	// Timeout (timeout) bounds one attempt of the transport plane, by the driver's clock: one call of a
	// model, one run of a tool, one try of an action. What takes longer has failed with [fault.Timeout]. More
	// than 0, or [Unlimited], the default. Layers of the correction plane must not set it.
	Timeout time.Duration
	// FirstTokenTimeout (first_token_timeout) bounds how long the first piece of a model's reply takes,
	// IdleTimeout (idle_timeout) how long each further one does: a reply that is slower has failed with
	// [fault.Timeout]. A model that has either is asked for a stream. Bounds and layers are those of Timeout;
	// tools have neither.
	FirstTokenTimeout, IdleTimeout time.Duration
	// NoProgress (no_progress) stops an action when the same failure came this many times more in a row; 0 is
	// off.
	NoProgress int
	// OptOut (opt_out) allows no retries at all, whatever the other fields say: for runs under a strict time
	// budget.
	OptOut bool
	// TextRepairs (text_repairs) is for JSON found in a reply's text.
	TextRepairs Repairs
	// NativeRepairs (native_repairs) is for the arguments of native tool calls.
	NativeRepairs Repairs
	// FormsOff (forms_off) are the ways of wrapping a call or value in text that are not read.
	FormsOff []extract.Form
	// OnReducerError (on_reducer_error) is for session reducers that fail. It plays no part where
	// RetryableErrors has their class, [fault.Reducer]: the model is then asked again as after any other
	// failure.
	OnReducerError ReducerAction
	// Attempts (attempts) are the settings of each attempt, the first one's first; the last hold for all
	// further attempts. Empty, the default, means that every attempt is made with the model as it is set up.
	// Of several actions that are corrected at once those of the one with the most attempts count, and of
	// equal ones the first by name. A model that a planner has switched to wins over the model named here. At
	// most 100.
	Attempts []Settings
}

// Correction is the default policy of the correction plane: 3 attempts, no wait, feedback on; bad arguments,
// bad structured output, unknown tools and empty replies are retried. Replies that were cut off or refused
// are not, nor what reducers refuse: to retry those too, list them beside these, as in
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
		RetryAfter:       Floor,
		RetryAfterJitter: backoff.One / 2,
		MaxRetryAfter:    5 * time.Minute,
		MaxTotalDelay:    Unlimited,
		Timeout:          Unlimited,

		FirstTokenTimeout: Unlimited,
		IdleTimeout:       Unlimited,
		TextRepairs:       Note,
		NativeRepairs:     Refuse,
		FormsOff:          []extract.Form{},
		OnReducerError:    EndAction,
		Attempts:          []Settings{},
	}
}

// Clone is the policy with slices and a map of its own.
func (p RetryPolicy) Clone() RetryPolicy {
	l := p.Layer()
	layerTable().Over(&p, &l)
	return p
}

// Layer is the policy as a layer with every field set. It shares nothing with p.
func (p RetryPolicy) Layer() Layer {
	var l Layer
	for n := range layerTable().Rows {
		layerTable().Copy(&l, &p, n)
	}
	return l
}

// TransportLayer is [RetryPolicy.Layer] without what means nothing for the transport plane.
func (p RetryPolicy) TransportLayer() Layer {
	var l Layer
	for n, row := range layerTable().Rows {
		if !row.CorrectionOnly {
			layerTable().Copy(&l, &p, n)
		}
	}
	l.EmitFeedback = nil
	return l
}

// Retries reports whether failures of class c are retried at all under p.
func (p RetryPolicy) Retries(c fault.Class) bool { return slices.Contains(p.RetryableErrors, c) }

// MarshalJSON writes every field.
func (p RetryPolicy) MarshalJSON() ([]byte, error) { return p.Layer().MarshalJSON() }

// UnmarshalJSON replaces p: what the JSON does not name has the value of [Correction]. It is as strict as
// that of [Layer]. It checks types and no values: see [RetryPolicy.Validate].
func (p *RetryPolicy) UnmarshalJSON(data []byte) error {
	var l Layer
	if err := l.UnmarshalJSON(data); err != nil {
		return err
	}
	*p = Correction()
	layerTable().Over(p, &l)
	return nil
}
