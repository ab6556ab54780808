package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// tools returns the tools of the calls, in the order of each tool's first call.
func (b *Batch) tools() (all []string) {
	for _, c := range b.Calls {
		if !slices.Contains(all, c.Tool) {
			all = append(all, c.Tool)
		}
	}
	return all
}

// of returns the calls of a tool that have one of the statuses, in order.
func (b *Batch) of(tool string, statuses ...callStatus) (all []*BatchCall) {
	for _, c := range b.Calls {
		if c.Tool == tool && slices.Contains(statuses, c.Status) {
			all = append(all, c)
		}
	}
	return all
}

// settled reports whether the action of a tool was decided with one of its calls. Otherwise it is decided
// when all have ended.
func (b *Batch) settled(tool string) bool {
	return len(b.of(tool, callInvalid, callAsked, callRefused, callLost, callNotRun, callDenied)) > 0
}

// twins returns the calls before call n that equal it. same has the arguments of each in the form of [exact].
func (b *Batch) twins(n int, same [][]byte) (all []*BatchCall) {
	for before, c := range b.Calls[:n] {
		if c.Tool == b.Calls[n].Tool && bytes.Equal(same[before], same[n]) {
			all = append(all, c)
		}
	}
	return all
}

// pending returns the index of the first call at or after from without an answer that is not held, or the
// number of calls.
func (b *Batch) pending(from int) int {
	for n := from; n < len(b.Calls); n++ {
		if c := b.Calls[n]; !c.Ended() && !c.Held {
			return n
		}
	}
	return len(b.Calls)
}

// setKey sets the idempotency key of a call: that of the call in doubt that it repeats, or a new one. The
// number of its action counts from the start of the run, so that the same run made again has the same keys.
func (s *step) setKey(c *BatchCall, twins int, arguments []byte) {
	if again := s.openCall(c.Tool, arguments, twins); again != nil {
		c.Key, c.First, c.Consumed = again.Key, again.First, again.Consumed
		return
	}
	c.Key, c.First = s.idempotencyKey(s.open(c.Tool).Number-s.First, c.Tool, twins, arguments), ""
}

// left counts the calls of the batch without an answer.
func (b *Batch) left() (n int) {
	for _, c := range b.Calls {
		if !c.Ended() {
			n++
		}
	}
	return n
}

// runs returns the calls of the batch without an answer that are not held.
func (b *Batch) runs() []ToolRun {
	runs := make([]ToolRun, 0, b.left())
	for _, c := range b.Calls {
		if !c.Ended() && !c.Held {
			runs = append(runs, c.ToolRun)
		}
	}
	return runs
}

// runCalls asks to run the calls of the batch without an answer. If there are none, it finishes the reply.
func (s *step) runCalls() error {
	if s.Batch.left() == 0 {
		return s.ran()
	}
	if s.mustWait(nextTools) {
		return nil
	}
	if s.asksPeople() {
		return nil
	}
	if s.holdsPolls() {
		return s.waitForPoll()
	}
	runs := s.Batch.runs()
	for n := range runs {
		runs[n].Timeout = max(s.transportOf(runs[n].Tool).ToolTimeout, 0)
	}
	s.copyBatch().Cursor = runs[0].Index
	s.Phase = Running
	s.do(RunTools).Tools = runs
	return nil
}

// copyBatch returns a batch that the step may change.
func (s *step) copyBatch() *Batch {
	if !s.ownBatch {
		own := *s.Batch
		own.Calls = slices.Clone(own.Calls)
		s.Batch, s.ownBatch = &own, true
	}
	return s.Batch
}

// call returns a call of the batch that the step may change.
func (s *step) call(n int) *BatchCall {
	own := *s.Batch.Calls[n]
	s.copyBatch().Calls[n] = &own
	return &own
}

// toolEnded handles the outcome of one call. Outcomes come in call order.
func (s *step) toolEnded() error {
	end := s.ev.Tool
	if end.Index != s.Batch.Cursor {
		return s.eventError(fmt.Sprintf("outcomes come in call order: that of call %d is next", s.Batch.Cursor))
	}
	s.use(end.Usage)
	s.chargeTool(end)
	c, b := s.call(end.Index), s.Batch
	c.Consumed = c.Consumed.Plus(policy.Charge{Usage: end.Usage, Cost: end.cost()})
	if err := s.outcome(c, end); err != nil {
		return err
	}
	b.Cursor = b.pending(end.Index + 1)
	s.used(b, c, end)
	s.notePoll(c)
	switch more := b.Cursor < len(b.Calls); {
	case more && s.kept.Exhausted != nil && !s.Config.Planner && s.peopleAsked() == nil:
		return s.abort() // the run has ended, so the remaining calls are not run
	case more:
		return nil
	case len(s.kept.Consults) == 0 && s.kept.Exhausted == nil && b.left() == 0:
		return s.ran()
	}
	return s.proceed(nextTools)
}

