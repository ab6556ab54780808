package machine

import (
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// judgeEqual decides on a call that equals earlier ones of its reply, or one that was made in the run.
func (s *step) judgeEqual(c *BatchCall, twins []*BatchCall, made *madeCall) {
	first := slices.IndexFunc(twins, func(o *BatchCall) bool { return o.Status == callOpen })
	if first < 0 && made == nil {
		return
	}
	p := s.policyOf(c.Tool)
	mode := p.EqualCalls
	if mode == policy.EqualRun && first >= 0 {
		mode = p.EqualInReply
	}
	if mode == policy.EqualDeclared {
		mode = policy.EqualRecorded
		if c.Repeatable {
			mode = policy.EqualRun
		}
	}
	switch {
	case mode == policy.EqualRefuse:
		c.refuse(&fault.Issue{Rule: fault.RuleEqualCall, Source: fault.FromReply})
	case mode == policy.EqualRecorded && first >= 0:
		c.Status, c.Twin = callRepeated, twins[first].Index+1
	case mode == policy.EqualRecorded:
		c.end(callRepeated, "Not run again: the same call was made before in this run. Its result: "+
			s.Batch.shown(made.Answer))
		c.Parts = made.Parts
	}
}

// madeCall is a call of the run that has a result, of a tool whose equal calls are not run.
type madeCall struct {
	Tool string `json:"tool"`
	// Arguments are in the form of [exact].
	Arguments string         `json:"arguments"`
	Answer    string         `json:"answer"`
	Parts     []message.Part `json:"parts,omitempty"`
}

// made returns the call of the run that has a result and these arguments in the form of [exact], or nil.
func (st *State) made(tool string, exact []byte) *madeCall {
	all := st.inner.made.From(0)
	for n := range all {
		if m := &all[n]; m.Tool == tool && m.Arguments == string(exact) {
			return m
		}
	}
	return nil
}

// keepMade keeps the result of a call for equal calls.
func (s *step) keepMade(c *BatchCall) {
	if s.policyOf(c.Tool).EqualCalls == policy.EqualRun {
		return
	}
	m := madeCall{Tool: c.Tool, Arguments: string(c.exact()), Answer: c.Answer, Parts: c.Parts}
	if s.made(c.Tool, c.exact()) == nil {
		s.inner.made = s.inner.made.Append(m)
	}
}

// tellRepeated answers the calls of the batch that were not run because they equal another of the reply.
func (s *step) tellRepeated() {
	for n, c := range s.Batch.Calls {
		if c.unsaid() {
			s.Batch.Calls[n] = s.Batch.repeated(n)
		}
	}
}

// unsaid reports whether a call that equals another of its reply has not got its answer yet.
func (c *BatchCall) unsaid() bool { return c.Status == callRepeated && c.Answer == "" }

// repeated returns call n, which equals another of the reply, with its answer.
func (b *Batch) repeated(n int) *BatchCall {
	own := *b.Calls[n]
	first := b.Calls[own.Twin-1]
	if first.Status != callAnswered {
		own.end(callNotRun, "Not run: it equals another call of the same reply, which ended so: "+first.Answer)
		return &own
	}
	own.Answer = "Not run: it equals another call of the same reply, which has the result: " +
		b.shown(first.Answer) + "\nIf it has to be done twice, make the call again in another reply."
	return &own
}

// shown returns the result of another call as a part of an answer.
func (b *Batch) shown(result string) string {
	if b.Native {
		return result
	}
	return quoted(result)
}

// Answered returns call n of the batch with its answer. ok is false if the call is open, or equals an open
// one of the same reply.
func (b *Batch) Answered(n int) (c *BatchCall, ok bool) {
	switch c = b.Calls[n]; {
	case !c.unsaid():
		return c, c.Ended()
	case !b.Calls[c.Twin-1].Ended():
		return c, false
	}
	return b.repeated(n), true
}
