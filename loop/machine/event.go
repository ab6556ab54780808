package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/reducer"
)

// EventKind names an event. It is written to journals.
type EventKind string

// The events, and the field of [Event] that each uses.
const (
	// Started begins a run (Messages), or the first try if Config names a single action.
	Started EventKind = "started"
	// Prompted answers make_prompt (System, and Messages to append).
	Prompted EventKind = "prompted"
	// Estimated answers estimate (Tokens).
	Estimated EventKind = "estimated"
	// Granted answers grant (Grant).
	Granted EventKind = "granted"
	// Replied is a model's reply after it was read and checked (Reply).
	Replied EventKind = "replied"
	// CallFailed is a model call without a usable reply (Failure).
	CallFailed EventKind = "call_failed"
	// ToolEnded is the outcome of one tool call (Tool).
	ToolEnded EventKind = "tool_ended"
	// Tried is the outcome of one try of a single action (Try; Failure if the outcome is unknown).
	Tried EventKind = "tried"
	// Woke reports that a wait ended.
	Woke EventKind = "woke"
	// Responded is a person's answer (Response; Tool if it says that a call was done).
	Responded EventKind = "responded"
	// Spoken is a user's message to the run (Said).
	Spoken EventKind = "said"
	// Planned is the planner's answer (Plan; Failure if the planner returned an error).
	Planned EventKind = "planned"
	// Adjusted changes the policy for the rest of the run (Adjust).
	Adjusted EventKind = "adjusted"
	// Dispatched is a user's event with the results of its reducers (Reduced).
	Dispatched EventKind = "dispatched"
	// ReducersRan answers reduce (Reductions).
	ReducersRan EventKind = "reduced"
	// Shortened answers shorten (Cut).
	Shortened EventKind = "shortened"
	// Summarised answers summarise (Summary and Cut; Failure instead of Cut if there is no summary).
	Summarised EventKind = "summarised"
	// Cancelled ends the run. Failure is the cause, or nil if unknown.
	Cancelled EventKind = "cancelled"
	// Broken ends a run that cannot continue, for example because a function of the caller failed. Failure is
	// why, or nil if unknown.
	Broken EventKind = "broken"
)

// Event is one input of the machine. At is the driver's time in UTC and never runs backwards. Only the fields
// of the kind are set. Arguments, results and values are canonical JSON, because they are hashed and shown.
// The core's packages return them so; read those stored elsewhere with
// [github.com/retake-go/retake/loop/engine.Unmarshal].
type Event struct {
	Kind     EventKind         `json:"kind"`
	At       time.Time         `json:"at"`
	Messages []message.Message `json:"messages,omitempty"`
	// Kept is the record of the conversation's turns and cuts, if Messages begin with an earlier part of it;
	// only for Started. Nil keeps what the state has.
	Kept   *projection.Kept `json:"kept,omitempty"`
	System string           `json:"system,omitempty" redact:"prompt"`
	// Tokens is the user's estimate of [State.Added]; only for Estimated.
	Tokens  int64          `json:"tokens,omitempty"`
	Grant   *Grant         `json:"grant,omitempty"`
	Reply   *Reply         `json:"reply,omitempty"`
	Failure *fault.Failure `json:"failure,omitempty"`
	Tool    *ToolEnd       `json:"tool,omitempty"`
	Try     *Try           `json:"try,omitempty"`
	Plan    *Plan          `json:"plan,omitempty"`
	Adjust  *policy.Layer  `json:"adjust,omitempty" redact:"keep"`
	Reduced *Reduced       `json:"reduced,omitempty"`
	// Response is a person's answer.
	Response *Response `json:"response,omitempty"`
	// Said is a user's message.
	Said    *Said               `json:"said,omitempty"`
	Cut     *projection.CutPlan `json:"cut,omitempty"`
	Summary *Summary            `json:"summary,omitempty"`
	// RateLimit is what the error says of rate limits, or nil; only for CallFailed. Those of [ToolEnd] and
	// [Try] are with them.
	RateLimit *ratelimit.State `json:"rate_limit,omitempty" redact:"keep"`
	// Warnings are about the config of the run; only for Started.
	Warnings []string `json:"warnings,omitempty" redact:"keep"`
	// Hears are the names of the notices that have reducers, sorted; only for Started. See [session.Notices].
	Hears []string `json:"hears,omitempty" redact:"keep"`
	// Begun are the indices of the calls of the reply that had begun and have no outcome, for an event that
	// ends the run. Their effect is unknown.
	Begun []int `json:"begun,omitempty"`
	// Usage is what the model call or try under way had consumed when the event ended it, as far as known;
	// only for Cancelled and Spoken. Left reports that it was a model call of unknown usage.
	Usage message.Usage `json:"usage,omitzero"`
	Left  bool          `json:"left,omitempty"`
	// Reductions are the results of the reducers for each of [State].Notices; only for ReducersRan.
	Reductions []Reduced `json:"reductions,omitempty"`
}

