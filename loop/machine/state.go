package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/seq"
	"github.com/retake-go/retake/session"
)

// Config is what a run is held to from its start: plain data, kept in a journal's header. The zero value is
// invalid.
type Config struct {
	// RequestID names the request that the run answers, in the idempotency keys of its calls: two runs of a
	// session with one id have the same keys. Empty means that what had been said when the run began stands
	// for the request. At most [MaxRequestID] bytes of printable text.
	RequestID string `json:"request_id,omitempty"`
	// Seed is what jitter is drawn from, with session, run and action; empty means the session's id.
	Seed string `json:"seed,omitempty"`
	// Policy holds the layers, the budgets and the transport policy.
	Policy policy.Set `json:"policy"`
	// Deadline is the time no wait may outlast; zero means none.
	Deadline time.Time `json:"deadline,omitzero"`
	// Single makes the run the tries of one action, without a model or tools: of Action, empty for a final
	// answer.
	Single bool   `json:"single,omitempty"`
	Action string `json:"action,omitempty"`
	// ActionID names that action in its session's journal, which keeps its end by it; empty for none. Of a
	// run that is not Single it is an error. At most [MaxActionID] bytes of printable text, which a redacted
	// journal keeps: no secret.
	ActionID string `json:"action_id,omitempty"`
	// System is the system prompt: a template as package feedback reads it, rendered anew for each model
	// call.
	System string `json:"system,omitempty"`
	// Feedback is the template of the words that correct the model; empty means the default words.
	Feedback string `json:"feedback,omitempty"`
	// Limits bounds the feedback shown to the model.
	Limits feedback.Limits `json:"limits"`
	// CallsOnly makes tool calls the answer: a reply without one is a failed attempt of class no_output, and
	// the first reply whose calls are all good ends the run with them. None is run: that is the caller's.
	CallsOnly bool `json:"calls_only,omitempty"`
	// ToolChoice says which tool the model must call; Stop are the texts at which it is to stop writing.
	ToolChoice message.ToolChoice `json:"tool_choice,omitempty"`
	Stop       []string           `json:"stop,omitempty"`
	// UserPrompt says that the user's code makes the prompt of each model call.
	UserPrompt bool `json:"user_prompt,omitempty"`
	// Planner says that a planner is asked what follows exhaustion; else the run ends.
	Planner bool `json:"planner,omitempty"`
	// Consult are the classes of the transport plane at which the planner is asked before the policy is
	// followed. It says nothing where there is no planner.
	Consult []fault.Class `json:"consult,omitempty"`
	// Behaviours are those that the run began with; a new one has [Behaviours].
	Behaviours []Behaviour `json:"behaviours,omitempty"`
}

// Phase says what a state waits for.
type Phase string

// The phases.
const (
	Idle      Phase = "idle"
	Prompting Phase = "prompting"
	Calling   Phase = "calling"
	Running   Phase = "running"
	Trying    Phase = "trying"
	Waiting   Phase = "waiting"
	Planning  Phase = "planning"
	Reducing  Phase = "reducing"
	Stopped   Phase = "stopped"
)

// Next is what follows a wait or a plan. The zero value is nothing.
type Next string

const (
	NextTurn  Next = "turn"  // a new model call
	NextCall  Next = "call"  // the same model call again
	NextTools Next = "tools" // the calls of the batch that are still to be run
	NextTry   Next = "try"   // the next try of the single action
)

// Action is one line of tries of the correction plane: the final answer, or one tool's within a run.
type Action struct {
	Name string `json:"name"`
	// Number is new for every action of a session.
	Number int `json:"number"`
	// Attempt is the attempt last made.
	Attempt int `json:"attempt"`
	// Waited is the delay spent on it so far.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// Signature names the last failure, Repeats counts how often it had come in a row before.
	Signature string `json:"signature,omitempty"`
	Repeats   int    `json:"repeats,omitempty"`
	// Unknown is set where no tool has this name.
	Unknown bool `json:"unknown,omitempty"`
	// Last is its latest feedback.
	Last *feedback.RetryFeedback `json:"last,omitempty"`
}

