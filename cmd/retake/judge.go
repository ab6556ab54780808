package main

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// epoch is the time at which every session begins: no clock is read.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// verdict is what is found in one reply, as check writes it.
type verdict struct {
	OK       bool        `json:"ok"`
	Class    fault.Class `json:"class,omitempty"`
	Calls    []readCall  `json:"calls"`
	Issues   []issue     `json:"issues,omitempty"`
	Feedback string      `json:"feedback,omitempty"`
}

type readCall struct {
	Tool string `json:"tool"`
	// Arguments is null where they cannot be read.
	Arguments json.RawMessage  `json:"arguments"`
	Repairs   []extract.Repair `json:"repairs"`
}

// issue is an issue of one call; of the reply as a whole where Call is nil.
type issue struct {
	Call     *int       `json:"call,omitempty"`
	Pointer  string     `json:"pointer"`
	Rule     string     `json:"rule"`
	Expected string     `json:"expected"`
	Got      fault.Kind `json:"got"`

	text string
}

// judge finds out what a run would make of a reply as its first.
func judge(cfg loop.Config, r message.Reply) (verdict, error) {
	s, err := session.New(session.Config{ID: "check"})
	if err != nil {
		return verdict{}, err
	}
	var read *machine.Reply
	record := func(ev machine.Event, _ []machine.Effect, _ machine.State) { read = ev.Reply }
	runner, err := loop.NewRunner(s, cfg, record, loop.WithPlanner(undecided))
	if err != nil {
		return verdict{}, err
	}
	defer runner.Close()
	if _, err = runner.Start(epoch); err != nil {
		return verdict{}, err
	}
	if _, err = runner.Reply(epoch, r); err != nil {
		return verdict{}, err
	}
	return verdictOf(runner.State(), read), nil
}

// undecided is a planner that is never asked: with one, a run whose only attempt failed stands still, and
// what the model would be told of it can be seen.
var undecided = planner.PlannerFunc(nil)

func verdictOf(st machine.State, read *machine.Reply) verdict {
	v := verdict{OK: st.Outcome != nil && st.Outcome.OK, Calls: make([]readCall, len(read.Calls))}
	for n, c := range read.Calls {
		v.Calls[n] = readCall{Tool: c.Tool, Arguments: c.Arguments, Repairs: append([]extract.Repair{}, c.Repairs...)}
		if v.Class == "" {
			v.Class = c.Class
		}
		v.Issues = append(v.Issues, issuesOf(&n, c.Issues)...)
	}
	if v.OK {
		return v
	}
	if last, _ := st.Session.Attempts().Last(); v.Class == "" {
		v.Class, v.Issues = last.Class, issuesOf(nil, last.Issues)
	}
	v.Feedback = told(st)
	return v
}

func issuesOf(call *int, issues []fault.Issue) []issue {
	all := make([]issue, len(issues))
	for n, i := range issues {
		all[n] = issue{Call: call, Pointer: i.Pointer, Rule: i.Rule, Expected: i.Expected, Got: i.Got, text: i.String()}
	}
	return all
}

// told is what the model is told after its reply.
func told(st machine.State) string {
	var words []string
	for _, m := range st.Transcript.All() {
		if m.Role != message.Assistant {
			words = append(words, m.Text)
		}
	}
	if len(words) == 0 && st.Batch != nil {
		for _, c := range st.Batch.All() {
			words = append(words, c.Answer)
		}
	}
	return strings.Join(words, "\n\n")
}
