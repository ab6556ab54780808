package machine

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Batch is the reply whose calls are being run. [Step] replaces it and never changes it.
type Batch struct {
	// Calls are all calls of the reply, in order. The calls are read-only.
	Calls []*BatchCall `json:"calls"`
	// Cursor is the index of the next call to end.
	Cursor int `json:"cursor"`

	batchKept
}

// batchKept are the fields of a [Batch] that only the machine reads.
type batchKept struct {
	Native bool `json:"native,omitempty"`
	// From is the number of messages before the reply.
	From int `json:"from,omitempty"`
	// Told is how much of the feedback limits the answers so far have used.
	Told feedback.Limits `json:"told,omitzero"`
	// Rest is what was left when the calls were made, or when the budgets began anew: see [State.Bound]. It
	// is read-only.
	Rest *rest `json:"rest,omitempty"`
}

// callStatus is what has become of a call of a batch.
type callStatus string

// The statuses of a call. An open or doubtful call has not ended.
const (
	// callOpen is a call that is to be run, or runs. callDoubtful is one whose last try may have had an
	// effect, unless its tool is read-only, and that may be run again.
	callOpen     callStatus = ""
	callDoubtful callStatus = "doubtful"
	// callAnswered is a call with a result, and callFailed one whose tool failed and said so.
	callAnswered callStatus = "answered"
	callFailed   callStatus = "failed"
	// callInvalid is a call with invalid arguments or an unknown tool, callAsked one whose tool asked for
	// another, and callRefused one whose result a reducer refused.
	callInvalid callStatus = "invalid"
	callAsked   callStatus = "asked"
	callRefused callStatus = "refused"
	// callRepeated is a call that was not run, because it equals one with a result.
	callRepeated callStatus = "repeated"
	// callLost is a call that ended without saying what it did, and callNotRun one that was not run.
	callLost   callStatus = "lost"
	callNotRun callStatus = "not_run"
	// callDenied is a call that a person refused, that nobody approved, or that had no effect as a person
	// says.
	callDenied callStatus = "denied"
)

// BatchCall is one call of a batch. One that is not run has no Key, and its Transport is 0.
type BatchCall struct {
	ToolRun
	// Answer is the text for the model.
	Answer string `json:"answer,omitempty"`

	callKept
}

// callKept are the fields of a [BatchCall] that the machine reads, and engines in part.
type callKept struct {
	standing
	// Waited is the sum of the call's transport waits so far.
	Waited time.Duration `json:"waited_ns,omitempty"`
	Status callStatus    `json:"status,omitempty"`
	// Approved reports that the call needs no further approval, Changed that a person changed its arguments,
	// and Corrected that they did so after it was not accepted. Lost is set while a person is asked about the
	// call because it is in doubt.
	Approved  bool      `json:"approved,omitempty"`
	Changed   bool      `json:"changed,omitempty"`
	Corrected bool      `json:"corrected,omitempty"`
	Lost      *lostCall `json:"lost,omitempty"`
	// Held reports that the call is a poll that came early, and waits.
	Held bool `json:"held,omitempty"`
	// Twin is the index, plus 1, of the equal call in the same reply; 0 if the equal call is of an earlier
	// reply.
	Twin int `json:"twin,omitempty"`
	// Doubt reports that the call has an answer of its own, and left something in doubt.
	Doubt bool `json:"doubt,omitempty"`
	// Parts are the media of the answer.
	Parts []message.Part `json:"parts,omitempty"`
	// Final is the result if it is the answer of the run.
	Final json.RawMessage `json:"final,omitempty"`
}

// standing is what a call has in its run beyond its reply. A call that repeats one in doubt has that of it.
type standing struct {
	// Place and SessionPlace report that the call counts under the caps of its tool.
	Place        bool `json:"place,omitempty"`
	SessionPlace bool `json:"session_place,omitempty"`
	// First is the place of the call in doubt that this one repeats, if any: see [State.Child]. Consumed is
	// what runs within the call consumed in earlier tries and in that call in doubt.
	First    string        `json:"first,omitempty"`
	Consumed policy.Charge `json:"consumed,omitzero"`
}

// Ended reports whether the call has its answer.
func (c *BatchCall) Ended() bool { return c.Status != callOpen && c.Status != callDoubtful }

// IsError reports whether the answer of a call that ended is no result.
func (c *BatchCall) IsError() bool { return c.Status != callAnswered && c.Status != callRepeated }

func (c *BatchCall) end(as callStatus, answer string) { c.Status, c.Answer = as, answer }

// tools returns the tools of the calls, in the order of each tool's first call.
func (b *Batch) tools() (all []string) {
	for _, c := range b.Calls {
		if !slices.Contains(all, c.Tool) {
			all = append(all, c.Tool)
		}
	}
	return all
}

