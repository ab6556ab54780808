package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// This file follows a reply from top to bottom: replied finds it unusable as a whole, or hands it to answered
// or called. Calls are judged, run, and ended one by one, until ran finishes the reply. Decisions on attempts
// are in action.go, and on requests in request.go. What comes next is in turn.go. Calls that equal others are
// in equal.go, those without an outcome in lost.go and doubt.go, and the words about a call in words.go.

// replied judges a model's reply.
func (s *step) replied() error {
	r := s.ev.Reply
	s.use(r.Message.Usage)
	s.chargeReply(&r.Message)
	s.notifyReply(&r.Message)
	if brokeOff(r.Message.Finish) {
		s.payForAll()
		s.requestFailed(fault.Failure{Plane: fault.Transport, Class: fault.Unavailable})
		return s.proceed(thenCall)
	}
	s.inner.Transport, s.inner.TransportWaited, s.inner.Nudge = 0, 0, nil
	s.echo(&r.Message)
	s.measured()
	if f := s.wholeFault(r); f != nil {
		return s.replyFailed(*f, "")
	}
	s.closeUnknown(r.Calls)
	if len(r.Calls) > 0 {
		return s.called(r)
	}
	return s.answered(r)
}

// echo appends the model's message. If some of its calls are not shown, Opaque is left out too, because it
// has all calls. An empty message is left out, because providers refuse it.
func (s *step) echo(m *message.Reply) {
	text, calls, opaque := cmp.Or(m.Text, m.Refusal), s.shown(m), m.Opaque
	if len(calls) < len(m.Calls) {
		opaque = ""
	}
	if text != "" || len(calls) > 0 {
		s.say(message.Message{Role: message.Assistant, Text: text, Calls: calls, Opaque: opaque})
	}
}

// shown returns the calls of a reply that later prompts show: no more than a reply may make.
func (s *step) shown(m *message.Reply) []message.Call {
	if limit := s.Policy.CallLimit(); len(m.Calls) > limit {
		return slices.Clip(m.Calls[:limit])
	}
	return m.Calls
}

// wholeFault returns the failure of a reply that cannot be used as a whole, or nil. Its contents are not
// checked then.
func (s *step) wholeFault(r *Reply) *fault.Failure {
	m, limit, none := &r.Message, s.Policy.CallLimit(), len(r.Calls) == 0 && r.CallsOver == 0
	calls := max(r.CallsOver, len(r.Calls), len(m.Calls))
	switch {
	case cutOff(m.Finish):
		return whole(fault.Truncated, fault.RuleTruncated, "a reply that is complete", "")
	case m.Refusal != "" || m.Finish == message.ContentFilter:
		return whole(fault.Refusal, fault.RuleRefusal, "an answer", "")
	case none && (s.Config.CallsOnly || r.ToolChoice.Required()):
		f := whole(fault.NoOutput, fault.RuleNoCall, "a tool call", "")
		f.Tool = r.ToolChoice.Tool()
		return f
	case none && strings.TrimSpace(m.Text) == "":
		return whole(fault.NoOutput, fault.RuleNoOutput, "a tool call or an answer", "")
	case r.CallsOver > 0 || calls > limit:
		most := "at most " + several.Of(limit, "call") + " in one reply"
		return whole(fault.ToolValidation, fault.RuleTooManyCalls, most, strconv.Itoa(calls))
	}
	return nil
}

// whole returns the failure of a whole reply.
func whole(class fault.Class, rule, expected, value string) *fault.Failure {
	return &fault.Failure{Plane: fault.Correction, Class: class, Issues: []fault.Issue{
		{Rule: rule, Expected: expected, Value: value, Source: fault.FromReply}}}
}

// Unusable reports whether a reply cannot be used because it was truncated or refused.
func Unusable(m message.Reply) bool {
	return cutOff(m.Finish) || m.Refusal != "" || m.Finish == message.ContentFilter
}

// cutOff reports whether a reply ended before the model finished.
func cutOff(f message.FinishReason) bool {
	return f == message.Length || brokeOff(f)
}

// brokeOff reports whether a reply ended because of an error.
func brokeOff(f message.FinishReason) bool { return f == message.Error || f == message.Aborted }

// replyFailed charges a reply that failed as a whole to the answer, or to the tool that the failure names.
// proposal is what the model proposed.
func (s *step) replyFailed(f fault.Failure, proposal string) error {
	name := cmp.Or(f.Tool, AnswerAction)
	s.beginAttempt(name)
	d := s.fail(name, &f, proposal, "")
	if r := s.ev.Reply; r != nil {
		shown := s.shown(&r.Message)
		for n, c := range shown {
			text := "Not run: the reply as a whole could not be used."
			if all := len(r.Message.Calls); n == len(shown)-1 && all > len(shown) {
				text += fmt.Sprintf(" It had %d calls; the others are left out here.", all)
			}
			s.say(message.Message{Role: message.Tool, Text: text, CallID: c.ID, Name: c.Name, IsError: true})
		}
	}
	return s.askAnew(d)
}

