package machine

import (
	"encoding/json"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// EffectKind names an effect, as it stands in journals.
type EffectKind string

// The effects. Each names the field of [Effect] that carries its payload.
const (
	// Decided tells what was decided on an attempt: Decision. It asks for nothing.
	Decided EffectKind = "decided"
	// CallModel asks for a reply: Model.
	CallModel EffectKind = "call_model"
	// MakePrompt asks the user's code for the prompt of the next model call: Model.
	MakePrompt EffectKind = "make_prompt"
	// RunTools asks for the calls to be run: Tools.
	RunTools EffectKind = "run_tools"
	// TryAction asks for the next try of a single action: Try.
	TryAction EffectKind = "try"
	// WaitUntil asks for a wait: Wait.
	WaitUntil EffectKind = "wait"
	// AskPlanner asks what follows exhaustion: Exhaustion; or what to do about a transport fault:
	// Consultation.
	AskPlanner EffectKind = "ask_planner"
	// Reduce asks what the reducers make of each of [State].Notices.
	Reduce EffectKind = "reduce"
	// Stop ends the run: Outcome.
	Stop EffectKind = "stop"
)

// Effect is one output of the machine: what happened, or what the driver is to do next. Of the effects of one
// step only the last asks for something.
type Effect struct {
	Kind       EffectKind  `json:"kind"`
	Decision   *Decision   `json:"decision,omitempty"`
	Model      *ModelCall  `json:"model,omitempty"`
	Tools      []ToolRun   `json:"tools,omitempty"`
	Try        *TryRun     `json:"try,omitempty"`
	Wait       *Wait       `json:"wait,omitempty"`
	Exhaustion *Exhaustion `json:"exhaustion,omitempty"`
	// Consultation is set instead of Exhaustion where the planner is asked before the policy is followed.
	Consultation *Consultation `json:"consultation,omitempty"`
	Outcome      *Outcome      `json:"outcome,omitempty"`
}

// Position is where an action stands: "attempt 2 of 3". In a [Decision] and an [Exhaustion] the attempts are
// those of the plane named there, else those of the correction plane.
type Position struct {
	// Action is a tool's name; empty for the final answer.
	Action string `json:"action"`
	// Attempt counts from 1 and counts the first; MaxAttempts is [policy.Unlimited] where nothing bounds it.
	Attempt     int `json:"attempt"`
	MaxAttempts int `json:"max_attempts"`
}

// AnswerAction is the name of the action that is the final answer: no tool has it.
const AnswerAction = ""

// ModelCall describes the model call to make. The prompt is the state's transcript, after System.
type ModelCall struct {
	// Turn counts the run's replies asked for, from 1; a transport retry keeps it.
	Turn int `json:"turn"`
	// Model is the model's name in the run's ladder; empty for the first. A planner's choice wins over what
	// the policy names for the attempt.
	Model string `json:"model,omitempty"`
	// Temperature is what the policy sets for the attempt; nil for the model's own.
	Temperature *float64 `json:"temperature,omitempty"`
	// At are the actions that are being corrected, in order of name; the answer's first attempt where none
	// is.
	At []Position `json:"at"`
	// Transport is the attempt of this one request, from 1.
	Transport int `json:"transport"`
	// System is the rendered system prompt.
	System string `json:"system,omitempty"`
	// ToolChoice is the choice of tools that the request forces, Stop are its stop sequences.
	ToolChoice message.ToolChoice `json:"tool_choice,omitempty"`
	Stop       []string           `json:"stop,omitempty"`
	// Messages counts the messages of the transcript that the prompt holds.
	Messages int `json:"messages"`
	// Timeout bounds it; 0 where the policy does not.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// FirstToken bounds how long the first piece of the reply takes, Idle each further one; 0 for any time.
	FirstToken time.Duration `json:"first_token_ns,omitempty"`
	Idle       time.Duration `json:"idle_ns,omitempty"`
}

// TryRun is one try of a single action.
type TryRun struct {
	Position
	// Settings are those that the policy has for the attempt.
	Settings policy.Settings `json:"settings,omitzero"`
	// Transport is the attempt of this one try on the transport plane, from 1.
	Transport int `json:"transport"`
	// Timeout bounds it; 0 where the policy does not.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

// ToolRun is one tool call to run.
type ToolRun struct {
	Index     int             `json:"index"`
	ID        string          `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	// Key is the idempotency key: a hash of the session's id, of what had been said when the run began (or
	// [Config].RequestID in its place), of the action's number in the run, the tool, the canonical arguments,
	// and the index among identical calls of one reply. The same run has the same keys, however often a call
	// is tried, the run is resumed, or made again from its start; another request of the session has others.
	Key string `json:"key"`
	// Transport is the attempt of this one call on the transport plane, from 1.
	Transport int `json:"transport"`
	// Repeatable is set where the tool was declared read-only or idempotent when its reply was read.
	Repeatable bool `json:"repeatable,omitempty"`
	// Progress is what the try before reported last; empty for none.
	Progress json.RawMessage `json:"progress,omitempty"`
	// Timeout bounds it; 0 where the policy does not.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

// Wait is a wait to make. Delay is what the policy asked for; Until is when it is over.
type Wait struct {
	Until  time.Time     `json:"until"`
	Delay  time.Duration `json:"delay_ns"`
	Plane  fault.Plane   `json:"plane"`
	Reason policy.Reason `json:"reason"`
}

// Decision is what was decided on one attempt, and why.
type Decision struct {
	Position
	Plane fault.Plane `json:"plane"`
	// Class is what went wrong; empty for an attempt that passed.
	Class  fault.Class   `json:"class,omitempty"`
	Retry  bool          `json:"retry"`
	Delay  time.Duration `json:"delay_ns"`
	Reason policy.Reason `json:"reason"`
	// Detail has the numbers behind a stop.
	Detail policy.Detail `json:"detail,omitzero"`
	// Feedback is the record that was appended to the session, if one was: read-only, for it is where the
	// session has it.
	Feedback *feedback.RetryFeedback `json:"feedback,omitempty"`
	// ReducerError is the record that was appended to the session, if one was.
	ReducerError *fault.ReducerError `json:"reducer_error,omitempty"`
}

// Exhaustion says why an action ended without success.
type Exhaustion struct {
	Position
	Plane   fault.Plane   `json:"plane"`
	Reason  policy.Reason `json:"reason"`
	Detail  policy.Detail `json:"detail,omitzero"`
	Failure fault.Failure `json:"failure"`
}

// Outcome is how a run ended.
type Outcome struct {
	// OK is set for an answer, for accepted calls where calls are the answer, and for a single action that
	// succeeded.
	OK bool `json:"ok"`
	// Degraded is set where the answer is the last reply's plain text after exhaustion.
	Degraded bool `json:"degraded,omitempty"`
	// Text is the answer's text, Value its checked JSON where a structured answer was wanted; of a single
	// action it is that of its good try.
	Text  string          `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	// Calls are the accepted calls where calls are the answer.
	Calls []ToolRun `json:"calls,omitempty"`
	// Reason says why; [policy.Accepted] for success.
	Reason policy.Reason `json:"reason"`
	// Exhaustion is set where an action was exhausted.
	Exhaustion *Exhaustion `json:"exhaustion,omitempty"`
	// Cause is what a cancelled run was cancelled by, or the error of the planner that aborted the run; nil
	// where nobody said.
	Cause    *fault.Failure `json:"cause,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	// Usage and Waited are summed over all attempts of the run, failed ones too.
	Usage  message.Usage `json:"usage,omitzero"`
	Waited time.Duration `json:"waited_ns,omitempty"`
	Turns  int           `json:"turns,omitempty"`
}
