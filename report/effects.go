package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// maxSaid bounds the messages between two calls of the model that a page shows.
const maxSaid = 1_000

// decision enters what was made of the latest event.
func (r *run) decision(d *journal.Decision) {
	if r.kept.bytes > 0 {
		fits := min(len(d.Said), maxSaid-len(r.said))
		r.said, r.unsaid = append(r.said, d.Said[:fits]...), r.unsaid+len(d.Said)-fits
	}
	for _, e := range d.Effects {
		if e.Kind != machine.Decided {
			r.asked = e
		}
		if enter, ok := effecting[e.Kind]; ok {
			made := enter(r, &e)
			if made.detail == nil {
				made.detail = &detail{}
			}
			made.detail.effect = e
			r.enter(made)
		}
	}
}

// effecting makes an entry of an effect.
var effecting = map[machine.EffectKind]func(*run, *machine.Effect) entry{
	machine.Decided:    (*run).decided,
	machine.CallModel:  (*run).called,
	machine.TryAction:  (*run).tries,
	machine.RunTools:   (*run).running,
	machine.WaitUntil:  (*run).waiting,
	machine.AskPlanner: (*run).consulted,
	machine.Stop:       (*run).stopped,
}

func (r *run) called(e *machine.Effect) entry {
	r.totals.Calls++
	text := strings.TrimPrefix(strings.TrimPrefix(e.String(), "call the model"), ", ")
	if e.Model.Model != "" {
		text = "model" + text
	}
	return entry{Kind: called, detail: r.saying()}.says(fmt.Sprintf("%d: %s", r.totals.Calls, text))
}

func (r *run) tries(e *machine.Effect) entry {
	r.totals.Tries++
	text := strings.TrimPrefix(e.String(), "try ")
	return entry{Kind: trying, detail: r.saying()}.says(fmt.Sprintf("%d: %s", r.totals.Tries, text))
}

// saying is what was said since the model was called last.
func (r *run) saying() *detail {
	d := &detail{said: r.said, first: r.first + 1}
	r.first += len(r.said) + r.unsaid
	r.said, r.unsaid = nil, 0
	return d
}

func (r *run) running(e *machine.Effect) entry {
	clear(r.tools)
	clear(r.landed)
	for _, t := range e.Tools {
		r.tools[t.Index] = t
	}
	return entry{Kind: running}.says(strings.TrimPrefix(e.String(), "run "))
}

func (r *run) waiting(e *machine.Effect) entry {
	r.longest = max(r.longest, e.Wait.Delay)
	r.totals.Waited = backoff.Sum(r.totals.Waited, e.Wait.Delay)
	text := fmt.Sprintf("%s (%s)", short(e.Wait.Delay), string(e.Wait.Reason))
	return entry{Kind: waiting, Wait: e.Wait.Delay}.says(text)
}

func (r *run) consulted(e *machine.Effect) entry {
	return entry{Kind: consulted}.says(strings.TrimPrefix(e.String(), "ask the planner: "))
}

func (r *run) stopped(e *machine.Effect) entry {
	r.outcome = e.Outcome
	text := e.String()
	for _, lead := range []string{"done: ", "stop: ", "done"} {
		text = strings.TrimPrefix(text, lead)
	}
	r.saying()
	return entry{Kind: stopped, good: e.Outcome.OK}.says(text, strings.Join(e.Outcome.Warnings, "; "))
}

// decided enters an attempt, and what is left after it.
func (r *run) decided(e *machine.Effect) entry {
	d := *e.Decision
	room, usage := r.ledger.decide(&d, r.on)
	r.totals.count(&d)
	made := entry{
		Kind: attempted, Decision: &d, Left: room, Usage: usage, told: usage == r.told,
		detail: &detail{policy: r.explain(&d)},
	}
	more := []string{}
	if refused := d.ReducerError; refused != nil {
		more = append(more, fmt.Sprintf("reducer %s refused: %s", refused.Reducer, refused.Message))
	} else if d.Feedback != nil {
		more = append(more, issuesText(d.Feedback.Issues), d.Feedback.Detail)
	}
	if r.header.Config.Single {
		more = append(more, r.why)
	}
	more = append(more, verdictText(&d))
	d.Feedback, d.ReducerError = nil, nil
	return made.says(attemptText(&d), more...)
}

