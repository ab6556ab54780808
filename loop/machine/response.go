package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/policy"
)

// Ruling is what a person decides about a call.
type Ruling string

// The rulings. The first two answer [AskApproval], the last two [AskExhausted], the others [AskDoubt].
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
	// GoOn closes the exhausted action and goes on, with Words as a message of the user, Policy over the
	// run's, and Arguments, with which the call of the question is made. The budgets of failed attempts begin
	// again.
	GoOn Ruling = "go_on"
	// EndRun ends the run with the exhaustion.
	EndRun Ruling = "end"
)

// rulings are the rulings that answer each kind of question.
var rulings = map[AskKind][]Ruling{
	AskApproval: {Approve, Refuse},
	AskDoubt:    {WasDone, WasNotDone, RunAgain, NobodyKnows},

	AskExhausted: {GoOn, EndRun},
}

// MaxWords is the most bytes of a person's words.
const (
	MaxWords = 4096
	maxBy    = canon.MaxID
)

// Response is a person's answer to an [Ask]. The zero value answers nothing.
type Response struct {
	// Question is the ID of the question.
	Question string `json:"question" redact:"keep"`
	Verdict  Ruling `json:"verdict" redact:"keep"`
	// Arguments replace those of the call; empty keeps them. Only with Approve, and with GoOn if the question
	// has a call.
	Arguments json.RawMessage `json:"arguments,omitempty" redact:"document"`
	// Words are for the model, at most [MaxWords] bytes.
	Words string `json:"words,omitempty" redact:"text"`
	// Policy is merged over the policy for the rest of the run. Only with GoOn.
	Policy *policy.Layer `json:"policy,omitempty" redact:"keep"`
	// Result is the result of the call, as its tool would give it. Only with WasDone; an event has it in its
	// Tool.
	Result json.RawMessage `json:"result,omitempty" redact:"document"`
	// By names who answered, at most 256 bytes of printable text; empty if nobody knows.
	By string `json:"by,omitempty" redact:"keep"`
	// At is when the answer was given, if that was before it was taken.
	At time.Time `json:"at,omitzero"`
	// Identity are the arguments by which the changed call counts as repeated: see [Call]. The driver sets
	// it.
	Identity json.RawMessage `json:"identity,omitempty" redact:"document"`
	// Exact is that of [Call] for the changed arguments. Only a redacted journal has it.
	Exact json.RawMessage `json:"exact,omitempty" redact:"document"`
	// Call is the rest of a corrected call, without its arguments; only with GoOn. The driver sets it.
	Call *Call `json:"call,omitempty" redact:"keep"`
}

// AnswerFault is why an answer was not taken.
type AnswerFault string

// Error returns the fault in words.
func (e AnswerFault) Error() string { return string(e) }

// The faults of answers, each within an [AnswerError].
const (
	ErrAnswered AnswerFault = "the question is answered already"
	ErrTooLate  AnswerFault = "the question's deadline is over"
	// ErrMovedOn: the question is no longer open.
	ErrMovedOn AnswerFault = "the run has moved on"
	// ErrOtherArguments: the run asks about other arguments now.
	ErrOtherArguments AnswerFault = "the answer is about other arguments"
	ErrNotAsked       AnswerFault = "the run does not ask this"
	ErrMisfit         AnswerFault = "the answer does not fit the question"
)

// AnswerError reports an answer that was not taken. The run goes on as if it had not been given.
type AnswerError struct {
	// Question is the ID that the answer names.
	Question string `json:"question,omitempty"`
	// Err says what is wrong. Why says more; it may be empty.
	Err AnswerFault `json:"kind"`
	Why string      `json:"why,omitempty"`
	// Issues are what is wrong with changed arguments.
	Issues []fault.Issue `json:"issues,omitempty"`
}

// Error names the question, and says why the answer was not taken.
func (e *AnswerError) Error() string {
	text := fmt.Sprintf("answer to %.80q: %v", e.Question, e.Err)
	if e.Why != "" {
		text += ": " + e.Why
	}
	if len(e.Issues) > 0 {
		text += ": " + canon.Visible(several.Joined(e.Issues))
	}
	return text
}

// Unwrap returns the [AnswerFault].
func (e *AnswerError) Unwrap() error { return e.Err }

// ResponseFault returns an [*AnswerError] for an answer that the run does not take at the given time; nil if
// it takes it. It does not know the schemas of tools: a driver checks arguments and results. It is safe for
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