// Reply is a model's reply after it was read: its checked calls, or its answer. The machine itself checks
// what needs no schema: truncation, refusal, no output.
type Reply struct {
	Message message.Reply `json:"message"`
	// Native reports that the calls are native tool calls of the provider, which are answered one by one.
	Native bool `json:"native,omitempty"`
	// ToolChoice is the choice of tools that the reply was asked with, if the calls are held to it.
	ToolChoice message.ToolChoice `json:"tool_choice,omitempty" redact:"keep"`
	// Calls are in the order of the reply.
	Calls []Call `json:"calls,omitempty"`
	// CallsOver is the number of calls in a reply with more than the policy's MaxCalls; otherwise 0. Then no
	// call was read, and Calls is empty.
	CallsOver int `json:"calls_over,omitempty"`
	// Answer is set if there are no calls.
	Answer *Answer `json:"answer,omitempty"`
}

// Call is one checked tool call.
type Call struct {
	ID string `json:"id" redact:"keep"`
	// Tool is the registered name, or the name as written if there is no such tool.
	Tool string `json:"tool" redact:"name"`
	// Arguments are canonical JSON; empty if they cannot be used.
	Arguments json.RawMessage `json:"arguments,omitempty" redact:"document"`
	// Identity are the arguments by which the call counts as repeated, as canonical JSON; empty means all.
	Identity json.RawMessage `json:"identity,omitempty" redact:"document"`
	// Exact is Arguments with each number in the one form of its value, if that differs. With it, calls that
	// differ in spelling alone are equal also in a journal that leaves values out.
	Exact json.RawMessage `json:"exact,omitempty" redact:"document"`
	// Raw is the text of the arguments as the model wrote it.
	Raw string `json:"raw,omitempty" redact:"text"`
	// Class is empty for a valid call.
	Class   fault.Class      `json:"class,omitempty"`
	Issues  []fault.Issue    `json:"issues,omitempty"`
	Repairs []extract.Repair `json:"repairs,omitempty"`
	// Repeatable reports that the tool was declared read-only or idempotent when the reply was read, so the
	// call may be run again even if it may have had an effect.
	Repeatable bool `json:"repeatable,omitempty"`
	// Exceeds reports that an argument is above the bound of the policy's approval. It is recorded, because
	// the arguments may be left out of a journal.
	Exceeds bool `json:"exceeds,omitempty"`
	// NeedsApproval reports that the tool itself wants the call approved.
	NeedsApproval bool `json:"needs_approval,omitempty"`
	// Answers reports that a result of the tool is the answer of the run.
	Answers bool `json:"answers,omitempty"`
	// ReadOnly reports that the tool is declared read-only, so that the call is never in doubt.
	ReadOnly bool `json:"read_only,omitempty"`
}

// Answer is a checked final answer.
type Answer struct {
	// Value is canonical JSON if a structured answer is wanted; else it is empty and the text of the reply is
	// the answer.
	Value   json.RawMessage  `json:"value,omitempty" redact:"document"`
	Issues  []fault.Issue    `json:"issues,omitempty"`
	Repairs []extract.Repair `json:"repairs,omitempty"`
	Reduced *Reduced         `json:"reduced,omitempty"`
}

// Summary is a summary of messages.
type Summary struct {
	// Text are a model's words, or those of the caller's function. It is empty if there is no summary.
	Text  string        `json:"text,omitempty" redact:"text"`
	Usage message.Usage `json:"usage,omitzero"`
}

// Reduced is the result of the reducers for one event: the operations of one transaction, or the error of the
// first reducer that failed.
type Reduced struct {
	Ops   []reducer.Op        `json:"ops,omitempty"`
	Error *fault.ReducerError `json:"error,omitempty"`
}

// Verdict is how a tool call ended.
type Verdict string

