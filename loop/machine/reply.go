package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// replied judges a model's reply.
func (s *step) replied() error {
	r := s.ev.Reply
	s.use(r.Message.Usage)
	s.chargeReply(&r.Message)
	s.hearReply(&r.Message)
	if brokeOff(r.Message.Finish) {
		s.payForAll()
		s.requestFailed(fault.Failure{Plane: fault.Transport, Class: fault.Unavailable})
		return s.proceed(nextCall)
	}
	s.kept.Transport, s.kept.TransportWaited, s.kept.Nudge = 0, 0, nil
	s.echo(&r.Message)
	s.measured()
	if f := s.wholeFault(r); f != nil {
		return s.replyFailed(*f, "")
	}
	s.forget(r.Calls)
	if len(r.Calls) > 0 {
		return s.called(r)
	}
	return s.answered(r)
}

// use counts the usage of a reply, a try or a tool call.
func (s *step) use(u message.Usage) {
	if u != (message.Usage{}) {
		s.Usage, s.Owed = s.Usage.Add(u), s.Owed.Add(u)
	}
}

// forget closes the actions of unknown tools that a reply no longer calls, because they can never pass. They
// still count in the run's budget of unknown tools.
func (s *step) forget(calls []Call) {
	if !slices.ContainsFunc(s.Actions, func(a action) bool { return a.Unknown }) {
		return
	}
	called := make(map[string]bool, len(calls))
	for n := range calls {
		called[calls[n].Tool] = true
	}
	s.shutAll(func(a action) bool { return a.Unknown && !called[a.Name] })
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

// shown are the calls of a reply that later prompts show: no more than a reply may make.
func (s *step) shown(m *message.Reply) []message.Call {
	if limit := s.Policy.CallLimit(); len(m.Calls) > limit {
		return slices.Clip(m.Calls[:limit])
	}
	return m.Calls
}

// echo appends the model's message unchanged, but for calls that are not shown: then what the provider keeps
// of the message, which has all of them, is left out too. An empty message is left out, because providers
// refuse it.
func (s *step) echo(m *message.Reply) {
	text, calls, opaque := cmp.Or(m.Text, m.Refusal), s.shown(m), m.Opaque
	if len(calls) < len(m.Calls) {
		opaque = ""
	}
	if text != "" || len(calls) > 0 {
		s.say(message.Message{Role: message.Assistant, Text: text, Calls: calls, Opaque: opaque})
	}
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
	case none && s.Config.CallsOnly:
		return whole(fault.NoOutput, fault.RuleNoCall, "a tool call", "")
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

// replyFailed charges a reply that failed as a whole to the answer, or to the tool that the failure names.
// same is what the model proposed.
func (s *step) replyFailed(f fault.Failure, same string) error {
	name := cmp.Or(f.Tool, AnswerAction)
	s.another(name)
	d := s.fail(name, &f, same, "")
	if r := s.ev.Reply; r != nil && len(r.Message.Calls) > 0 {
		shown := s.shown(&r.Message)
		answers := unanswered(shown, "Not run: the reply as a whole could not be used.")
		if all := len(r.Message.Calls); all > len(shown) {
			answers[len(answers)-1].Answer += fmt.Sprintf(" It had %d calls; the others are left out here.", all)
		}
		s.sayAll(true, answers)
	}
	return s.askAnew(d, f.Issues)
}

// askAnew appends the feedback on a failed reply, unless the run ends without feedback, and asks for another.
func (s *step) askAnew(d *Decision, issues []fault.Issue) error {
	if d.Retry || d.Feedback != nil {
		s.say(message.Message{Role: message.User, Text: s.correct(d, issues, s.Config.Limits)})
	}
	s.keepTurn(s.from, projection.Turn{Failed: []string{d.Action}})
	return s.proceed(nextTurn)
}

// unanswered gives all calls of a reply the same answer.
func unanswered(calls []message.Call, text string) []*BatchCall {
	answers := make([]*BatchCall, len(calls))
	for n, c := range calls {
		answers[n] = &BatchCall{ToolRun: ToolRun{Call: Call{ID: c.ID, Tool: c.Name}}, Answer: text}
		answers[n].Status = callNotRun
	}
	return answers
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
		s.another(AnswerAction)
		s.Session = s.Session.AddReducerError(*a.Reduced.Error)
		f, _ := ReducerFailure(AnswerAction, a.Reduced.Error)
		return s.askAnew(s.refused(AnswerAction, a.Reduced.Error, r.Message.Text), f.Issues)
	case s.mustHear():
		s.shut(AnswerAction)
		s.keepTurn(s.from, projection.Turn{Passed: []string{AnswerAction}})
		return s.proceed(nextTurn)
	}
	if err := s.reduce(a.Reduced); err != nil {
		return err
	}
	s.another(AnswerAction)
	s.pass(AnswerAction, policy.ReasonAccepted)
	s.keepTurn(s.from, projection.Turn{Passed: []string{AnswerAction}})
	s.stop(Outcome{OK: true, Text: r.Message.Text, Value: a.Value, Reason: policy.ReasonAccepted})
	return nil
}

// reduce applies the operations of the reducers, or records that one failed.
func (s *step) reduce(r *Reduced) error {
	if r == nil || r.Error == nil && len(r.Ops) == 0 {
		return nil
	}
	if r.Error != nil {
		s.Session = s.Session.AddReducerError(*r.Error)
		return nil
	}
	next, err := s.Session.Apply(r.Ops)
	if err != nil {
		return s.eventError(err.Error())
	}
	s.Session = next
	return nil
}

// called judges the calls of a reply. Invalid calls are charged, one attempt per tool, and answered with
// feedback. Valid calls are run, unless the policy wants all or nothing, or calls are the answer.
func (s *step) called(r *Reply) error {
	b, same := s.newBatch(r)
	bad := s.judgeCalls(b, same)
	hears := s.Config.CallsOnly && s.mustHear()
	skip := bad > 0 && (s.Policy.AllOrNothing || s.Config.CallsOnly)
	decided := make(map[string]*Decision)
	for _, tool := range b.tools() {
		failed := b.of(tool, callInvalid)
		if len(failed) > 0 || !skip {
			s.another(tool)
		}
		if !skip {
			s.goOn(b, tool)
		}
		if len(failed) > 0 {
			decided[tool] = s.callsFailed(tool, failed)
		}
	}
	if bad > 0 {
		s.answerBad(b, decided)
	}
	for n, c := range b.Calls {
		c.Raw, c.Class, c.Issues = "", "", nil
		switch {
		case c.Ended():
		case skip:
			c.end(callNotRun, notRun)
		case hears:
			c.end(callNotRun, stopped)
		default:
			c.Transport = 1
			s.setKey(c, len(b.twins(n, same)), same[n])
			s.place(c)
		}
	}
	switch {
	case s.Config.CallsOnly && bad == 0 && !hears:
		s.accept(b)
		return nil
	case bad == len(b.Calls) && s.kept.Exhausted == nil:
		s.sayAll(b.Native, b.Calls)
		s.keepBatch(b)
		return s.proceed(nextTurn)
	}
	s.Batch, s.ownBatch = b, true
	s.keepRest()
	return s.proceed(nextTools)
}

// accept ends the run with the calls of a reply as its answer.
func (s *step) accept(b *Batch) {
	s.passAll(b)
	calls := b.runs()
	for n := range calls {
		calls[n].Exact = nil // only the journal needs it
	}
	s.stop(Outcome{OK: true, Calls: calls, Reason: policy.ReasonAccepted})
}

const notRun = "Not run: another call of the same reply could not be used. Send all calls again."

// newBatch returns the batch of a reply's calls, which have what is wrong with them until they are judged, and
// the arguments of each in the form of [exact].
func (s *step) newBatch(r *Reply) (b *Batch, same [][]byte) {
	b = &Batch{Calls: make([]*BatchCall, len(r.Calls)), batchKept: batchKept{Native: r.Native, From: s.from}}
	all := make([]BatchCall, len(r.Calls))
	same = make([][]byte, len(r.Calls))
	for n := range all {
		b.Calls[n], all[n].Index, all[n].Call, same[n] = &all[n], n, r.Calls[n], r.Calls[n].exact()
	}
	return b, same
}

// maxUnion is the most issues that are kept for several calls of one tool in one reply.
const maxUnion = 1000

// union returns the issues of the invalid calls of a tool; those of several calls up to maxUnion.
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

// callsFailed charges the invalid calls of one tool as one attempt.
func (s *step) callsFailed(tool string, failed []*BatchCall) *Decision {
	f := fault.Failure{
		Plane: fault.Correction, Class: failed[0].Class, Tool: tool, Issues: fault.SortIssues(union(failed)),
	}
	same := ""
	if s.policyOf(tool).NoProgress > 0 {
		same = proposed(failed)
	}
	return s.fail(tool, &f, same, "")
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
