package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
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
	request         string
	// words are what a search finds beside the sentence.
	words string
	asks  []machine.Ask
	// forms are the schemas of the arguments that are asked about, by tool, and secrets the places of the
	// values that are not shown.
	forms   map[string]json.RawMessage
	secrets map[string][]string
	// said is what the model wrote beside the calls that are asked about, and earlier are the latest calls of
	// their tools that had an effect, or may have had one.
	said    string
	earlier map[string][]projection.Call
	// beside is what stands beside each question, by its id, and given are the latest that were answered.
	beside map[string]questionContext
	given  []machine.Given
	// came is what came of their calls, by the question's id, and untaken what a run said of the last answers
	// to open questions that it did not take.
	came    map[string]journal.Came
	untaken map[string]string
	lines   int64
	// hears reports whether a message to the run would be heard: it has not ended, and is no single action.
	hears  bool
	traits traits
	// outer is the id of the session, or its digest, in whose call this one was made, as an agent; empty for
	// others. inside are the ids that the sessions of the calls under way have, if they are agents, and names
	// their tools.
	outer         string
	inside, names []string
}

// factsOf returns the facts of a session. Its texts have no keys, and the sentence no values that a schema
// marks as secret, unless secrets are shown.
func factsOf(f *journal.Fold, s journal.Summary, lines int64, showSecrets bool) facts {
	st := &f.State
	tell := func(text string) string {
		if text = canon.Cut(text, maxTold); !showSecrets {
			text = fault.ScrubText(text)
		}
		return brief(text)
	}
	t := facts{
		Summary: s, Attempt: attemptOf(f), charged: st.Charged, wasted: st.Wasted, lines: lines,
		request: tell(f.Request),
	}
	t.outer, _ = machine.Outer(f.Header.Session, f.Header.Config.Seed)
	if s.State == journal.SessionAsks {
		t.asks, t.forms, t.earlier = f.Asked.Asks, map[string]json.RawMessage{}, map[string][]projection.Call{}
		t.beside, t.secrets = map[string]questionContext{}, map[string][]string{}
		t.untaken = map[string]string{}
		for _, a := range t.asks {
			t.beside[a.ID], t.untaken[a.ID] = contextOf(st, &a), tell(f.Untaken(a.ID))
			t.forms[a.Tool], t.earlier[a.Tool] = f.Form(a.Tool), earlierCalls(st, a.Tool)
			if !showSecrets {
				t.secrets[a.Tool] = secretsOf(t.forms[a.Tool])
			}
		}
		t.said = tell(lastSaid(st))
		t.InDoubt += countDoubts(t.asks)
	}
	if s.State == journal.SessionInterrupted {
		t.InDoubt += len(doubtful(f))
	}
	if !s.State.Ended() && st.Batch != nil {
		for _, call := range f.Asked.Tools {
			id, _ := st.Child(call.Index)
			t.inside = append(t.inside, id)
		}
		t.names = toolsOf(f)
	}
	t.given = slices.Clone(st.Given[max(0, len(st.Given)-maxSettled):])
	if len(t.given) > 0 {
		t.came = map[string]journal.Came{}
	}
	for _, g := range t.given {
		if came, ok := f.Came(g.Question); ok {
			t.came[g.Question] = came
		}
	}
	t.retrying = !s.State.Ended() && (s.State == journal.SessionWaits || t.Attempt.Attempt > 1)
	t.hears = !s.State.Ended() && !st.Config.Single
	t.traits = traitsOf(f, s.State, tell)
	t.Why = sentence(f, &s, t.secrets, showSecrets)
	t.words = strings.ToLower(strings.Join([]string{s.Session, t.request, tell(toolNames(f)), tell(st.Model)}, "\n"))
	return t
}

// maxTold is how many bytes of a text are looked through for what is told of it.
const maxTold = 4 * maxBrief

// lastSaid is the text of the model's last reply.
func lastSaid(st *machine.State) string {
	said := st.Transcript()
	if n := talk.LastReply(said); n >= 0 {
		return said[n].Text
	}
	return ""
}

// maxEarlier is how many earlier calls of a tool are shown.
const maxEarlier = 5

// earlierCalls are the latest calls of a tool in the session that had an effect, or may have had one: those
// in doubt first, then the latest.
func earlierCalls(st *machine.State, tool string) (all []projection.Call) {
	for _, turn := range slices.Backward(st.Kept().Turns) {
		for _, call := range slices.Backward(turn.Calls) {
			if call.Tool == tool {
				all = append(all, call)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b projection.Call) int { return sooner(a.InDoubt) - sooner(b.InDoubt) })
	return slices.Clone(all[:min(len(all), maxEarlier)])
}

// sooner puts what holds before what does not.
func sooner(holds bool) int {
	if holds {
		return 0
	}
	return 1
}

func countDoubts(asks []machine.Ask) (n int) {
	for _, a := range asks {
		if a.Kind == machine.AskDoubt {
			n++
		}
	}
	return n
}

// attempt is that of an action, of how many; zero for none.
type attempt machine.Position

// String is the attempt for people: "2 of 4"; empty if there is none.
func (a attempt) String() string {
	switch {
	case a.Attempt == 0:
		return ""
	case a.MaxAttempts == policy.Unlimited:
		return fmt.Sprint(a.Attempt)
	}
	return fmt.Sprintf("%d of %d", a.Attempt, a.MaxAttempts)
}

// attemptOf is the attempt of what a run does, or did last.
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

// positions are those that an effect is about.
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

// doubtful are the tools of calls that have begun, and may have had an effect.
func doubtful(f *journal.Fold) (names []string) {
	for _, t := range f.Asked.Tools {
		began := func(n journal.Note) bool { return n.Kind == journal.ToolBegan && n.Key == t.Key }
		if !t.Repeatable && slices.ContainsFunc(f.Notes, began) {
			names = append(names, brief(t.Tool))
		}
	}
	return names
}

// clock is a time for people, with its day: sessions may be old.
func clock(at time.Time) string {
	if at.IsZero() {
		return "the beginning"
	}
	return at.UTC().Format("2006-01-02 15:04:05 UTC")
}