// attemptText says which attempt it was, and what was wrong with it.
func attemptText(d *machine.Decision) string {
	text := d.Position.String()
	if d.Class == "" {
		return text
	}
	return fmt.Sprintf("%s, %s plane: %s", text, d.Plane, d.Class)
}

// verdictText says what was decided, and why.
func verdictText(d *machine.Decision) string {
	reason := d.Reason.Phrase()
	if string(d.Reason) != reason {
		reason += " (" + string(d.Reason) + ")"
	}
	switch {
	case d.Retry && d.Delay > 0:
		return fmt.Sprintf("again after %s: %s", short(d.Delay), reason)
	case d.Retry:
		return "again: " + reason
	}
	if d.Class == "" && d.Reason == policy.Accepted {
		return ""
	}
	return "no more: " + reason + detailText(d.Detail)
}

// detailText has the numbers behind a stop.
func detailText(d policy.Detail) string {
	switch {
	case d.Wait > 0:
		return fmt.Sprintf(": a wait of %s, and room for %s", short(d.Wait), short(d.Room))
	case d.Count > 0:
		return fmt.Sprintf(": %d, allowed are %d", d.Count, d.Limit)
	}
	return ""
}

// shownIssues is how many issues a line names.
const shownIssues = 4

// issuesText names the first issues.
func issuesText(issues []fault.Issue) string {
	var parts []string
	for n, i := range issues {
		if n == shownIssues {
			parts = append(parts, fmt.Sprintf("and %d more", len(issues)-n))
			break
		}
		parts = append(parts, i.String())
	}
	return strings.Join(parts, "; ")
}

// totals count what a run took.
type totals struct {
	Calls, Replies, Tries, Tools, Resumed int
	// Accepted, Corrected and Sent count attempts: good ones, and failed ones of either plane.
	Accepted, Corrected, Sent int
	Usage                     message.Usage
	Waited                    time.Duration
}

func (t *totals) count(d *machine.Decision) {
	switch {
	case d.Class != "" && d.Plane == fault.Transport:
		t.Sent++
	case d.Class != "":
		t.Corrected++
	case d.Reason == policy.Accepted:
		t.Accepted++
	}
}

// counted names what there was at least one of.
func (t *totals) counted() []counted {
	return slices.DeleteFunc([]counted{
		{t.Calls, "model call"}, {t.Tries, "try"}, {t.Tools, "tool run"}, {t.Accepted, "accepted attempt"},
		{t.Corrected, "failed attempt"}, {t.Sent, "transport fault"}, {t.Resumed, "resumption"},
	}, func(c counted) bool { return c.n == 0 })
}

// counted is a number of things.
type counted struct {
	n    int
	what string
}

// String is the sum for people.
func (t *totals) String() string {
	parts := []string{}
	for _, c := range t.counted() {
		parts = append(parts, many(c.n, c.what))
	}
	if t.Waited > 0 {
		parts = append(parts, "waited "+short(t.Waited))
	}
	if text := usageText(t.Usage); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// usageText is usage for people; empty where there is none.
func usageText(u message.Usage) string {
	if u.InputTokens+u.OutputTokens+u.CacheReadTokens+u.CacheWriteTokens == 0 {
		return ""
	}
	text := fmt.Sprintf("%d tokens in, %d out", u.InputTokens, u.OutputTokens)
	if u.ReasoningTokens > 0 {
		text += fmt.Sprintf(" (%d of them thinking)", u.ReasoningTokens)
	}
	if u.CacheReadTokens > 0 {
		text += fmt.Sprintf(", %d read from cache", u.CacheReadTokens)
	}
	if u.CacheWriteTokens > 0 {
		text += fmt.Sprintf(", %d written to it", u.CacheWriteTokens)
	}
	return text
}
