package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// AskKind is what a person is asked.
type AskKind string

// The kinds of questions to people.
const (
	// AskApproval asks whether a call may be made.
	AskApproval AskKind = "approval"
	// AskDoubt asks what became of a call whose effect is unknown.
	AskDoubt AskKind = "in_doubt"
	// AskExhausted asks what follows an exhaustion. Tool is the exhausted action, empty for the answer, and
	// Failure its last failure. Index is that of the call that may be corrected: the only one of the tool in
	// the reply that was not accepted. It is -1 if there is none.
	AskExhausted AskKind = "exhausted"
)

// Ask is a question to a person. It is read-only.
type Ask struct {
	// ID names the question: the run, the turn and the call, and a digest of the session, the tool and the
	// arguments, so that an answer fits no other question. It is a valid file name on every system.
	ID   string  `json:"id"`
	Kind AskKind `json:"kind"`
	// Index is the index of the call in the reply, from 0.
	Index  int    `json:"index"`
	Tool   string `json:"tool"`
	CallID string `json:"call_id,omitempty"`
	// Key is the idempotency key that the call has unless its arguments are changed.
	Key string `json:"key"`
	// Arguments are those of the call; empty if they are no JSON, and without a call.
	Arguments json.RawMessage `json:"arguments"`
	// Rule is why approval is needed; empty for a call in doubt.
	Rule policy.ApprovalRule `json:"rule,omitempty"`
	// Failure is that of a call in doubt, or the one that exhausted the action, at Attempt and for Reason.
	Failure *fault.Failure `json:"failure,omitempty"`
	Attempt int            `json:"attempt,omitempty"`
	Reason  policy.Reason  `json:"reason,omitempty"`
	// At is when the question was asked. From Deadline on it can no longer be answered; zero means no
	// deadline.
	At       time.Time `json:"at"`
	Deadline time.Time `json:"deadline,omitzero"`
	// Default is the ruling if nobody answers in time.
	Default Ruling `json:"default"`
}

// Asks returns the open questions to people, in call order. The slice is read-only.
func (st State) Asks() []Ask {
	if st.Phase != Asking {
		return nil
	}
	return st.inner.Questions
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

// asksPeople asks people about the calls of the batch that need approval, and about those in doubt. It
// reports whether there are any.
func (s *step) asksPeople() bool {
	var open []Ask
	for _, c := range s.Batch.Calls {
		if c.Ended() {
			continue
		}
		p := s.policyOf(c.Tool).Approval.Whole()
		a := Ask{Index: c.Index, Tool: c.Tool, CallID: c.ID, Key: c.Key, Arguments: c.Arguments, At: s.At,
			Deadline: s.openUntil(p.Timeout)}
		rule := p.Needs(policy.ApprovalCall{Declared: c.NeedsApproval, Repeatable: c.Repeatable,
			Approved: s.Session.Approved(c.Tool), Exceeds: c.Exceeds})
		switch {
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
		a.ID = s.askID(&a, fmt.Sprint(c.Transport))
		open = append(open, a)
	}
	s.ask(open)
	return len(open) > 0
}

// openUntil returns the deadline of a question: timeout from now if it is above 0, and at the latest the
// run's.
func (s *step) openUntil(timeout time.Duration) time.Time {
	until := s.At.Add(timeout)
	if timeout <= 0 || !s.Config.Deadline.IsZero() && s.Config.Deadline.Before(until) {
		return s.Config.Deadline
	}
	return until
}

func (s *step) ask(open []Ask) {
	if s.inner.Questions = open; len(open) > 0 {
		s.Phase = Asking
		s.do(AskPerson).Asks = open
	}
}

// askID returns the ID of a question. attempt tells it from other questions about the same call.
func (s *step) askID(a *Ask, attempt string) string {
	text := appendPart(make([]byte, 0, hashBufferSize), s.Session.ID())
	for _, part := range []string{string(a.Kind), a.Tool, string(exact(a.Arguments, nil)), attempt} {
		text = appendPart(text, part)
	}
	return fmt.Sprintf("%d.%d.%d-%s", s.Run, s.Turn, a.Index+1, digest(text, keyLen))
}

// lostCall is a call in doubt that a person is asked about.
type lostCall struct {
	Verdict  Verdict         `json:"verdict"`
	Failure  fault.Failure   `json:"failure"`
	Decision policy.Decision `json:"decision"`
}

// String returns the question as one sentence.
func (a *Ask) String() string {
	text := "approve " + cmp.Or(a.Tool, "the call")
	if a.Kind == AskExhausted {
		text = fmt.Sprintf("what is to follow: %s gave up at attempt %d: %s (%s)", cmp.Or(a.Tool, "the answer"),
			a.Attempt, a.Failure.Class, a.Reason)
	} else if a.Kind == AskDoubt {
		text = "what became of " + a.Tool
	} else if a.Rule != "" {
		text += " (" + string(a.Rule) + ")"
	}
	if !a.Deadline.IsZero() {
		text += ", within " + a.Deadline.Sub(a.At).String() + ", else " + string(a.Default)
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
