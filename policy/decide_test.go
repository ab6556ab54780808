package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/internal/draw"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// question is a call of Decide. It returns "retry at once" unless a case changes it.
type question struct {
	p   policy.RetryPolicy
	pos policy.Position
	f   fault.Failure
}

func plain() question {
	return question{
		p:   policy.Correction(),
		pos: policy.Position{Attempt: 1, ToolFailed: 1, RunFailed: 1, Budgets: policy.DefaultSet().Budgets, Now: noon},
		f:   fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Tool: "book_room"},
	}
}

func (q question) decide() policy.Decision { return policy.Decide(&q.p, &q.pos, &q.f) }

func TestDecideStops(t *testing.T) {
	cases := map[string]struct {
		change func(q *question)
		want   string
	}{
		"nothing_went_wrong":   {func(q *question) { q.f = fault.Failure{} }, "stop: accepted"},
		"class_not_listed":     {func(q *question) { q.f.Class = fault.Truncated }, "stop: not_retryable"},
		"final":                {func(q *question) { q.f.Final = true }, "stop: not_retryable"},
		"class_of_the_users":   {func(q *question) { q.f.Class = "my_own" }, "stop: not_retryable"},
		"opted_out":            {func(q *question) { q.p.OptOut = true }, "stop: opt_out"},
		"last_attempt":         {func(q *question) { q.pos.Attempt = 3 }, "stop: attempts_exhausted (3 of 3)"},
		"beyond_last_attempt":  {func(q *question) { q.pos.Attempt = 4 }, "stop: attempts_exhausted (4 of 3)"},
		"single_attempt":       {func(q *question) { q.p.MaxAttempts = 1 }, "stop: attempts_exhausted (1 of 1)"},
		"zero_position":        {func(q *question) { q.p.MaxAttempts, q.pos = 1, policy.Position{} }, "stop: attempts_exhausted (1 of 1)"},
		"invalid_max_attempts": {func(q *question) { q.p.MaxAttempts = 0 }, "stop: attempts_exhausted (1 of 0)"},
		"fifth_of_a_tool":      {func(q *question) { q.pos.ToolFailed = 5 }, "stop: tool_budget (5 of 4)"},
		"budget_of_none":       {func(q *question) { q.pos.Budgets.Tool = 0 }, "stop: tool_budget (1 of 0)"},
		"third_unknown_tool": {func(q *question) {
			q.f.Class, q.pos.UnknownFailed = fault.UnknownTool, 3
		}, "stop: unknown_tool_budget (3 of 2)"},
		"ninth_of_the_run": {func(q *question) { q.pos.RunFailed = 9 }, "stop: run_budget (9 of 8)"},
		"same_failure_again": {func(q *question) {
			q.p.NoProgress, q.pos.Repeats = 1, 1
		}, "stop: no_progress (1 of 1)"},
		"server_asks_too_much": {func(q *question) {
			q.f.RetryAfter = 5*time.Minute + 1
		}, "stop: retry_after_too_long (wait 5m0.000000001s, room 5m0s)"},
		"no_server_wait_allowed": {func(q *question) {
			q.p.MaxRetryAfter, q.f.RetryAfter = 0, 1
		}, "stop: retry_after_too_long (wait 1ns, room 0s)"},
		"total_delay_used_up": {func(q *question) {
			q.p.Backoff, q.p.MaxTotalDelay, q.pos.Waited = backoff.Constant(2*time.Second), 5*time.Second, 4*time.Second
		}, "stop: delay_budget (wait 2s, room 1s)"},
		"wait_ends_at_deadline": {func(q *question) {
			q.p.Backoff, q.pos.Deadline = backoff.Constant(2*time.Second), noon.Add(2*time.Second)
		}, "stop: deadline (wait 2s, room 2s)"},
		"deadline_is_now":      {func(q *question) { q.pos.Deadline = noon }, "stop: deadline"},
		"deadline_in_the_past": {func(q *question) { q.pos.Deadline = noon.Add(-time.Hour) }, "stop: deadline"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			q := plain()
			c.change(&q)
			d := q.decide()
			assert.False(t, d.Retry)
			assert.Zero(t, d.Delay)
			assert.Equal(t, c.want, d.String())
			assert.Contains(t, policy.Reasons(), d.Reason)
		})
	}
}

