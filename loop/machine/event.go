package machine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
)

// EventKind names an event, as it stands in journals.
type EventKind string

// The events. Each names the field of [Event] that carries its payload.
const (
	// Started begins a run: Messages. In a state whose Config names a single action, its first try.
	Started EventKind = "started"
	// Prompted answers make_prompt: System, and Messages to append.
	Prompted EventKind = "prompted"
	// Replied is a model's reply, read and checked: Reply.
	Replied EventKind = "replied"
	// CallFailed is a model call without a usable reply: Failure.
	CallFailed EventKind = "call_failed"
	// ToolEnded is the outcome of one tool call: Tool.
	ToolEnded EventKind = "tool_ended"
	// Tried is the outcome of one try of a single action: Try, and Failure where nobody said how it ended.
	Tried EventKind = "tried"
	// Woke says that a wait is over.
	Woke EventKind = "woke"
	// Planned is the planner's answer: Plan, and Failure where the planner returned an error.
	Planned EventKind = "planned"
	// Adjusted changes the policy for the rest of the run: Adjust.
	Adjusted EventKind = "adjusted"
	// Dispatched is a user's event, reduced: Reduced.
	Dispatched EventKind = "dispatched"
	// ReducersRan answers reduce: Reductions.
	ReducersRan EventKind = "reduced"
	// Cancelled ends the run where it stands: Failure is what it was cancelled by, nil where nobody said.
	Cancelled EventKind = "cancelled"
)

// Event is one input of the machine. At is the driver's time in UTC; it never runs backwards within a state.
// Exactly the payload that the kind names is set.
type Event struct {
	Kind     EventKind         `json:"kind"`
	At       time.Time         `json:"at"`
	Messages []message.Message `json:"messages,omitempty"`
	System   string            `json:"system,omitempty"`
	Reply    *Reply            `json:"reply,omitempty"`
	Failure  *fault.Failure    `json:"failure,omitempty"`
	Tool     *ToolEnd          `json:"tool,omitempty"`
	Try      *Try              `json:"try,omitempty"`
	Plan     *Plan             `json:"plan,omitempty"`
	Adjust   *policy.Layer     `json:"adjust,omitempty"`
	Reduced  *Reduced          `json:"reduced,omitempty"`
	// Hears are the notices that reducers are bound to, in order, with Started: see [session.Notices].
	Hears []string `json:"hears,omitempty"`
	// Reductions are what the reducers made of each of [State].Notices, with ReducersRan.
	Reductions []Reduced `json:"reductions,omitempty"`
}

// Reply is a model's reply after it was read: its calls checked, or its answer. The machine itself judges
// what needs no schema: truncation, refusal, no output.
type Reply struct {
	Message message.Reply `json:"message"`
	// Native says that the calls came as the provider's own tool calls, and are answered one by one as such.
	Native bool `json:"native,omitempty"`
	// Calls are in the order of the reply.
	Calls []Call `json:"calls,omitempty"`
	// CallsOver counts the calls of a reply that makes more than the policy's MaxCalls; 0 where it does not.
	// None was read then, and Calls is empty.
	CallsOver int `json:"calls_over,omitempty"`
	// Answer is set when there are no calls.
	Answer *Answer `json:"answer,omitempty"`
}

// Call is one checked tool call.
type Call struct {
	ID string `json:"id"`
	// Tool is the registered name; the name as written where none is registered.
	Tool string `json:"tool"`
	// Arguments are canonical JSON; empty where they cannot be used.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Raw is the argument text as the model wrote it.
	Raw string `json:"raw,omitempty"`
	// Class is empty for a good call.
	Class   fault.Class      `json:"class,omitempty"`
	Issues  []fault.Issue    `json:"issues,omitempty"`
	Repairs []extract.Repair `json:"repairs,omitempty"`
	// Repeatable is set where the tool is declared read-only or idempotent: the call may be run again though
	// it may have had its effect.
	Repeatable bool `json:"repeatable,omitempty"`
}

// Answer is a checked final answer.
type Answer struct {
	// Value is canonical JSON where a structured answer is wanted, else empty: the reply's text is the
	// answer.
	Value   json.RawMessage  `json:"value,omitempty"`
	Issues  []fault.Issue    `json:"issues,omitempty"`
	Repairs []extract.Repair `json:"repairs,omitempty"`
	Reduced *Reduced         `json:"reduced,omitempty"`
}

// Reduced is what reducers made of one event: the operations of one transaction, or the error of the first
// that failed.
type Reduced struct {
	Ops   []reducer.Op        `json:"ops,omitempty"`
	Error *fault.ReducerError `json:"error,omitempty"`
}

// Verdict is what became of a tool call.
type Verdict string

// The verdicts: a result, one of the words a tool may say, or nothing that says how the call ended.
const (
	// Done: the tool returned a result.
	Done Verdict = "done"
	// AskAgain: the tool asks for other arguments; it costs an attempt.
	AskAgain Verdict = "ask_again"
	// Failed: the tool failed for good; the model is told, nothing is charged.
	Failed Verdict = "failed"
	// Broke: the tool returned an error of its own. On the transport plane a repeatable call is made again
	// under the transport policy of its tool. Any other is over: the model is told that its effect may have
	// happened, and the budgets count it.
	Broke Verdict = "broke"
	// TryLater: the tool did nothing, and asks for the same call again; whether there is another try is the
	// transport policy's.
	TryLater Verdict = "try_later"
	// Unknown: the call began, and nobody knows how it ended. It is not made again; the model is told, and
	// the budgets count it.
	Unknown Verdict = "unknown"
)

