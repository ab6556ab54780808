package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
)

// Ladder is a [Planner] made of data, for rate limits: a day's window that is used up asks for the next model
// (switch_provider), an hour's for a long wait, any other for a short one. Where a window's wait is longer
// than its bound, or no attempt is left, it is the next model too; where there is none, the run ends. Without
// a window that is used up it follows the policy while that goes on, and then takes the next model. It ends
// the run at an exhaustion of the correction plane, and at a tool's.
//
// It waits only where it is asked before the policy is followed: name the classes for that in
// loop.Config.Consult, [fault.RateLimit] and [fault.Quota] above all. Make one with [NewLadder]. Safe for
// concurrent use; it keeps no state.
type Ladder struct {
	// Models are the models to go on with, in order, by their names in loop.WithModels. A run that goes by
	// a name that is not among them, or by none, goes on with the first.
	Models []string
	// Long is for windows of an hour, Short for shorter ones and for those whose period is not known.
	Long, Short Wait
}

// Wait bounds one kind of wait.
type Wait struct {
	// Unknown is waited where neither the server nor the window says how long; more than 0.
	Unknown time.Duration
	// Max is the longest wait: for a longer one the ladder takes the next model instead. At least Unknown.
	Max time.Duration
}

// NewLadder returns a ladder over models with the usual waits: an hour and a minute where nobody says
// how long, and at most two hours and ten minutes.
func NewLadder(models ...string) Ladder {
	return Ladder{
		Models: models,
		Long:   Wait{Unknown: time.Hour, Max: 2 * time.Hour},
		Short:  Wait{Unknown: time.Minute, Max: 10 * time.Minute},
	}
}

// Validate reports all that is wrong with the ladder, joined; nil when nothing is.
func (l Ladder) Validate() error {
	var errs []error
	for n, m := range l.Models {
		switch {
		case m == "":
			errs = append(errs, fmt.Errorf("models[%d]: a model without a name; use its name in WithModels", n))
		case slices.Contains(l.Models[:n], m):
			errs = append(errs, fmt.Errorf("models[%d]: %q appears twice; the ladder would never get past it", n, m))
		}
	}
	for _, w := range []struct {
		path string
		Wait
	}{{"long", l.Long}, {"short", l.Short}} {
		if w.Unknown <= 0 {
			errs = append(errs, fmt.Errorf("%s.unknown: %v is no wait; write more than 0", w.path, w.Unknown))
		}
		if w.Max < w.Unknown {
			errs = append(errs, fmt.Errorf("%s.max: %v is less than %s.unknown; write at least %v", w.path, w.Max, w.path, w.Unknown))
		}
	}
	return errors.Join(errs...)
}

// Step is what a [Ladder] does.
type Step string

// The steps of a ladder.
const (
	SwitchProvider Step = "switch_provider"
	LongWait       Step = "long_wait"
	ShortWait      Step = "short_wait"
	FollowPolicy   Step = "follow_policy"
	GiveUp         Step = "give_up"
)

// Plan answers a question by the ladder. The error is that of [Ladder.Validate].
func (l Ladder) Plan(_ context.Context, q Question) (machine.Plan, error) {
	if err := l.Validate(); err != nil {
		return machine.Plan{}, fmt.Errorf("ladder: %w", err)
	}
	step, plan := l.Answer(q)
	plan.Note = strings.TrimSpace(string(step) + " " + plan.Note)
	return plan, nil
}

// Answer is the step that a question is answered with, and the plan that it amounts to. Pure.
func (l Ladder) Answer(q Question) (Step, machine.Plan) {
	if q.Plane != fault.Transport {
		return GiveUp, machine.Plan{Do: machine.Abort}
	}
	w, period := decisive(q.RateLimit)
	switch {
	case period == noPeriod && q.Verdict.Retry:
		return FollowPolicy, machine.Plan{Do: machine.Follow}
	case period == noPeriod || period == aDay || q.Exhausted || lastAttempt(q.Position):
		return l.next(q, w.Name)
	case period == anHour:
		return l.wait(q, LongWait, l.Long, longWait(q, w), w.Name)
	}
	return l.wait(q, ShortWait, l.Short, shortWait(q, w), w.Name)
}

// lastAttempt reports whether no attempt may follow, so that a wait cannot help.
func lastAttempt(p machine.Position) bool {
	return p.MaxAttempts != policy.Unlimited && p.Attempt >= p.MaxAttempts
}

// period is how long a window is; the longer one is the greater.
type period int

const (
	noPeriod period = iota
	short
	anHour
	aDay
)

// periods names the periods of windows, the longest first.
var periods = [...]struct {
	word string
	is   period
}{{"month", aDay}, {"week", aDay}, {"day", aDay}, {"hour", anHour}}

// decisive is the window of the longest period that is used up, the first of several.
func decisive(s ratelimit.State) (w ratelimit.Window, longest period) {
	for _, one := range s.Windows {
		if p := periodOf(one); one.Exhausted() && p > longest {
			w, longest = one, p
		}
	}
	return w, longest
}

func periodOf(w ratelimit.Window) period {
	for _, p := range periods {
		if strings.Contains(w.Name, p.word) {
			return p.is
		}
	}
	return short
}

// longWait is when the window resets, and never less than the server asks for.
func longWait(q Question, w ratelimit.Window) time.Duration {
	return max(w.ResetsIn.Duration, asked(q))
}

// shortWait is the server's retry-after, else the window's own.
func shortWait(q Question, w ratelimit.Window) time.Duration {
	return cmp.Or(asked(q), w.ResetsIn.Duration)
}

func asked(q Question) time.Duration {
	return max(q.Failure.RetryAfter, q.RateLimit.RetryAfter.Duration)
}

// wait waits within bounds, and takes the next model beyond them, or where the wait does not fit before the
// deadline.
func (l Ladder) wait(q Question, step Step, bound Wait, delay time.Duration, window string) (Step, machine.Plan) {
	if delay <= 0 {
		delay = bound.Unknown
	}
	if delay > bound.Max || (!q.Deadline.IsZero() && delay >= q.Deadline.Sub(q.At)) {
		return l.next(q, window)
	}
	return step, machine.Plan{Do: machine.Fallback, Delay: delay, Note: window}
}

// next is the next model; the end of the run where there is none, and for a tool, which no other model brings
// back.
func (l Ladder) next(q Question, window string) (Step, machine.Plan) {
	at := slices.Index(l.Models, q.Model) + 1
	if q.Tool != "" || at >= len(l.Models) {
		return GiveUp, machine.Plan{Do: machine.Abort, Note: window}
	}
	why := string(q.Failure.Class)
	if window != "" {
		why += ", " + window + " used up"
	}
	return SwitchProvider, machine.Plan{
		Do: machine.Fallback, Model: l.Models[at], Note: window,
		Warning: fmt.Sprintf("went on with model %s: %s", l.Models[at], why),
	}
}
