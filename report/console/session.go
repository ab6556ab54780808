package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// facts are what the console shows of a session whose journal was read. Its texts are bounded.
type facts struct {
	journal.Summary
	// Attempt is that of what goes on, and retrying reports that it is a later one, or a wait.
	Attempt  attempt
	retrying bool
	// charged and wasted are what the run cost; tokens are lost on attempts that failed.
	charged, wasted policy.Charge
	// Request is what the user asked for, and Said what the model wrote beside the calls that are asked
	// about.
	Request, Said string
	// words are what a search finds beside the sentence.
	words string
	// asks are the open questions, and settled the latest that were answered.
	asks    []openAsk
	settled []settled
	lines   int64
	// hears reports whether a message to the run would be heard: it has not ended, and is no single action.
	hears  bool
	traits traits
	// outer is the id of the session in whose call this one was made, as an agent, or its digest until that
	// is known; empty for others. inside are the ids that the sessions of the calls under way have, if they
	// are agents. left are the tools of those that go on when the run is resumed, if no process has it; empty
	// if the sentence is not about them.
	outer        string
	inside, left []string
}

// factsOf returns the facts of a session.
func factsOf(f *journal.Fold, s journal.Summary, lines int64, by scrubber) facts {
	st := &f.State
	t := facts{
		Summary: s, Attempt: attemptOf(f), charged: st.Charged, wasted: st.Wasted, lines: lines,
		Request: by.tell(f.Request),
	}
	t.outer, _ = machine.Outer(f.Header.Session, f.Header.Config.Seed)
	if s.State == journal.SessionAsks {
		for _, a := range f.Asked.Asks {
			t.asks = append(t.asks, openAskOf(f, a, by))
			if a.Kind == machine.AskDoubt {
				t.InDoubt++
			}
		}
		t.Said = by.tell(lastSaid(st))
	}
	if s.State == journal.SessionInterrupted {
		inDoubt := len(doubtful(f))
		if t.InDoubt += inDoubt; inDoubt == 0 && f.Asked.Kind == machine.RunTools {
			t.left = toolsOf(f)
		}
	}
	if !s.State.Ended() && st.Batch != nil {
		for _, call := range f.Asked.Tools {
			id, _ := st.Child(call.Index)
			t.inside = append(t.inside, id)
		}
	}
	given := st.Given()
	for _, g := range given[max(0, len(given)-maxSettled):] {
		t.settled = append(t.settled, settledOf(f, &g, s.State, by))
	}
	t.retrying = !s.State.Ended() && (s.State == journal.SessionWaits || t.Attempt.Attempt > 1)
	t.hears = !s.State.Ended() && !st.Config.Single
	t.traits = traitsOf(f, s.State, by.tell)
	t.Why = sentence(f, &s, t.asks, by)
	t.words = strings.ToLower(strings.Join(
		[]string{s.Session, t.Request, by.tell(toolNames(f)), by.tell(st.Model)}, "\n"))
	return t
}

// lastSaid returns the text of the model's last reply.
func lastSaid(st *machine.State) string {
	said := st.Transcript()
	if n := talk.LastReply(said); n >= 0 {
		return said[n].Text
	}
	return ""
}

// attempt is that of an action, of how many; zero for none.
type attempt machine.Position

// String returns the attempt for people: "2 of 4"; empty if there is none.
func (a attempt) String() string {
	switch {
	case a.Attempt == 0:
		return ""
	case a.MaxAttempts == policy.Unlimited:
		return fmt.Sprint(a.Attempt)
	}
	return fmt.Sprintf("%d of %d", a.Attempt, a.MaxAttempts)
}

// attemptOf returns the attempt of what a run does, or did last.
func attemptOf(f *journal.Fold) attempt {
	at := slices.Clone(positions(&f.Asked))
	for _, a := range f.State.Actions {
		if len(f.Asked.Tools) == 0 && f.Asked.Model == nil {
			at = append(at, machine.Position{Attempt: a.Attempt,
				MaxAttempts: f.State.PolicyOf(policy.Target{Tool: a.Name}).MaxAttempts})
		}
	}
	if len(at) == 0 {
		return attempt{}
	}
	return attempt(slices.MaxFunc(at, func(a, b machine.Position) int {
		return cmp.Compare(a.Attempt, b.Attempt)
	}))
}

// positions returns those that an effect is about.
func positions(e *machine.Effect) []machine.Position {
	switch {
	case e.Model != nil:
		return e.Model.At
	case e.Try != nil:
		return []machine.Position{e.Try.Position}
	case e.Question != nil:
		return []machine.Position{e.Question.Position}
	case e.Outcome != nil && e.Outcome.Exhaustion != nil:
		return []machine.Position{e.Outcome.Exhaustion.Position}
	}
	return nil
}

// doubtful returns the tools of calls that have begun, and may have had an effect.
func doubtful(f *journal.Fold) (names []string) {
	for _, t := range f.Asked.Tools {
		began := func(n journal.Note) bool { return n.Kind == journal.ToolBegan && n.Key == t.Key }
		if !t.Repeatable && slices.ContainsFunc(f.Notes, began) {
			names = append(names, brief(t.Tool))
		}
	}
	return names
}

// clock returns a time for people, with its day: sessions may be old.
func clock(at time.Time) string {
	if at.IsZero() {
		return "the beginning"
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}