// askAnew appends the feedback on a failed reply, unless the run ends without feedback, and asks for another.
func (s *step) askAnew(d *Decision) error {
	if d.Retry || d.Feedback != nil {
		s.say(message.Message{Role: message.User, Text: s.correct(d, s.Config.Limits)})
	}
	s.keepTurn(s.from, projection.Turn{Failed: []string{d.Action}})
	return s.proceed(thenTurn)
}

// closeUnknown closes the actions of unknown tools that a reply no longer calls, because they can never pass.
// They still count in the run's budget of unknown tools.
func (s *step) closeUnknown(calls []Call) {
	s.closeWhere(func(a action) bool {
		return a.Unknown && !slices.ContainsFunc(calls, func(c Call) bool { return c.Tool == a.Name })
	})
}

// answered judges a final answer.
func (s *step) answered(r *Reply) error {
	a := r.Answer
	if a == nil {
		a = &Answer{}
	}
	switch {
	case len(a.Issues) > 0:
		f := fault.Failure{Plane: fault.Correction, Class: fault.StructuredOutput, Issues: a.Issues}
		return s.replyFailed(f, r.Message.Text)
	case a.Reduced != nil && a.Reduced.Error != nil:
		s.beginAttempt(AnswerAction)
		s.Session = s.Session.AddReducerError(*a.Reduced.Error)
		return s.askAnew(s.refused(AnswerAction, a.Reduced.Error, r.Message.Text))
	case s.hasUserMessages():
		s.close(AnswerAction)
		s.keepTurn(s.from, projection.Turn{Passed: []string{AnswerAction}})
		return s.proceed(thenTurn)
	}
	if err := s.reduce(a.Reduced); err != nil {
		return err
	}
	s.beginAttempt(AnswerAction)
	s.pass(AnswerAction, policy.ReasonAccepted)
	s.keepTurn(s.from, projection.Turn{Passed: []string{AnswerAction}})
	s.stop(Outcome{OK: true, Text: extract.WithoutThoughts(r.Message.Text), Value: a.Value,
		Reason: policy.ReasonAccepted})
	return nil
}

// called judges the calls of a reply. Invalid calls are charged, one attempt per tool, and answered with
// feedback. Valid calls are run, unless the policy wants all or nothing, or calls are the answer.
func (s *step) called(r *Reply) error {
	arguments := s.newBatch(r)
	b, bad := s.Batch, s.judgeCalls(arguments)
	skip, why := false, notRun
	switch {
	case bad > 0:
		skip = s.Policy.AllOrNothing || s.Config.CallsOnly
	case s.Config.CallsOnly:
		skip, why = s.hasUserMessages(), "Not run: "+userSpokeFirst
	}
	decided := make(map[string]*Decision)
	for _, tool := range b.tools() {
		failed := b.of(tool, callInvalid)
		if len(failed) > 0 || !skip || !b.open(tool) {
			s.beginAttempt(tool)
		}
		if !skip {
			s.resumeProgress(tool)
		}
		if len(failed) > 0 {
			decided[tool] = s.callsFailed(tool, failed)
		}
	}
	s.answerInvalid(decided)
	for n, c := range b.Calls {
		c.Raw, c.Class, c.Issues = "", "", nil
		switch {
		case c.Ended():
		case skip:
			c.end(callNotRun, why)
		default:
			c.Transport = 1
			s.enlist(c, len(b.twins(n, arguments)), arguments[n])
		}
	}
	switch {
	case s.Config.CallsOnly && !skip:
		s.accept()
		return nil
	case bad == len(b.Calls) && s.inner.Exhausted == nil:
		s.tellBatch()
		return s.proceed(thenTurn)
	}
	s.keepRest()
	return s.proceed(thenTools)
}

// newBatch begins the batch of a reply's calls, and returns the arguments of each in the form of [exact]. The
// calls have their Class and Issues until they are judged.
func (s *step) newBatch(r *Reply) (arguments [][]byte) {
	b := &Batch{Calls: make([]*BatchCall, len(r.Calls)), batchKept: batchKept{Native: r.Native, From: s.from}}
	all := make([]BatchCall, len(r.Calls))
	arguments = make([][]byte, len(r.Calls))
	for n := range all {
		c := &all[n]
		c.Index, c.Call = n, r.Calls[n]
		b.Calls[n], arguments[n] = c, c.exact()
	}
	s.Batch = b
	return arguments
}

