package temporal

import (
	"encoding/json"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// wire encodes a value as canonical JSON. Temporal's own encoder would reformat JSON within it, and so
// change the arguments of calls and their idempotency keys.
type wire[T any] struct{ v T }

func over[T any](v T) wire[T] { return wire[T]{v} }

func (w wire[T]) MarshalJSON() ([]byte, error) { return engine.Marshal(w.v) }

func (w *wire[T]) UnmarshalJSON(data []byte) error {
	return engine.Unmarshal(data, &w.v)
}

// order is the input of the workflow.
type order struct {
	// Session is the id of the session.
	Session string `json:"session"`
	// Config lacks what the worker adds: the behaviours, and whether there are a planner and prompts
	// made by code.
	Config machine.Config `json:"config"`
	// Output is the structured answer; nil if any text will do.
	Output *output `json:"output,omitempty"`
	// Tools are the names of the tools to offer; nil means all.
	Tools    []string          `json:"tools"`
	Messages []message.Message `json:"messages,omitempty"`
	// Known is what is known of the conversation in Messages besides them; nil for nothing.
	Known *projection.Kept `json:"known,omitempty"`
	// After is the state after an earlier run of the session.
	After json.RawMessage `json:"after,omitempty"`
	// Person makes a person the planner.
	Person bool `json:"person,omitempty"`
	// Attributes asks for search attributes.
	Attributes bool `json:"attributes,omitempty"`
	// Depth is how many runs are around this one, and Deepest how many there may be around another.
	Depth   int `json:"depth,omitempty"`
	Deepest int `json:"deepest,omitempty"`
	// Carried is set if the run continues from an earlier history.
	Carried *carried `json:"carried,omitempty"`
}

// begun describes the worker that begins a run. It is in the history, and a worker that takes over follows
// it.
type begun struct {
	Behaviours []machine.Behaviour `json:"behaviours"`
	// Session is the session before the first event; empty in a new history.
	Session json.RawMessage `json:"session,omitempty"`
	Tools   []journal.Tool  `json:"tools,omitempty"`
	Models  []string        `json:"models,omitempty"`
	// Described is what the worker's models say of themselves, and Offered the size of what prompts offer, if
	// the policy has prices or spending.
	Described map[string]machine.ModelInfo `json:"described,omitempty"`
	Offered   int64                        `json:"offered,omitempty"`
	// Policy is that of the order, with the policies and declarations of the worker's tools.
	Policy *policy.Set `json:"policy,omitempty"`
	// Reducers, Adjust, Prompt and Planner say which user code there is. Slow means that it runs in
	// local activities.
	Reducers bool `json:"reducers,omitempty"`
	// Warnings are about the policy and the worker's tools.
	Warnings []string `json:"warnings,omitempty"`
	// Hears are the notices that reducers are bound to.
	Hears   []string `json:"hears,omitempty"`
	Adjust  bool     `json:"adjust,omitempty"`
	Prompt  bool     `json:"prompt,omitempty"`
	Planner bool     `json:"planner,omitempty"`
	Slow    bool     `json:"slow,omitempty"`
	// Summaries means that the worker sums up messages.
	Summaries bool `json:"summaries,omitempty"`
	// View means that tools get the session.
	View bool `json:"view,omitempty"`
	// Parallel, Deaths, MaxPayload and MaxEvents are those of the worker, because they change what is
	// in the history.
	Parallel   int `json:"parallel"`
	Deaths     int `json:"deaths"`
	MaxPayload int `json:"max_payload"`
	MaxEvents  int `json:"max_events"`
	// Agents are the tools that are agents, with what each of their runs begins with.
	Agents map[string]order `json:"agents,omitempty"`
	// Trouble is the reason why the worker cannot begin the run.
	Trouble *errorValue `json:"trouble,omitempty"`
}

// carried is the state of a run that continues in a new history.
type carried struct {
	State     json.RawMessage `json:"state"`
	Asked     machine.Effect  `json:"asked"`
	Begun     begun           `json:"begun"`
	Adjusted  policy.Layer    `json:"adjusted,omitzero"`
	Kept      string          `json:"kept,omitempty"`
	KeptLen   int             `json:"kept_len,omitempty"`
	Trail     trail           `json:"trail"`
	MaybePaid int             `json:"maybe_paid,omitempty"`
	// Noted has the current search attributes.
	Noted attributes `json:"noted,omitzero"`
	// Since is when the run began, for observers.
	Since time.Time `json:"since,omitzero"`
	// Cost is what a run within a call has cost so far, and Doubtful what calls of agents in doubt came to.
	Cost     *int64                `json:"cost,omitempty"`
	Doubtful map[string]toolResult `json:"doubtful,omitempty"`
}

// trail is the record of the decisions so far. It is in the history wherever the run waits, and each replay
// is compared with it.
type trail struct {
	// Events is the number of events so far. Digest is that of their canonical trace.
	Events int    `json:"events"`
	Digest string `json:"digest"`
	// Steps are the steps since the last comparison, oldest first.
	Steps []trailStep `json:"steps,omitempty"`
}

// trailStep is one step of a trail.
type trailStep struct {
	Event machine.EventKind `json:"event"`
	// Decision is what was decided; nil if it is larger than maxStepBytes. Sentences describe it then.
	Decision  *journal.Decision `json:"decision,omitempty"`
	Sentences []string          `json:"sentences,omitempty"`
}

// modelCall is the input of the model activity.
type modelCall struct {
	// Session is the session's id.
	Session string            `json:"session,omitempty"`
	Call    machine.ModelCall `json:"call"`
	Output  *output           `json:"output,omitempty"`
	Tools   []journal.Tool    `json:"tools,omitempty"`
	Only    bool              `json:"calls_only,omitempty"`
	Reading tool.Settings     `json:"reading"`
	// Kept is the name of the conversation in the store. Said is the rest.
	Kept string            `json:"kept,omitempty"`
	Said []message.Message `json:"said,omitempty"`
	// Cuts are what the prompt leaves out of the conversation.
	Cuts []projection.Cut `json:"cuts,omitempty"`
}

// outcome is what every activity says of its user's code.
type outcome struct {
	// Failure is the error of the code, and Trouble one that ends the run.
	Failure *RemoteError `json:"failure,omitempty"`
	Trouble *errorValue  `json:"trouble,omitempty"`
	// Refused says what the worker lacks. Nothing was begun.
	Refused string `json:"refused,omitempty"`
	// Tries is how often Temporal began the activity: more than once if a worker died.
	Tries int32 `json:"tries"`
}

func (o outcome) refusal() string { return o.Refused }

// modelResult is the result of the model activity: a reply, or its outcome says why there is none.
type modelResult struct {
	outcome
	Reply *machine.Reply `json:"reply,omitempty"`
	Kept  string         `json:"kept,omitempty"`
}

// toolCall is the input of the tool activity.
type toolCall struct {
	Run machine.ToolRun `json:"run"`
	// Schema is the digest of the tool's schema at the beginning of the run.
	Schema string `json:"schema"`
	// Session is the session's id. At is the position of the tool's action.
	Session string           `json:"session,omitempty"`
	At      machine.Position `json:"at,omitzero"`
	// View is the session, if the worker gives it to tools.
	View json.RawMessage `json:"view,omitempty"`
}

// toolResult is the result of the tool activity.
type toolResult struct {
	outcome
	End    *machine.ToolEnd `json:"end,omitempty"`
	Events []session.Event  `json:"events,omitempty"`
}

// tryResult is the result of the activity of a single action.
type tryResult struct {
	outcome
	Try machine.Try `json:"try"`
}

// tryCall is the input of the activity of a single action.
type tryCall struct {
	Try
	// Words reports that the policy classifies errors by their words.
	Words bool `json:"words,omitempty"`
}

// thinkCall is a call of the user's Adjust and reducers.
type thinkCall struct {
	Session json.RawMessage `json:"session"`
	Adjust  bool            `json:"adjust,omitempty"`
	Events  []session.Event `json:"events,omitempty"`
	// Notices are handled in a transaction each.
	Notices []machine.Notice `json:"notices,omitempty"`
}

// thinkResult is the result of the user's Adjust and reducers.
type thinkResult struct {
	Layer   *policy.Layer    `json:"layer,omitempty"`
	Reduced *machine.Reduced `json:"reduced,omitempty"`
	// Reductions are the results for the notices.
	Reductions []machine.Reduced `json:"reductions,omitempty"`
	Trouble    *errorValue       `json:"trouble,omitempty"`
}

// plannerCall is the input of a planner.
type plannerCall struct {
	State json.RawMessage `json:"state"`
	Asked machine.Effect  `json:"asked"`
	Cause *RemoteError    `json:"cause,omitempty"`
}

// plannerResult is the result of a planner.
type plannerResult struct {
	Plan    machine.Plan `json:"plan"`
	Failure *RemoteError `json:"failure,omitempty"`
	Trouble *errorValue  `json:"trouble,omitempty"`
}

// promptCall is the input of the code that makes prompts, prompt its result.
type promptCall struct {
	Session json.RawMessage    `json:"session"`
	At      []machine.Position `json:"at"`
}

type promptResult struct {
	System  string            `json:"system,omitempty"`
	Add     []message.Message `json:"add,omitempty"`
	Trouble *errorValue       `json:"trouble,omitempty"`
}

// report is the result of the workflow, however its run ended.
type report struct {
	// State is the last snapshot of the run; empty if it is too large, or if the run never began.
	State     json.RawMessage `json:"state,omitempty"`
	Cause     *RemoteError    `json:"cause,omitempty"`
	MaybePaid int             `json:"maybe_paid,omitempty"`
	Trouble   *errorValue     `json:"trouble,omitempty"`
	// Usage and Cost are what a run within a call consumed, if it is one; no Cost means that it is unknown.
	Usage message.Usage `json:"usage,omitzero"`
	Cost  *int64        `json:"cost,omitempty"`
}

// Status is the current status of a run, for people.
type Status struct {
	Session string        `json:"session"`
	Phase   machine.Phase `json:"phase"`
	Run     int           `json:"run"`
	Turn    int           `json:"turn"`
	// At are the positions of the current actions.
	At []machine.Position `json:"at,omitempty"`
	// Attempts is the number of attempts of the run on both planes; Last is the latest.
	Attempts int              `json:"attempts"`
	Last     *session.Attempt `json:"last,omitempty"`
	// Wait is the current wait; nil for none.
	Wait *machine.Wait `json:"wait,omitempty"`
	// Planning is the question to the planner; nil for none.
	Planning *machine.Effect `json:"planning,omitempty"`
	// Asking are the open questions to people: see [Handle.Answer].
	Asking []machine.Ask `json:"asking,omitempty"`
	// Running are the tool calls that run.
	Running []machine.ToolRun `json:"running,omitempty"`
	// Agents are the ids of the runs of agents that are under way in these: see [Get].
	Agents []string `json:"agents,omitempty"`
	// Outcome is set when the run has stopped.
	Outcome *machine.Outcome `json:"outcome,omitempty"`
	Usage   message.Usage    `json:"usage,omitzero"`
	Waited  time.Duration    `json:"waited_ns,omitempty"`
	// MaybePaid is the number of calls that were repeated after a worker died.
	MaybePaid int `json:"maybe_paid,omitempty"`
}
