package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// first reports whether call n is the first of its tool.
func (b *Batch) first(n int) bool {
	for o := range n {
		if b.Calls[o].Tool == b.Calls[n].Tool {
			return false
		}
	}
	return true
}

// settled reports whether the decision on a tool's action was taken with this reply already.
func (b *Batch) settled(tool string) bool {
	return slices.ContainsFunc(b.Calls, func(c BatchCall) bool { return c.Tool == tool && c.Settled })
}

// unsettled reports whether a tool has calls here whose decision is open.
func (b *Batch) unsettled(tool string) bool {
	return slices.ContainsFunc(b.Calls, func(c BatchCall) bool { return c.Tool == tool && !c.Settled })
}

// settle marks the decision on a tool's action as taken.
func (b *Batch) settle(tool string) {
	for n := range b.Calls {
		b.Calls[n].Settled = b.Calls[n].Settled || b.Calls[n].Tool == tool
	}
}

// fate is why a tool's action is closed: its calls were accepted, or one of them failed for good.
func (b *Batch) fate(tool string) policy.Reason {
	if slices.ContainsFunc(b.Calls, func(c BatchCall) bool { return c.Tool == tool && c.Failed }) {
		return policy.FailedForGood
	}
	return policy.Accepted
}

// pending is the index of the first call at or after from that has no answer yet; the number of calls where there is none.
func (b *Batch) pending(from int) int {
	for n := from; n < len(b.Calls); n++ {
		if !b.Calls[n].Done {
			return n
		}
	}
	return len(b.Calls)
}

// keys gives the calls to run their arguments and idempotency keys. Identical calls of one reply are told apart by their index among
// each other, bad ones too.
func (s *step) keys(b *Batch, calls []Call) {
	for n := range b.Calls {
		c := &b.Calls[n]
		if c.Done {
			continue
		}
		twins, arguments := 0, calls[n].Arguments
		for o := range calls[:n] {
			if calls[o].Tool == c.Tool && bytes.Equal(calls[o].Arguments, arguments) {
				twins++
			}
		}
		c.Arguments, c.Key, c.Transport = string(arguments), s.keyOf(c.Tool, twins, arguments), 1
	}
}

// keyOf is the idempotency key of a call. The number of its action counts from the beginning of the run, so that a run which is made
// again has the same keys.
func (s *step) keyOf(tool string, twins int, arguments []byte) string {
	return s.idempotencyKey(s.open(tool).Number-s.First, tool, twins, arguments)
}

// left counts the calls of the batch that have no answer yet.
func (b *Batch) left() (n int) {
	for c := range b.Calls {
		if !b.Calls[c].Done {
			n++
		}
	}
	return n
}

// runs appends the calls of the batch that have no answer yet.
func (b *Batch) runs(to []ToolRun) []ToolRun {
	for n := range b.Calls {
		if c := &b.Calls[n]; !c.Done {
			to = append(to, ToolRun{Index: n, ID: c.ID, Tool: c.Tool, Arguments: json.RawMessage(c.Arguments), Key: c.Key, Transport: c.Transport})
		}
	}
	return to
}

// run asks for the calls of the batch that have no answer yet. Where there are none, the reply is dealt with.
func (s *step) run() error {
	if s.Batch.pending(0) == len(s.Batch.Calls) {
		return s.ran(s.Batch)
	}
	if s.delayed(NextTools) {
		return nil
	}
	runs := s.Batch.runs(make([]ToolRun, 0, s.Batch.left()))
	s.copyBatch().Cursor = runs[0].Index
	s.Phase = Running
	s.do(RunTools).Tools = runs
	return nil
}

// copyBatch gives the step a batch of its own to write to.
func (s *step) copyBatch() *Batch {
	if !s.ownBatch {
		s.keep(s.Batch)
	}
	return s.Batch
}

// keep gives the state a copy of a batch.
func (s *step) keep(b *Batch) {
	own := *b
	own.Calls = slices.Clone(b.Calls)
	s.Batch, s.ownBatch = &own, true
}

// toolEnded takes the outcome of one call, in call order.
func (s *step) toolEnded() error {
	end := s.ev.Tool
	b := s.copyBatch()
	if end.Index != b.Cursor {
		return s.misfit(fmt.Sprintf("outcomes come in call order, and that of call %d is next", b.Cursor))
	}
	if err := s.outcome(b, &b.Calls[end.Index], end); err != nil {
		return err
	}
	b.Cursor = b.pending(end.Index + 1)
	if s.settled(b) {
		return s.ran(b)
	}
	if b.Cursor < len(b.Calls) {
		return nil
	}
	return s.onward(NextTools)
}

// settled reports whether all calls of a batch have their answers and nothing stands before the next turn.
func (s *step) settled(b *Batch) bool {
	return len(s.Consults) == 0 && s.Exhausted == nil && b.left() == 0
}

// outcome takes the outcome of a call.
func (s *step) outcome(b *Batch, c *BatchCall, end *ToolEnd) error {
	switch end.Verdict {
	case Done:
		return s.toolDone(b, c, end)
	case AskAgain:
		return s.toolAsks(b, c, end)
	case Failed:
		return s.toolFailed(c, end)
	case Broke:
		return s.toolBroke(b, c, end)
	}
	return s.misfit(fmt.Sprintf("verdict %q is none of done, ask_again, failed, broke", end.Verdict))
}

