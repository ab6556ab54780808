package random

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// drawPeople draws who is asked about what, what they answer, and what the user says. It has dice of its own,
// so that the rest of a case stays as it is.
func (c *Case) drawPeople() {
	d := newDice(c.Seed ^ 0x70656f706c65)
	if c.Action != nil {
		return
	}
	if d.one(3) {
		c.drawQuestions(d)
	}
	if d.one(4) {
		c.Says = many(d, 3, func() sayCase { return c.drawSay(d) })
	}
	for n := 1; n < len(c.Says); n++ {
		c.Says[n].After += c.Says[n-1].After + 1
	}
}

// drawQuestions draws the rules that ask people, and their answers.
func (c *Case) drawQuestions(d dice) {
	c.Config.Policy.Global.Approval = new(drawApproval(d))
	for n := range c.Tools {
		if d.one(4) {
			c.Tools[n].Policy.Approval = new(drawApproval(d))
		}
	}
	own := newDice(c.Seed ^ 0x65786861757374) // so that the other questions stay as they are
	c.Config.Policy.Global.Approval.Exhausted = pick(own, "", policy.ExhaustedAsk)
	for n := range c.Tools {
		if a := c.Tools[n].Policy.Approval; a != nil {
			a.Exhausted = pick(own, "", policy.ExhaustedAsk, policy.ExhaustedEnds)
		}
	}
	for n := range c.Plans {
		if d.one(2) && c.Plans[n].Err == "" && !c.Plans[n].Cancels {
			c.Plans[n].Plan = machine.Plan{Do: machine.AskPeople, Delay: time.Duration(d.IntN(3)) * time.Minute, Note: "ask"}
		}
	}
	changed := slices.ContainsFunc(c.Plans, func(p planCase) bool { return p.Policy != nil })
	for range d.between(1, 4) {
		a := answerCase{Way: pick(d, atOnce, atOnce, byInbox, tooLate, never), By: pick(d, "", "Ann", "finance"),
			Approval:  pick(d, machine.Approve, machine.Approve, machine.Refuse),
			Doubt:     pick(d, machine.WasDone, machine.WasNotDone, machine.RunAgain, machine.NobodyKnows),
			Exhausted: pick(d, machine.GoOn, machine.GoOn, machine.EndRun), Words: pick(d, textOfWords...)}
		if d.one(3) {
			a.Arguments = drawChange(d)
		}
		if own.one(2) {
			a.Corrected = drawChange(own)
		}
		if d.one(4) && c.Adjust == nil && !changed {
			a.Policy = new(drawLayer(d))
		}
		c.Answers = append(c.Answers, a)
	}
}

// drawChange draws the arguments that a person gives.
func drawChange(d dice) json.RawMessage {
	return pickJSON(d, `{"do": 0, "note": "`+noteSecret+`"}`, `{"do":0}`, `{"note":"changed","do":0}`)
}

func drawApproval(d dice) policy.Approval {
	a := policy.Approval{Timeout: pick(d, policy.Unlimited, 5*time.Second, time.Hour), InDoubt: pick(d, "", policy.DoubtAsk),
		Default: pick(d, "", policy.DefaultApprove)}
	a.When = pick(d, "", policy.ApproveNever, policy.ApproveAlways, policy.ApproveUndeclared, policy.ApproveFirst, policy.ApproveAbove)
	if a.When == policy.ApproveAbove {
		a.Argument = pick(d, "do", "/do")
		a.Above = new(pick(d, 0, backoff.One))
	}
	return a
}

func (c *Case) drawSay(d dice) sayCase {
	s := sayCase{After: d.IntN(3), Asked: len(c.Answers) > 0 && d.one(3)}
	s.Words = session.Words{Text: pick(d, textOfWords[1:]...), By: pick(d, "", "Ann"), Stop: d.one(4), Reset: d.one(4)}
	return s
}
