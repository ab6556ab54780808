package corpus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Verdict says whether a reply can be used. A reply is ok if it has at least one call and all of its calls
// can be used.
type Verdict struct {
	OK bool `json:"ok"`
	// Class is that of the first failure; empty if the reply is ok.
	Class fault.Class   `json:"class,omitempty"`
	Calls []callVerdict `json:"calls"`
	// Issues are all issues, call by call.
	Issues []issueVerdict `json:"issues,omitempty"`
	// Feedback is the text that the model would get.
	Feedback string `json:"feedback,omitempty"`
}

// callVerdict is a call that was found in a reply.
type callVerdict struct {
	// Tool is the name of the tool, or the name as written for an unknown tool.
	Tool string `json:"tool"`
	// Arguments are nil if they cannot be read.
	Arguments json.RawMessage `json:"arguments"`
	// Repairs are those that were needed to read the call.
	Repairs []extract.Repair `json:"repairs"`
}

// issueVerdict is an issue of one call, or of the reply as a whole.
type issueVerdict struct {
	// Call is the index of the call; nil for the whole reply.
	Call     *int       `json:"call,omitempty"`
	Pointer  string     `json:"pointer"`
	Rule     string     `json:"rule"`
	Expected string     `json:"expected"`
	Got      fault.Kind `json:"got"`

	text string
}

// unreadable are the rules of replies that were not read: nothing in them could be held against a schema.
var unreadable = []string{
	fault.RuleSyntax, fault.RuleDuplicateKey, fault.RuleInvalidUTF8, fault.RuleTrailingData, fault.RuleDepth,
	fault.RuleSize,
	fault.RuleNoOutput, fault.RuleNoCall, fault.RuleTruncated,
}

// Unreadable reports whether a call of the reply, or the reply as a whole, could not be read. A reply that
// was read and refused is not unreadable.
func (v Verdict) Unreadable() bool {
	return slices.ContainsFunc(v.Issues, func(i issueVerdict) bool {
		return slices.Contains(unreadable, i.Rule)
	})
}

// String returns the issue for people.
func (i issueVerdict) String() string { return i.text }

// Check returns the verdict on each reply to a question, as that of a run that gets it first. A nil policy is
// the default one.
func Check(q Question, p *policy.Set) ([]Verdict, error) {
	verdicts := make([]Verdict, len(q.Replies))
	for n, r := range q.Replies {
		var err error
		if verdicts[n], err = CheckReply(r, q.Tools, p); err != nil {
			return nil, fmt.Errorf("%s: replies[%d]: %w", q.Place, n, err)
		}
	}
	return verdicts, nil
}

// undecided is a planner that is never asked. A run with a planner stops at a failed attempt to ask it, so
// the feedback can be read.
var undecided = planner.PlannerFunc(nil)

// CheckReply is [Check] of one reply, with the tools that the model was offered. What calls may cost is not
// asked, because the reply has come.
func CheckReply(r message.Reply, tools *tool.Set, p *policy.Set) (Verdict, error) {
	if p != nil {
		free := *p
		free.Spending = policy.Spending{}
		p = &free
	}
	s, err := session.New(session.Config{ID: "check"})
	if err != nil {
		return Verdict{}, err
	}
	var read *machine.Reply
	record := func(ev machine.Event, _ []machine.Effect, _ machine.State) { read = ev.Reply }
	cfg := loop.Config{Tools: tools, Policy: p, CallsOnly: true}
	m, err := compiled(cfg, loop.WithPlanner(undecided))
	if err != nil {
		return Verdict{}, err
	}
	runner, err := engine.New(engine.RunnerConfig{Session: s, Machine: m, Record: record,
		Offer: engine.Offer{Tools: tools, CallsOnly: true}})
	if err != nil {
		return Verdict{}, err
	}
	defer runner.Close()
	if _, err = runner.Start(looptest.Epoch); err != nil {
		return Verdict{}, err
	}
	if _, err = runner.Reply(looptest.Epoch, r); err != nil {
		return Verdict{}, err
	}
	return verdictOf(runner.State(), read), nil
}

func verdictOf(st machine.State, read *machine.Reply) Verdict {
	v := Verdict{OK: st.Outcome != nil && st.Outcome.OK, Calls: make([]callVerdict, len(read.Calls))}
	for n, c := range read.Calls {
		v.Calls[n] = callVerdict{c.Tool, c.Arguments, append([]extract.Repair{}, c.Repairs...)}
		if v.Class == "" {
			v.Class = c.Class
		}
		v.Issues = append(v.Issues, issuesOf(&n, c.Issues)...)
	}
	if v.OK {
		return v
	}
	if all := st.Session.Attempts(); v.Class == "" && len(all) > 0 {
		last := all[len(all)-1]
		v.Class, v.Issues = last.Class, issuesOf(nil, last.Issues)
	}
	v.Feedback = feedbackOf(st)
	return v
}

func issuesOf(call *int, issues []fault.Issue) []issueVerdict {
	all := make([]issueVerdict, len(issues))
	for n, i := range issues {
		all[n] = issueVerdict{call, i.Pointer, i.Rule, i.Expected, i.Got, i.String()}
	}
	return all
}

// feedbackOf returns the feedback after a reply.
func feedbackOf(st machine.State) string {
	var words []string
	for _, m := range st.Transcript() {
		if m.Role != message.Assistant {
			words = append(words, m.Text)
		}
	}
	if len(words) == 0 && st.Batch != nil {
		for _, c := range st.Batch.Calls {
			words = append(words, c.Answer)
		}
	}
	return strings.Join(words, "\n\n")
}
