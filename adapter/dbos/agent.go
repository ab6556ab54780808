package dbos

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// DefaultAgent is the name of an [Agent] without one.
const DefaultAgent = "retake"

// The defaults of an [Agent].
const (
	DefaultModelTimeout = 10 * time.Minute
	DefaultToolTimeout  = time.Hour
)

// Agent configures the runs of an agent, as [loop.New] and its options do in process. Do not change it after
// [Register]. Not supported are a limiter, single actions, and code that changes the policy.
type Agent struct {
	// Name is a part of the name of the workflow; empty means [DefaultAgent]. A context may have several
	// agents.
	Name string
	// Model is the model of the runs. Required. Models are further models, by the names that planners and
	// policies use.
	Model  loop.Model
	Models map[string]loop.Model
	// Config is that of the runs, with their tools.
	Config loop.Config
	// Session declares slices and reducers. It must have no id, seed or journal: a session has the id of its
	// workflow, and its record is that of DBOS.
	Session session.Config
	// Agents are those that are tools of this one. A call of one is a child workflow: see [AgentTool].
	Agents []AgentTool
	// Planner, Prompt and Summary are as with [loop.WithPlanner], [loop.WithPrompt] and [loop.WithSummary];
	// nil for none.
	Planner planner.Planner
	Prompt  loop.PromptFunc
	Summary loop.SummaryFunc
	// Observers are told of what is recorded, but not when a workflow is made again from its record. After a
	// crash they may never be told of the last step. Tracers trace nothing.
	Observers []observe.Observer
	// Parallel is the number of tools of one reply that run at once; 0 means [loop.DefaultParallel].
	Parallel int
	// ModelTimeout bounds a model call, and ToolTimeout a tool call; 0 means the defaults. A timeout in the
	// policy goes first.
	ModelTimeout, ToolTimeout time.Duration

	hooks hooks
}

// recvFunc waits for a message of a topic, at most so long.
type recvFunc func(ctx sdk.Context, topic string, most time.Duration) (string, error)

// hooks replace time for tests, and see the letters of people and the steps of a run, also repeated ones.
type hooks struct {
	now   func() time.Time
	after tool.After
	recv  recvFunc
	read  func(letter)
	// heard is called when a run that has ended reads no more letters.
	heard func()
	step  func(machine.Event, []machine.Effect, machine.State)
	// begin begins the workflow of a run; nil for that which was registered.
	begin func(ctx sdk.Context, id, order string) (sdk.WorkflowHandle[string], error)
}

func (a Agent) withDefaults() Agent {
	if a.Name == "" {
		a.Name = DefaultAgent
	}
	if a.Parallel == 0 {
		a.Parallel = loop.DefaultParallel
	}
	if a.ModelTimeout == 0 {
		a.ModelTimeout = DefaultModelTimeout
	}
	if a.ToolTimeout == 0 {
		a.ToolTimeout = DefaultToolTimeout
	}
	if a.hooks.now == nil {
		a.hooks.now = time.Now
	}
	if a.hooks.after == nil {
		a.hooks.after = usercode.After
	}
	if a.hooks.recv == nil {
		a.hooks.recv = sdk.Recv[string]
	}
	return a
}

// Validate returns an error that joins all faults, each with its field; nil if there is none.
func (a Agent) Validate() error {
	d := a.withDefaults()
	var errs []error
	for _, c := range []struct {
		wrong bool
		text  string
	}{
		{a.Model == nil, "model: is nil; set the model of the runs"},
		{
			strings.ContainsAny(d.Name, " \t\n/"),
			fmt.Sprintf("name: %q must not have white space or a slash", d.Name),
		},
		{d.Parallel < 1, fmt.Sprintf("parallel: must be at least 1, not %d", d.Parallel)},
		{d.ModelTimeout < 0, fmt.Sprintf("model_timeout: must be more than 0, not %v", d.ModelTimeout)},
		{d.ToolTimeout < 0, fmt.Sprintf("tool_timeout: must be more than 0, not %v", d.ToolTimeout)},
		{slices.Contains(a.Observers, nil), "observers: one is nil; remove it"},
		{a.Session.ID != "", "session: id: leave it empty; the id of a run's workflow is that of its session"},
		{a.Session.Seed != "", "session: seed: all sessions would share it; set Config.Seed, or none"},
		{a.Session.Journal != nil, "session: journal: leave it out; the record of a run is that of DBOS"},
	} {
		if c.wrong {
			errs = append(errs, errors.New(c.text))
		}
	}
	if _, tools, err := a.within(); err != nil {
		errs = append(errs, fmt.Errorf("agents: %w", err))
	} else {
		a.Config.Tools = tools
	}
	if err := a.Session.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("session: %w", err))
	}
	model := a.Model
	if model == nil {
		model = loop.ModelFunc(nil) // the rest is checked even so
	}
	if _, err := loop.New(model, a.Config, a.options()...); err != nil {
		errs = append(errs, fmt.Errorf("config: %w", err))
	}
	return errors.Join(errs...)
}

