package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
)

// Position is the state of an action after a failed attempt. [Decide] needs nothing else but the policy and
// the failure. The zero value is a first attempt with no counts, no deadline and no jitter.
type Position struct {
	// Attempt is the number of the attempt that failed, from 1. Values below 1 count as 1.
	Attempt int
	// ToolFailed, RunFailed and UnknownFailed count the failed attempts so far, including this one: those of
	// this tool, those of the run, and those that named an unknown tool.
	ToolFailed, RunFailed, UnknownFailed int
	// Budgets are the limits of these counts.
	Budgets Budgets
	// Repeats is how many times in a row the same failure was seen before this one.
	Repeats int
	// Now is the time of the failure. Deadline is when the time of the run or call ends; zero means no
	// deadline.
	Now, Deadline time.Time
	// Waited is the sum of the action's waits so far.
	Waited time.Duration
	// Key seeds the jitter. The zero Key means no jitter.
	Key backoff.Key
}

// Decision is the answer of [Decide]. It is comparable. The zero value means "not decided".
type Decision struct {
	// Retry reports whether there is another attempt.
	Retry bool `json:"retry"`
	// Delay is the wait before the next attempt. 0 means at once. It is always 0 if Retry is false.
	Delay time.Duration `json:"delay_ns"`
	// Reason is why. It is never empty in a decision made by [Decide].
	Reason Reason `json:"reason"`
	// Detail has the numbers behind a stop. It is zero for a retry.
	Detail Detail `json:"detail,omitzero"`
}

// Detail has the numbers behind a stop: a count and its limit, a wait and the time that was left for it, or
// what was left of a budget and what the next call would have taken.
type Detail struct {
	Count int           `json:"count,omitempty"`
	Limit int           `json:"limit,omitempty"`
	Wait  time.Duration `json:"wait_ns,omitempty"`
	Room  time.Duration `json:"room_ns,omitempty"`
	// Budget is the key of a budget of [Spending], such as "run.cost" or "max_next_cost"; Left and Takes are
	// in its unit. Takes is 0 if a reply was cut off at what was left. Model is the model without a price.
	Budget string `json:"budget,omitempty" redact:"keep"`
	Left   int64  `json:"left,omitempty"`
	Takes  int64  `json:"takes,omitempty"`
	Model  string `json:"model,omitempty" redact:"keep"`
}

// Money reports whether Budget bounds money.
func (d Detail) Money() bool {
	return d.Budget == "max_next_cost" || strings.HasSuffix(d.Budget, ".cost")
}

// Spending returns what Detail says of a budget of [Spending] in words: "run.cost: 312 left, the call takes
// 1204". It is empty if that is no reason to stop.
func (d Detail) Spending() string {
	switch {
	case d.Budget == "prices" && d.Model == "":
		return "prices: the model has no name to price it by"
	case d.Model != "":
		return fmt.Sprintf("%s: the model %q has no price", d.Budget, d.Model)
	case d.Left < 0:
		return fmt.Sprintf("%s: passed by %d", d.Budget, -d.Left)
	case d.Budget != "" && d.Takes == 0:
		return fmt.Sprintf("%s: the reply was cut off at the %d that were left", d.Budget, d.Left)
	case d.Budget != "":
		return fmt.Sprintf("%s: %d left, the call takes %d", d.Budget, d.Left, d.Takes)
	}
	return ""
}

// String returns the decision on one line: "retry in 2s: backoff", "stop: attempts_exhausted (3 of 3)".
func (d Decision) String() string {
	switch {
	case d.Retry && d.Delay == 0:
		return "retry at once: " + string(d.Reason)
	case d.Retry:
		return fmt.Sprintf("retry in %v: %s", d.Delay, string(d.Reason))
	case d.Detail.Wait > 0:
		return fmt.Sprintf("stop: %s (wait %v, room %v)", string(d.Reason), d.Detail.Wait, d.Detail.Room)
	case d.Detail.Budget != "":
		return fmt.Sprintf("stop: %s (%s)", string(d.Reason), d.Detail.Spending())
	case d.Detail.Count > 0:
		return fmt.Sprintf("stop: %s (%d of %d)", string(d.Reason), d.Detail.Count, d.Detail.Limit)
	}
	return "stop: " + string(d.Reason)
}