// responseFault is [State.ResponseFault] without the check of the result, which an event has in its Tool.
func (st *State) responseFault(r *Response, at time.Time) error {
	fault := func(sentinel AnswerFault, format string, args ...any) error {
		return &AnswerError{Question: r.Question, Err: sentinel, Why: fmt.Sprintf(format, args...)}
	}
	if !r.At.IsZero() && r.At.Before(at) {
		at = r.At // an answer that was given in time counts, whenever it is taken
	}
	a := st.OpenAsk(r.Question)
	if a == nil {
		return &AnswerError{Question: r.Question, Err: st.whyNotOpen(r.Question)}
	}
	switch {
	case !a.Deadline.IsZero() && !at.Before(a.Deadline):
		return fault(ErrTooLate, "it was %s", a.Deadline.Format(time.RFC3339Nano))
	case !slices.Contains(rulings[a.Kind], r.Verdict):
		return fault(ErrMisfit, "verdict: %.64q: give one of %q", string(r.Verdict), rulings[a.Kind])
	case len(r.Arguments) > 0 && r.Verdict != Approve && r.Verdict != GoOn:
		return fault(ErrMisfit, "arguments: only with %q and %q", string(Approve), string(GoOn))
	case len(r.Arguments) > 0 && a.Index < 0:
		return fault(ErrMisfit, "arguments: there is no call to correct, or more than one: give a hint")
	case r.Policy != nil && r.Verdict != GoOn:
		return fault(ErrMisfit, "policy: only with %q", string(GoOn))
	case len(r.Words) > MaxWords:
		return fault(ErrMisfit, "words: %d bytes: give at most %d", len(r.Words), MaxWords)
	case canon.CheckID("by", r.By) != nil:
		return fault(ErrMisfit, "by: give at most %d bytes of printable text", maxBy)
	}
	over := *st // with the policy of the answer
	if r.Policy != nil {
		if err := st.AdjustFault(*r.Policy); err != nil {
			return fault(ErrMisfit, "policy: %v", err)
		}
		over.adjust(r.Policy)
	}
	if len(r.Arguments) == 0 {
		return nil
	}
	if why := over.changeFault(a, r); why != "" {
		return fault(ErrMisfit, "arguments: %s", why)
	}
	return nil
}

// changeFault says why a call may not be made with the arguments of an answer: it is beyond the most
// successes of its tool, or equals a call with a result, and the policy does not run such calls. It returns
// "" if it may.
func (st *State) changeFault(a *Ask, r *Response) string {
	arguments, _ := canon.JSON(r.Arguments) // a person writes them in any form; what is no JSON equals no call
	c, now := st.Batch.Calls[a.Index], exact(arguments, r.Exact)
	if c.inDoubt() && !bytes.Equal(c.exact(), now) {
		return "an earlier try of this call may have had its effect: approve it as it is, or refuse it"
	}
	if st.repeatedDoubt(c.Tool, now, 0) != nil {
		return "" // it has the place of the call in doubt
	}
	if a.Kind == AskExhausted || st.doubtOf(c.Key) != nil { // it has no place of its own yet
		if i := st.beyond(c.Tool, 0); i != nil {
			return "as many calls of the tool as are allowed have succeeded, or could succeed: " + i.Expected
		}
	}
	mode := st.policyOf(a.Tool).EqualCalls
	if mode != policy.EqualRun && st.made(c.Tool, now) != nil {
		return fmt.Sprintf("the same call was made before in this run, and equal_calls is %s", mode)
	}
	return ""
}

// OpenAsk returns the open question with an ID, or nil. It is read-only.
func (st *State) OpenAsk(id string) *Ask {
	for n := range st.inner.Questions {
		if st.Phase == Asking && st.inner.Questions[n].ID == id {
			return &st.inner.Questions[n]
		}
	}
	return nil
}

// answerTo returns how a question was answered, or nil.
func (st *State) answerTo(id string) *Given {
	all := st.Given()
	for n := range all {
		if all[n].Question == id {
			return &all[n]
		}
	}
	return nil
}

// whyNotOpen returns the error for an answer to a question that is not open.
func (st *State) whyNotOpen(id string) AnswerFault {
	if g := st.answerTo(id); g != nil {
		if g.Nobody {
			return ErrTooLate
		}
		return ErrAnswered
	}
	place, _, _ := strings.Cut(id, "-")
	if slices.ContainsFunc(st.Asks(), func(a Ask) bool { return strings.HasPrefix(a.ID, place+"-") }) {
		return ErrOtherArguments
	}
	var run, turn, call int
	if _, err := fmt.Sscanf(place, "%d.%d.%d", &run, &turn, &call); err != nil || run < 1 || turn < 1 ||
		run > st.Run ||
		run == st.Run && turn > st.Turn {
		return ErrNotAsked
	}
	return ErrMovedOn
}