// judgeCalls decides which calls of a reply are not run: invalid ones, those that equal another call, and
// those beyond the most successes of their tool. It returns the number of invalid calls.
func (s *step) judgeCalls(arguments [][]byte) (bad int) {
	taken := make(map[string]int) // places under caps that calls of this reply take
	for n, c := range s.Batch.Calls {
		if c.Class == "" && !s.Config.CallsOnly { // else the caller runs the calls
			s.judgeCall(c, arguments[n], s.Batch.twins(n, arguments), taken)
		}
		if c.Class != "" {
			c.Status = callInvalid
			bad++
		}
	}
	return bad
}

// judgeCall decides on a valid call with twins before it in its reply. One that repeats a call in doubt is
// run, and has the place of that call.
func (s *step) judgeCall(c *BatchCall, exact []byte, twins []*BatchCall, taken map[string]int) {
	if s.repeatedDoubt(c.Tool, exact, len(twins)) != nil {
		return
	}
	s.judgeEqual(c, twins, s.made(c.Tool, exact))
	if c.Class != "" || c.Status != callOpen {
		return
	}
	if c.refuse(s.beyond(c.Tool, taken[c.Tool])); c.Class == "" {
		taken[c.Tool]++
	}
}

// callsFailed charges the invalid calls of one tool as one attempt.
func (s *step) callsFailed(tool string, failed []*BatchCall) *Decision {
	f := fault.Failure{
		Plane: fault.Correction, Class: failed[0].Class, Tool: tool, Issues: fault.SortIssues(union(failed)),
	}
	proposal := ""
	if s.policyOf(tool).NoProgress > 0 {
		proposal = proposed(failed)
	}
	return s.fail(tool, &f, proposal, "")
}

// maxUnion is the most issues that are kept for several calls of one tool in one reply.
const maxUnion = 1000

// union returns the issues of the invalid calls of a tool; of several calls at most maxUnion.
func union(failed []*BatchCall) []fault.Issue {
	all := slices.Clip(failed[0].Issues)
	if len(failed) == 1 {
		return all
	}
	for _, c := range failed[1:] {
		all = append(all, c.Issues...)
	}
	return all[:min(len(all), maxUnion)]
}

// proposed returns what the invalid calls of one tool proposed, for [signature]: their arguments, as written
// if they cannot be parsed.
func proposed(failed []*BatchCall) string {
	var same []byte
	for _, c := range failed {
		if len(c.Arguments) > 0 {
			same = append(append(same, c.exact()...), '\n')
		} else {
			same = append(append(same, c.Raw...), '\n')
		}
	}
	return string(same)
}

