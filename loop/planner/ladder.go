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

// Ladder is a [Planner] for rate limits. What it does depends on the longest window that is used up:
//
//   - a day or more: it switches to the next model (switch_provider);
//   - an hour or more: it waits at most two hours, and one hour if the wait is unknown (long_wait);
//   - shorter: it waits at most ten minutes, and one minute if the wait is unknown (short_wait);
//   - none: it follows the policy, and switches when the policy stops.
//
// It also switches if the wait would be longer or does not fit the deadline, or if no attempt is left. Without
// a next model the run ends, as it does at an exhaustion of the correction plane or of a tool. With Ask, a
// person is asked before it ends a run that is exhausted.
//
// It can only wait if it is asked before the policy. Name the classes for that in loop.Config.Consult, above
// all [fault.RateLimit] and [fault.Quota]. The zero value has no further model. It is safe for concurrent use
// and has no state.
type Ladder struct {
	// Models are the names of further models, in order, as in loop.WithModels. A run with a model that is not
	// in the list goes on with the first.
	Models []string
	// Ask is how long a person may take to answer where the ladder would give up, at every exhaustion of the
	// run: see [machine.AskExhausted]. 0 asks nobody.
	Ask time.Duration
}

// waitKind is a kind of wait: its name as a step, the wait if neither the server nor the window gives one,
// and the longest wait.
type waitKind struct {
	step          string
	unknown, most time.Duration
}

// longWait is for windows of an hour, shortWait for shorter windows and those of unknown length.
var (
	longWait  = waitKind{"long_wait", time.Hour, 2 * time.Hour}
	shortWait = waitKind{"short_wait", time.Minute, 10 * time.Minute}
)

// Validate reports everything that is wrong with the ladder, joined. It returns nil if it is valid.
func (l Ladder) Validate() error {
	var errs []error
	for n, m := range l.Models {
		switch {
		case m == "":
			errs = append(errs, fmt.Errorf("models[%d]: a model needs a name; use its name in WithModels", n))
		case slices.Contains(l.Models[:n], m):
			errs = append(errs, fmt.Errorf("models[%d]: %q appears twice; the ladder would never get past it", n, m))
		}
	}
	if l.Ask < 0 {
		errs = append(errs, fmt.Errorf("ask: %v is no time; write 0 or more", l.Ask))
	}
	return errors.Join(errs...)
}

// The other steps of a ladder, as the notes of its plans name them.
const (
	switchProvider = "switch_provider"
	followPolicy   = "follow_policy"
	giveUp         = "give_up"
	askPeople      = "ask_people"
)

// Plan answers a question. The note of the plan says which step it is (switch_provider, long_wait,
// short_wait, follow_policy, give_up or ask_people) and which window is used up. The error is that of
// [Ladder.Validate].
func (l Ladder) Plan(_ context.Context, q Question) (machine.Plan, error) {
	if err := l.Validate(); err != nil {
		return machine.Plan{}, fmt.Errorf("ladder: %w", err)
	}
	step, plan := l.answer(q)
	if step == giveUp && q.Exhausted && l.Ask > 0 {
		step, plan = askPeople, machine.Plan{Do: machine.AskPeople, Delay: l.Ask, Note: plan.Note}
	}
	plan.Note = strings.TrimSpace(step + " " + plan.Note)
	return plan, nil
}

// answer returns the step for a question and its plan, whose note is the window. It does not ask people.
func (l Ladder) answer(q Question) (step string, plan machine.Plan) {
	if q.Plane != fault.Transport {
		return giveUp, machine.Plan{Do: machine.Abort}
	}
	w, period := decisive(q.RateLimit)
	switch {
	case period == 0 && q.Retry:
		return followPolicy, machine.Plan{Do: machine.Follow}
	case period == 0 || period >= 24*time.Hour || q.Exhausted || lastAttempt(q.Position):
		return l.next(q, w.Name)
	case period >= time.Hour:
		return l.wait(q, longWait, max(w.ResetsIn.Duration, asked(q)), w.Name)
	}
	return l.wait(q, shortWait, cmp.Or(asked(q), w.ResetsIn.Duration), w.Name)
}

// lastAttempt reports whether no attempt is left, so that a wait cannot help.
func lastAttempt(p machine.Position) bool {
	return p.MaxAttempts != policy.Unlimited && p.Attempt >= p.MaxAttempts
}

// decisive returns the used-up window with the longest period and that period; among equals, the first. A
// window of unknown length counts as one of a minute.
func decisive(s ratelimit.State) (w ratelimit.Window, longest time.Duration) {
	for _, one := range s.Windows {
		if p := cmp.Or(one.Length(), time.Minute); one.Exhausted() && p > longest {
			w, longest = one, p
		}
	}
	return w, longest
}

// asked returns how long the server asks to wait; 0 if it does not say. A long wait also lasts until the
// window resets. A short wait lasts until then only if the server does not say.
func asked(q Question) time.Duration {
	return max(q.Failure.RetryAfter, q.RateLimit.RetryAfter.Duration)
}

// wait waits within the limit. If the wait is longer or does not fit the deadline, it takes the next model.
func (l Ladder) wait(q Question, of waitKind, delay time.Duration, window string) (string, machine.Plan) {
	if delay <= 0 {
		delay = of.unknown
	}
	if delay > of.most || (!q.Deadline.IsZero() && delay >= q.Deadline.Sub(q.At)) {
		return l.next(q, window)
	}
	return of.step, machine.Plan{Do: machine.Fallback, Delay: delay, Note: window}
}

// next takes the next model. It ends the run if there is none, or if a tool failed, since another model
// cannot help a tool.
func (l Ladder) next(q Question, window string) (string, machine.Plan) {
	at := slices.Index(l.Models, q.Model) + 1
	if q.Tool != "" || at >= len(l.Models) {
		return giveUp, machine.Plan{Do: machine.Abort, Note: window}
	}
	why := string(q.Failure.Class)
	if window != "" {
		why += ", " + window + " used up"
	}
	return switchProvider, machine.Plan{
		Do: machine.Fallback, Model: l.Models[at], Note: window,
		Warning: fmt.Sprintf("went on with model %s: %s", l.Models[at], why),
	}
}