// Decide decides whether another attempt follows the failed attempt at pos. It is deterministic, depends only
// on its arguments, does not change them and allocates nothing. The package comment lists the checks in their
// order. A wait that ends exactly at the deadline does not fit. A negative retry-after counts as none.
func Decide(p *RetryPolicy, pos *Position, f *fault.Failure) Decision {
	if why, detail := usedUp(p, pos, f); why != "" {
		return Decision{Reason: why, Detail: detail}
	}
	delay, source := wait(p, pos, f)
	if why, detail := tooLong(p, pos, f, delay); why != "" {
		return Decision{Reason: why, Detail: detail}
	}
	return Decision{Retry: true, Delay: delay, Reason: source}
}

// usedUp makes the checks that do not depend on the wait. An empty reason means that none of them stops.
func usedUp(p *RetryPolicy, pos *Position, f *fault.Failure) (Reason, Detail) {
	attempt, unknown := max(pos.Attempt, 1), 0
	if f.Class == fault.UnknownTool {
		unknown = pos.UnknownFailed
	}
	over, detail := pos.Budgets.Exceeded(pos.ToolFailed, unknown, pos.RunFailed)
	switch {
	case f.Class == "":
		return ReasonAccepted, Detail{}
	case f.Final || !slices.Contains(p.RetryableErrors, f.Class):
		return ReasonNotRetryable, Detail{}
	case p.OptOut:
		return ReasonOptOut, Detail{}
	case p.MaxAttempts != Unlimited && attempt >= p.MaxAttempts:
		return ReasonAttemptsExhausted, Detail{Count: attempt, Limit: p.MaxAttempts}
	case over != "":
		return over, detail
	case p.NoProgress > 0 && pos.Repeats >= p.NoProgress:
		return ReasonNoProgress, Detail{Count: pos.Repeats, Limit: p.NoProgress}
	}
	return "", Detail{}
}

// tooLong checks whether the wait fits. An empty reason means that it does.
func tooLong(p *RetryPolicy, pos *Position, f *fault.Failure, delay time.Duration) (Reason, Detail) {
	// Jitter above the server's wait does not count.
	if p.MaxRetryAfter != Unlimited && f.RetryAfter > p.MaxRetryAfter {
		return ReasonRetryAfterTooLong, Detail{Wait: f.RetryAfter, Room: p.MaxRetryAfter}
	}
	if p.MaxTotalDelay != Unlimited && delay > 0 {
		if room := p.MaxTotalDelay - max(pos.Waited, 0); delay > room {
			return ReasonDelayBudget, Detail{Wait: delay, Room: room}
		}
	}
	if pos.Deadline.IsZero() {
		return "", Detail{}
	}
	if left := pos.Deadline.Sub(pos.Now); delay >= left {
		return ReasonDeadline, Detail{Wait: delay, Room: left}
	}
	return "", Detail{}
}

// Exceeded returns the first budget that failed attempts exceed: those of a tool, those that named an unknown
// tool, and those of the run. An empty reason means none.
func (b Budgets) Exceeded(tool, unknown, run int) (Reason, Detail) {
	for _, of := range [...]struct {
		why           Reason
		failed, limit int
	}{
		{ReasonToolBudget, tool, b.Tool}, {ReasonUnknownToolBudget, unknown, b.UnknownTools},
		{ReasonRunBudget, run, b.Run},
	} {
		if of.limit != Unlimited && of.failed > of.limit {
			return of.why, Detail{Count: of.failed, Limit: of.limit}
		}
	}
	return "", Detail{}
}