func (a Agent) offer() engine.Offer {
	return engine.Offer{Tools: a.Config.Tools, Output: a.Config.Output, CallsOnly: a.Config.CallsOnly,
		Estimate: a.Config.Estimate}
}

// machine returns the config of runs with a policy; nil for the default one.
func (a Agent) machine(p *policy.Set) (machine.Config, error) {
	cfg := a.Config
	cfg.Policy = p
	if d, ok := a.Model.(loop.Describer); ok {
		cfg.Models = map[string]machine.ModelInfo{"": d.Describe()}
		maps.Copy(cfg.Models, a.Config.Models)
	}
	return cfg.Machine(a.options()...)
}

func (a Agent) options() []loop.Option {
	return []loop.Option{loop.WithModels(a.Models), loop.WithPlanner(a.Planner), loop.WithPrompt(a.Prompt),
		loop.WithSummary(a.Summary)}
}

// Registered is an agent of a DBOS context. It is safe for concurrent use.
type Registered struct{ *agent }

// agent is the receiver of the workflow function.
type agent struct {
	Agent
	// reducing has the reducers. Its own state is not used.
	reducing *session.Session
	// agents are those that are its tools, by name.
	agents map[string]*agent
	// hears is set once a letter has woken one of its runs in this process.
	hears *atomic.Bool
}

// ConfigName is the name by which DBOS knows the agent.
func (a *agent) ConfigName() string { return a.Name }

// Register registers the workflow of an agent. Call it before [sdk.Launch]. The error is that of
// [Agent.Validate].
func Register(ctx sdk.Context, a Agent) (*Registered, error) {
	own, err := newAgent(a)
	if err != nil {
		return nil, err
	}
	own.register(ctx)
	return &Registered{own}, nil
}

// register registers the workflows of an agent and of those within it.
func (a *agent) register(ctx sdk.Context) {
	sdk.RegisterWorkflow(ctx, a.run, sdk.WithInstance(a), sdk.WithWorkflowName("retake."+a.Name))
	for _, within := range a.agents {
		within.register(ctx)
	}
}

// begin begins a run, or joins that of the same id.
func (a *agent) begin(ctx sdk.Context, id, order string) (sdk.WorkflowHandle[string], error) {
	if a.hooks.begin != nil {
		return a.hooks.begin(ctx, id, order)
	}
	return sdk.RunWorkflow(ctx, a.run, order, sdk.WithWorkflowID(id), sdk.WithRunInstance(a))
}

func newAgent(a Agent) (*agent, error) {
	if err := a.Validate(); err != nil {
		return nil, fmt.Errorf("dbos: %w", err)
	}
	own := &agent{Agent: a.withDefaults(), hears: new(atomic.Bool)}
	var err error
	if own.agents, own.Config.Tools, err = a.within(); err != nil {
		return nil, fmt.Errorf("dbos: agents: %w", err)
	}
	if own.reducing, err = session.New(own.Session); err != nil {
		return nil, fmt.Errorf("dbos: session: %w", err)
	}
	return own, nil
}

// order is the input of a workflow: all that a run begins with.
type order struct {
	Config   machine.Config    `json:"config"`
	Messages []message.Message `json:"messages"`
	// Header has the digests of the tools and the schema of the answer.
	Header   journal.Header `json:"header"`
	Warnings []string       `json:"warnings,omitempty"`
	Hears    []string       `json:"hears,omitempty"`
	// Depth is how many runs are around this one, and Deepest how many there may be around another.
	Depth   int `json:"depth,omitempty"`
	Deepest int `json:"deepest,omitempty"`
}

// Start starts a run, or joins that of the same id. The id is that of the workflow and of the session. The
// run goes on when the process ends: a later one with the same executor id and application version, which
// registers the same agent, takes it up at its launch. A deadline of ctx is not that of the
// run: at it DBOS cancels the workflow.
func (r *Registered) Start(ctx sdk.Context, id string, in loop.Input) (*Run, error) {
	if id == "" {
		return nil, errors.New("dbos: id: is empty; give the session an id")
	}
	if _, err := session.NewState(id); err != nil {
		return nil, fmt.Errorf("dbos: id: %w", err)
	}
	text, err := r.order(in)
	if err != nil {
		return nil, fmt.Errorf("dbos: %w", err)
	}
	h, err := r.begin(ctx, id, text)
	if err != nil {
		return nil, fmt.Errorf("dbos: %w", err)
	}
	return &Run{h, ctx, r.agent}, nil
}

// Get returns the run of a session. Unlike that of [Get], its result of a cancelled run is the agent's. The
// error is DBOS's if there is none.
func (r *Registered) Get(c sdk.Client, id string) (*Run, error) {
	run, err := Get(c, id)
	if err == nil {
		run.of = r.agent
	}
	return run, err
}

