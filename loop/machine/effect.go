package machine

import (
	"encoding/json"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
)

// EffectKind names an effect. It is written to journals.
type EffectKind string

// The effects, and the field of [Effect] that each uses.
const (
	// Decided reports the decision on an attempt (Decision). The driver need not do anything.
	Decided EffectKind = "decided"
	// CallModel asks for a model call (Model).
	CallModel EffectKind = "call_model"
	// MakePrompt asks the user's code for the prompt of the next model call (Model).
	MakePrompt EffectKind = "make_prompt"
	// EstimateCall asks for the user's estimate of what a model call adds (Model): see [State.Added].
	EstimateCall EffectKind = "estimate"
	// AskGrant asks the limiter for a grant of the next model call or try (Grant).
	AskGrant EffectKind = "grant"
	// RunTools asks to run tool calls (Tools).
	RunTools EffectKind = "run_tools"
	// TryAction asks for the next try of a single action (Try).
	TryAction EffectKind = "try"
	// WaitUntil asks for a wait (Wait).
	WaitUntil EffectKind = "wait"
	// AskPerson asks people about calls (Asks), in any order, each until its deadline.
	AskPerson EffectKind = "ask"
	// AskSettled reports how a question was answered (Settled). The driver need not do anything.
	AskSettled EffectKind = "settled"
	// AskPlanner asks the planner what follows exhaustion, or what to do about a transport failure
	// (Question).
	AskPlanner EffectKind = "ask_planner"
	// Reduce asks to run the reducers for each of [State].Notices.
	Reduce EffectKind = "reduce"
	// Shorten asks for a shorter prompt (Shorten): [State.PlanCuts] makes it.
	Shorten EffectKind = "shorten"
	// Summarise asks for a summary of messages (Summary).
	Summarise EffectKind = "summarise"
	// Stop ends the run (Outcome).
	Stop EffectKind = "stop"
)

// Effect is one output of the machine: something that happened, or something that the driver has to do. Only
// the last effect of a step asks the driver to do something.
type Effect struct {
	Kind     EffectKind  `json:"kind"`
	Decision *Decision   `json:"decision,omitempty"`
	Model    *ModelCall  `json:"model,omitempty"`
	Grant    *GrantAsk   `json:"grant,omitempty"`
	Tools    []ToolRun   `json:"tools,omitempty"`
	Try      *TryRun     `json:"try,omitempty"`
	Wait     *Wait       `json:"wait,omitempty"`
	Question *Question   `json:"question,omitempty"`
	Asks     []Ask       `json:"asks,omitempty"`
	Settled  *Settled    `json:"settled,omitempty"`
	Shorten  *shortenRun `json:"shorten,omitempty"`
	Summary  *SummaryRun `json:"summary,omitempty"`
	Outcome  *Outcome    `json:"outcome,omitempty"`
}

// Position is the position of an action: "attempt 2 of 3". In a [Decision] or [Question] it counts attempts
// of their plane, elsewhere those of the correction plane.
type Position struct {
	// Action is the tool's name; empty for the final answer and, on the transport plane, for a model call.
	Action string `json:"action"`
	// Attempt is the number of the attempt, from 1. MaxAttempts may be [policy.Unlimited].
	Attempt     int `json:"attempt"`
	MaxAttempts int `json:"max_attempts"`
}

// AnswerAction is the name of the action for the final answer. No tool has it.
const AnswerAction = ""

// ModelCall describes a model call to make. The prompt is System and [State.Shown].
type ModelCall struct {
	// Turn is the number of the reply in the run, from 1. A transport retry keeps it.
	Turn int `json:"turn"`
	// Model is the name of the model in the run; empty for the first. A planner's choice wins over the
	// policy's.
	Model string `json:"model,omitempty"`
	// Temperature is set by the policy for the attempt; nil means the model's own.
	Temperature *float64 `json:"temperature,omitempty"`
	// At are the positions of the actions that are being corrected, in order of their numbers. If there are
	// none, it is the first attempt of the answer.
	At []Position `json:"at"`
	// Transport is the attempt of this request, from 1.
	Transport int `json:"transport"`
	// System is the rendered system prompt.
	System string `json:"system,omitempty"`
	// ToolChoice is the choice of tools for the request, and Stop are its stop sequences.
	ToolChoice message.ToolChoice `json:"tool_choice,omitempty"`
	Stop       []string           `json:"stop,omitempty"`
	// MaxOutputTokens is the most tokens of the reply, with its reasoning; 0 means no bound but the model's
	// own.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`
	// Projection is what the call may cost, if spending is bounded.
	Projection *projected `json:"projection,omitempty"`
	// Messages is the number of messages of the transcript when the call was made.
	Messages int `json:"messages"`
	// Timeout is the longest time for the call; 0 means no limit.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// FirstToken is the longest time until the first piece of the reply, and Idle the longest time between
	// pieces; 0 means no limit.
	FirstToken time.Duration `json:"first_token_ns,omitempty"`
	Idle       time.Duration `json:"idle_ns,omitempty"`
}