// outcome handles the outcome of a call.
func (s *step) outcome(c *BatchCall, end *ToolEnd) error {
	asks := s.asksAgain(c, end)
	if !asks {
		s.chose(c)
	}
	switch end.Verdict {
	case Broke, TryLater, Unknown:
		if !asks {
			return s.toolLost(c, end)
		}
	case Denied:
		s.deny(c, refusedByPerson, "")
		return nil
	}
	s.closeDoubt(c)
	if end.InDoubt {
		c.Doubt = !c.ReadOnly && end.Verdict != Failed // whose words say so themselves
		s.leaveOpen(c)
	}
	switch {
	case asks:
		return s.toolAsks(c, end)
	case end.Verdict == Done:
		return s.toolDone(c, end)
	case end.Verdict == Failed:
		return s.toolFailed(c, end)
	}
	return s.eventError(fmt.Sprintf("verdict %q must be done, ask_again, failed, broke, try_later, unknown or "+
		"denied", end.Verdict))
}

// chose notes that a call has ended that was required.
func (s *step) chose(c *BatchCall) {
	if choice := s.Config.ToolChoice; choice == message.AnyTool || choice == message.ToolChoice(c.Tool) {
		s.kept.Chosen = true
	}
}

func (c *BatchCall) end(as callStatus, answer string) { c.Status, c.Answer = as, answer }

// told returns a result for the model. A native call gets a string as its text and any other result as JSON.
// In a text all results are JSON.
func (s *step) told(result json.RawMessage) string {
	if text, is := textIn(result); is && s.Batch.Native {
		return text
	}
	return string(result)
}

// textIn returns the text of a result that is a string.
func textIn(result json.RawMessage) (text string, is bool) {
	is = len(result) > 0 && result[0] == '"' && canon.Unmarshal(result, &text) == nil
	return text, is
}

func (s *step) toolDone(c *BatchCall, end *ToolEnd) error {
	s.warnUnheard(c.Tool, end.Unheard)
	c.Parts = end.Parts
	if end.Reduced == nil || end.Reduced.Error == nil {
		c.end(callAnswered, s.told(end.Result))
		s.keepMade(c)
		if c.Answers {
			c.Final = end.Result
		}
		return s.reduce(end.Reduced)
	}
	e := end.Reduced.Error
	f, told := ReducerFailure(c.Tool, e)
	s.warn("tool " + c.Tool + " ran, but what followed from its result was refused: " + fault.Scrub(e.Error()))
	s.Session = s.Session.AddReducerError(*e)
	told = s.correctCall(c, &f, told, func() *Decision { return s.refused(c.Tool, e, string(c.exact())) })
	c.end(callRefused, ranWords(c.Tool, end, told))
	return nil
}

// correctCall returns the text for a call that failed. decide decides on its action, unless another call of
// the reply has.
func (s *step) correctCall(c *BatchCall, f *fault.Failure, detail string, decide func() *Decision) string {
	if s.Batch.settled(c.Tool) {
		return s.sibling(c, f, detail)
	}
	return s.correct(decide(), f.Issues, s.left())
}

// warnUnheard warns about events of a tool that no reducer hears, once each.
func (s *step) warnUnheard(tool string, events []string) {
	for _, name := range events {
		text := fmt.Sprintf("tool %s emitted the event %q, which no reducer hears: bind a reducer to it, or name "+
			"it in session.Config.Events", tool, name)
		if !slices.Contains(s.Warnings, text) {
			s.warn(text)
		}
	}
}

// asksAgain reports whether a tool asks for another call: explicitly, or by an error of the correction plane
// with a class that the tool's policy lists.
func (s *step) asksAgain(c *BatchCall, end *ToolEnd) bool {
	f := end.Failure
	return end.Verdict == AskAgain ||
		end.Verdict == Broke && f != nil && f.Plane == fault.Correction && !f.Final &&
			s.policyOf(c.Tool).Retries(f.Class)
}

