package machine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// group has the calls of one tool in a reply.
type group struct {
	tool string
	// calls are the indices of its calls, in order.
	calls []int
}

// groups returns the calls of a batch by tool, in the order of each tool's first call.
func (b *Batch) groups() (all []group) {
	places := make(map[string]int)
	for n := range b.Calls {
		tool := b.Calls[n].Tool
		at, there := places[tool]
		if !there {
			at = len(all)
			places[tool] = at
			all = append(all, group{tool: tool})
		}
		all[at].calls = append(all[at].calls, n)
	}
	return all
}

// failing returns the indices of the invalid calls.
func (g *group) failing(calls []Call) (at []int) {
	for _, n := range g.calls {
		if calls[n].Class != "" {
			at = append(at, n)
		}
	}
	return at
}

// settles reports whether the action of the call's tool was decided with this call.
func (c *BatchCall) settles() bool {
	switch c.Status {
	case callInvalid, callAsked, callRefused, callLost, callNotRun, callDenied:
		return true
	}
	return false
}

// settled reports whether the action of a tool was decided with one of its calls. Otherwise it is decided
// when all have ended.
func (b *Batch) settled(tool string) bool {
	return slices.ContainsFunc(b.Calls, func(c *BatchCall) bool { return c.Tool == tool && c.settles() })
}

// settled is [Batch.settled] for the tool of the group.
func (g *group) settled(b *Batch) bool {
	return slices.ContainsFunc(g.calls, func(n int) bool { return b.Calls[n].settles() })
}

// fate returns why a tool's action is closed: its calls were accepted, or one of them failed for good.
func (b *Batch) fate(g *group) policy.Reason {
	if slices.ContainsFunc(g.calls, func(n int) bool { return b.Calls[n].Status == callFailed }) {
		return policy.ReasonFailedForGood
	}
	return policy.ReasonAccepted
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

// keys sets the idempotency keys of the calls to run. Identical calls of a reply are distinguished by their
// index among each other, which also counts invalid ones. Calls are identical if their arguments are in the
// form of [exact], which exact has of each call.
func (s *step) keys(b *Batch, groups []group, exact [][]byte) {
	for at := range groups {
		g := &groups[at]
		before := map[string]int{} // calls so far with these arguments
		for _, n := range g.calls {
			c, twins := b.Calls[n], before[string(exact[n])]
			if len(g.calls) > 1 { // else nothing follows that could be the same
				before[string(exact[n])]++
			}
			if c.Ended() {
				continue
			}
			c.Transport = 1
			s.setKey(c, twins, exact[n])
			s.place(c)
		}
	}
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

// runs appends the calls of the batch without an answer that are not held.
func (b *Batch) runs(to []ToolRun) []ToolRun {
	for _, c := range b.Calls {
		if !c.Ended() && !c.Held {
			to = append(to, c.ToolRun)
		}
	}
	return to
}

// runCalls asks to run the calls of the batch without an answer. If there are none, it finishes the reply.
func (s *step) runCalls() error {
	if s.Batch.left() == 0 {
		return s.ran(s.Batch)
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
	runs := s.Batch.runs(make([]ToolRun, 0, s.Batch.left()))
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
		s.Batch, s.ownBatch = s.Batch.clone(), true
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
	case s.unhindered() && b.left() == 0:
		return s.ran(b)
	}
	return s.proceed(nextTools)
}

// unhindered reports whether no planner is asked and nothing is exhausted.
func (s *step) unhindered() bool { return len(s.kept.Consults) == 0 && s.kept.Exhausted == nil }

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
	if end.Reduced == nil || end.Reduced.Error == nil {
		c.end(callAnswered, s.told(end.Result))
		c.Parts = end.Parts
		s.keepMade(c)
		if c.Answers {
			c.Final = end.Result
		}
		return s.reduce(end.Reduced)
	}
	e := end.Reduced.Error
	f, told := ReducerFailure(c.Tool, e)
	s.warn("tool " + c.Tool + " ran, but what followed from its result was refused: " + fault.Scrub(e.Error()))
	c.Parts = end.Parts
	if s.Batch.settled(c.Tool) {
		s.Session = s.Session.AddReducerError(*e)
		c.end(callRefused, ranWords(c.Tool, end, s.sibling(c, &f, told)))
		return nil
	}
	d := s.refuse(c.Tool, e, string(c.exact()))
	c.end(callRefused, ranWords(c.Tool, end, s.correct(d, f.Issues, s.left())))
	return nil
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
	if s.Batch.settled(c.Tool) {
		c.end(callAsked, s.sibling(c, &f, ""))
		return nil
	}
	d := s.fail(c.Tool, &f, string(c.exact()), "")
	c.end(callAsked, s.correct(d, f.Issues, s.left()))
	return nil
}

// leftOff keeps the progress of the calls of a reply that asked again for the calls that correct them, unless
// their action is over.
func (s *step) leftOff(b *Batch, groups []group) {
	for n := range groups {
		a := s.find(groups[n].tool)
		for _, at := range groups[n].calls {
			if c := b.Calls[at]; a != nil && c.Status == callAsked {
				a.Asked = append(a.Asked, string(c.Progress))
			}
		}
	}
}

// goOn gives the calls of a tool the progress of those that asked again before, in call order. If there are
// more or fewer calls than asked, nobody knows which is which, and none gets any.
func (s *step) goOn(b *Batch, g *group) {
	a := s.find(g.tool)
	if a == nil || len(a.Asked) == 0 {
		return
	}
	var good []int
	for _, n := range g.calls {
		if b.Calls[n].Status != callInvalid {
			good = append(good, n)
		}
	}
	if len(good) == 0 {
		return
	}
	for n, at := range good {
		if len(good) == len(a.Asked) && a.Asked[n] != "" {
			b.Calls[at].Progress = json.RawMessage(a.Asked[n])
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
func (s *step) ran(b *Batch) error {
	groups := b.groups()
	s.passAll(b, groups)
	s.leftOff(b, groups)
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

// passAll closes the undecided actions: all their calls passed.
func (s *step) passAll(b *Batch, groups []group) {
	var passed []string
	for n := range groups {
		if g := &groups[n]; !g.settled(b) {
			s.pass(g.tool, 0, b.fate(g))
			passed = append(passed, g.tool)
		}
	}
	s.shut(passed...)
}