// TryRun is one try of a single action.
type TryRun struct {
	Position
	// Settings are the policy's settings for the attempt.
	Settings policy.Settings `json:"settings,omitzero"`
	// Transport is the attempt of this try on the transport plane, from 1.
	Transport int `json:"transport"`
	// Timeout is the longest time for the try; 0 means no limit.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

// ToolRun is one tool call to run.
type ToolRun struct {
	// Index is the index of the call in the reply, from 0.
	Index int `json:"index"`
	// Call is the call, which is valid: its Raw, Class and Issues are empty.
	Call
	// Key is the idempotency key: a hash of the session's id, the request (see [Config].RequestID), the
	// number of the action in the run, the tool, the canonical arguments (numbers by their exact values), and
	// the index among identical calls of the reply. Retries, a resumed run and the same run made again have
	// the same keys. Another request of the session has different keys.
	Key string `json:"key"`
	// Transport is the attempt of this call on the transport plane, from 1.
	Transport int `json:"transport"`
	// Progress is the last progress that the previous try reported, or nil.
	Progress json.RawMessage `json:"progress,omitempty"`
	// Timeout is the longest time for the call; 0 means no limit.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

// Wait is a wait to make. Delay is the policy's delay; Until is when the wait ends.
type Wait struct {
	Until  time.Time     `json:"until"`
	Delay  time.Duration `json:"delay_ns"`
	Plane  fault.Plane   `json:"plane"`
	Reason policy.Reason `json:"reason"`
}

// Decision is the decision on one attempt and its reason.
type Decision struct {
	Position
	Plane fault.Plane `json:"plane"`
	// Class is the class of the failure; empty for an attempt that passed.
	Class fault.Class `json:"class,omitempty"`
	policy.Decision
	// Feedback is the feedback that was added to the session, if any. It is read-only and shared with the
	// session.
	Feedback *feedback.RetryFeedback `json:"feedback,omitempty"`
	// ReducerError is the error that was added to the session, if any.
	ReducerError *fault.ReducerError `json:"reducer_error,omitempty"`
	// Failed is what the budgets count with the attempt; zero if it counts against none.
	Failed FailedAttempts `json:"charged,omitzero"`
	// Cost is what the attempt cost, in the unit of a [policy.Price], if the policy has prices.
	Cost int64 `json:"cost_micros,omitempty"`
	// Cycle is what was repeated without progress, for [policy.ReasonNudged] and, if it was of valid calls,
	// [policy.ReasonNoProgress]. A nudge is about no attempt.
	Cycle *Cycle `json:"cycle,omitempty"`
}

// FailedAttempts counts the failed attempts that the budgets of a run bound, with the one that was decided
// on: those of its tool (0 without a tool), of the run, and of unknown tools.
type FailedAttempts struct {
	Tool    int `json:"tool,omitempty"`
	Run     int `json:"run"`
	Unknown int `json:"unknown_tools,omitempty"`
}

// Question asks the planner about a failed attempt and the policy's decision on it. Either an action has
// ended without success, or a model call or try failed with a class in [Config].Consult and the policy is not
// followed yet.
type Question struct {
	Position
	Plane fault.Plane `json:"plane"`
	// Exhausted reports that the action has ended. Otherwise the policy's decision is what [Follow] does.
	Exhausted bool `json:"exhausted,omitempty"`
	policy.Decision
	Failure fault.Failure `json:"failure"`
	// RateLimit is what the error of the failure says of rate limits.
	RateLimit ratelimit.State `json:"rate_limit,omitzero"`
	// Tool is the tool whose calls used up a budget on the transport plane; empty for a model call or a try,
	// and on the correction plane.
	Tool string `json:"tool,omitempty"`
	// Denied reports that no request was made, because the limiter knows that the provider is down.
	Denied bool `json:"denied,omitempty"`
	// Cycle is what was repeated without progress, if the reason is a cycle of valid calls. If the question
	// is not Exhausted, the run may go on, which the plan [Follow] does.
	Cycle *Cycle `json:"cycle,omitempty"`
}

// Outcome is how a run ended.
type Outcome struct {
	// OK reports success: an answer, accepted calls if calls are the answer, or a successful single action.
	OK bool `json:"ok"`
	// Degraded reports that the answer is the plain text of the last reply, after exhaustion.
	Degraded bool `json:"degraded,omitempty"`
	// Text is the text of the answer, without thoughts before it. Value is its checked JSON if a structured
	// answer was wanted, the result of a call that answers if that is no text, or the result of a single
	// action.
	Text  string          `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	// Calls are the accepted calls, if calls are the answer.
	Calls []ToolRun `json:"calls,omitempty"`
	// Reason is why the run ended; [policy.ReasonAccepted] for success.
	Reason policy.Reason `json:"reason"`
	// Detail has the numbers behind the reason, if no action was exhausted.
	Detail policy.Detail `json:"detail,omitzero"`
	// Exhaustion is set if an action was exhausted.
	Exhaustion *Question `json:"exhaustion,omitempty"`
	// Cause is why the run was cancelled, or the error of the planner that aborted it; nil if unknown.
	Cause    *fault.Failure `json:"cause,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	// InDoubt are the calls whose effect is unknown at the end of the run.
	InDoubt []CallRef `json:"in_doubt,omitempty"`
	// ToolFailures are the calls that failed, in the order of their ends.
	ToolFailures []ToolFailure `json:"tool_failures,omitempty"`
	Totals
}

// Totals are sums over all attempts of a run, including failed ones.
type Totals struct {
	// Usage includes the runs that tools made under the context of their call ([tool.AddUsage]). Waited is
	// the length of the waits that were begun, without the planner's. Calls that wait together wait once.
	// Turns is the number of requested replies.
	Usage  message.Usage `json:"usage,omitzero"`
	Waited time.Duration `json:"waited_ns,omitempty"`
	Turns  int           `json:"turns,omitempty"`
	// Cost is what the model calls cost, in the unit of a [policy.Price]; 0 without prices. Estimated is the
	// number of calls whose cost was estimated: see [policy.Charge].
	Cost      int64 `json:"cost_micros,omitempty"`
	Estimated int64 `json:"estimated,omitempty"`
	// Wasted is what the failed attempts consumed; that of a tool which failed for good is none. What one
	// model call consumed counts for the first attempt that its reply decided.
	Wasted policy.Charge `json:"wasted,omitzero"`
}
