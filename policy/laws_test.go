package policy_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/internal/draw"
)

// drawQuestion draws any question, and mostly one that only waits can stop.
func drawQuestion(t *rapid.T) question {
	p := (&policy.Set{Global: draw.Layer().Draw(t, "layer")}).Policy(policy.Target{})
	small := rapid.IntRange(0, 12)
	budget := rapid.IntRange(-1, 9)
	hour := rapid.Int64Range(0, int64(time.Hour))
	q := question{p: p, pos: policy.Position{
		Attempt:    rapid.OneOf(small, rapid.Int()).Draw(t, "attempt"),
		ToolFailed: small.Draw(t, "tool failed"), RunFailed: small.Draw(t, "run failed"),
		UnknownFailed: small.Draw(t, "unknown failed"), Repeats: small.Draw(t, "repeats"),
		Budgets: policy.Budgets{Tool: budget.Draw(t, "t"), Run: budget.Draw(t, "r"), UnknownTools: budget.Draw(t, "u")},
		Now:     noon, Key: draw.Key().Draw(t, "key"), Waited: time.Duration(hour.Draw(t, "waited")),
	}, f: fault.Failure{
		Class:      rapid.SampledFrom(draw.Classes()).Draw(t, "class"),
		RetryAfter: time.Duration(rapid.OneOf(rapid.Just(int64(0)), hour, rapid.Int64()).Draw(t, "retry after")),
	}}
	if rapid.Bool().Draw(t, "deadline?") {
		q.pos.Deadline = noon.Add(time.Duration(rapid.Int64Range(-int64(time.Minute), int64(time.Hour)).Draw(t, "deadline")))
	}
	if rapid.IntRange(0, 3).Draw(t, "hard") == 3 || len(p.RetryableErrors) == 0 {
		return q
	}
	q.p.OptOut, q.f.Class = false, rapid.SampledFrom(p.RetryableErrors).Draw(t, "listed")
	q.p.MaxAttempts = rapid.SampledFrom([]int{policy.Unlimited, 2, 20}).Draw(t, "max attempts")
	q.pos.Attempt, q.pos.Waited = rapid.IntRange(0, 1).Draw(t, "early attempt"), 0
	q.pos.ToolFailed, q.pos.RunFailed, q.pos.UnknownFailed, q.pos.Repeats = 0, 0, 0, 0
	return q
}

func TestLawsOfDecide(t *testing.T) {
	retried := 0
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		d := q.decide()
		require.Equal(t, d, q.decide(), "the same question has the same answer")
		require.NotEmpty(t, d.Reason)
		if !d.Retry {
			require.Zero(t, d.Delay)
			return
		}
		retried++
		require.GreaterOrEqual(t, d.Delay, time.Duration(0))
		require.Equal(t, d.Delay == 0, d.Reason == policy.ReasonImmediate, "zero is immediate, and only zero")
		require.False(t, q.p.OptOut)
		require.True(t, q.p.Retries(q.f.Class))
		if q.p.MaxAttempts != policy.Unlimited {
			require.Less(t, q.pos.Attempt, q.p.MaxAttempts, "attempts never exceed the maximum")
		}
		if !q.pos.Deadline.IsZero() {
			require.True(t, q.pos.Now.Add(d.Delay).Before(q.pos.Deadline), "no wait outlasts the deadline")
		}
		if q.p.MaxTotalDelay != policy.Unlimited && d.Delay > 0 {
			require.LessOrEqual(t, q.pos.Waited+d.Delay, q.p.MaxTotalDelay)
		}
		requireLawfulWait(t, q, d)
	})
	assert.NotZero(t, retried, "the laws of waits were looked at")
}

func requireLawfulWait(t require.TestingT, q question, d policy.Decision) {
	b := q.p.Backoff
	switch {
	case q.f.RetryAfter > 0 && q.p.RetryAfter == policy.RetryAfterFirst:
		require.Equal(t, q.f.RetryAfter, d.Delay)
	case q.f.RetryAfter > 0:
		require.GreaterOrEqual(t, d.Delay, q.f.RetryAfter, "never sooner than the server asks")
	case b.Cap > 0 && !b.Jitter.AfterCap:
		require.LessOrEqual(t, d.Delay, b.Cap)
	}
	if q.f.RetryAfter > 0 && q.p.MaxRetryAfter != policy.Unlimited {
		require.LessOrEqual(t, q.f.RetryAfter, q.p.MaxRetryAfter)
	}
}

// A run of one action under any policy ends after at most MaxAttempts attempts, and after at most
// MaxTotalDelay of waits.
func TestLawOfWholeActions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := (&policy.Set{Global: draw.Layer().Draw(t, "layer")}).Policy(policy.Target{})
		pos := policy.Position{Budgets: policy.DefaultSet().Budgets, Now: noon, Key: draw.Key().Draw(t, "key")}
		f := fault.Failure{Class: rapid.SampledFrom(draw.Classes()).Draw(t, "class")}
		for {
			pos.Attempt++
			pos.ToolFailed, pos.RunFailed = pos.Attempt, pos.Attempt
			d := policy.Decide(&p, &pos, &f)
			if !d.Retry {
				break
			}
			pos.Waited += d.Delay
			pos.Now = pos.Now.Add(d.Delay)
		}
		require.LessOrEqual(t, pos.Attempt, pos.Budgets.Tool+1)
		if p.MaxAttempts != policy.Unlimited {
			require.LessOrEqual(t, pos.Attempt, p.MaxAttempts)
		}
		if p.MaxTotalDelay != policy.Unlimited {
			require.LessOrEqual(t, pos.Waited, p.MaxTotalDelay)
		}
	})
}

