package temporal

import (
	"encoding/json"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// wire carries a value as canonical JSON: the engine's own encoder would rewrite what is JSON already, and
// with it the arguments of calls and their idempotency keys.
type wire[T any] struct{ v T }

func over[T any](v T) wire[T] { return wire[T]{v} }

func (w wire[T]) MarshalJSON() ([]byte, error) { return engine.Marshal(w.v) }

func (w *wire[T]) UnmarshalJSON(data []byte) error {
	return engine.Unmarshal(data, &w.v)
}

// order is what a workflow is started with.
type order struct {
	// Session is the id of the session.
	Session string `json:"session"`
	// Config lacks what the worker says: the behaviours, and whether there are a planner and prompts made by
	// code.
	Config machine.Config `json:"config"`
	// Output is the structured answer; nil where any text will do.
	Output *output `json:"output,omitempty"`
	// Tools are those on offer, nil for all of the worker's.
	Tools    []string          `json:"tools"`
	Messages []message.Message `json:"messages,omitempty"`
	// After is the state that an earlier run of the session ended in.
	After json.RawMessage `json:"after,omitempty"`
	// Person makes a person the planner.
	Person bool `json:"person,omitempty"`
	// Attributes asks for search attributes.
	Attributes bool `json:"attributes,omitempty"`
	// Carried is set where the run goes on from a history that had grown long.
	Carried *carried `json:"carried,omitempty"`
}

// begun is what the worker that begins a run says of itself. It stands in the history: a worker that takes
// over follows it.
type begun struct {
	Behaviours []machine.Behaviour `json:"behaviours"`
	// Session is the session as its worker declares it, before the first event; empty where the order has an
	// earlier state.
	Session json.RawMessage `json:"session,omitempty"`
	Tools   []journal.Tool  `json:"tools,omitempty"`
	Models  []string        `json:"models,omitempty"`
	// Policy is the order's, with what the worker's tools say of themselves.
	Policy *policy.Set `json:"policy,omitempty"`
	// Reducers, Adjust, Prompt and Planner say what user code there is, Slow that it runs in local
	// activities.
	Reducers bool `json:"reducers,omitempty"`
	// Hears are the notices that reducers are bound to.
	Hears   []string `json:"hears,omitempty"`
	Adjust  bool     `json:"adjust,omitempty"`
	Prompt  bool     `json:"prompt,omitempty"`
	Planner bool     `json:"planner,omitempty"`
	Slow    bool     `json:"slow,omitempty"`
	// View says that tools are given the session.
	View bool `json:"view,omitempty"`
	// Parallel, Deaths, MaxPayload and MaxEvents are the worker's: they decide what stands in the history.
	Parallel   int `json:"parallel"`
	Deaths     int `json:"deaths"`
	MaxPayload int `json:"max_payload"`
	MaxEvents  int `json:"max_events"`
	// Trouble is why the worker cannot begin it.
	Trouble *trouble `json:"trouble,omitempty"`
}

// carried is what goes with a run into a new history.
type carried struct {
	State     json.RawMessage `json:"state"`
	Asked     machine.Effect  `json:"asked"`
	Begun     begun           `json:"begun"`
	Cause     *RemoteError    `json:"cause,omitempty"`
	Adjusted  policy.Layer    `json:"adjusted,omitzero"`
	Kept      string          `json:"kept,omitempty"`
	KeptLen   int             `json:"kept_len,omitempty"`
	Trail     trail           `json:"trail"`
	MaybePaid int             `json:"maybe_paid,omitempty"`
	// Noted is how the search attributes stand.
	Noted attributes `json:"noted,omitzero"`
}

// trail is what a run has decided so far. It stands in the history wherever the run waits for something, and
// each replay is held to it.
type trail struct {
	// Events counts the events so far, Digest is that of their canonical trace.
	Events int    `json:"events"`
	Digest string `json:"digest"`
	// Steps are those since the trail was held to the history last, oldest first.
	Steps []taken `json:"steps,omitempty"`
}

// taken is one step of a trail.
type taken struct {
	Event machine.EventKind `json:"event"`
	// Decision is what was decided; nil where it is larger than maxTaken. Sentences say it for people then.
	Decision  *journal.Decision `json:"decision,omitempty"`
	Sentences []string          `json:"sentences,omitempty"`
}

// modelCall is what the model activity is given.
type modelCall struct {
	Call    machine.ModelCall `json:"call"`
	Output  *output           `json:"output,omitempty"`
	Tools   []journal.Tool    `json:"tools,omitempty"`
	Only    bool              `json:"calls_only,omitempty"`
	Reading reading           `json:"reading"`
	// Kept names what the store has of the conversation, Said is the rest.
	Kept string            `json:"kept,omitempty"`
	Said []message.Message `json:"said,omitempty"`
}

// modelResult is what the model activity gives back: exactly one of Reply, Failure, Refused and Trouble is
// set.
type modelResult struct {
	Reply   *machine.Reply `json:"reply,omitempty"`
	Failure *RemoteError   `json:"failure,omitempty"`
	Trouble *trouble       `json:"trouble,omitempty"`
	Refused string         `json:"refused,omitempty"`
	Kept    string         `json:"kept,omitempty"`
	// Tries is how often the engine began the activity: more than once where a worker died.
	Tries int32 `json:"tries"`
}

// toolCall is what the tool activity is given.
type toolCall struct {
	Run machine.ToolRun `json:"run"`
	// Schema is the digest of the schema that the tool had when the run began.
	Schema string `json:"schema"`
	// Session is the session's id, At where the tool's line of tries stands.
	Session string           `json:"session,omitempty"`
	At      machine.Position `json:"at,omitzero"`
	// View is the session, if the worker gives it to tools.
	View json.RawMessage `json:"view,omitempty"`
}

// toolResult is what the tool activity gives back.
type toolResult struct {
	End     *machine.ToolEnd `json:"end,omitempty"`
	Events  []session.Event  `json:"events,omitempty"`
	Failure *RemoteError     `json:"failure,omitempty"`
	Trouble *trouble         `json:"trouble,omitempty"`
	// Refused says what the worker lacks: nothing was begun.
	Refused string `json:"refused,omitempty"`
	Tries   int32  `json:"tries"`
}

// tryResult is what the activity of a single action gives back.
type tryResult struct {
	Try     machine.Try  `json:"try"`
	Refused string       `json:"refused,omitempty"`
	Trouble *trouble     `json:"trouble,omitempty"`
	Failure *RemoteError `json:"failure,omitempty"`
	Tries   int32        `json:"tries"`
}

// tryCall is what the activity of a single action is given.
type tryCall struct {
	Try
}

// thought is what user code is asked before a decision: the policy's adjustment, and what the reducers make
// of events.
type thought struct {
	Session json.RawMessage `json:"session"`
	Adjust  bool            `json:"adjust,omitempty"`
	Events  []session.Event `json:"events,omitempty"`
	// Notices are each a transaction of its own.
	Notices []machine.Notice `json:"notices,omitempty"`
}

// conclusion is what user code said.
type conclusion struct {
	Layer   *policy.Layer    `json:"layer,omitempty"`
	Reduced *machine.Reduced `json:"reduced,omitempty"`
	// Reductions are what they make of the notices.
	Reductions []machine.Reduced `json:"reductions,omitempty"`
	Trouble    *trouble          `json:"trouble,omitempty"`
}

// question is what a planner is asked.
type question struct {
	State json.RawMessage `json:"state"`
	Asked machine.Effect  `json:"asked"`
	Cause *RemoteError    `json:"cause,omitempty"`
}

// answer is what a planner said.
type answer struct {
	Plan    machine.Plan `json:"plan"`
	Failure *RemoteError `json:"failure,omitempty"`
	Trouble *trouble     `json:"trouble,omitempty"`
}

// draft is what the code that makes prompts is asked, prompt what it said.
type draft struct {
	Session json.RawMessage    `json:"session"`
	At      []machine.Position `json:"at"`
}

type prompt struct {
	System  string            `json:"system,omitempty"`
	Add     []message.Message `json:"add,omitempty"`
	Trouble *trouble          `json:"trouble,omitempty"`
}

// report is how a workflow ends, whatever became of its run.
type report struct {
	// State is the snapshot that the run ended in; empty where it is too large, and where it never began.
	State     json.RawMessage `json:"state,omitempty"`
	Cause     *RemoteError    `json:"cause,omitempty"`
	MaybePaid int             `json:"maybe_paid,omitempty"`
	Trouble   *trouble        `json:"trouble,omitempty"`
}

// Status is a run as it stands, for people.
type Status struct {
	Session string        `json:"session"`
	Phase   machine.Phase `json:"phase"`
	Run     int           `json:"run"`
	Turn    int           `json:"turn"`
	// At are the actions under way.
	At []machine.Position `json:"at,omitempty"`
	// Attempts counts the attempts of the run on both planes; Last is the latest.
	Attempts int              `json:"attempts"`
	Last     *session.Attempt `json:"last,omitempty"`
	// Wait is the wait under way; nil for none.
	Wait *machine.Wait `json:"wait,omitempty"`
	// Planning is what a planner is asked; nil where it is not.
	Planning *machine.Effect `json:"planning,omitempty"`
	// Running are the tool calls under way.
	Running []machine.ToolRun `json:"running,omitempty"`
	// Outcome is set once the run has stopped.
	Outcome *machine.Outcome `json:"outcome,omitempty"`
	Usage   message.Usage    `json:"usage,omitzero"`
	Waited  time.Duration    `json:"waited_ns,omitempty"`
	// MaybePaid counts the calls that were begun again after a worker died.
	MaybePaid int `json:"maybe_paid,omitempty"`
}
