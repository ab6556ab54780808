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
	"github.com/retake-go/retake/report/internal/told"
)

// The filters by a value. Those before firstChoice are links with what each value has, the others selects.
const (
	statePick = iota
	doubtPick
	retryPick
	waitPick
	modelPick
	toolPick
	classPick
	endPick
	storePick
	agePick
	numPicks
	firstChoice = waitPick
)

// pick is a filter by a value: its name in the address, that for people, and its values if these are known.
type pick struct {
	name, label string
	known       []string
}

var picks = [numPicks]pick{
	statePick: {"state", "state", namesOf([]journal.SessionState{
		journal.SessionAsks, journal.SessionInterrupted, journal.SessionFailed, journal.SessionRuns,
		journal.SessionWaits, journal.SessionDone,
	}, func(s journal.SessionState) string { return string(s) })},
	doubtPick: {"doubt", "doubt", []string{isSo}}, retryPick: {"retry", "attempt", []string{isSo}},
	waitPick: {"wait", "waits for", nil}, modelPick: {"model", "model", nil}, toolPick: {"tool", "tool", nil},
	classPick: {"class", "failure", nil}, endPick: {"end", "ended", nil}, storePick: {"store", "store", nil},
	agePick: {"age", "last event", namesOf(ages, func(a age) string { return a.name })},
}

// isSo is the value of what a session is or is not.
const isSo = "1"

// traits are the values that a row has by its journal.
type traits [numPicks][]string

// age is how long ago the last event was at most; 0 for all that is longer ago than the others.
type age struct {
	name, label string
	within      time.Duration
}

var ages = []age{{"hour", "within an hour", time.Hour}, {"day", "within a day", 24 * time.Hour},
	{"week", "within a week", 7 * 24 * time.Hour}, {"older", "longer ago", 0}}

// values returns those that a row has for a filter.
func (s *watched) values(pick int, now time.Time) (names []string) {
	so := func(is bool) []string {
		if is {
			return []string{isSo}
		}
		return nil
	}
	switch pick {
	case statePick:
		return []string{string(s.State)}
	case doubtPick:
		return so(s.InDoubt > 0)
	case retryPick:
		return so(s.retrying)
	case agePick:
		for _, a := range ages {
			if old := a.within == 0; !old && now.Sub(s.Last) <= a.within || old && len(names) == 0 {
				names = append(names, a.name)
			}
		}
		return names
	}
	return s.traits[pick]
}

// maxTraits is how many values of one kind are known of a session.
const maxTraits = 16

// traitsOf returns what a journal says for the filters. tell makes a text fit to be shown.
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

// chipsOf returns the links of the filters, with what each has.
func chipsOf(f filter, all []*watched, now time.Time) (chips []chip) {
	for n := range firstChoice {
		counts := countsOf(n, all, now)
		for _, value := range picks[n].known {
			g, on := f, f.Picks[n] == value
			if g.Picks[n] = value; on {
				g.Picks[n] = ""
			}
			text := spokenOf(n, value)
			text = strings.ToUpper(text[:1]) + text[1:]
			chips = append(chips, chip{text, g.at(1), several.Grouped(counts[value]), on})
		}
	}
	return chips
}

// choicesOf returns the filters with a select, with what each value has, of all sessions. A filter that tells
// no sessions apart is left out unless it is on.
func choicesOf(f filter, all []*watched, now time.Time) (choices []choice) {
	for n := firstChoice; n < numPicks; n++ {
		counts, on := countsOf(n, all, now), f.Picks[n]
		if on != "" {
			counts[on] += 0
		}
		values := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			known := picks[n].known
			return cmp.Or(slices.Index(known, a)-slices.Index(known, b), counts[b]-counts[a], cmp.Compare(a, b))
		})
		if on == "" && !slices.ContainsFunc(values, func(v string) bool { return counts[v] < len(all) }) {
			continue
		}
		c := choice{Name: picks[n].name, Label: picks[n].label, On: on != ""}
		for at, value := range values {
			if at < maxOptions || value == on {
				c.Options = append(c.Options, offer{value, spokenOf(n, value), several.Grouped(counts[value]), value == on})
			}
		}
		choices = append(choices, c)
	}
	return choices
}

// countsOf returns the values of a filter, with how many sessions have each.
func countsOf(pick int, all []*watched, now time.Time) map[string]int {
	counts := map[string]int{}
	for _, s := range all {
		for _, value := range s.values(pick, now) {
			counts[value]++
		}
	}
	return counts
}

// spokenOf returns a value of a filter for people.
func spokenOf(pick int, value string) string {
	switch pick {
	case doubtPick:
		return "in doubt"
	case retryPick:
		return "retrying"
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
		return told.Words(value)
	}
	return value
}
