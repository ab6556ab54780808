package machine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
)

// AskKind is what a person is asked about a call.
type AskKind string

// The kinds of questions to people.
const (
	// AskApproval asks whether a call may be made.
	AskApproval AskKind = "approval"
	// AskDoubt asks what became of a call whose effect is unknown.
	AskDoubt AskKind = "in_doubt"
)

// Ask is a question to a person about a call. It is read-only.
type Ask struct {
	// ID names the question: the run, the turn and the call, and a digest of the session, the tool and the
	// arguments, so that an answer to it fits no other. It is a name of a file everywhere.
	ID   string  `json:"id"`
	Kind AskKind `json:"kind"`
	// Index is the index of the call in the reply, from 0.
	Index  int    `json:"index"`
	Tool   string `json:"tool"`
	CallID string `json:"call_id,omitempty"`
	// Key is the idempotency key that the call has unless its arguments are changed.
	Key string `json:"key"`
	// Arguments are those that an answer is about.
	Arguments json.RawMessage `json:"arguments"`
	// Rule is why approval is needed; empty for a call in doubt.
	Rule policy.ApprovalRule `json:"rule,omitempty"`
	// Failure is what is known of a call in doubt.
	Failure *fault.Failure `json:"failure,omitempty"`
	// At is when the question was asked, and Deadline until when it can be answered; zero means without end.
	At       time.Time `json:"at"`
	Deadline time.Time `json:"deadline,omitzero"`
	// Default is what holds if nobody answers by then.
	Default Ruling `json:"default"`
}

// Ruling is what a person decides about a call.
type Ruling string

// The rulings. The first two answer [AskApproval], the others [AskDoubt].
const (
	// Approve makes the call, with Arguments if they are given.
	Approve Ruling = "approve"
	// Refuse does not make the call. The model is told, with Words.
	Refuse Ruling = "refuse"
	// WasDone says that the call had its effect, and Result is its result.
	WasDone Ruling = "done"
	// WasNotDone says that the call had no effect. The model is told, with Words.
	WasNotDone Ruling = "not_done"
	// RunAgain makes the call again, under its key.
	RunAgain Ruling = "run_again"
	// NobodyKnows leaves the call in doubt. The model is told, with Words.
	NobodyKnows Ruling = "nobody_knows"
)

// rulings are the rulings that answer each kind of question.
var rulings = map[AskKind][]Ruling{
	AskApproval: {Approve, Refuse},
	AskDoubt:    {WasDone, WasNotDone, RunAgain, NobodyKnows},
}

// MaxWords is the most bytes of a person's words, and MaxBy of who they are.
const (
	MaxWords = 4096
	MaxBy    = canon.MaxID
)

// Response is a person's answer to an [Ask]. The zero value answers nothing.
type Response struct {
	// Question is the ID of the question.
	Question string `json:"question" redact:"keep"`
	Verdict  Ruling `json:"verdict" redact:"keep"`
	// Arguments replace those of the call; empty keeps them. Only with Approve.
	Arguments json.RawMessage `json:"arguments,omitempty" redact:"document"`
	// Words are for the model, at most [MaxWords] bytes.
	Words string `json:"words,omitempty" redact:"text"`
	// Result is the result of the call, as its tool would give it. Only with WasDone; an event has it in its
	// Tool.
	Result json.RawMessage `json:"result,omitempty" redact:"document"`
	// By names who answered, at most [MaxBy] bytes of printable text; empty if nobody knows.
	By string `json:"by,omitempty" redact:"keep"`
	// At is when the answer was given, if that was before it was taken.
	At time.Time `json:"at,omitzero"`
	// Identity are the arguments by which the changed call counts as repeated: see [Call]. The driver sets it.
	Identity json.RawMessage `json:"identity,omitempty" redact:"document"`
}

// Settled is a question with its answer.
type Settled struct {
	Ask Ask `json:"ask"`
	// Verdict is what holds, By who said so, and At when it was taken. Nobody reports that nobody answered in
	// time, so that the default holds.
	Verdict Ruling    `json:"verdict"`
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
	Nobody  bool      `json:"nobody,omitempty"`
	// Changed are the arguments that replaced those of the call, and Words what was said to the model.
	Changed json.RawMessage `json:"changed,omitempty"`
	Words   string          `json:"words,omitempty"`
}

