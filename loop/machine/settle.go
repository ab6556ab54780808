package machine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Settled is a question with its answer.
type Settled struct {
	Ask Ask `json:"ask"`
	// Verdict is the ruling, By who gave it, and At when the run took it. Nobody reports that nobody answered
	// in time, so that the default holds.
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
	// Said is when the answer was given, if that was before the run took it.
	Said time.Time `json:"said,omitzero"`
	// Nobody reports that nobody answered in time.
	Nobody bool `json:"nobody,omitempty"`
	// Changed reports that the arguments were changed.
	Changed bool `json:"changed,omitempty"`
}

// Since returns when the answer was given.
func (g *Given) Since() time.Time {
	if g.Said.IsZero() {
		return g.At
	}
	return g.Said
}

// Given returns the answers to earlier questions of the run. The slice is read-only.
func (st State) Given() []Given { return st.given.From(0) }

// responded takes a person's answer.
func (s *step) responded() error {
	r := s.ev.Response
	if err := s.responseFault(r, s.At); err != nil {
		return s.eventError(err.Error())
	}
	a := *s.OpenAsk(r.Question)
	s.settled(a, r.At, Settled{Verdict: r.Verdict, By: r.By, Changed: r.Arguments, Words: r.Words})
	if a.Kind == AskExhausted {
		return s.ruleExhausted(r)
	}
	if err := s.rule(s.call(a.Index), r); err != nil {
		return err
	}
	return s.askOn(func(o Ask) bool { return o.ID == a.ID })
}

// settled records how a question was answered, and when the answer was given.
func (s *step) settled(a Ask, said time.Time, how Settled) {
	how.Ask, how.At = a, s.At
	s.do(AskSettled).Settled = &how
	s.given = s.given.Append(Given{
		Question: a.ID, Tool: a.Tool, CallID: a.CallID, Verdict: how.Verdict, By: how.By, At: s.At, Said: said,
		Nobody:  how.Nobody,
		Changed: len(how.Changed) > 0,
	})
}

// askOn asks the questions that are left, or goes on with the calls.
func (s *step) askOn(answered func(Ask) bool) error {
	left := slices.DeleteFunc(slices.Clone(s.inner.Questions), answered)
	if s.ask(left); len(left) > 0 {
		return nil
	}
	s.inner.Questions = nil
	return s.proceed(thenTools)
}

// askAbout asks a person what is to follow an exhaustion.
func (s *step) askAbout(p *Plan) error {
	x := s.inner.Exhausted
	a := Ask{Kind: AskExhausted, Index: -1, Tool: x.Action, Failure: &x.Failure,
		Attempt: x.Attempt, Reason: x.Reason, At: s.At, Deadline: s.openUntil(p.Delay), Default: EndRun}
	if c := s.correctable(); c != nil {
		a.Index, a.CallID, a.Key, a.Arguments = c.Index, c.ID, c.Key, c.Arguments
	}
	told := fmt.Sprint(x.Attempt) + a.Key                  // the same arguments may fail again
	if a.ID = s.askID(&a, told); s.answerTo(a.ID) != nil { // and so may a call of the model, in the same turn
		a.ID = s.askID(&a, fmt.Sprint(told, " after ", s.given.Len()))
	}
	s.ask([]Ask{a})
	return nil
}

// correctable returns the call whose arguments a person may correct after an exhaustion: the only one of its
// tool that was not accepted, if nothing else was decided by it. Else it returns nil.
func (st *State) correctable() (found *BatchCall) {
	x, b := st.inner.Exhausted, st.Batch
	if b == nil || x == nil || x.Plane != fault.Correction || x.Cycle != nil ||
		x.Failure.Class == fault.UnknownTool || st.Config.CallsOnly || st.Policy.AllOrNothing && len(b.Calls) > 1 {
		return nil
	}
	for _, c := range b.Calls {
		if c.Tool != x.Action || c.Status != callInvalid && c.Status != callAsked {
			continue
		}
		if found != nil || slices.ContainsFunc(b.Calls, func(o *BatchCall) bool { return o.Twin == c.Index+1 }) {
			return nil
		}
		found = c
	}
	return found
}

// remake makes the call that was not accepted with the arguments of an answer, as a call of its own.
func (s *step) remake(c *BatchCall, r *Response) {
	s.close(c.Tool)
	s.beginAttempt(c.Tool)
	own := &BatchCall{ToolRun: ToolRun{Index: c.Index, Call: *r.Call, Transport: 1},
		callKept: callKept{Corrected: true, Doubt: c.Doubt}}
	own.ID, own.Tool, own.Progress = c.ID, c.Tool, c.Progress
	own.Arguments, own.Identity, own.Exact = r.Arguments, r.Identity, r.Exact
	s.Batch.Calls[c.Index] = own
	s.enlist(own, 0, own.exact())
	s.keepRest() // the call is one more of those to run
}

