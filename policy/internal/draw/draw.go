// Package draw draws arbitrary policies for property tests. Only tests import it.
package draw

import (
	"time"

	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// Classes returns the classes of drawn policies and failures.
func Classes() []fault.Class {
	return append(append(fault.Correction.Classes(), fault.RateLimit, fault.Timeout, fault.Network),
		"of-my_own.1")
}

func duration(max time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(max)).Draw(t, "ns"))
	})
}

// orUnlimited draws from g, or Unlimited.
func orUnlimited[T ~int | ~int64](g *rapid.Generator[T]) *rapid.Generator[T] {
	return rapid.OneOf(g, rapid.Just(T(policy.Unlimited)))
}

// maybe draws a value or nil.
func maybe[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	return rapid.Ptr(g, true).Draw(t, label)
}

// words draws some distinct words, an empty slice, or nil.
func words[S ~string](t *rapid.T, all []S, label string) []S {
	if rapid.Bool().Draw(t, label+"?") {
		return nil
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, 4, rapid.ID[S]).Draw(t, label)
	return append([]S{}, some...)
}

// Strategy draws a valid backoff strategy other than a list.
func Strategy() *rapid.Generator[backoff.BackoffStrategy] {
	return rapid.Custom(func(t *rapid.T) backoff.BackoffStrategy {
		base := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "base"))
		one := int64(backoff.One)
		factor := backoff.Decimal(rapid.Int64Range(one, 10*one).Draw(t, "factor"))
		s := rapid.SampledFrom([]backoff.BackoffStrategy{
			backoff.Constant(base - 1), backoff.Linear(base-1, base), backoff.Exponential(base, factor),
		}).Draw(t, "strategy")
		if rapid.Bool().Draw(t, "capped") {
			s.Cap = base * 3
		}
		s.Jitter.Kind = rapid.SampledFrom([]backoff.JitterKind{
			"", backoff.NoJitter, backoff.Proportional, backoff.Full, backoff.Equal,
		}).Draw(t, "jitter")
		if s.Jitter.Kind == backoff.Proportional {
			s.Jitter.Fraction = backoff.Decimal(rapid.Int64Range(1, int64(backoff.One)).Draw(t, "fraction"))
			s.Jitter.AfterCap = s.Cap > 0 && rapid.Bool().Draw(t, "after cap")
		}
		return s
	})
}

// attempts draws the settings of some attempts, an empty slice, or nil.
func attempts(t *rapid.T) []policy.Settings {
	if rapid.Bool().Draw(t, "attempts?") {
		return nil
	}
	all := make([]policy.Settings, rapid.IntRange(0, 3).Draw(t, "attempts"))
	for n := range all {
		all[n].Temperature = maybe(t, rapid.Float64Range(0, 2), "temperature")
		all[n].Model = rapid.SampledFrom([]string{"", "big", "small"}).Draw(t, "model")
	}
	return all
}

// Layer draws a valid layer of the correction plane.
func Layer() *rapid.Generator[policy.Layer] {
	return rapid.Custom(func(t *rapid.T) policy.Layer {
		repairs := rapid.SampledFrom([]policy.Repairs{"", policy.RepairsAccept, policy.RepairsNote, policy.RepairsRefuse})
		l := Transport().Draw(t, "shared")
		l.EmitFeedback = maybe(t, rapid.Bool(), "emit_feedback")
		l.PerAttempt = attempts(t)
		l.NoProgress = maybe(t, rapid.IntRange(0, 3), "no_progress")
		count := orUnlimited(rapid.IntRange(1, 20))
		l.Progress = maybe(t, rapid.Custom(func(t *rapid.T) policy.Progress {
			return policy.Progress{Nudge: rapid.IntRange(-1, 9).Draw(t, "nudge"), Planner: rapid.IntRange(-1, 9).Draw(t, "planner"),
				Stop: rapid.IntRange(-1, 9).Draw(t, "stop"), Window: rapid.IntRange(0, 64).Draw(t, "window")}
		}), "progress")
		l.Approval = maybe(t, approval(), "approval")
		l.MaxSuccesses, l.MaxSessionSuccesses = maybe(t, count, "max_successes"), maybe(t, count, "max_session_successes")
		l.EqualCalls = rapid.SampledFrom([]policy.Equal{"", policy.EqualRun, policy.EqualRecorded, policy.EqualRefuse}).Draw(t, "equal_calls")
		l.TextRepairs = repairs.Draw(t, "text_repairs")
		l.NativeRepairs = repairs.Draw(t, "native_repairs")
		l.FormsOff = words(t, extract.Forms(), "forms_off")
		l.OnReducerError = rapid.SampledFrom([]policy.ReducerAction{"", policy.ReducerEndsAction, policy.ReducerStopsRun}).
			Draw(t, "on_reducer_error")
		return l
	})
}

// approval draws a valid approval.
func approval() *rapid.Generator[policy.Approval] {
	return rapid.Custom(func(t *rapid.T) policy.Approval {
		a := policy.Approval{
			When: rapid.SampledFrom([]policy.ApprovalRule{"", policy.ApproveDeclared, policy.ApproveNever, policy.ApproveAlways,
				policy.ApproveUndeclared, policy.ApproveFirst, policy.ApproveAbove}).Draw(t, "when"),
			Default: rapid.SampledFrom([]policy.ApprovalDefault{"", policy.DefaultRefuse, policy.DefaultApprove}).Draw(t, "default"),
			InDoubt: rapid.SampledFrom([]policy.DoubtRule{"", policy.DoubtTell, policy.DoubtAsk}).Draw(t, "in_doubt"),
			Exhausted: rapid.SampledFrom([]policy.ExhaustionRule{"", policy.ExhaustedEnds, policy.ExhaustedAsk}).
				Draw(t, "exhausted"),
			Timeout: time.Duration(rapid.IntRange(-1, 9).Draw(t, "timeout")),
		}
		if a.When == policy.ApproveAbove || rapid.Bool().Draw(t, "argument") {
			a.Argument = rapid.SampledFrom([]string{"amount", "/amount/value"}).Draw(t, "of")
			a.Above = new(backoff.Decimal(rapid.Int64Range(0, 1<<40).Draw(t, "above")))
		}
		return a
	})
}