// resumeProgress gives the calls of a tool the progress of the earlier ones that asked again, in call order.
// With another number of calls than asked, none gets any, because nobody knows which is which.
func (s *step) resumeProgress(tool string) {
	a, good := s.find(tool), s.Batch.of(tool, callOpen, callRepeated)
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

// accept ends the run with the calls of a reply as its answer.
func (s *step) accept() {
	calls := s.Batch.runs()
	for _, tool := range s.Batch.tools() {
		s.pass(tool, policy.ReasonAccepted)
	}
	s.Batch = nil
	for n := range calls {
		calls[n].Exact = nil // only the journal needs it
	}
	s.stop(Outcome{OK: true, Calls: calls, Reason: policy.ReasonAccepted})
}

// runCalls asks to run the calls of the batch without an answer. If there are none, it finishes the reply.
func (s *step) runCalls() error {
	if s.Batch.unfinished() == 0 {
		return s.ran()
	}
	if s.mustWait(thenTools) || s.asksPeople() {
		return nil
	}
	if s.holdsPolls() {
		return s.waitForPoll()
	}
	runs := s.Batch.runs()
	for n := range runs {
		runs[n].Timeout = max(s.transportOf(runs[n].Tool).ToolTimeout, 0)
	}
	s.Batch.Cursor = runs[0].Index
	s.Phase = Running
	s.do(RunTools).Tools = runs
	return nil
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
	s.countAnswer(c, end)
	s.notePoll(c)
	switch more := b.Cursor < len(b.Calls); {
	case more && s.inner.Exhausted != nil && !s.Config.Planner && s.peopleAsked() == nil:
		return s.abort() // the run has ended, so the remaining calls are not run
	case more:
		return nil
	case s.inner.Exhausted == nil && b.unfinished() == 0:
		return s.ran()
	}
	return s.proceed(thenTools)
}

func (s *step) outcome(c *BatchCall, end *ToolEnd) error {
	asks := s.asksAgain(c, end)
	if !asks {
		s.noteChosen(c)
	}
	switch end.Verdict {
	case Broke, TryLater, Unknown:
		if !asks {
			return s.toolLost(c, end)
		}
	case Denied:
		s.forbid(c, refusedByPerson, "")
		return nil
	}
	settled := end.Verdict == Done || c.Status != callDoubtful && s.doubtOf(c.Key) == nil
	s.closeDoubt(c)
	if end.InDoubt || !settled { // what a later try says is no word about the effect of an earlier one
		c.Doubt = !c.ReadOnly && end.Verdict != Failed // the words for a failed tool say so already
		s.addDoubt(c)
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

// noteChosen notes that a required call has ended.
func (s *step) noteChosen(c *BatchCall) {
	if choice := s.Config.ToolChoice; choice == message.AnyTool || choice == message.ToolChoice(c.Tool) {
		s.inner.Chosen = true
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
	s.giveBack(c)
	decide := func() *Decision { return s.fail(c.Tool, &f, string(c.exact()), "") }
	c.end(callAsked, s.correctCall(c, &f, "", decide))
	return nil
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

// warnUnheard warns about each event of a tool that has no reducer.
func (s *step) warnUnheard(tool string, events []string) {
	for _, name := range events {
		s.warn(fmt.Sprintf("tool %s emitted the event %q, which no reducer hears: bind a reducer to it, or name "+
			"it in session.Config.Events", tool, name))
	}
}

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

// correctCall returns the text for a call that failed. decide decides on its action. It is not called if
// another call of the reply has decided.
func (s *step) correctCall(
	c *BatchCall, f *fault.Failure, detail string, decide func() *Decision,
) string {
	if s.Batch.failed(c.Tool) {
		return s.sibling(c, f, detail)
	}
	return s.correct(decide(), s.limitsLeft())
}

func (s *step) toolFailed(c *BatchCall, end *ToolEnd) error {
	inDoubt := s.doubtOf(c.Key) != nil
	c.end(callFailed, c.failedWords(end, inDoubt, s.limitsLeft()))
	c.Parts = end.Parts
	s.giveBack(c)
	s.recordToolFailure(c, fault.ToolExecution, fault.Scrub(end.Text))
	s.notifyToolFailed(c, fault.ToolExecution, end.Text, inDoubt)
	return nil
}

// ran finishes a reply whose calls are all answered: it closes the actions that passed and tells the model.
func (s *step) ran() error {
	s.settleTools()
	s.keepProgress()
	s.tellRepeated()
	b, answer := s.Batch, s.answerOf()
	s.tellBatch()
	if answer != nil {
		s.say(message.Message{Role: message.Assistant, Text: answer.Text})
		s.close(AnswerAction)
		s.stop(*answer)
		return nil
	}
	s.watch(b)
	return s.proceed(thenTurn)
}

// settleTools settles the actions of the tools of a reply whose calls have all ended, unless a failed attempt
// has decided them. They pass if all calls were accepted, or one failed for good.
func (s *step) settleTools() {
	b := s.Batch
	for _, tool := range b.tools() {
		switch {
		case b.open(tool):
		case len(b.of(tool, callLost, callDenied)) > 0:
			s.uncharge(tool)
		case b.failed(tool) || len(b.of(tool, callNotRun)) > 0:
		case len(b.of(tool, callFailed)) > 0:
			s.pass(tool, policy.ReasonFailedForGood)
		default:
			s.pass(tool, policy.ReasonAccepted)
		}
	}
}

// keepProgress keeps the progress of the calls that asked again, for the calls that correct them, unless
// their action is over.
func (s *step) keepProgress() {
	for _, c := range s.Batch.Calls {
		if a := s.find(c.Tool); a != nil && c.Status == callAsked {
			a.Asked = append(a.Asked, string(c.Progress))
		}
	}
}

// answerOf returns the end of a run that a call of the reply has answered, the first of several. It returns
// nil if none has, or if the model has yet to be told what the user said.
func (s *step) answerOf() *Outcome {
	at := slices.IndexFunc(s.Batch.Calls, func(c *BatchCall) bool { return c.Final != nil })
	if at < 0 || s.hasUserMessages() {
		return nil
	}
	c := s.call(at)
	o := &Outcome{OK: true, Reason: policy.ReasonAccepted}
	var is bool
	if o.Text, is = textIn(c.Final); !is {
		o.Text, o.Value = string(c.Final), c.Final
	}
	c.Answer = s.told(givenToUser)
	return o
}