// For each field the most specific layer that sets it wins, and the explanation names that layer. A backoff
// without a jitter has that of the next layer with one, and so has each member of progress and of
// approval.
func TestLawOfLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw.Set().Draw(t, "set")
		s.Tools = map[string]policy.Layer{"book": draw.Layer().Draw(t, "tool")}
		s.Adjusted = draw.Layer().Draw(t, "adjusted")
		p, explanation := s.Policy(policy.Target{Tool: "book"}), s.Explain(policy.Target{Tool: "book"})
		require.Len(t, explanation, len(policy.Correction().Layer().Sets()))

		got := jsonFields(t, p)
		layers := []struct {
			name   string
			fields map[string]json.RawMessage
		}{
			{"adjusted", jsonFields(t, s.Adjusted)}, {"call", jsonFields(t, s.Call)},
			{"tool book", jsonFields(t, s.Tools["book"])}, {"global", jsonFields(t, s.Global)},
			{"default", jsonFields(t, policy.Correction())},
		}
		for n, name := range policy.Correction().Layer().Sets() {
			for _, l := range layers {
				if want, says := l.fields[name]; says {
					if !slices.Contains([]string{"backoff", "progress", "approval"}, name) {
						require.JSONEq(t, string(want), string(got[name]))
					}
					require.Equal(t, l.name, explanation[n].Layer)
					break
				}
			}
			require.Equal(t, name, explanation[n].Field)
			require.NotEmpty(t, explanation[n].Value)
		}
		require.NoError(t, p.Validate())

		want := policy.Correction().Backoff
		for _, l := range []policy.Layer{s.Global, s.Tools["book"], s.Call, s.Adjusted} {
			if l.Backoff == nil {
				continue
			}
			below := want.Jitter
			want = *l.Backoff
			if want.Jitter.Kind == "" {
				want.Jitter = below
			}
		}
		want.Jitter.AfterCap = want.Jitter.AfterCap && want.Cap > 0
		require.Equal(t, want, p.Backoff)

		var progress policy.Progress
		for _, l := range []policy.Layer{s.Global, s.Tools["book"], s.Call, s.Adjusted} {
			if l.Progress != nil {
				progress = policy.Progress{
					Nudge:   cmp.Or(l.Progress.Nudge, progress.Nudge),
					Planner: cmp.Or(l.Progress.Planner, progress.Planner),
					Stop:    cmp.Or(l.Progress.Stop, progress.Stop),
					Window:  cmp.Or(l.Progress.Window, progress.Window),
				}
			}
		}
		require.Equal(t, progress, p.Progress)

		var approval policy.Approval
		for _, l := range []policy.Layer{s.Global, s.Tools["book"], s.Call, s.Adjusted} {
			if a := l.Approval; a != nil {
				approval = policy.Approval{
					When: cmp.Or(a.When, approval.When), Argument: cmp.Or(a.Argument, approval.Argument),
					Above: cmp.Or(a.Above, approval.Above), Timeout: cmp.Or(a.Timeout, approval.Timeout),
					Default: cmp.Or(a.Default, approval.Default), InDoubt: cmp.Or(a.InDoubt, approval.InDoubt),
					Exhausted: cmp.Or(a.Exhausted, approval.Exhausted),
				}
			}
		}
		require.Equal(t, approval, p.Approval)
	})
}

func jsonFields(t require.TestingT, v any) map[string]json.RawMessage {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &fields))
	return fields
}

func TestLawOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw.Set().Draw(t, "set")
		require.NoError(t, s.Validate())
		data, err := json.Marshal(s)
		require.NoError(t, err)
		var back policy.Set
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, s, back)

		p := s.Policy(policy.Target{})
		data, err = json.Marshal(p)
		require.NoError(t, err)
		var policyBack policy.RetryPolicy
		require.NoError(t, json.Unmarshal(data, &policyBack))
		require.Equal(t, p, policyBack)
	})
}

// Merging layers is associative, and the empty layer changes nothing.
func TestLawOfOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := draw.Layer().Draw(t, "a"), draw.Layer().Draw(t, "b"), draw.Layer().Draw(t, "c")
		require.Equal(t, a.Over(b).Over(c), a.Over(b.Over(c)))
		require.Equal(t, a, a.Over(policy.Layer{}))
		require.Equal(t, a, policy.Layer{}.Over(a))
		require.Equal(t, a, a.Over(a))
		s := adjusted(adjusted(policy.Set{}, b), a)
		require.Equal(t, a.Over(b), s.Adjusted)
		require.Equal(t, len(a.Sets()) == 0, a.IsZero())
	})
}

func TestDecideLeavesItsArgumentsAlone(t *testing.T) {
	q := plain()
	q.p, _ = policy.Preset("result-envelope")
	before := jsonFields(t, q.p)
	q.f = transport(fault.RateLimit)
	policy.Decide(&q.p, &q.pos, &q.f)
	assert.Equal(t, before, jsonFields(t, q.p))
}

func TestAPolicyIsOneLayerOverTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw.Set().Draw(t, "set")
		s.Adjusted = draw.Layer().Draw(t, "adjusted")
		names := append([]string{"", "no_such_tool"}, slices.Sorted(maps.Keys(s.Tools))...)
		action := rapid.SampledFrom(names).Draw(t, "action")
		own := s.Answer
		if action != "" {
			own = s.Tools[action]
		}
		whole := s.Adjusted.Over(s.Call).Over(own).Over(s.Global).Over(policy.Correction().Layer())
		whole.Origins = nil
		assert.Equal(t, whole, s.Policy(policy.Target{Plane: fault.Correction, Tool: action}).Layer())
		assert.Equal(t, s.Transport.Over(policy.Transport().Layer()).Sets(), policy.Correction().Layer().Sets())
	})
}
