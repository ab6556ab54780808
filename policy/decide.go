package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
)

// Position is where an action stands when an attempt has failed: all that [Decide] needs beyond policy and
// failure. The zero value is a first attempt, without counts kept, deadline or jitter.
type Position struct {
	// Attempt is the attempt that just failed, 1-based; less than 1 counts as 1.
	Attempt int
	// ToolFailed, RunFailed and UnknownFailed count the failed attempts charged so far, this one included: of
	// this tool, of the run, and of unknown tool names.
	ToolFailed, RunFailed, UnknownFailed int
	// Budgets bounds these counts.
	Budgets Budgets
	// Repeats says how many times in a row the very same failure has been seen before this one.
	Repeats int
	// Now is the time of the failure; Deadline the end of the run's or call's time, zero where there is none.
	Now, Deadline time.Time
	// Waited is the sum of the action's waits so far.
	Waited time.Duration
	// Key makes the jitter. With the zero Key no wait is spread.
	Key backoff.Key
}

// Decision is the answer to a failed attempt. It is comparable. The zero value means "not decided".
type Decision struct {
	// Retry says whether there is another attempt.
	Retry bool `json:"retry"`
	// Delay is the wait before it; 0 means at once and arms no timer. Always 0 where Retry is false.
	Delay time.Duration `json:"delay_ns"`
	// Reason is always set.
	Reason Reason `json:"reason"`
	// Detail has the numbers behind a stop; zero for a retry.
	Detail Detail `json:"detail,omitzero"`
}

// Detail has the numbers behind a stop: a count and its limit, or a wait and the room there was for it.
type Detail struct {
	Count int           `json:"count,omitempty"`
	Limit int           `json:"limit,omitempty"`
	Wait  time.Duration `json:"wait_ns,omitempty"`
	Room  time.Duration `json:"room_ns,omitempty"`
}

// String is the decision as one line for people: "retry in 2s: backoff", "stop: attempts_exhausted (3 of 3)".
func (d Decision) String() string {
	switch {
	case d.Retry && d.Delay == 0:
		return "retry at once: " + string(d.Reason)
	case d.Retry:
		return fmt.Sprintf("retry in %v: %s", d.Delay, string(d.Reason))
	case d.Detail.Wait > 0:
		return fmt.Sprintf("stop: %s (wait %v, room %v)", string(d.Reason), d.Detail.Wait, d.Detail.Room)
	case d.Detail.Count > 0:
		return fmt.Sprintf("stop: %s (%d of %d)", string(d.Reason), d.Detail.Count, d.Detail.Limit)
	}
	return "stop: " + string(d.Reason)
}

// Decide says whether the failed attempt at pos is followed by another. It is deterministic, reads nothing
// but its arguments, changes none of them and allocates nothing. The order of its questions is that of the
// package comment.
//
// Budgets count failed attempts: with a budget of N the N+1st failed attempt stops. A wait that ends exactly
// at the deadline does not fit. A negative retry-after counts as none.
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

// usedUp asks what does not depend on the wait. An empty reason means that nothing speaks against another
// attempt.
func usedUp(p *RetryPolicy, pos *Position, f *fault.Failure) (Reason, Detail) {
	b, attempt := &pos.Budgets, max(pos.Attempt, 1)
	switch {
	case f.Class == "":
		return Accepted, Detail{}
	case f.Final || !slices.Contains(p.RetryableErrors, f.Class):
		return NotRetryable, Detail{}
	case p.OptOut:
		return OptOut, Detail{}
	case p.MaxAttempts != Unlimited && attempt >= p.MaxAttempts:
		return AttemptsExhausted, Detail{Count: attempt, Limit: p.MaxAttempts}
	case exceeds(pos.ToolFailed, b.Tool):
		return ToolBudget, Detail{Count: pos.ToolFailed, Limit: b.Tool}
	case f.Class == fault.UnknownTool && exceeds(pos.UnknownFailed, b.UnknownTools):
		return UnknownToolBudget, Detail{Count: pos.UnknownFailed, Limit: b.UnknownTools}
	case exceeds(pos.RunFailed, b.Run):
		return RunBudget, Detail{Count: pos.RunFailed, Limit: b.Run}
	case p.NoProgress > 0 && pos.Repeats >= p.NoProgress:
		return NoProgress, Detail{Count: pos.Repeats, Limit: p.NoProgress}
	}
	return "", Detail{}
}

// tooLong asks whether the wait fits. An empty reason means that it does.
func tooLong(p *RetryPolicy, pos *Position, f *fault.Failure, delay time.Duration) (Reason, Detail) {
	if p.MaxRetryAfter != Unlimited && f.RetryAfter > p.MaxRetryAfter { // what jitter adds does not count
		return RetryAfterTooLong, Detail{Wait: f.RetryAfter, Room: p.MaxRetryAfter}
	}
	if p.MaxTotalDelay != Unlimited && delay > 0 {
		if room := p.MaxTotalDelay - max(pos.Waited, 0); delay > room {
			return DelayBudget, Detail{Wait: delay, Room: room}
		}
	}
	if pos.Deadline.IsZero() {
		return "", Detail{}
	}
	if left := pos.Deadline.Sub(pos.Now); delay >= left {
		return Deadline, Detail{Wait: delay, Room: left}
	}
	return "", Detail{}
}

// exceeds reports whether a count of failed attempts is over its budget.
func exceeds(failed, budget int) bool { return budget != Unlimited && failed > budget }
