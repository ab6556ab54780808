package console

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// The filters by a value, by their places in a row's traits.
const (
	waitPick = iota
	modelPick
	toolPick
	classPick
	endPick
	storePick
	agePick
	numPicks
)

// picks are the filters by a value: their names in the address, and those for people.
var picks = [numPicks]struct{ name, label string }{
	waitPick: {"wait", "waits for"}, modelPick: {"model", "model"}, toolPick: {"tool", "tool"},
	classPick: {"class", "failure"}, endPick: {"end", "ended"}, storePick: {"store", "store"},
	agePick: {"age", "last event"},
}

// traits are the values that a row has for each filter by a value.
type traits [numPicks][]string

// ages are how long ago the last event was, by name.
var ages = []struct {
	name, label string
	within      time.Duration
}{{"hour", "within an hour", time.Hour}, {"day", "within a day", 24 * time.Hour},
	{"week", "within a week", 7 * 24 * time.Hour}, {"older", "longer ago", 0}}

// isAged reports whether the last event of a row is as old as a name of ages says.
func isAged(r *row, name string, now time.Time) bool {
	old := now.Sub(r.Last)
	for _, a := range ages {
		if a.name == name && a.within > 0 {
			return old <= a.within
		}
	}
	return old > ages[len(ages)-2].within
}

// maxTraits is how many values of one kind are known of a session.
const maxTraits = 16

// traitsOf are what a journal says for the filters. tell makes a text fit to be shown.
func traitsOf(f *journal.Fold, s journal.SessionState, tell func(string) string) (t traits) {
	add := func(n int, value string) {
		if value = tell(value); value != "" && len(t[n]) < maxTraits && !slices.Contains(t[n], value) {
			t[n] = append(t[n], value)
		}
	}
	st, e := &f.State, &f.Asked
	switch {
	case s == journal.SessionAsks:
		add(waitPick, "person")
	case s == journal.SessionWaits && e.Wait != nil:
		add(waitPick, string(e.Wait.Reason))
	case e.Kind == machine.AskGrant && !s.Ended():
		add(waitPick, "limiter")
	}
	model := st.Model
	if e.Model != nil && !s.Ended() {
		model = e.Model.Model
	}
	if st.Config != nil {
		add(modelPick, cmp.Or(st.Config.Models[model].Name, model))
	}
	for _, call := range e.Tools {
		add(toolPick, call.Tool)
	}
	for _, a := range e.Asks {
		add(toolPick, a.Tool)
		if a.Failure != nil {
			add(classPick, string(a.Failure.Class))
		}
	}
	for _, turn := range slices.Backward(st.Kept().Turns) {
		for _, name := range slices.Concat(turn.Failed, turn.Passed) {
			add(toolPick, name)
		}
	}
	for n := range st.Actions {
		if last := st.Feedback(st.Actions[n].Name); last != nil {
			add(classPick, string(last.ErrorType))
		}
	}
	if o := st.Outcome; o != nil && s.Ended() {
		add(endPick, string(o.Reason))
		switch {
		case o.Exhaustion != nil:
			add(classPick, string(o.Exhaustion.Failure.Class))
		case !o.OK:
			add(classPick, string(o.Reason.Class()))
		}
	}
	return t
}

// has reports whether a row has a value of a filter.
func (r *row) has(pick int, value string, now time.Time) bool {
	if pick == agePick {
		return isAged(r, value, now)
	}
	return slices.Contains(r.traits[pick], value)
}

// offer is a value of a filter, and how many sessions have it.
type offer struct {
	Value, Text string
	Count       string
	On          bool
}

// choice is a filter by a value, as a select.
type choice struct {
	Name, Label string
	On          bool
	Options     []offer
}

// maxOptions is how many values a filter offers: those that most sessions have.
const maxOptions = 40

// choicesOf are the filters by a value with what each value has, of all sessions. A filter that tells no
// sessions apart is left out unless it is on.
func choicesOf(f filter, all []*watched, now time.Time) (choices []choice) {
	for n, p := range picks {
		counts := countsOf(n, all, now)
		on := f.Picks[n]
		if on != "" {
			counts[on] += 0
		}
		if values := slices.Collect(maps.Values(counts)); on == "" && (len(values) == 0 || len(values) == 1 && values[0] == len(all)) {
			continue
		}
		c := choice{Name: p.name, Label: p.label, On: on != ""}
		values := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			if n == agePick {
				return slices.Index(ageNames(), a) - slices.Index(ageNames(), b)
			}
			return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
		})
		for at, value := range values {
			if at < maxOptions || value == on {
				c.Options = append(c.Options, offer{value, spokenOf(n, value), several.Grouped(counts[value]), value == on})
			}
		}
		choices = append(choices, c)
	}
	return choices
}

// countsOf are the values of a filter, with how many sessions have each.
func countsOf(pick int, all []*watched, now time.Time) map[string]int {
	counts := map[string]int{}
	for _, s := range all {
		for _, value := range s.row.traits[pick] {
			counts[value]++
		}
		for _, a := range ages {
			if pick == agePick && isAged(s.row, a.name, now) {
				counts[a.name]++
			}
		}
	}
	return counts
}

// spokenOf is a value of a filter for people.
func spokenOf(pick int, value string) string {
	switch pick {
	case agePick:
		for _, a := range ages {
			if a.name == value {
				return a.label
			}
		}
	case waitPick, endPick:
		if value == "person" || value == "limiter" {
			return "a " + value
		}
		return strings.TrimPrefix(policy.Reason(value).Phrase(), "retry after ")
	case classPick:
		return words(value)
	}
	return value
}