// Given is how a question of the run was answered.
type Given struct {
	Question string    `json:"question"`
	Tool     string    `json:"tool"`
	CallID   string    `json:"call_id,omitempty"`
	Verdict  Ruling    `json:"verdict"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at"`
	// Nobody reports that nobody answered in time.
	Nobody bool `json:"nobody,omitempty"`
	// Changed reports that the arguments were changed.
	Changed bool `json:"changed,omitempty"`
}

// The errors of answers that do not fit, each within an [AnswerError].
var (
	// ErrAnswered: the question has its answer already.
	ErrAnswered = errors.New("the question is answered already")
	// ErrTooLate: the question's deadline is over.
	ErrTooLate = errors.New("the question's deadline is over")
	// ErrMovedOn: the run has moved on, and the question is no longer open.
	ErrMovedOn = errors.New("the run has moved on")
	// ErrOtherArguments: the answer is about other arguments than those that the run asks about.
	ErrOtherArguments = errors.New("the answer is about other arguments")
	// ErrNotAsked: the run did not ask this.
	ErrNotAsked = errors.New("the run does not ask this")
	// ErrMisfit: the answer does not fit its question.
	ErrMisfit = errors.New("the answer does not fit the question")
)

// AnswerError reports an answer that was not taken. The run goes on as if it had not been given.
type AnswerError struct {
	// Question is the ID that the answer names.
	Question string
	// Err is one of the sentinels, and Why says more; may be empty.
	Err error
	Why string
	// Issues are what is wrong with changed arguments.
	Issues []fault.Issue
}

