package policy

import (
	"maps"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
)

// RetryPolicy says how one action's failures are answered (seed 002): a resolved, complete value. Make one with
// [Correction], [Preset] or [Resolve]: the zero value is invalid. Its slices and map are read-only once it is in use.
//
// Its JSON has the names below in that order, durations as Go duration strings, and "unlimited" and "off" spelled out. A
// field that is absent from JSON has the value of [Correction]; an unknown one is refused.
type RetryPolicy struct {
	// MaxAttempts (max_attempts) bounds the attempts of an action and counts the first: at least 1, or [Unlimited].
	MaxAttempts int
	// Backoff (backoff) is the wait before each retry.
	Backoff backoff.BackoffStrategy
	// RetryableErrors (retryable_errors) are the classes that are retried: those of fault and your own. Empty means none, and
	// 1000 are the most. The names that a vocabulary has for a class (RATE_LIMITED) are refused.
	RetryableErrors []fault.Class
	// EmitFeedback (emit_feedback) says whether the model is told what was wrong.
	EmitFeedback bool
	// Bases (bases) replaces, for failures of a class, the delay of a constant strategy or the base of a linear or
	// exponential one (seed 000). At least 0. A list has no base.
	Bases map[fault.Class]time.Duration
	// RetryAfter (retry_after) says how a wait that the server asked for meets Backoff.
	RetryAfter RetryAfter
	// MaxRetryAfter (max_retry_after) is the longest wait a server may ask for: a longer one is not shortened, it stops
	// the action. What jitter adds to the server's word does not count. 0 refuses every such wait; [Unlimited] none.
	MaxRetryAfter time.Duration
	// MaxTotalDelay (max_total_delay) bounds the sum of all waits of an action. 0 allows immediate retries only;
	// [Unlimited] does not bound it.
	MaxTotalDelay time.Duration
	// NoProgress (no_progress) stops an action when the same failure came this many times more in a row; 0 is off.
	NoProgress int
	// OptOut (opt_out) allows no retries at all, whatever the other fields say: for runs under a strict time budget.
	OptOut bool
	// TextRepairs (text_repairs) is for JSON found in a reply's text.
	TextRepairs Repairs
	// NativeRepairs (native_repairs) is for the arguments of native tool calls.
	NativeRepairs Repairs
	// FormsOff (forms_off) are the ways of wrapping a call or value in text that are not read.
	FormsOff []extract.Form
	// OnReducerError (on_reducer_error) is for session reducers that fail. Where RetryableErrors has their class, [fault.Reducer],
	// it plays no part: the model is asked again as of any other.
	OnReducerError ReducerAction
}

// Correction is the default policy of the correction plane (seed 002): 3 attempts, no wait, feedback on; bad arguments,
// bad structured output, unknown tools and empty replies are retried. Replies that were cut off or refused are not, nor what reducers
// refuse: who wants that lists it beside these, as in append(policy.Correction().RetryableErrors, fault.Truncated).
func Correction() RetryPolicy {
	return RetryPolicy{
		MaxAttempts:     3,
		Backoff:         backoff.Constant(0),
		RetryableErrors: []fault.Class{fault.ToolValidation, fault.StructuredOutput, fault.UnknownTool, fault.NoOutput},
		EmitFeedback:    true,
		Bases:           map[fault.Class]time.Duration{},
		RetryAfter:      Floor,
		MaxRetryAfter:   5 * time.Minute,
		MaxTotalDelay:   Unlimited,
		TextRepairs:     Note,
		NativeRepairs:   Refuse,
		FormsOff:        []extract.Form{},
		OnReducerError:  EndAction,
	}
}

// Clone is the policy with slices and a map of its own.
func (p RetryPolicy) Clone() RetryPolicy {
	p.RetryableErrors, p.FormsOff, p.Bases = slices.Clone(p.RetryableErrors), slices.Clone(p.FormsOff), maps.Clone(p.Bases)
	p.Backoff.Delays = slices.Clone(p.Backoff.Delays)
	return p
}

// Layer is the policy as a layer with every field set. It shares nothing with p.
func (p RetryPolicy) Layer() Layer {
	// What a layer points to is kept together.
	own := &struct {
		backoff                      backoff.BackoffStrategy
		maxAttempts, noProgress      int
		maxRetryAfter, maxTotalDelay time.Duration
		emitFeedback, optOut         bool
	}{p.Backoff, p.MaxAttempts, p.NoProgress, p.MaxRetryAfter, p.MaxTotalDelay, p.EmitFeedback, p.OptOut}
	own.backoff.Delays = slices.Clone(p.Backoff.Delays)
	return Layer{
		MaxAttempts:     &own.maxAttempts,
		Backoff:         &own.backoff,
		RetryableErrors: append([]fault.Class{}, p.RetryableErrors...),
		EmitFeedback:    &own.emitFeedback,
		Bases:           cloneBases(p.Bases),
		RetryAfter:      p.RetryAfter,
		MaxRetryAfter:   &own.maxRetryAfter,
		MaxTotalDelay:   &own.maxTotalDelay,
		NoProgress:      &own.noProgress,
		OptOut:          &own.optOut,
		TextRepairs:     p.TextRepairs,
		NativeRepairs:   p.NativeRepairs,
		FormsOff:        append([]extract.Form{}, p.FormsOff...),
		OnReducerError:  p.OnReducerError,
	}
}

// TransportLayer is [RetryPolicy.Layer] without what means nothing for the transport plane.
func (p RetryPolicy) TransportLayer() Layer {
	l := p.Layer()
	l.EmitFeedback, l.NoProgress, l.TextRepairs, l.NativeRepairs, l.FormsOff, l.OnReducerError = nil, nil, "", "", nil, ""
	return l
}

// Retries reports whether failures of class c are retried at all under p.
func (p RetryPolicy) Retries(c fault.Class) bool { return slices.Contains(p.RetryableErrors, c) }

// Equal reports whether two policies say the same. A list that is empty is one that is not there.
func (p *RetryPolicy) Equal(q *RetryPolicy) bool {
	return p.MaxAttempts == q.MaxAttempts && p.EmitFeedback == q.EmitFeedback && p.RetryAfter == q.RetryAfter &&
		p.MaxRetryAfter == q.MaxRetryAfter && p.MaxTotalDelay == q.MaxTotalDelay && p.NoProgress == q.NoProgress &&
		p.OptOut == q.OptOut && p.TextRepairs == q.TextRepairs && p.NativeRepairs == q.NativeRepairs &&
		p.OnReducerError == q.OnReducerError && equalList(p.RetryableErrors, q.RetryableErrors) &&
		equalList(p.FormsOff, q.FormsOff) && maps.Equal(p.Bases, q.Bases) && p.Backoff.Equal(q.Backoff)
}

// cloneBases never returns nil, for in a layer nil means "not said".
func cloneBases(b map[fault.Class]time.Duration) map[fault.Class]time.Duration {
	if b == nil {
		return map[fault.Class]time.Duration{}
	}
	return maps.Clone(b)
}