func TestDecideRetries(t *testing.T) {
	second := backoff.Constant(time.Second)
	cases := map[string]struct {
		change func(q *question)
		want   string
	}{
		"at_once":              {func(q *question) {}, "retry at once: immediate"},
		"zero_position":        {func(q *question) { q.pos = policy.Position{} }, "retry at once: immediate"},
		"second_of_three":      {func(q *question) { q.pos.Attempt = 2 }, "retry at once: immediate"},
		"unlimited_attempts":   {func(q *question) { q.p.MaxAttempts, q.pos.Attempt = policy.Unlimited, 1e9 }, "retry at once: immediate"},
		"fourth_of_a_tool":     {func(q *question) { q.pos.ToolFailed = 4 }, "retry at once: immediate"},
		"eighth_of_the_run":    {func(q *question) { q.pos.RunFailed = 8 }, "retry at once: immediate"},
		"second_unknown_tool":  {func(q *question) { q.f.Class, q.pos.UnknownFailed = fault.UnknownTool, 2 }, "retry at once: immediate"},
		"pool_of_others":       {func(q *question) { q.pos.UnknownFailed = 3 }, "retry at once: immediate"},
		"budgets_given_up":     {func(q *question) { q.pos.Budgets.Tool, q.pos.ToolFailed = policy.Unlimited, 99 }, "retry at once: immediate"},
		"repeats_while_off":    {func(q *question) { q.pos.Repeats = 7 }, "retry at once: immediate"},
		"progress_for_now":     {func(q *question) { q.p.NoProgress, q.pos.Repeats = 2, 1 }, "retry at once: immediate"},
		"total_delay_of_zero":  {func(q *question) { q.p.MaxTotalDelay = 0 }, "retry at once: immediate"},
		"backoff":              {func(q *question) { q.p.Backoff = second }, "retry in 1s: backoff"},
		"ends_before_deadline": {func(q *question) { q.p.Backoff, q.pos.Deadline = second, noon.Add(time.Second+1) }, "retry in 1s: backoff"},
		"fills_total_delay":    {func(q *question) { q.p.Backoff, q.p.MaxTotalDelay = second, time.Second }, "retry in 1s: backoff"},
		"server_asks":          {func(q *question) { q.f.RetryAfter = time.Second }, "retry in 1s: retry_after"},
		"server_asks_the_most": {func(q *question) { q.f.RetryAfter = 5 * time.Minute }, "retry in 5m0s: retry_after"},
		"server_asks_less":     {func(q *question) { q.p.Backoff, q.f.RetryAfter = second, 9*time.Millisecond }, "retry in 1s: backoff"},
		"total_delay_exceeded": {func(q *question) { q.p.MaxTotalDelay, q.pos.Waited = 1, 2 }, "retry at once: immediate"},
		"backoff_as_asked":     {func(q *question) { q.p.Backoff, q.f.RetryAfter = second, time.Second }, "retry in 1s: backoff"},
		"no_jitter_as_asked": {func(q *question) {
			q.p.Backoff, q.p.Backoff.Jitter.Kind, q.f.RetryAfter = second, backoff.NoJitter, time.Second
		}, "retry in 1s: backoff"},
		"server_comes_first": {func(q *question) {
			q.p.RetryAfter, q.p.Backoff, q.f.RetryAfter = policy.RetryAfterFirst, second, 9*time.Millisecond
		}, "retry in 9ms: retry_after"},
		"negative_is_none":  {func(q *question) { q.p.Backoff, q.f.RetryAfter = second, -time.Hour }, "retry in 1s: backoff"},
		"cap_is_ours_alone": {func(q *question) { q.p.Backoff, q.p.Backoff.Cap, q.f.RetryAfter = second, 1, time.Minute }, "retry in 1m0s: retry_after"},
		"base_of_the_class": {func(q *question) {
			q.p.Backoff, q.p.Bases = second, map[fault.Class]time.Duration{fault.ToolValidation: time.Hour}
		}, "retry in 1h0m0s: backoff"},
		"base_of_another_class": {func(q *question) {
			q.p.Backoff, q.p.Bases = second, map[fault.Class]time.Duration{fault.NoOutput: time.Hour}
		}, "retry in 1s: backoff"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			q := plain()
			c.change(&q)
			d := q.decide()
			assert.True(t, d.Retry)
			assert.Equal(t, c.want, d.String())
			assert.Zero(t, d.Detail)
		})
	}
}