// order returns the input of the workflow for that of a run.
func (a *agent) order(in loop.Input) (string, error) {
	if err := in.Validate(); err != nil {
		return "", fmt.Errorf("input: %w", err)
	}
	said, _, err := engine.Before(&in, session.Contents{})
	if err != nil {
		return "", fmt.Errorf("input: %w", err)
	}
	cfg, err := a.machine(a.Config.Policy)
	if err != nil {
		return "", fmt.Errorf("config: %w", err)
	}
	cfg.RequestID, cfg.Deadline = in.RequestID, in.Deadline.UTC().Round(0)
	o := order{Config: cfg, Messages: append(message.Clone(said), in.Message()), Deepest: a.deepest()}
	return a.written(o)
}

// deepest is how many runs there may be within one.
func (a *agent) deepest() int { return cmp.Or(a.Config.MaxDepth, loop.DefaultDepth) }

// written returns an order as the input of a workflow, with what the agent has.
func (a *agent) written(o order) (string, error) {
	o.Hears, o.Header = engine.Hears(a.reducing), engine.Header(machine.Config{}, a.offer())
	o.Warnings, _ = a.Config.Tools.Absent(&o.Config.Policy) // similar names were refused before
	text, err := engine.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("input: %w", err)
	}
	return string(text), nil
}

// Get returns the run of a session, for programs that do not have its agent. The error is DBOS's if there is
// none.
func Get(c sdk.Client, id string) (*Run, error) {
	h, err := sdk.RetrieveWorkflow[string](c, id)
	if err != nil {
		return nil, fmt.Errorf("dbos: %w", err)
	}
	return &Run{h: h, c: c}, nil
}

// Run is a run in the database. It is safe for concurrent use.
type Run struct {
	h sdk.WorkflowHandle[string]
	c sdk.Client
	// of is its agent; nil if that is not known.
	of *agent
}

// report is the result of a workflow.
type report struct {
	State json.RawMessage `json:"state,omitempty"`
	// Cost is what a run within a call cost; nil if that is not known.
	Cost *int64 `json:"cost,omitempty"`
	// Unheard are warnings about messages that came after the end.
	Unheard []string `json:"unheard,omitempty"`
	// Trouble says why the run could not begin or continue.
	Trouble string `json:"trouble,omitempty"`
}

// Result waits for the end of the run and returns what [loop.Loop.Run] does. The cause of a
// [loop.RetryExhaustedError] is the recorded failure ([fault.RecordedError]), not the Go error behind it. A
// [*RunError] says why a run could not continue; any other error is DBOS's.
//
// A workflow that DBOS cancels has no report. Result then reads its record: the run ended with
// [policy.ReasonCancelled], what is recorded was done, and calls that had begun are in doubt, because DBOS
// drops what a step under way does. The workflow may be resumed. The run of [Registered.Start] waits for the
// step under way if its process makes it, that of [Registered.Get] does not. That of [Get] has DBOS's error.
func (r *Run) Result() (loop.Result, error) {
	text, err := r.h.GetResult()
	if errors.Is(err, io.ErrUnexpectedEOF) { // DBOS asks again after all other errors of a connection
		if again, failed := sdk.RetrieveWorkflow[string](r.c, r.h.GetWorkflowID()); failed == nil {
			text, err = again.GetResult()
		}
	}
	gone := errors.Is(err, sdk.ErrWorkflowCancelled) || errors.Is(err, sdk.ErrAwaitedWorkflowCancelled)
	if id := r.h.GetWorkflowID(); gone && r.of != nil {
		text, err = r.of.recorded(r.c, id, id)
	}
	if err != nil {
		return loop.Result{}, fmt.Errorf("dbos: %w", err)
	}
	result, _, err := read(text)
	return result, err
}

// Cancel has DBOS cancel the workflow, and those of its agents. It does not wait for the end.
func (r *Run) Cancel() error {
	if err := sdk.CancelWorkflow(r.c, r.h.GetWorkflowID(), sdk.WithCancelChildren()); err != nil {
		return fmt.Errorf("dbos: %w", err)
	}
	return nil
}

// read returns the result of a run with a report, and the report with its state.
func read(text string) (result loop.Result, of ended, err error) {
	if err := engine.Unmarshal([]byte(text), &of.report); err != nil {
		return result, of, fmt.Errorf("dbos: the report: %w", err)
	}
	if len(of.State) > 0 {
		if of.st, err = machine.Restore(of.State); err != nil {
			return result, of, fmt.Errorf("dbos: the report: %w", err)
		}
	}
	if of.Trouble != "" {
		return result, of, &RunError{of.Trouble}
	}
	result, err = loop.ResultOf(engine.End{State: of.st, Changed: of.Unheard}, nil)
	return result, of, err
}

// ended is the report of a run with its state.
type ended struct {
	report
	st machine.State
}

// RunError reports that a run could not begin or continue.
type RunError struct {
	// Text is the reason.
	Text string
}

// Error returns the text.
func (e *RunError) Error() string { return e.Text }