func (c *BatchCall) answer(text string, isError bool) {
	c.Done, c.Answer, c.IsError = true, text, isError
}

func (s *step) toolDone(b *Batch, c *BatchCall, end *ToolEnd) error {
	if end.Reduced == nil || end.Reduced.Error == nil {
		c.answer(string(end.Result), false)
		return s.reduce(end.Reduced)
	}
	e := end.Reduced.Error
	if b.settled(c.Tool) {
		s.Session = s.Session.AddReducerError(*e)
		f := reducerFailure(c.Tool, e)
		c.answer(s.sibling(c.Tool, &f, e.Message), true)
		return nil
	}
	d := s.refuse(c.Tool, e, c.Arguments)
	b.settle(c.Tool)
	c.answer(s.correct(d, reducerFailure(c.Tool, e).Issues), true)
	return nil
}

func (s *step) toolAsks(b *Batch, c *BatchCall, end *ToolEnd) error {
	f := fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Tool: c.Tool, Issues: fault.SortedIssues(end.Issues)}
	if b.settled(c.Tool) {
		c.answer(s.sibling(c.Tool, &f, ""), true)
		return nil
	}
	d := s.fail(c.Tool, &f, Signature(c.Tool, c.Arguments, f), "")
	b.settle(c.Tool)
	c.answer(s.correct(d, f.Issues), true)
	return nil
}

func (s *step) toolFailed(c *BatchCall, end *ToolEnd) error {
	c.answer(end.Text, true)
	c.Failed = true
	return nil
}

// toolBroke retries a call where the transport policy retries its error; any other error ends the call.
func (s *step) toolBroke(b *Batch, c *BatchCall, end *ToolEnd) error {
	if f := end.Failure; f != nil && f.Plane == fault.Transport && s.consulted(f.Class) {
		s.consult(Consultation{Position: Position{Action: c.Tool, Attempt: c.Transport}, Tool: c.Tool, Index: end.Index, Failure: *f}, c.Waited)
		return nil
	}
	return s.brokeByPolicy(b, c, end.Failure)
}

// brokeByPolicy does what the policy says of a tool that returned an error of its own.
func (s *step) brokeByPolicy(b *Batch, c *BatchCall, f *fault.Failure) error {
	if f == nil || f.Plane != fault.Transport || !s.retriesTransport(f.Class) {
		c.answer("The tool failed with an error of its own. The same call will not help.", true)
		c.Failed = true
		return nil
	}
	d := s.judgeTransport(c.Tool, c.Transport, *f, c.Waited)
	if !d.Retry {
		c.answer("The tool could not be reached.", true)
		s.uncharge(b, c.Tool)
		b.settle(c.Tool)
		return nil
	}
	c.Transport++
	c.Waited = backoff.Sum(c.Waited, d.Delay)
	return nil
}

func (s *step) retriesTransport(c fault.Class) bool {
	return s.transportPolicy().Retries(c)
}

// uncharge takes back the attempt that a reply's calls of a tool began: it ends on the transport plane, and costs none.
func (s *step) uncharge(b *Batch, tool string) {
	if b.settled(tool) {
		return
	}
	if a := s.open(tool); a.Attempt > 1 {
		a.Attempt--
		return
	}
	s.shut(tool)
}

// ran deals with a reply whose calls all have their answers: the actions that passed are closed, the model is told.
func (s *step) ran(b *Batch) error {
	for n := range b.Calls {
		if name := b.Calls[n].Tool; b.first(n) && b.unsettled(name) {
			s.pass(name, 0, b.fate(name))
		}
	}
	s.sayAll(b.Native, b.Calls)
	s.Batch = nil
	return s.onward(NextTurn)
}

// sayAll answers the calls of a reply in call order: native ones one by one, those found in a text in one user message, which
// says of each of several what call it answers.
func (s *step) sayAll(native bool, calls []BatchCall) {
	if native {
		for n := range calls {
			c := &calls[n]
			s.say(message.Message{Role: message.Tool, Text: c.Answer, CallID: c.ID, Name: c.Tool, IsError: c.IsError})
		}
		return
	}
	parts := make([]string, len(calls))
	for n := range calls {
		parts[n] = calls[n].inText(n, len(calls))
	}
	failed := slices.ContainsFunc(calls, func(c BatchCall) bool { return c.IsError })
	s.say(message.Message{Role: message.User, Text: strings.Join(parts, "\n\n"), IsError: failed})
}

// inText is the answer to call n of several that were found in a text: such calls have no ids to be answered by.
func (c *BatchCall) inText(n, of int) string {
	title := feedback.Name(c.Tool)
	if of > 1 {
		title = "call " + strconv.Itoa(n+1)
		if c.Tool != AnswerAction {
			title += ", " + feedback.Name(c.Tool)
		}
	}
	switch {
	case !c.IsError:
		return "Result of " + title + ": " + c.Answer
	case of > 1:
		return "C" + title[1:] + ": " + c.Answer
	}
	return c.Answer
}