// From the last rule to the first, each rule is made to apply as well. The reason must be the first that
// applies, in the documented order.
func TestDecideAsksInDocumentedOrder(t *testing.T) {
	rules := []struct {
		reason policy.Reason
		apply  func(q *question)
	}{
		{policy.ReasonDeadline, func(q *question) { q.pos.Deadline = noon.Add(-1) }},
		{policy.ReasonDelayBudget, func(q *question) { q.p.Backoff, q.p.MaxTotalDelay = backoff.Constant(1), 0 }},
		{policy.ReasonRetryAfterTooLong, func(q *question) { q.f.RetryAfter = time.Hour }},
		{policy.ReasonNoProgress, func(q *question) { q.p.NoProgress, q.pos.Repeats = 1, 1 }},
		{policy.ReasonRunBudget, func(q *question) { q.pos.RunFailed = 9 }},
		{policy.ReasonUnknownToolBudget, func(q *question) { q.f.Class, q.pos.UnknownFailed = fault.UnknownTool, 3 }},
		{policy.ReasonToolBudget, func(q *question) { q.pos.ToolFailed = 5 }},
		{policy.ReasonAttemptsExhausted, func(q *question) { q.pos.Attempt = 3 }},
		{policy.ReasonOptOut, func(q *question) { q.p.OptOut = true }},
		{policy.ReasonNotRetryable, func(q *question) { q.f.Class = fault.Refusal }},
		{policy.ReasonAccepted, func(q *question) { q.f.Class = "" }},
	}
	q := plain()
	for _, r := range rules {
		r.apply(&q)
		assert.Equal(t, r.reason, q.decide().Reason)
	}
}

// A server's retry-after is the least wait. Jitter adds up to half of it, and the backoff may add more. The
// total delay and the deadline cut the range of the jitter; they do not move waits to its end.
func TestRetryAfterIsAFloorWithJitterAboveIt(t *testing.T) {
	spread := func(change func(q *question)) (lo, hi time.Duration) {
		q := plain()
		q.f.RetryAfter = time.Minute
		change(&q)
		lo, seen := time.Duration(math.MaxInt64), map[time.Duration]bool{}
		for n := range 2000 {
			q.pos.Key = backoff.NewKey(fmt.Sprint(n), "action")
			d := q.decide()
			require.Equal(t, policy.ReasonServerAsked, d.Reason, d)
			lo, hi = min(lo, d.Delay), max(hi, d.Delay)
			seen[d.Delay] = true
		}
		assert.True(t, lo == hi || len(seen) > 1990, "clients that were told the same minute spread out")
		return lo.Round(time.Second), hi.Round(time.Second)
	}
	jittered := func(delay time.Duration, kind backoff.JitterKind) func(q *question) {
		return func(q *question) {
			q.p.Backoff = backoff.Constant(delay)
			q.p.Backoff.Jitter.Kind = kind
		}
	}
	for name, c := range map[string]struct {
		change func(q *question)
		lo, hi int64
	}{
		"no_backoff":                      {func(*question) {}, 60, 90},
		"a_short_one":                     {jittered(10*time.Second, backoff.Full), 60, 90},
		"a_longer_one":                    {jittered(2*time.Minute, backoff.Full), 60, 120},
		"a_tenth_above_it":                {func(q *question) { q.p.RetryAfterJitter = backoff.One / 10 }, 60, 66},
		"nothing_above_it":                {func(q *question) { q.p.RetryAfterJitter = 0 }, 60, 60},
		"no_jitter":                       {jittered(time.Second, backoff.NoJitter), 60, 60},
		"the_server_comes_first":          {func(q *question) { q.p.RetryAfter = policy.RetryAfterFirst }, 60, 60},
		"no_more_than_the_server_may_ask": {func(q *question) { q.p.MaxRetryAfter = time.Minute }, 60, 90},
		"a_deadline":                      {func(q *question) { q.pos.Deadline = noon.Add(70 * time.Second) }, 60, 70},
		"a_total_delay":                   {func(q *question) { q.p.MaxTotalDelay, q.pos.Waited = 80*time.Second, 5*time.Second }, 60, 75},
		"a_total_delay_of_this_wait_only": {func(q *question) { q.p.MaxTotalDelay, q.pos.Waited = 70*time.Second, -time.Hour }, 60, 70},
		"a_deadline_at_once":              {func(q *question) { q.pos.Deadline = noon.Add(time.Minute + 1) }, 60, 60},
		"a_total_delay_to_the_full":       {func(q *question) { q.p.MaxTotalDelay = time.Minute }, 60, 60},
		"the_longest_there_is": {func(q *question) {
			q.p.MaxRetryAfter, q.f.RetryAfter = policy.Unlimited, math.MaxInt64
		}, math.MaxInt64 / int64(time.Second), math.MaxInt64 / int64(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			lo, hi := spread(c.change)
			assert.Equal(t, []time.Duration{time.Duration(c.lo), time.Duration(c.hi)}, []time.Duration{lo / time.Second, hi / time.Second})
		})
	}
}