// ToolEnd is the outcome of one tool call.
type ToolEnd struct {
	// Index is the call's place in the reply, from 0.
	Index   int     `json:"index"`
	Verdict Verdict `json:"verdict"`
	// Result is the tool's result as JSON (Done).
	Result json.RawMessage `json:"result,omitempty"`
	// Parts are the media of the result (Done).
	Parts []message.Part `json:"parts,omitempty"`
	// Text is what the model is told (Failed).
	Text string `json:"text,omitempty"`
	// Issues are what the tool found wrong (AskAgain).
	Issues []fault.Issue `json:"issues,omitempty"`
	// Failure is the error, classified by its types and never by its words (Broke, TryLater; Unknown, where
	// there is one).
	Failure *fault.Failure `json:"failure,omitempty"`
	// Reduced is what the reducers made of the result and of the tool's events (Done).
	Reduced *Reduced `json:"reduced,omitempty"`
	// Progress is the call's last progress, if it reported any.
	Progress json.RawMessage `json:"progress,omitempty"`
}

// Try is the outcome of one try of a single action. A zero Failure is success.
type Try struct {
	Failure fault.Failure `json:"failure,omitzero"`
	// Value is what a good try came to, as JSON, where that is kept: it becomes the outcome's.
	Value json.RawMessage `json:"value,omitempty"`
	// Same names what was tried, for the no-progress rule; empty: only the issues are compared.
	Same  string        `json:"same,omitempty"`
	Usage message.Usage `json:"usage,omitzero"`
	// Reduced is what the reducers made of a good try.
	Reduced *Reduced `json:"reduced,omitempty"`
	// Abandoned records a try that its caller left without an outcome; it ends the action.
	Abandoned bool `json:"abandoned,omitempty"`
}

// PlanKind says what follows an exhaustion, or a transport fault that the planner was asked about.
type PlanKind string

// The plans.
const (
	// Follow does what the policy says; after exhaustion that is to end the run.
	Follow PlanKind = "follow"
	// Abort ends the run with the exhaustion.
	Abort PlanKind = "abort"
	// Fallback closes the exhausted action and goes on: with another prompt, model or policy, or after a
	// delay. Asked about a transport fault, it makes the request again, but for a call of a tool that may
	// have had its effect and is not repeatable; with a prompt, the calls of a reply that are still to be run
	// are not.
	Fallback PlanKind = "fallback"
	// Degrade ends the run well, with the last reply's plain text as its answer and a warning.
	Degrade PlanKind = "degrade"
)

// Plan is a planner's answer.
type Plan struct {
	Do PlanKind `json:"do"`
	// Prompt is appended as a user message (Fallback).
	Prompt string `json:"prompt,omitempty"`
	// Model is the model to go on with, by its name in the run's ladder; empty keeps the current one
	// (Fallback).
	Model string `json:"model,omitempty"`
	// Delay is waited before going on (Fallback); never negative. One that does not fit before the deadline
	// ends the run.
	Delay time.Duration `json:"delay_ns,omitempty"`
	// Policy is laid over the run's policy from here on (Fallback).
	Policy *policy.Layer `json:"policy,omitempty"`
	// ResetBudgets gives the run its budgets of failed attempts anew (Fallback): nothing else ever does.
	ResetBudgets bool `json:"reset_budgets,omitempty"`
	// Warning is added to the result's warnings.
	Warning string `json:"warning,omitempty"`
	// Note says why, for operators. It decides nothing.
	Note string `json:"note,omitempty"`
}

// Printable is the plan with U+FFFD in the place of bytes that are no UTF-8.
func (p Plan) Printable() Plan {
	p.Prompt, p.Model, p.Warning, p.Note = canon.UTF8(p.Prompt), canon.UTF8(p.Model), canon.UTF8(p.Warning), canon.UTF8(p.Note)
	return p
}

// PolicyFault says what is wrong with the plan's policy, alone or over that of the run, by field: see
// [policy.Adjust]; nil where it has none, or a good one. A step refuses a plan with a bad one, in the same
// words. Safe for concurrent use.
func (p *Plan) PolicyFault(st State) error {
	if p.Policy == nil {
		return nil
	}
	if err := st.AdjustFault(*p.Policy); err != nil {
		return fmt.Errorf("the plan's policy: %w", err)
	}
	return nil
}

// AdjustFault says what is wrong with laying a layer over the run's policy, by field: see [policy.Adjust];
// nil where nothing is. A step refuses an event with a bad layer. Safe for concurrent use.
func (st State) AdjustFault(l policy.Layer) error {
	if st.Policy == nil { // no run was begun: no event with a layer fits
		return l.Validate()
	}
	_, err := policy.Adjust(*st.Policy, l)
	return err
}