// Error names the question, and says why the answer was not taken.
func (e *AnswerError) Error() string {
	text := fmt.Sprintf("answer to %.80q: %v", e.Question, e.Err)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Unwrap returns the sentinel.
func (e *AnswerError) Unwrap() error { return e.Err }

// Asks returns the open questions to people, in call order. The slice is read-only.
func (st State) Asks() []Ask {
	if st.Phase != Asking {
		return nil
	}
	return st.Questions
}

// AskedUntil returns the earliest deadline of open questions; zero if there is none.
func AskedUntil(asks []Ask) (at time.Time) {
	for n := range asks {
		if d := asks[n].Deadline; !d.IsZero() && (at.IsZero() || d.Before(at)) {
			at = d
		}
	}
	return at
}

// ResponseFault returns an [*AnswerError] for an answer that the run does not take at the given time; nil if it
// takes it. It does not know the schemas of tools: a driver checks arguments and results. It is safe for
// concurrent use.
func (st State) ResponseFault(r *Response, at time.Time) error {
	if err := st.responseFault(r, at); err != nil {
		return err
	}
	if (len(r.Result) > 0) != (r.Verdict == WasDone) {
		return &AnswerError{Question: r.Question, Err: ErrMisfit,
			Why: fmt.Sprintf("result: needed with %q, and only with it", string(WasDone))}
	}
	return nil
}

// responseFault is [State.ResponseFault] but for the result, which an event has in its Tool.
func (st *State) responseFault(r *Response, at time.Time) error {
	fault := func(sentinel error, format string, args ...any) error {
		return &AnswerError{Question: r.Question, Err: sentinel, Why: fmt.Sprintf(format, args...)}
	}
	a := st.openAsk(r.Question)
	if a == nil {
		return &AnswerError{Question: r.Question, Err: st.whyNotOpen(r.Question)}
	}
	switch {
	case !a.Deadline.IsZero() && !at.Before(a.Deadline):
		return fault(ErrTooLate, "it was %s", a.Deadline.Format(time.RFC3339Nano))
	case !slices.Contains(rulings[a.Kind], r.Verdict):
		return fault(ErrMisfit, "verdict: %.64q: give one of %q", string(r.Verdict), rulings[a.Kind])
	case len(r.Arguments) > 0 && r.Verdict != Approve:
		return fault(ErrMisfit, "arguments: only with %q", string(Approve))
	case len(r.Words) > MaxWords:
		return fault(ErrMisfit, "words: %d bytes: give at most %d", len(r.Words), MaxWords)
	case canon.CheckID("by", r.By) != nil:
		return fault(ErrMisfit, "by: give at most %d bytes of printable text", MaxBy)
	case len(r.Arguments) == 0:
		return nil
	}
	if why := st.changeFault(a, r); why != "" {
		return fault(ErrMisfit, "arguments: %s", why)
	}
	return nil
}

// changeFault says why a call may not be made with the arguments of an answer, or returns "": it equals one
// that has a result, and the policy does not run such calls.
func (st *State) changeFault(a *Ask, r *Response) string {
	p := st.PolicyOf(policy.Target{Tool: a.Tool})
	c := st.Batch.Calls[a.Index].Call
	mode := p.EqualCalls
	if mode == policy.EqualRun {
		return ""
	}
	for n := range st.Made {
		if m := &st.Made[n]; m.Tool == c.Tool && m.Arguments == string(r.Arguments) {
			return fmt.Sprintf("the same call was made before in this run, and equal_calls is %s", mode)
		}
	}
	return ""
}

func (st *State) openAsk(id string) *Ask {
	for n := range st.Questions {
		if st.Phase == Asking && st.Questions[n].ID == id {
			return &st.Questions[n]
		}
	}
	return nil
}

// whyNotOpen returns the error for an answer to a question that is not open.
func (st *State) whyNotOpen(id string) error {
	for n := range st.Given {
		if g := &st.Given[n]; g.Question == id {
			if g.Nobody {
				return ErrTooLate
			}
			return ErrAnswered
		}
	}
	place, _, _ := strings.Cut(id, "-")
	if slices.ContainsFunc(st.Asks(), func(a Ask) bool { return strings.HasPrefix(a.ID, place+"-") }) {
		return ErrOtherArguments
	}
	var run, turn, call int
	if _, err := fmt.Sscanf(place, "%d.%d.%d", &run, &turn, &call); err != nil || run < 1 || turn < 1 || run > st.Run ||
		run == st.Run && turn > st.Turn {
		return ErrNotAsked
	}
	return ErrMovedOn
}

// asksPeople asks people about the calls of the batch that need approval, and about those in doubt. It reports
// whether there are any.
func (s *step) asksPeople() bool {
	var open []Ask
	for _, c := range s.Batch.Calls {
		if c.Ended() {
			continue
		}
		p := s.policyOf(c.Tool).Approval.Whole()
		a := Ask{Index: c.Index, Tool: c.Tool, CallID: c.ID, Key: c.Key, Arguments: c.Arguments, At: s.At}
		switch rule := s.approvalRule(c, &p); {
		case c.Lost != nil:
			a.Kind, a.Failure, a.Default = AskDoubt, &c.Lost.Failure, NobodyKnows
		case c.Approved || rule == "":
			continue
		default:
			a.Kind, a.Rule, a.Default = AskApproval, rule, Refuse
			if p.Default == policy.DefaultApprove {
				a.Default = Approve
			}
		}
		if a.Deadline = s.Config.Deadline; p.Timeout != policy.Unlimited {
			if until := s.At.Add(p.Timeout); a.Deadline.IsZero() || until.Before(a.Deadline) {
				a.Deadline = until
			}
		}
		a.ID = s.askID(&a, c.Transport)
		open = append(open, a)
	}
	s.ask(open)
	return len(open) > 0
}

// ask asks the open questions.
func (s *step) ask(open []Ask) {
	if s.Questions = open; len(open) > 0 {
		s.Phase = Asking
		s.do(AskPerson).Asks = open
	}
}

// askID returns the ID of a question. transport is the attempt of its call.
func (s *step) askID(a *Ask, transport int) string {
	text := appendPart(make([]byte, 0, 512), s.Session.ID())
	for _, part := range []string{string(a.Kind), a.Tool, alike(a.Arguments), fmt.Sprint(transport)} {
		text = appendPart(text, part)
	}
	return fmt.Sprintf("%d.%d.%d-%s", s.Run, s.Turn, a.Index+1, digest(text, keyLen))
}

// approvalRule returns why a call needs approval, or "".
func (s *step) approvalRule(c *BatchCall, p *policy.Approval) policy.ApprovalRule {
	needs := false
	switch p.When {
	case policy.ApproveNever:
		return ""
	case policy.ApproveAlways:
		needs = true
	case policy.ApproveUndeclared:
		needs = !c.Repeatable
	case policy.ApproveFirst:
		needs = !s.Session.Approved(c.Tool)
	case policy.ApproveAbove:
		needs = p.Exceeds(c.Arguments)
	}
	switch {
	case needs:
		return p.When
	case c.NeedsApproval:
		return policy.ApproveDeclared
	}
	return ""
}

// LostCall is a call in doubt that a person is asked about.
type LostCall struct {
	Verdict  Verdict         `json:"verdict"`
	Failure  fault.Failure   `json:"failure"`
	Decision policy.Decision `json:"decision"`
}

// asksAboutDoubt keeps a call in doubt for a person, if the policy says so. It reports whether it does.
func (s *step) asksAboutDoubt(c *BatchCall, v Verdict, f fault.Failure, d policy.Decision) bool {
	if !c.inDoubt() || s.policyOf(c.Tool).Approval.InDoubt != policy.DoubtAsk {
		return false
	}
	c.Lost = &LostCall{v, f, d}
	return true
}

// responded takes a person's answer.
func (s *step) responded() error {
	r := s.ev.Response
	if err := s.responseFault(r, s.At); err != nil {
		return s.eventError(err.Error())
	}
	a := *s.openAsk(r.Question)
	c := s.call(a.Index)
	s.settled(a, Settled{Verdict: r.Verdict, By: r.By, Changed: r.Arguments, Words: r.Words})
	if err := s.rule(c, r); err != nil {
		return err
	}
	return s.askOn(func(o *Ask) bool { return o.ID == a.ID })
}

// settled records how a question was answered.
func (s *step) settled(a Ask, how Settled) {
	how.Ask, how.At = a, s.At
	s.do(AskSettled).Settled = &how
	s.Given = append(slices.Clip(s.Given), Given{
		Question: a.ID, Tool: a.Tool, CallID: a.CallID, Verdict: how.Verdict, By: how.By, At: s.At, Nobody: how.Nobody,
		Changed: len(how.Changed) > 0,
	})
}

// askOn asks the questions that are left, or goes on with the calls.
func (s *step) askOn(answered func(*Ask) bool) error {
	left := slices.DeleteFunc(slices.Clone(s.Questions), func(a Ask) bool { return answered(&a) })
	if s.ask(left); len(left) > 0 {
		return nil
	}
	s.Questions = nil
	return s.proceed(NextTools)
}

// rule follows an answer.
func (s *step) rule(c *BatchCall, r *Response) error {
	switch r.Verdict {
	case Approve:
		s.Session = s.Session.AddApproved(c.Tool)
		if c.Approved = true; len(r.Arguments) > 0 {
			s.change(c, r)
		}
	case Refuse:
		s.deny(c, "Not run: a person refused this call.", r.Words)
	case WasDone:
		return s.wasDone(c)
	case WasNotDone:
		s.closeDoubt(c)
		s.deny(c, "Not done: the call was begun, and a person has found that it had no effect.", r.Words)
	case RunAgain:
		c.Status, c.Lost, c.Approved = Open, nil, true
		c.Transport++
	case NobodyKnows:
		s.leaveLost(c)
		c.Answer = said(c.Answer, r.Words)
	}
	return nil
}

// change gives a call the arguments of an answer, and the key that they have.
func (s *step) change(c *BatchCall, r *Response) {
	was := alike(c.Arguments)
	now := alike(r.Arguments)
	if c.Arguments, c.Identity = r.Arguments, r.Identity; was == now {
		return
	}
	twins := 0
	for _, o := range s.Batch.Calls {
		if o.Index != c.Index && o.Tool == c.Tool && alike(o.Arguments) == now {
			twins++
		}
	}
	if c.Key = s.openKey(c.Tool, []byte(now), twins); c.Key == "" {
		c.Key = s.keyOf(c.Tool, twins, []byte(now))
	}
	c.Changed = true
}

// wasDone ends a call in doubt with the result that a person gave.
func (s *step) wasDone(c *BatchCall) error {
	end := s.ev.Tool
	if end == nil || end.Index != c.Index || end.Verdict != Done {
		return s.eventError("it needs the end of the call that was done")
	}
	c.Lost = nil
	s.closeDoubt(c)
	return s.toolDone(c, end)
}

// deny ends a call that is not made, or had no effect. Nothing is charged.
func (s *step) deny(c *BatchCall, lead, words string) {
	c.Lost = nil
	s.giveBack(c)
	s.uncharge(c)
	s.chose(c)
	c.end(Denied, said(lead, words))
}

// said returns what the model is told, with what a person said.
func said(lead, words string) string {
	if words = strings.TrimSpace(words); words == "" {
		return lead
	}
	return lead + " They say: " + feedback.InMarks(words, maxSaid)
}

// leaveLost ends a call in doubt as one whose effect nobody knows.
func (s *step) leaveLost(c *BatchCall) {
	l := *c.Lost
	c.Lost = nil
	s.endLost(c, l.Verdict, l.Failure, l.Decision)
}

// nobodyAnswered follows the defaults of the questions whose deadline is over.
func (s *step) nobodyAnswered() error {
	first := AskedUntil(s.Questions)
	if first.IsZero() || s.At.Before(first) {
		return s.eventError("it waits for a person, " + until(first))
	}
	if d := s.Config.Deadline; !d.IsZero() && !s.At.Before(d) {
		s.stop(Outcome{Reason: policy.ReasonDeadline})
		return nil
	}
	over := func(a *Ask) bool { return !a.Deadline.IsZero() && !s.At.Before(a.Deadline) }
	for _, a := range s.Questions {
		if !over(&a) {
			continue
		}
		c := s.call(a.Index)
		s.settled(a, Settled{Verdict: a.Default, Nobody: true})
		switch a.Default {
		case Approve:
			c.Approved = true
		case Refuse:
			s.deny(c, "Not run: this call needs a person's approval, and nobody answered in time.", "")
		default:
			s.leaveLost(c)
		}
	}
	return s.askOn(over)
}

// until says when a wait ends.
func until(at time.Time) string {
	if at.IsZero() {
		return "without a deadline"
	}
	return "until " + at.Format(time.RFC3339Nano)
}

// changedWords says that a person changed the arguments of a call; empty if none did.
func (c *BatchCall) changedWords() string {
	if !c.Changed {
		return ""
	}
	return "A person changed the arguments of this call before it ran, to " +
		feedback.InMarks(string(c.Arguments), maxSaid) + ". What follows is of the call with these.\n"
}

// asksFault reports what is wrong with the open questions of a snapshot.
func (st *State) asksFault() error {
	if (st.Phase == Asking) != (len(st.Questions) > 0) {
		return errors.New("questions: some, if and only if people are asked")
	}
	for n := range st.Questions {
		a := &st.Questions[n]
		switch {
		case st.Batch == nil || !st.Batch.open(a.Index):
			return fmt.Errorf("questions[%d].index: %d names no call without an answer", n, a.Index)
		case rulings[a.Kind] == nil:
			return fmt.Errorf("questions[%d].kind: %q is not known", n, a.Kind)
		case !slices.Contains(rulings[a.Kind], a.Default):
			return fmt.Errorf("questions[%d].default: %q is no answer to it", n, a.Default)
		case (a.Kind == AskDoubt) != (st.Batch.Calls[a.Index].Lost != nil):
			return fmt.Errorf("questions[%d].kind: %q is not what the call needs", n, a.Kind)
		}
	}
	return nil
}

// String returns the question as one sentence.
func (a *Ask) String() string {
	text := "approve " + cmp.Or(a.Tool, "the call")
	if a.Kind == AskDoubt {
		text = "what became of " + a.Tool
	} else if a.Rule != "" {
		text += " (" + string(a.Rule) + ")"
	}
	if !a.Deadline.IsZero() {
		text += ", within " + a.Deadline.Sub(a.At).String() + ", else " + string(a.Default)
	}
	return text
}

// String returns how a question was answered, as one sentence.
func (d *Settled) String() string {
	who := "a person"
	switch {
	case d.Nobody:
		return fmt.Sprintf("nobody answered about %s in time: %s", d.Ask.Tool, d.Verdict)
	case d.By != "":
		who = feedback.Name(d.By)
	}
	text := fmt.Sprintf("%s answered about %s: %s", who, d.Ask.Tool, d.Verdict)
	if len(d.Changed) > 0 {
		text += ", with other arguments"
	}
	return text
}

// sentenceOf returns questions as one sentence.
func sentenceOf(asks []Ask) string {
	all := make([]string, len(asks))
	for n := range asks {
		all[n] = asks[n].String()
	}
	return strings.Join(all, "; ")
}