// Only the jitter of the strategy, and that above a server's wait, are drawn from the key.
func TestLawOfKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		if j := q.p.Backoff.Jitter.Kind; j != "" && j != backoff.NoJitter || j == "" && q.f.RetryAfter > 0 {
			return
		}
		d := q.decide()
		q.pos.Key = draw.Key().Draw(t, "another key")
		require.Equal(t, d, q.decide())
	})
}

// largestShare returns the largest part of the waits that lies within one hundredth of waited.
func largestShare(waits []time.Duration, waited time.Duration) float64 {
	slices.Sort(waits)
	most, first := 0, 0
	for n, d := range waits {
		for d-waits[first] > waited/100 {
			first++
		}
		most = max(most, n-first+1)
	}
	return float64(most) / float64(len(waits))
}

// Ten thousand sessions that fail together do not come back together under the default policy, whatever
// their ids.
func TestTenThousandSessionsDoNotMoveInLockstep(t *testing.T) {
	ids := map[string]func(n int) string{
		"sequential": func(n int) string { return fmt.Sprint("order-", n) },
		"uuids":      func(n int) string { return fmt.Sprintf("%08x-7c1e-4d2a-9f3b-%012x", uint32(n)*2654435761, n) },
		"emails":     func(n int) string { return fmt.Sprintf("user%d@example.com", n) },
		"numbers":    func(n int) string { return fmt.Sprintf("%07d", n) },
	}
	p := preset(t, "transport")
	for name, id := range ids {
		for attempt, waited := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second} {
			for _, asked := range []time.Duration{0, time.Second, 20 * time.Second} {
				p.MaxAttempts = policy.Unlimited
				f := transport(fault.RateLimit)
				f.RetryAfter = asked
				waits := make([]time.Duration, 10_000)
				for n := range waits {
					key := backoff.NewKey(id(n), id(n)+"\x001\x001\x00\x00transport")
					waits[n] = policy.Decide(&p, &policy.Position{Attempt: attempt + 1, Key: key}, &f).Delay
				}
				share := largestShare(waits, max(waited, asked))
				assert.LessOrEqual(t, share, 0.03, "%s, attempt %d, asked for %v", name, attempt+1, asked)
			}
		}
	}
}

