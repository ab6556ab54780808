package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/report/internal/told"
)

// sentence says what a session does, and what will unblock it.
func sentence(f *journal.Fold, s *journal.Summary, asks []openAsk, by scrubber) string {
	switch s.State {
	case journal.SessionDone, journal.SessionFailed:
		return ended(f.State.Outcome, f.Failed)
	case journal.SessionAsks:
		first := &asks[0]
		arguments := string(masked.JSON(first.Arguments, first.secrets))
		if !by.showSecrets {
			arguments = fault.Scrub(arguments)
		}
		return asked(f.Asked.Asks, arguments)
	case journal.SessionWaits:
		return "waits until " + clock(s.Until) + " to " + f.Asked.Wait.Reason.Phrase()
	case journal.SessionInterrupted:
		return unblocks(f)
	}
	return doing(f)
}

// ended says how a run ended after so many corrections.
func ended(o *machine.Outcome, corrections int) string {
	about, doubt := brief(told.Outcome(o)), brief(told.InDoubt(o))
	if o.OK && about == "" {
		about = "the answer is empty"
	}
	switch {
	case doubt != "":
		return doubt + ". " + about
	case o.OK && corrections > 0:
		return about + " (after " + several.Of(corrections, "correction") + ")"
	}
	return about
}

// asked says what people are asked, the first about arguments, until when, and what holds then.
func asked(asks []machine.Ask, arguments string) string {
	a := &asks[0]
	text, values := brief(cmp.Or(a.Tool, "the answer")), brief(spoken(arguments))
	switch {
	case a.Kind == machine.AskExhausted && a.Failure != nil:
		text += " gave up: " + brief(told.Failure(a.Failure)) + ". Go on, or end?"
	case a.Kind == machine.AskDoubt && values != "":
		text += " may have run with " + values + ": done, not done, or again?"
	case a.Kind == machine.AskDoubt:
		text += " may have run: done, not done, or again?"
	case values != "":
		text += ": " + values + "?"
	default:
		text += "?"
	}
	if !a.Deadline.IsZero() {
		text += " By " + clock(a.Deadline) + ", else " + defaultWord(a.Default)
	}
	if more := len(asks) - 1; more > 0 {
		text += fmt.Sprintf(" And %s.", several.Of(more, "more question"))
	}
	return text
}

// spoken returns arguments as people say them: the names and values of an object. A text that could be taken
// for another value, or for more than one, is quoted.
func spoken(arguments string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil {
		return arguments
	}
	parts := make([]string, 0, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := string(object[name])
		var text string
		if json.Unmarshal(object[name], &text) == nil && text != "" && !strings.ContainsAny(text, `,"`) &&
			!json.Valid([]byte(text)) {
			value = text
		}
		parts = append(parts, name+" "+value)
	}
	return strings.Join(parts, ", ")
}

// defaultWord says what holds if nobody answers.
func defaultWord(r machine.Ruling) string {
	switch r {
	case machine.Approve:
		return "approved"
	case machine.Refuse:
		return "refused"
	}
	if r == machine.EndRun {
		return "ended"
	}
	return "left in doubt"
}

// unblocks says what a session needs that no process has.
func unblocks(f *journal.Fold) string {
	e, since := &f.Asked, "no process since "+clock(f.State.At)+"; "
	switch names := doubtful(f); {
	case e.Kind == machine.WaitUntil && e.Wait != nil:
		return "overdue since " + clock(e.Wait.Until) + ": no process took it up; resume it"
	case e.Kind == machine.AskPerson && len(e.Asks) > 0:
		return brief(e.Asks[0].Tool) + ": nobody answered by " + clock(machine.AskedUntil(e.Asks)) + ", so it is " +
			defaultWord(e.Asks[0].Default) + "; resume it"
	case len(names) > 0:
		return since + strings.Join(names, " and ") + " may have run, and is not repeated; resume it"
	case e.Kind == machine.RunTools:
		return leftCalls(f.State.At, toolsOf(f), nil)
	}
	return since + "resume it: it goes on with what it began"
}

// doing says what a running session does.
func doing(f *journal.Fold) string {
	e := &f.Asked
	switch {
	case e.Kind == machine.CallModel:
		text := "calls the model"
		if e.Model.Model != "" {
			text = "calls " + brief(e.Model.Model)
		}
		return text + ", attempt " + attemptOf(f).String()
	case e.Kind == machine.RunTools:
		return "runs " + toolNames(f)
	case e.Kind == machine.TryAction:
		return "tries, attempt " + attemptOf(f).String()
	case e.Kind == machine.AskGrant:
		return "waits for its turn at the limiter"
	case e.Kind == machine.AskPlanner:
		return "asks the planner what to do"
	case e.Kind == "":
		return "begins"
	}
	return told.Words(brief(string(e.Kind)))
}

// leftCalls says that calls were left, and what becomes of them: see [resumed].
func leftCalls(since time.Time, names []string, isAgent map[int]bool) string {
	return "no process since " + clock(since) + "; " + resumed(names, isAgent) + "; resume it"
}

// resumed says what becomes of calls when their run is resumed, by the names of their tools. Those of agents
// go on.
func resumed(names []string, isAgent map[int]bool) string {
	var again, on, both []string
	for n, name := range names {
		if isAgent[n] {
			on = append(on, name)
		} else {
			again = append(again, name)
		}
	}
	switch len(again) {
	case 0:
	case 1:
		both = append(both, again[0]+" was to run, and is repeated")
	default:
		both = append(both, few(again)+" were to run, and are repeated")
	}
	switch len(on) {
	case 0:
	case 1:
		both = append(both, on[0]+" goes on where it was")
	default:
		both = append(both, few(on)+" go on where they were")
	}
	return strings.Join(both, "; ")
}

// toolsOf names the tools of the calls under way.
func toolsOf(f *journal.Fold) (names []string) {
	for _, t := range f.Asked.Tools {
		names = append(names, brief(t.Tool))
	}
	for n := range f.Asked.Asks {
		names = append(names, brief(f.Asked.Asks[n].Tool))
	}
	return names
}

// toolNames names the tools that run.
func toolNames(f *journal.Fold) string { return few(toolsOf(f)) }

// few returns the first names, and how many more there are.
func few(names []string) string {
	if more := len(names) - 4; more > 0 {
		names = append(slices.Clone(names[:4]), fmt.Sprint(more, " more"))
	}
	return strings.Join(names, " and ")
}

// maxBrief is the most characters of a text in a row.
const maxBrief = 200

// brief returns the first characters of a text on one line. Characters that cannot be seen become U+FFFD.
func brief(text string) string { return told.Brief(text, maxBrief) }