// The verdicts.
const (
	// Done: the tool returned a result.
	Done Verdict = "done"
	// AskAgain: the tool asks for other arguments. This costs an attempt.
	AskAgain Verdict = "ask_again"
	// Failed: the tool failed for good. The model is told, and nothing is charged.
	Failed Verdict = "failed"
	// Broke: the tool returned another error. If the error is one of the transport plane and the call is
	// repeatable, it is made again under the tool's transport policy. Any other call ends: the model is told
	// that it may have had an effect, and the budgets count it.
	Broke Verdict = "broke"
	// TryLater: the tool did nothing and asks for the same call again. The transport policy decides whether
	// there is another try.
	TryLater Verdict = "try_later"
	// Unknown: the call began, and its outcome is unknown. It is not made again. The model is told, and the
	// budgets count it.
	Unknown Verdict = "unknown"
	// Denied: the runtime has asked a person about the call, who refused it. It was not made. The model is
	// told, and nothing is charged.
	Denied Verdict = "denied"
)

// ToolEnd is the outcome of one tool call.
type ToolEnd struct {
	// Index is the index of the call in the reply, from 0.
	Index   int     `json:"index"`
	Verdict Verdict `json:"verdict"`
	// Result is the tool's result as JSON. Only for Done.
	Result json.RawMessage `json:"result,omitempty" redact:"document"`
	// Parts are the media of the result, or of what the tool says. Only for Done and Failed.
	Parts []message.Part `json:"parts,omitempty"`
	// Text is what the model is told. Only for Failed.
	Text string `json:"text,omitempty" redact:"text"`
	// InDoubt reports that the call may have had an effect that nobody knows of, whatever its verdict.
	InDoubt bool `json:"in_doubt,omitempty"`
	// Whole reports that the tool bounds Text, and that the feedback's limits do not. Only for Failed.
	Whole bool `json:"whole,omitempty"`
	// Issues are what the tool found wrong. Only for AskAgain.
	Issues []fault.Issue `json:"issues,omitempty"`
	// Failure is the error, classified by its types and not by its text. For Broke, TryLater and, if there is
	// one, Unknown.
	Failure *fault.Failure `json:"failure,omitempty"`
	// RateLimit is what the error says of rate limits, or nil.
	RateLimit *ratelimit.State `json:"rate_limit,omitempty" redact:"keep"`
	// Reduced is the result of the reducers for the result and the tool's events. Only for Done.
	Reduced *Reduced `json:"reduced,omitempty"`
	// Unheard are names of events of the tool that have no reducer and that nobody declared. Only for Done.
	Unheard []string `json:"unheard,omitempty" redact:"keep"`
	// Progress is the last progress that the call reported, if any.
	Progress json.RawMessage `json:"progress,omitempty" redact:"text"`
	// Usage is what models consumed within the call, and Cost what that cost; nil if nobody knows.
	Usage message.Usage `json:"usage,omitzero"`
	Cost  *int64        `json:"cost_micros,omitempty"`
}

// Try is the outcome of one try of a single action. A zero Failure means success.
type Try struct {
	Failure fault.Failure `json:"failure,omitzero"`
	// RateLimit is what the error says of rate limits, or nil.
	RateLimit *ratelimit.State `json:"rate_limit,omitempty" redact:"keep"`
	// Value is the result of a successful try as JSON, if it is kept. It becomes the Value of the outcome.
	Value json.RawMessage `json:"value,omitempty" redact:"document"`
	// Same identifies what was tried, for the no-progress check. If it is empty, only the issues are
	// compared.
	Same  string        `json:"same,omitempty" redact:"keep"`
	Usage message.Usage `json:"usage,omitzero"`
	// Reduced is the result of the reducers for a successful try. With a Failure of class [fault.Reducer] it
	// is the error of a reducer that refused an event in the try, which the session has already.
	Reduced *Reduced `json:"reduced,omitempty"`
	// Abandoned reports that the caller left the try without an outcome. It ends the action.
	Abandoned bool `json:"abandoned,omitempty"`
}

// PlanKind is what follows an exhaustion, or a transport failure that the planner was asked about.
type PlanKind string

// The plans.
const (
	// Follow follows the policy. After exhaustion that ends the run.
	Follow PlanKind = "follow"
	// Abort ends the run with the exhaustion.
	Abort PlanKind = "abort"
	// Fallback closes the exhausted action and goes on: with another prompt, model or policy, or after a
	// delay. For a transport failure it makes the request again. With a prompt, calls of the reply that were
	// not run yet are skipped. A call that the config's ToolChoice requires is still required.
	Fallback PlanKind = "fallback"
	// Degrade ends the run successfully, with the plain text of the last reply as its answer and a warning.
	Degrade PlanKind = "degrade"
	// AskPeople asks a person what follows an exhaustion. The question is open for Delay; 0 means until the
	// run's deadline. See [AskExhausted].
	AskPeople PlanKind = "ask"
)