// Spent counts the failed attempts of a run against its budgets.
type Spent struct {
	Run     int         `json:"run"`
	Unknown int         `json:"unknown_tools"`
	Tools   []ToolSpent `json:"tools,omitempty"`
}

// ToolSpent counts the failed attempts of one tool.
type ToolSpent struct {
	Tool   string `json:"tool"`
	Failed int    `json:"failed"`
}

func (s *Spent) tool(name string) int {
	if at, there := s.place(name); there {
		return s.Tools[at].Failed
	}
	return 0
}

// place is where a tool stands, or is to stand, among those that are in order.
func (s *Spent) place(tool string) (at int, there bool) {
	return slices.BinarySearchFunc(s.Tools, tool, func(t ToolSpent, name string) int { return strings.Compare(t.Tool, name) })
}

// Batch is the reply whose calls are under way. [Step] replaces it and never changes it.
type Batch struct {
	Native bool `json:"native,omitempty"`
	// Calls are all calls of the reply, in its order, as they stood when those without an answer were asked
	// for: see [Batch.All].
	Calls []BatchCall `json:"calls"`
	// Cursor is the index of the call whose outcome comes next.
	Cursor int `json:"cursor"`
	// Told is how much of the limits of feedback the answers so far have used up.
	Told feedback.Limits `json:"told,omitzero"`

	// ended are the calls that have ended since: their places in Calls are out of date.
	ended seq.Log[ended]
}

// BatchCall is one call of a batch.
type BatchCall struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"`
	Key       string `json:"key,omitempty"`
	// Transport is the attempt on the transport plane, from 1; 0 for a call that is not run.
	Transport int `json:"transport,omitempty"`
	// Waited is the transport delay spent on this call so far.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// Done is set when the call has its answer, Bad when it could not be run, Settled when the decision on
	// its action was taken already.
	Done    bool `json:"done,omitempty"`
	Bad     bool `json:"bad,omitempty"`
	Settled bool `json:"settled,omitempty"`
	// Failed is set when the tool failed for good.
	Failed bool `json:"failed,omitempty"`
	// Repeatable is that of [Call]. Doubt is set once a try of the call ended without saying whether its
	// effect happened.
	Repeatable bool `json:"repeatable,omitempty"`
	Doubt      bool `json:"doubt,omitempty"`
	// Progress is what the latest try reported last.
	Progress json.RawMessage `json:"progress,omitempty"`
	// Answer is what the model is told.
	Answer  string `json:"answer,omitempty"`
	IsError bool   `json:"is_error,omitempty"`
	// Parts are the media of the result.
	Parts []message.Part `json:"parts,omitempty"`
}