// answer draws a valid layer of the final answer, which has no calls.
func answer() *rapid.Generator[policy.Layer] {
	return rapid.Map(Layer(), func(l policy.Layer) policy.Layer {
		l.Progress, l.MaxSuccesses, l.MaxSessionSuccesses, l.EqualCalls = nil, nil, nil, ""
		l.Approval = nil
		return l
	})
}

// Transport draws a valid layer of the transport plane.
func Transport() *rapid.Generator[policy.Layer] {
	return rapid.Custom(func(t *rapid.T) policy.Layer {
		l := policy.Layer{
			MaxAttempts:     maybe(t, orUnlimited(rapid.IntRange(1, 9)), "max_attempts"),
			Backoff:         maybe(t, Strategy(), "backoff"),
			RetryableErrors: words(t, Classes(), "retryable_errors"),
			RetryAfter: rapid.SampledFrom([]policy.RetryAfter{"", policy.RetryAfterFloor, policy.RetryAfterFirst}).
				Draw(t, "retry_after"),
			RetryAfterJitter: maybe(t, rapid.Custom(func(t *rapid.T) backoff.Decimal {
				return backoff.Decimal(rapid.Int64Range(0, int64(backoff.One)).Draw(t, "part"))
			}), "retry_after_jitter"),
			MaxRetryAfter: maybe(t, orUnlimited(duration(time.Hour)), "max_retry_after"),
			MaxTotalDelay: maybe(t, orUnlimited(duration(time.Hour)), "max_total_delay"),
			OptOut:        maybe(t, rapid.Bool(), "opt_out"),
			ClassifyWords: maybe(t, rapid.Just(false), "classify_words"),
		}
		if rapid.Bool().Draw(t, "bases?") {
			l.Bases = rapid.MapOfN(rapid.SampledFrom(Classes()), duration(time.Minute), 0, 3).Draw(t, "bases")
		}
		return l
	})
}

// Set draws a valid set without adjustments.
func Set() *rapid.Generator[policy.Set] {
	return rapid.Custom(func(t *rapid.T) policy.Set {
		budget := orUnlimited(rapid.IntRange(0, 9))
		s := policy.Set{
			Global:    Layer().Draw(t, "global"),
			Answer:    answer().Draw(t, "answer"),
			Call:      Layer().Draw(t, "call"),
			Transport: Transport().Draw(t, "transport"),
			Budgets: policy.Budgets{
				Tool:         budget.Draw(t, "tool"),
				Run:          budget.Draw(t, "run"),
				UnknownTools: budget.Draw(t, "unknown_tools"),
			},
			MaxTurns:     orUnlimited(rapid.IntRange(1, 500)).Draw(t, "max_turns"),
			MaxCalls:     orUnlimited(rapid.IntRange(1, 500)).Draw(t, "max_calls"),
			AllOrNothing: rapid.Bool().Draw(t, "all_or_nothing"),
		}
		s.Spending = spending(t)
		if prices := rapid.MapOfN(rapid.StringMatching("[a-z]{1,8}"), Price(), 0, 2).Draw(t, "prices"); len(prices) > 0 {
			s.Prices = prices
		}
		if tools := rapid.MapOfN(rapid.StringN(1, 8, 32), Layer(), 0, 3).Draw(t, "tools"); len(tools) > 0 {
			s.Tools = tools
		}
		own := rapid.MapOfN(rapid.StringN(1, 8, 32), Transport(), 0, 2)
		if tools := own.Draw(t, "tool_transport"); len(tools) > 0 {
			s.ToolTransport = tools
		}
		return s
	})
}

// Price draws a valid price.
func Price() *rapid.Generator[policy.Price] {
	return rapid.Custom(func(t *rapid.T) policy.Price {
		n := rapid.Int64Range(0, 20_000_000)
		return policy.Price{Input: n.Draw(t, "input"), Output: n.Draw(t, "output"), CacheRead: maybe(t, n, "cache_read"),
			CacheWrite: maybe(t, n, "cache_write"), Reasoning: maybe(t, n, "reasoning")}
	})
}

// spending draws what bounds the tokens and the money of calls.
func spending(t *rapid.T) policy.Spending {
	n := rapid.Int64Range(0, 100_000)
	allowance := func(label string) policy.Allowance {
		if rapid.Bool().Draw(t, label+"?") {
			return policy.Allowance{}
		}
		return policy.Allowance{
			InputTokens: maybe(t, n, label+" input"), OutputTokens: maybe(t, n, label+" output"),
			CachedTokens: maybe(t, n, label+" cached"), ReasoningTokens: maybe(t, n, label+" reasoning"),
			TotalTokens: maybe(t, n, label+" total"), Cost: maybe(t, n, label+" cost"),
		}
	}
	return policy.Spending{
		Action: allowance("action"), Run: allowance("run"), Session: allowance("session"),
		MaxNextCost: maybe(t, n, "max_next_cost"),
		MaxReply:    maybe(t, rapid.Int64Range(policy.LeastReply, 100_000), "max_reply"),
	}
}

// Key draws a key, often the zero key.
func Key() *rapid.Generator[backoff.Key] {
	return rapid.Custom(func(t *rapid.T) backoff.Key {
		return backoff.NewKey(rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "seed"), "stream")
	})
}