func (b *Batch) of(tool string, statuses ...callStatus) (all []*BatchCall) {
	for _, c := range b.Calls {
		if c.Tool == tool && slices.Contains(statuses, c.Status) {
			all = append(all, c)
		}
	}
	return all
}

// failed reports whether a call of a tool was a failed attempt of its action, and decided it.
func (b *Batch) failed(tool string) bool {
	return len(b.of(tool, callInvalid, callAsked, callRefused)) > 0
}

// open reports whether a call of a tool has no answer yet.
func (b *Batch) open(tool string) bool { return len(b.of(tool, callOpen, callDoubtful)) > 0 }

// twins returns the calls before call n that equal it. arguments are those of each call in the form of
// [exact].
func (b *Batch) twins(n int, arguments [][]byte) (all []*BatchCall) {
	for before, c := range b.Calls[:n] {
		if c.Tool == b.Calls[n].Tool && bytes.Equal(arguments[before], arguments[n]) {
			all = append(all, c)
		}
	}
	return all
}

// pending returns the index of the first call, from index start on, that has no answer and is not held. It
// returns the number of calls if there is none.
func (b *Batch) pending(start int) int {
	for n := start; n < len(b.Calls); n++ {
		if c := b.Calls[n]; !c.Ended() && !c.Held {
			return n
		}
	}
	return len(b.Calls)
}

// unfinished counts the calls of the batch without an answer.
func (b *Batch) unfinished() (n int) {
	for _, c := range b.Calls {
		if !c.Ended() {
			n++
		}
	}
	return n
}

// runs returns the calls of the batch without an answer that are not held.
func (b *Batch) runs() []ToolRun {
	runs := make([]ToolRun, 0, b.unfinished())
	for _, c := range b.Calls {
		if !c.Ended() && !c.Held {
			runs = append(runs, c.ToolRun)
		}
	}
	return runs
}

// copied returns a batch that a step may change; the calls themselves are copied by [step.call].
func (b *Batch) copied() *Batch {
	if b == nil {
		return nil
	}
	own := *b
	own.Calls = slices.Clone(b.Calls)
	return &own
}

// call replaces call n of the batch by a copy that the step may change, and returns the copy.
func (s *step) call(n int) *BatchCall {
	own := *s.Batch.Calls[n]
	s.Batch.Calls[n] = &own
	return &own
}

// tellBatch ends the batch: it tells the model the answers to the calls, and records what became of them.
func (s *step) tellBatch() {
	b := s.Batch
	s.Batch = nil
	s.sayAll(b.Native, b.Calls)
	t := projection.Turn{Text: !b.Native}
	for _, c := range b.Calls {
		switch {
		case c.Status == callAnswered:
			t.Passed = append(t.Passed, c.Tool)
		case c.Status == callInvalid || c.Status == callAsked:
			t.Failed = append(t.Failed, c.Tool)
		}
		if c.began() && !c.ReadOnly {
			t.Calls = append(t.Calls, projection.Call{Tool: c.Tool, Arguments: string(c.Arguments), Said: c.Answer,
				Failed: c.Status != callAnswered && c.Status != callRefused, InDoubt: s.doubtOf(c.Key) != nil})
		}
	}
	if len(t.Passed) > 0 || len(t.Calls) > 0 {
		t.Failed = nil
	}
	s.keepTurn(b.From, t)
}

// began reports whether the tool of a call that ended was run, and may have done something. One that asked
// for another call has done nothing, unless it left something in doubt.
func (c *BatchCall) began() bool {
	switch c.Status {
	case callAnswered, callFailed, callRefused, callLost:
		return true
	}
	return c.Status == callAsked && c.Doubt
}

// skipBatch answers the calls that were not run yet, because the planner's prompt replaces them.
func (s *step) skipBatch() {
	for _, c := range s.Batch.Calls {
		if !c.Ended() {
			s.close(c.Tool)
		}
	}
	s.endBatch("Not run.")
}

// endBatch ends the batch before all of its calls have ended. It answers those without an answer, with
// special texts for those in doubt, so that no call stays unanswered.
func (s *step) endBatch(text string) {
	s.settleTools()
	for n, was := range s.Batch.Calls {
		if was.Ended() {
			continue
		}
		switch c := s.call(n); {
		case slices.Contains(s.ev.Begun, n):
			c.end(callLost, c.stoppedText())
			s.addDoubt(c)
		case c.Status == callDoubtful:
			c.end(callLost, c.leftText())
			s.addDoubt(c)
		default:
			s.giveBack(c)
			c.end(callNotRun, text)
		}
	}
	s.tellRepeated()
	s.tellBatch()
}

// refuse makes a call invalid for an issue; without one it does nothing.
func (c *BatchCall) refuse(i *fault.Issue) {
	if i != nil {
		c.Class, c.Issues = fault.ToolValidation, []fault.Issue{*i}
	}
}