var planKinds = []PlanKind{Follow, Abort, Fallback, Degrade, AskPeople}

// Plan is a planner's answer.
type Plan struct {
	Do PlanKind `json:"do"`
	// Prompt is appended as a user message. Only for Fallback.
	Prompt string `json:"prompt,omitempty" redact:"prompt"`
	// Model is the name of the model to go on with; empty keeps the current one. Only for Fallback.
	Model string `json:"model,omitempty" redact:"keep"`
	// Delay is the wait before going on, 0 or more. A wait that does not end before the deadline ends the
	// run. Only for Fallback, and for AskPeople.
	Delay time.Duration `json:"delay_ns,omitempty"`
	// Policy is merged over the policy for the rest of the run. Only for Fallback.
	Policy *policy.Layer `json:"policy,omitempty" redact:"keep"`
	// ResetBudgets begins the counts of failed attempts anew. Only for Fallback.
	ResetBudgets bool `json:"reset_budgets,omitempty"`
	// Warning is added to the result's warnings.
	Warning string `json:"warning,omitempty" redact:"keep"`
	// Note is the reason, for operators. It has no effect.
	Note string `json:"note,omitempty" redact:"note"`
}

// Printable returns the plan with invalid UTF-8 replaced by U+FFFD.
func (p Plan) Printable() Plan {
	p.Prompt, p.Model, p.Warning, p.Note = canon.UTF8(p.Prompt), canon.UTF8(p.Model), canon.UTF8(p.Warning),
		canon.UTF8(p.Note)
	return p
}

// Fault reports what is wrong with the plan as an answer to what the run asks, by field; nil for nothing.
// models are the names of the models that the run can switch to. [Step] refuses such a plan too, but does not
// know the models. A driver ends the run as if the planner had returned this error. It is safe for concurrent
// use.
func (p *Plan) Fault(st State, models []string) error {
	if err := p.fault(&st); err != nil {
		return err
	}
	if p.Model != "" && !slices.Contains(models, p.Model) {
		return fmt.Errorf("the plan's model: %q is not one of the run's models %q", p.Model, models)
	}
	if p.Policy == nil || st.Config.Single { // the settings of a single action are its own
		return nil
	}
	if err := (&policy.Set{Adjusted: *p.Policy}).CheckModels(models); err != nil {
		return fmt.Errorf("the plan's policy: %w", err)
	}
	return nil
}

// fault is [Plan.Fault] as far as the core knows.
func (p *Plan) fault(st *State) error {
	single := st.Config != nil && st.Config.Single
	switch {
	case !slices.Contains(planKinds, p.Do):
		return fmt.Errorf("the plan's do: %q must be follow, abort, fallback, degrade or ask", p.Do)
	case p.Do == AskPeople && single:
		return errors.New("the plan's do: people are not asked about a single action: use follow, abort or " +
			"fallback")
	case p.Do == AskPeople && (st.inner.Consult != nil || st.inner.Exhausted == nil || !st.inner.Exhausted.Exhausted):
		return errors.New("the plan's do: people are asked only after an exhaustion: use follow, abort, fallback " +
			"or degrade")
	case p.Delay < 0:
		return fmt.Errorf("the plan's delay: %v must be 0 or more", p.Delay)
	case single && p.Do == Degrade:
		return errors.New("the plan's do: a single action has no reply to degrade to: use follow, abort or " +
			"fallback")
	case single && p.Model != "":
		return fmt.Errorf("the plan's model: a single action calls no model of the run: leave %q out", p.Model)
	case single && p.Prompt != "":
		return errors.New("the plan's prompt: a single action has no prompt: leave it out")
	case p.Policy == nil:
		return nil
	}
	if err := st.AdjustFault(*p.Policy); err != nil {
		return fmt.Errorf("the plan's policy: %w", err)
	}
	return nil
}

// AdjustFault reports what is wrong with merging a layer over the run's policy, by field: see
// [policy.Adjust]. It returns nil if it is valid. A step refuses an event with an invalid layer. It is safe
// for concurrent use.
func (st State) AdjustFault(l policy.Layer) error {
	if st.Policy == nil { // no run began, so no event with a layer fits
		return l.Validate()
	}
	_, err := policy.Adjust(*st.Policy, l)
	return err
}

// rateLimit returns what the error of the event says of rate limits, or nil.
func (e *Event) rateLimit() *ratelimit.State {
	switch {
	case e.Tool != nil:
		return e.Tool.RateLimit
	case e.Try != nil:
		return e.Try.RateLimit
	}
	return e.RateLimit
}