func (s *step) toolAsks(c *BatchCall, end *ToolEnd) error {
	f := fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Issues: end.Issues}
	if end.Verdict == Broke {
		f = *end.Failure
	}
	f.Tool, f.Issues = c.Tool, fault.SortIssues(f.Issues)
	if len(end.Progress) > 0 {
		c.Progress = end.Progress
	}
	if !c.Doubt {
		s.giveBack(c)
	}
	c.end(callAsked, s.correctCall(c, &f, "", func() *Decision { return s.fail(c.Tool, &f, string(c.exact()), "") }))
	return nil
}

// leftOff keeps the progress of the calls of a reply that asked again for the calls that correct them, unless
// their action is over.
func (s *step) leftOff(b *Batch) {
	for _, c := range b.Calls {
		if a := s.find(c.Tool); a != nil && c.Status == callAsked {
			a.Asked = append(a.Asked, string(c.Progress))
		}
	}
}

// goOn gives the calls of a tool the progress of those that asked again before, in call order. If there are
// more or fewer calls than asked, nobody knows which is which, and none gets any.
func (s *step) goOn(b *Batch, tool string) {
	a, good := s.find(tool), b.of(tool, callOpen, callRepeated)
	if a == nil || len(good) == 0 {
		return
	}
	for n, c := range good {
		if len(good) == len(a.Asked) && a.Asked[n] != "" {
			c.Progress = json.RawMessage(a.Asked[n])
		}
	}
	a.Asked = nil
}

func (s *step) toolFailed(c *BatchCall, end *ToolEnd) error {
	inDoubt := (c.Status == callDoubtful || end.InDoubt) && !c.ReadOnly
	c.end(callFailed, c.failedWords(end, s.left()))
	c.Parts = end.Parts
	if !inDoubt {
		s.giveBack(c)
	}
	s.failed(c, fault.ToolExecution, fault.Scrub(end.Text))
	s.hearToolFailed(c, fault.ToolExecution, end.Text, inDoubt)
	return nil
}

// uncharge takes back the attempt of a tool in a reply, because it ended on the transport plane and costs
// none. An action that stays open gets a new number, so that no later call has the key of a call in doubt by
// chance.
func (s *step) uncharge(c *BatchCall) {
	if s.find(c.Tool) == nil {
		return
	}
	a, settled := *s.open(c.Tool), s.Batch.settled(c.Tool)
	s.shut(c.Tool)
	if !settled && a.Attempt <= 1 {
		return
	}
	if !settled {
		a.Attempt--
		a.Over = true
	}
	s.Opened++
	a.Number = s.Opened
	s.Actions = append(s.Actions, a)
}

// ran finishes a reply whose calls are all answered: it closes the actions that passed and tells the model.
func (s *step) ran() error {
	b := s.copyBatch()
	s.passAll(b)
	s.leftOff(b)
	s.tellRepeated(b)
	answer := s.handedOver(b)
	s.sayAll(b.Native, b.Calls)
	s.keepBatch(b)
	s.Batch = nil
	if answer != nil {
		s.say(message.Message{Role: message.Assistant, Text: answer.Text})
		s.shut(AnswerAction)
		s.stop(*answer)
		return nil
	}
	s.watch(b)
	return s.proceed(nextTurn)
}

// handed is the result for the model, in later runs, of a call whose result it has as its own words.
var handed = json.RawMessage(`"The user was given the result as the answer. It follows."`)

// handedOver returns the end of a run that a call of a reply has answered, the first of several; nil if none
// has, or if the model has yet to be told what the user said.
func (s *step) handedOver(b *Batch) *Outcome {
	at := slices.IndexFunc(b.Calls, func(c *BatchCall) bool { return c.Final != nil })
	if at < 0 || s.mustHear() {
		return nil
	}
	c := *b.Calls[at]
	o := &Outcome{OK: true, Reason: policy.ReasonAccepted}
	var is bool
	if o.Text, is = textIn(c.Final); !is {
		o.Text, o.Value = string(c.Final), c.Final
	}
	c.Answer = s.told(handed)
	b.Calls[at] = &c
	return o
}

// passAll closes the actions of the tools of a reply that no call has decided: all calls of each were accepted,
// or one failed for good.
func (s *step) passAll(b *Batch) {
	for _, tool := range b.tools() {
		switch {
		case b.settled(tool):
		case len(b.of(tool, callFailed)) > 0:
			s.pass(tool, policy.ReasonFailedForGood)
		default:
			s.pass(tool, policy.ReasonAccepted)
		}
	}
}