func TestReasonsAreSentinels(t *testing.T) {
	err := fmt.Errorf("booking: %w", policy.ReasonAttemptsExhausted)
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	require.NotErrorIs(t, err, policy.ReasonDeadline)
	var reason policy.Reason
	require.True(t, errors.As(err, &reason))
	assert.Equal(t, policy.ReasonAttemptsExhausted, reason)
	assert.EqualError(t, err, "booking: attempts_exhausted")
	assert.Equal(t, "attempts_exhausted attempts_exhausted", fmt.Sprintf("%s %v", policy.ReasonAttemptsExhausted, policy.ReasonAttemptsExhausted), "a reason prints as its code")
	assert.Equal(t, "attempts used up", policy.ReasonAttemptsExhausted.Phrase())
	assert.EqualError(t, policy.Reason("of_my_own"), "of_my_own")

	unique := map[policy.Reason]bool{}
	for _, r := range policy.Reasons() {
		assert.NotContains(t, r.Phrase(), "_", "every reason has a phrase for people")
		unique[r] = true
		assert.Equal(t, slices.Contains([]policy.Reason{policy.ReasonBackoff, policy.ReasonServerAsked, policy.ReasonImmediate, policy.ReasonShortened, policy.ReasonReplyBounded}, r), r.Retries())
		assert.Equal(t, slices.Contains([]policy.Reason{policy.ReasonCancelled, policy.ReasonDeadline, policy.ReasonBroken}, r), r.GaveUp())
		for _, name := range r.Fields() {
			assert.Contains(t, append(policy.Correction().Layer().Sets(), "budgets.tool", "budgets.unknown_tools", "budgets.run", "spending", "context", "prices", "max_turns", "deadline", "planner"), name)
		}
	}
	assert.Len(t, unique, 30)
}

func TestABudgetInWords(t *testing.T) {
	for want, c := range map[string]struct {
		detail policy.Detail
		money  bool
	}{
		"": {policy.Detail{}, false},
		"prices: the model has no name to price it by":                          {policy.Detail{Budget: "prices"}, false},
		`prices: the model "m" has no price`:                                    {policy.Detail{Budget: "prices", Model: "m"}, false},
		`run.cost: the model "m" has no price`:                                  {policy.Detail{Budget: "run.cost", Model: "m"}, true},
		"run.total_tokens: passed by 7":                                         {policy.Detail{Budget: "run.total_tokens", Left: -7}, false},
		"max_next_cost: 3 left, the call takes 4":                               {policy.Detail{Budget: "max_next_cost", Left: 3, Takes: 4}, true},
		"session.output_tokens: the reply was cut off at the 16 that were left": {policy.Detail{Budget: "session.output_tokens", Left: 16}, false},
	} {
		assert.Equal(t, want, c.detail.Spending())
		assert.Equal(t, c.money, c.detail.Money(), want)
	}
}

func TestDecisionJSON(t *testing.T) {
	q := plain()
	q.f.RetryAfter = time.Second
	retry, err := json.Marshal(q.decide())
	require.NoError(t, err)
	assert.Equal(t, `{"retry":true,"delay_ns":1000000000,"reason":"retry_after"}`, string(retry))

	q.pos.Attempt = 3
	stop, err := json.Marshal(q.decide())
	require.NoError(t, err)
	assert.Equal(t, `{"retry":false,"delay_ns":0,"reason":"attempts_exhausted","detail":{"count":3,"limit":3}}`, string(stop))

	var back policy.Decision
	require.NoError(t, json.Unmarshal(stop, &back))
	assert.Equal(t, q.decide(), back)
}

// Each constant has its line in the table of reasons, and the classes there are known.
func TestEveryReasonHasItsRow(t *testing.T) {
	source, err := os.ReadFile("reason.go")
	require.NoError(t, err)
	constants := regexp.MustCompile(`(?m)^\tReason\w+ +Reason = "(\w+)"$`).FindAllSubmatch(source, -1)
	all := policy.Reasons()
	require.Len(t, constants, len(all))
	for n, constant := range constants {
		assert.Equal(t, policy.Reason(constant[1]), all[n], "in the order of their declaration")
		assert.True(t, all[n].Class() == "" || all[n].Class().Plane() != "", all[n])
	}
}