// State is a run as it stands: a value. All of it but the compiled templates is data; an older State stays
// good after its successors have gone on. Safe for concurrent reading.
type State struct {
	// Config is read-only, and shared by all states of a run and by the runs of equal configs.
	Config     *Config                  `json:"config"`
	Phase      Phase                    `json:"phase"`
	Session    session.State            `json:"session"`
	Transcript seq.Log[message.Message] `json:"transcript"`
	// At is the time of the last event.
	At time.Time `json:"at,omitzero"`
	// Run numbers the runs of this state from 1, Turn the run's replies asked for. First is how many attempts
	// the session held before this run, Began how many messages of the transcript had been said when it
	// began, its prompt included.
	Run   int `json:"run"`
	First int `json:"first,omitempty"`
	Began int `json:"began,omitempty"`
	Turn  int `json:"turn"`
	// Policy is the run's policy with its adjustments: read-only.
	Policy *policy.Set `json:"policy"`
	// Model is the model in use, by its name in the run's ladder; empty for the first.
	Model string `json:"model,omitempty"`
	// System is the prompt that the user's code made for the next call.
	System string `json:"system,omitempty"`
	// Actions are the open ones, in order of name; Opened counts all that were ever opened.
	Actions []Action `json:"actions,omitempty"`
	Opened  int      `json:"opened"`
	Spent   Spent    `json:"spent"`
	// Transport is the attempt of the request under way on the transport plane, TransportWaited its delays so
	// far.
	Transport       int           `json:"transport,omitempty"`
	TransportWaited time.Duration `json:"transport_waited_ns,omitempty"`
	Batch           *Batch        `json:"batch,omitempty"`
	// Chosen is set once a call that Config.ToolChoice asks for has ended in this run: none is forced then.
	Chosen bool `json:"chosen,omitempty"`
	// InDoubt are the calls of the run that ended without saying whether their effect happened, in the order
	// of their ends. Made again with the same arguments, they have the same key.
	InDoubt []Doubt `json:"in_doubt,omitempty"`
	// Resume is the wait before the next turn, Hold the wait before the same request is made again; Next is
	// what follows a wait or a plan.
	Resume *Wait `json:"resume,omitempty"`
	Hold   *Wait `json:"hold,omitempty"`
	Next   Next  `json:"next,omitempty"`
	// Consults are the transport faults that the planner has not answered yet, in call order: it is asked of
	// the first.
	Consults []Consultation `json:"consults,omitempty"`
	// Hears are the notices that reducers are bound to, Notices those that they have not heard yet.
	Hears   []string `json:"hears,omitempty"`
	Notices []Notice `json:"notices,omitempty"`
	// Exhausted is the first exhaustion that was not yet answered.
	Exhausted *Exhaustion `json:"exhausted,omitempty"`
	// Owed is usage that no attempt record holds yet.
	Owed     message.Usage `json:"owed,omitzero"`
	Usage    message.Usage `json:"usage,omitzero"`
	Waited   time.Duration `json:"waited_ns,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Outcome  *Outcome      `json:"outcome,omitempty"`

	words *words
	// asked is the digest of a beginning of Transcript: that of the run's request once its first call was
	// read.
	asked said
	// later is that of what is let go of since; see [State.Forget].
	later said
	// policies are those of Policy.
	policies *policies
}

// words are the templates and the policies of a Config, compiled once. Immutable.
type words struct {
	system, feedback feedback.Template
	policies         *policies
}

// Compiled is a [Config] that was found good, and all that follows from it: what many runs under one config
// share. Make it with [Compile]. It is read-only, and safe for concurrent use; the zero value is of no use.
type Compiled struct {
	cfg   *Config
	words *words
}

// Compile checks a config, and makes it ready. The error joins all that is wrong with cfg, each with its
// path. cfg is kept, and is read-only from then on. Templates with actions need package feedback/prompt.
func Compile(cfg *Config) (*Compiled, error) {
	w, err := compile(cfg)
	if err = errors.Join(err, prefix("policy", cfg.Policy.Validate()), prefix("limits", cfg.Limits.Validate()), checkConsult(cfg.Consult), checkID("request_id", cfg.RequestID), cfg.checkActionID(), checkBehaviours(cfg.Behaviours)); err != nil {
		return nil, err
	}
	w.policies = policiesOf(&cfg.Policy)
	return &Compiled{cfg, w}, nil
}

// Config is what was compiled: read-only.
func (c *Compiled) Config() *Config { return c.cfg }

// Until is the same with another deadline.
func (c *Compiled) Until(deadline time.Time) *Compiled {
	if deadline == c.cfg.Deadline {
		return c
	}
	cfg := *c.cfg
	cfg.Deadline = deadline
	return &Compiled{&cfg, c.words}
}

// MaxRequestID and MaxActionID bound [Config].RequestID and ActionID, in bytes.
const (
	MaxRequestID = maxID
	MaxActionID  = maxID
	maxID        = 256
)

func (c *Config) checkActionID() error {
	if c.ActionID != "" && !c.Single {
		return errors.New("action_id: only the tries of one action have one: leave it out, or set single")
	}
	return checkID("action_id", c.ActionID)
}

// checkID says what is wrong with an id that a program gives, by field.
func checkID(field, id string) error {
	if len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return fmt.Errorf("%s: %.64q: give at most %d bytes of printable text", field, id, maxID)
	}
	return nil
}

// New returns the idle state of a session.
func (c *Compiled) New(s session.State) (st State) {
	c.Begin(&st, s)
	return st
}

// Begin makes a state that is zero what [Compiled.New] returns.
func (c *Compiled) Begin(st *State, s session.State) {
	// Every action leaves an attempt, so that the numbers of later runs in the session are new ones.
	st.Config, st.Phase, st.Session, st.Opened = c.cfg, Idle, s, s.Attempts().Len()
	st.Policy, st.words, st.policies = &c.cfg.Policy, c.words, c.words.policies
}

// New returns the idle state of a session under cfg. The error joins all that is wrong with cfg, each with
// its path.
func New(cfg Config, s session.State) (State, error) {
	c, err := Compile(&cfg)
	if err != nil {
		return State{}, err
	}
	return c.New(s), nil
}

// Pending is the wait that the state is in; the zero effect where it is in none.
func (st *State) Pending() Effect {
	if w := st.due(st.Next); st.Phase == Waiting && w != nil {
		return Effect{Kind: WaitUntil, Wait: w}
	}
	return Effect{}
}

func compile(cfg *Config) (*words, error) {
	var (
		w    words
		errs []error
	)
	for _, t := range []struct {
		path, text string
		to         *feedback.Template
	}{{"system", cfg.System, &w.system}, {"feedback", cfg.Feedback, &w.feedback}} {
		if t.text == "" {
			continue
		}
		parsed, err := feedback.ParseTemplate(t.text)
		errs = append(errs, prefix(t.path, err))
		*t.to = parsed
	}
	return &w, errors.Join(errs...)
}

func prefix(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// PolicyFor is the policy that decides on an action of a plane as the state stands, and where its values come
// from. On the transport plane it is that of model calls: for calls of tools see [State.ToolPolicy].
func (st State) PolicyFor(action string, plane fault.Plane) (policy.RetryPolicy, policy.Explanation) {
	if plane == fault.Transport {
		return policy.ResolveTransport(*st.Policy)
	}
	return policy.Resolve(*st.Policy, action)
}

// ToolPolicy is the policy that decides on calls of a tool that do not come through, and where its values
// come from.
func (st State) ToolPolicy(tool string) (policy.RetryPolicy, policy.Explanation) {
	return policy.ResolveToolTransport(*st.Policy, tool)
}

// find is the open action of that name; nil where there is none.
func (st *State) find(name string) *Action {
	if at, there := st.place(name); there {
		return &st.Actions[at]
	}
	return nil
}

// place is where an action stands, or is to stand, among those that are open.
func (st *State) place(name string) (at int, there bool) {
	low, high := 0, len(st.Actions)
	for low < high {
		middle := (low + high) / 2
		switch c := strings.Compare(st.Actions[middle].Name, name); {
		case c == 0:
			return middle, true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

// Attempts are those of the run under way, or of the one that stopped last, on both planes and oldest first.
// The slice is read-only.
func (st State) Attempts() []session.Attempt {
	all := st.Session.Attempts()
	return all.Slice(st.First, all.Len())
}

// Left is what is left of the effect that a step ended with, once further events have come in: of calls to
// run, those without an outcome. It is what a driver that takes over from another one carries out.
func (st State) Left(asked Effect) Effect {
	if asked.Kind == RunTools && st.Batch != nil {
		asked.Tools = slices.DeleteFunc(slices.Clone(asked.Tools), func(r ToolRun) bool { return r.Index < st.Batch.Cursor })
	}
	return asked
}

// Attempt is where an open action of the correction plane stands; attempt 0 where it is not open.
func (st State) Attempt(action string) Position {
	rules := st.policies
	if rules == nil {
		rules = policiesOf(st.Policy)
	}
	at := Position{Action: action, MaxAttempts: rules.of(action).MaxAttempts}
	if a := st.find(action); a != nil {
		at.Attempt = a.Attempt
	}
	return at
}

// Feedback is the latest feedback on an open action; nil where it has none.
func (st State) Feedback(action string) *feedback.RetryFeedback {
	if a := st.find(action); a != nil {
		return a.Last
	}
	return nil
}

// clone is a batch of its own, as it stands; nil where there is none.
func (b *Batch) clone() *Batch {
	if b == nil {
		return nil
	}
	return &Batch{Native: b.Native, Calls: slices.Clone(b.All()), Cursor: b.Cursor, Told: b.Told}
}
