package console

import (
	"cmp"
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/report/internal/told"
)

// settled is a question that was answered, as the inbox shows it.
type settled struct {
	Tool, How string
	// Came is what came of its call; empty if there is none.
	Came string
	// In is the session; it is set where the question is shown.
	In       *watched
	question string
	at       time.Time
}

// Says returns how the question was answered, and what came of it.
func (s *settled) Says() string {
	if s.Came == "" {
		return s.How
	}
	return s.How + "; " + s.Came
}

// Anchor returns the id of the question on pages.
func (s *settled) Anchor() string { return s.In.anchor(s.question) }

// maxSettled is how many answered questions are known of a session, and shown of all.
const (
	maxSettled = 5
	allSettled = 50
)

// settledSince returns the questions that were answered since a time, the latest first.
func (c *Console) settledSince(since time.Time) (all []settled) {
	sessions, _ := c.watch.all()
	for _, s := range sessions {
		for _, one := range s.settled {
			if one.In = s; !one.at.Before(since) {
				all = append(all, one)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b settled) int { return b.at.Compare(a.at) })
	return all[:min(len(all), allSettled)]
}

// settledOf says how a question was answered, and what came of it.
func settledOf(f *journal.Fold, g *machine.Given, state journal.SessionState, by scrubber) settled {
	how := ruled(g.Verdict)
	switch {
	case g.Nobody:
		how = "nobody answered in time: " + how
	case g.Changed:
		how += " with changed arguments"
	}
	if who := by.author(g.By); who != "" {
		how += " " + who
	}
	one := settled{question: g.Question, Tool: brief(cmp.Or(g.Tool, "the answer")), How: how + " at " + clock(g.At),
		at: g.At}
	switch came, ok := f.Came(g.Question); {
	case !ok:
	case g.Verdict == machine.Approve, g.Verdict == machine.RunAgain, g.Verdict == machine.GoOn && g.Changed:
		one.Came = one.Tool + " " + cameText(&came, state)
		if came.NotAccepted {
			one.Came += ": not accepted"
		}
		if came.Text != "" {
			one.Came += ": " + brief(visible(by.scrub(came.Text)))
		}
	}
	return one
}

// rulings say how a question was answered.
var rulings = map[machine.Ruling]string{
	machine.Approve: "approved", machine.Refuse: "refused", machine.WasDone: "said to be done",
	machine.WasNotDone: "said not to be done", machine.RunAgain: "told to run again",
	machine.NobodyKnows: "left in doubt", machine.GoOn: "told to go on", machine.EndRun: "ended",
}

func ruled(r machine.Ruling) string { return cmp.Or(rulings[r], told.Words(brief(string(r)))) }

// ends say how a call ended.
var ends = map[machine.Verdict]string{
	machine.Done: "ran", machine.AskAgain: "asked for another call", machine.Failed: "failed",
	machine.Broke: "failed", machine.TryLater: "asked to be tried later", machine.Unknown: "may have run",
	machine.Denied: "was refused again",
}

// cameText returns what came of a call, without what it said.
func cameText(came *journal.Came, state journal.SessionState) string {
	text := ends[came.Verdict]
	switch {
	case came.Again && text == "":
		return "was not run yet: a person is asked about it again"
	case came.Again:
		return text + ", and a person is asked about it"
	case came.InDoubt && came.Verdict != machine.Unknown:
		return text + ", and nobody knows what it did"
	case !came.Open && text == "":
		return "was not run"
	case !came.Open:
		return text
	case state == journal.SessionInterrupted:
		return "was to run, and no process has the session: resume it"
	case text == "" && state == journal.SessionRuns:
		return "runs"
	case text == "":
		return "is to run"
	}
	return text + ", and is tried again"
}