// ruleExhausted follows an answer about an exhaustion.
func (s *step) ruleExhausted(r *Response) error {
	c := s.correctable()
	s.inner.Questions = nil
	if r.Verdict == EndRun {
		return s.abort()
	}
	s.adopt(&Plan{Policy: r.Policy, ResetBudgets: true})
	if len(r.Arguments) > 0 {
		if r.Call == nil {
			return s.eventError("it needs what is known of the corrected call")
		}
		s.remake(c, r)
		if words := strings.TrimSpace(r.Words); words != "" {
			s.inner.Words = append(slices.Clip(s.inner.Words), session.Words{Text: words, By: r.By, At: s.At})
		}
		s.inner.Exhausted = nil
		return s.proceed(thenTools)
	}
	s.tellAnew()
	return s.fallBack(&Plan{Do: Fallback, Prompt: strings.TrimSpace(r.Words)})
}

// tellAnew tells the model that it may try the exhausted action again: in the answers to its calls, if they
// are not in the conversation yet.
func (s *step) tellAnew() {
	x := s.inner.Exhausted
	fb := s.Feedback(x.Action)
	if x.Plane != fault.Correction || fb == nil || !fb.Last() {
		return
	}
	anew := action{Name: x.Action, Unknown: fb.ErrorType == fault.UnknownTool}
	text := feedback.Anew(*fb, s.lastAttempt(&anew, 0))
	if s.Batch == nil {
		s.say(message.Message{Role: message.User, Text: text})
		return
	}
	for n, c := range s.Batch.Calls {
		switch {
		case c.Tool != x.Action:
		case c.Status == callInvalid, c.Status == callAsked, c.Status == callRefused:
			s.call(n).Answer += "\n" + text
		}
	}
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
		s.forbid(c, refusedByPerson, r.Words)
	case WasDone:
		return s.wasDone(c)
	case WasNotDone:
		s.closeDoubt(c)
		s.deny(c, "Not done: the call was begun, and a person has found that it had no effect.", r.Words)
	case RunAgain:
		c.Status, c.Lost, c.Approved = callOpen, nil, true
		c.Transport++
	case NobodyKnows:
		s.leaveLost(c)
		c.Answer = withWords(c.Answer, " A person was asked, and says: ", r.Words)
	}
	return nil
}

// change gives a call the arguments of an answer, and the key and place that they have.
func (s *step) change(c *BatchCall, r *Response) {
	was := c.exact()
	c.Arguments, c.Identity, c.Exact = r.Arguments, r.Identity, r.Exact
	now := c.exact()
	if bytes.Equal(was, now) {
		return
	}
	twins := 0
	for _, o := range s.Batch.Calls {
		if o.Index != c.Index && o.Tool == c.Tool && bytes.Equal(o.exact(), now) {
			twins++
		}
	}
	s.giveBack(c)
	s.enlist(c, twins, now)
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

// forbid ends a call that is not made, and says why. If an earlier try may have had its effect, that stays in
// doubt.
func (s *step) forbid(c *BatchCall, why, words string) {
	lead := "Not run: " + why
	if c.inDoubt() {
		s.addDoubt(c)
		lead = "Not run again: " + why + " The effect of this call may or may not have happened."
	}
	s.deny(c, lead, words)
}

// deny ends a call that is not made, or had no effect. Nothing is charged.
func (s *step) deny(c *BatchCall, lead, words string) {
	c.Lost = nil
	s.giveBack(c)
	s.noteChosen(c)
	c.end(callDenied, withWords(lead, " They say: ", words))
}

// leaveLost ends a call in doubt as one whose effect nobody knows.
func (s *step) leaveLost(c *BatchCall) {
	l := *c.Lost
	c.Lost = nil
	s.endLost(c, l.Verdict, l.Failure, l.Decision)
}

// nobodyAnswered follows the defaults of the questions whose deadline is over.
func (s *step) nobodyAnswered() error {
	first := AskedUntil(s.inner.Questions)
	if first.IsZero() || s.At.Before(first) {
		return s.eventError("it waits for a person, " + until(first))
	}
	if s.outlasts(0) {
		s.stop(Outcome{Reason: policy.ReasonDeadline})
		return nil
	}
	over := func(a Ask) bool { return !a.Deadline.IsZero() && !s.At.Before(a.Deadline) }
	for _, a := range s.inner.Questions {
		if !over(a) {
			continue
		}
		s.settled(a, time.Time{}, Settled{Verdict: a.Default, Nobody: true})
		if a.Kind == AskExhausted {
			return s.ruleExhausted(&Response{Verdict: a.Default})
		}
		c := s.call(a.Index)
		switch a.Default {
		case Approve:
			c.Approved = true
		case Refuse:
			s.forbid(c, "this call needs a person's approval, and nobody answered in time.", "")
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

// String returns how a question was answered, as one sentence.
func (d *Settled) String() string {
	who := "a person"
	switch {
	case d.Nobody:
		return fmt.Sprintf("nobody answered about %s in time: %s", cmp.Or(d.Ask.Tool, "the answer"), d.Verdict)
	case d.By != "":
		who = feedback.Name(d.By)
	}
	text := fmt.Sprintf("%s answered about %s: %s", who, cmp.Or(d.Ask.Tool, "the answer"), d.Verdict)
	if len(d.Changed) > 0 {
		text += ", with other arguments"
	}
	return text
}
