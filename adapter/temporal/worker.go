package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// DefaultAgent is the name of a [Worker], and of the workflow of its runs, if none is given.
const DefaultAgent = "retake"

// The defaults of a [Worker], which its fields tell.
const (
	defaultModelTimeout = 10 * time.Minute
	defaultToolTimeout  = time.Hour
	defaultThinkTimeout = time.Minute
	defaultHeartbeat    = 10 * time.Second
	defaultDeaths       = 10
	// defaultMaxPayload is below the 2 MiB that servers accept.
	defaultMaxPayload = 1_900_000
	// defaultMaxEvents is below the 51,200 events at which servers end a workflow. It leaves room for
	// the tool calls of one reply.
	defaultMaxEvents = 10_000
)

// minEvents is about the number of events of one turn.
const minEvents = 20

// Worker configures the runs of an agent with the values that [loop.Loop.Run] gets in process. Zero durations
// and counts mean the defaults. Do not change it after registration.
type Worker struct {
	// Agent is the name of the workflow, and the prefix of the names of its activities; empty means
	// [DefaultAgent]. A worker process may have several agents.
	Agent string
	// Model is the model of the runs. Models are further models, by the names that planners and
	// policies use.
	Model  loop.Model
	Models map[string]loop.Model
	// Tools are the tools that runs may offer; nil for none. Agents are further ones.
	Tools  *tool.Set
	Agents []Agent
	// Outputs are the schemas of the Go types of answers, from Schema of schema.For[T]. If a type is
	// missing or has another [schema.Schema.Digest], the run is refused by name. Schemas of
	// [schema.Compile] need not be here: the run sends them.
	Outputs []*schema.Schema
	// Try makes one attempt of a single action, for [Do]; nil for none.
	Try func(ctx context.Context, t Try) (message.Usage, error)
	// Classify says what went wrong in an attempt of a single action: see [loop.WithClassifier]; nil goes by
	// the types of errors.
	Classify func(err error) fault.Verdict
	// Session declares slices and reducers. Its ID is ignored. It must not have a seed, which all sessions
	// would share, see [Options].Seed, and no journal: the record of a run is its history.
	Session session.Config
	// Planner decides what follows exhaustion; nil for none. It runs in a local activity, as Prompt
	// does.
	Planner planner.Planner
	// Prompt makes the prompt of each model call; nil uses the prompt of the config.
	Prompt loop.PromptFunc
	// Summary sums up messages that prompts leave out, for the policy's step summarise: see
	// [loop.WithSummary] and [loop.SummaryBy]. It runs in an activity, as a model call does. Without it
	// window takes its place.
	Summary loop.SummaryFunc
	// Adjust may change the policy before each decision; nil for none.
	Adjust func(session.State) (policy.Layer, bool)
	// View gives each tool the session ([loop.View]) as it was when the call was scheduled. Each call
	// in the history then holds the session.
	View bool
	// Slow runs reducers and Adjust in a local activity instead of a side effect. Use it if they may
	// take longer than the second that a workflow task has.
	Slow bool
	// Observers are called when something is recorded, but not when a history is replayed. After the
	// death of a worker they may be called again for the same step.
	Observers []observe.Observer
	// Store keeps conversations, so that each model call carries only what is new. nil sends the whole
	// conversation with every call, up to MaxPayload.
	Store degrade.Storage
	// Parallel is the number of tools of one reply that run at once; 0 means [loop.DefaultParallel].
	Parallel int
	// ModelTimeout bounds one model call, by default to 10 minutes. ToolTimeout bounds one tool call, or one
	// attempt of an action, by default to an hour. A timeout in the policy takes precedence over these two.
	// ThinkTimeout bounds one call of a planner, of the code that makes prompts, or of slow reducers, by
	// default to a minute. A model or tool call that takes longer is a failure of class timeout, on which the
	// policy decides.
	ModelTimeout, ToolTimeout, ThinkTimeout time.Duration
	// Heartbeat is the time without a sign of life after which a worker counts as dead, by default 10
	// seconds. Less than a second is refused: the server would take calls of workers that live for lost.
	Heartbeat time.Duration
	// Deaths is the number of workers that may die during one call, by default 10. After one more the call is
	// a failure of class timeout.
	Deaths int
	// MaxPayload bounds one payload, by default to 1,900,000 bytes. Use [policy.Unlimited] for clients with
	// the converter of [ClaimCheck].
	MaxPayload int
	// MaxEvents is the length of a history after which a run continues in a new one, between two turns, by
	// default 10,000. The server may ask for that earlier.
	MaxEvents int

	// hooks are called during a replay, too.
	hooks hooks
}

// hooks are called with the steps of a run. Any may be nil.
type hooks struct {
	// opened gets the idle state before the first event.
	opened func(order, begun, machine.State)
	step   func(machine.Event, []machine.Effect, machine.State)
	note   func(journal.Note)
	// pastEnd is called in place of user code: the end of the replayed history.
	pastEnd func()
}

// Try is one attempt of a single action.
type Try struct {
	machine.TryRun
	// Feedback says what was wrong with the previous attempt; nil for the first.
	Feedback *feedback.RetryFeedback `json:"feedback,omitempty"`
}

// withDefaults replaces zero values by the defaults.
func (w Worker) withDefaults() Worker {
	w.Agent = cmp.Or(w.Agent, DefaultAgent)
	w.ModelTimeout = cmp.Or(w.ModelTimeout, defaultModelTimeout)
	w.ToolTimeout = cmp.Or(w.ToolTimeout, defaultToolTimeout)
	w.ThinkTimeout = cmp.Or(w.ThinkTimeout, defaultThinkTimeout)
	w.Heartbeat = cmp.Or(w.Heartbeat, defaultHeartbeat)
	w.Parallel = cmp.Or(w.Parallel, loop.DefaultParallel)
	w.Deaths = cmp.Or(w.Deaths, defaultDeaths)
	w.MaxPayload = cmp.Or(w.MaxPayload, defaultMaxPayload)
	w.MaxEvents = cmp.Or(w.MaxEvents, defaultMaxEvents)
	return w
}

// Validate returns an error that joins all faults, each with its field; nil if there is none.
func (w Worker) Validate() error {
	_, err := made(w)
	return err
}

// faults returns what is wrong with the worker but for its agents.
func (w Worker) faults() (errs []error) {
	d := w.withDefaults()
	for _, c := range []struct {
		wrong bool
		text  string
	}{
		{w.Model == nil && w.Try == nil, "model: is nil; set a model, or Try for single actions"},
		{
			strings.ContainsAny(d.Agent, " \t\n/"),
			fmt.Sprintf("agent: %q is the name of a workflow, and must not have white space or a slash",
				d.Agent),
		},
		{d.Parallel < 1, fmt.Sprintf("parallel: must be at least 1, not %d", d.Parallel)},
		{d.ModelTimeout < 0, fmt.Sprintf("model_timeout: must be more than 0, not %v", d.ModelTimeout)},
		{d.ToolTimeout < 0, fmt.Sprintf("tool_timeout: must be more than 0, not %v", d.ToolTimeout)},
		{d.ThinkTimeout < 0, fmt.Sprintf("think_timeout: must be more than 0, not %v", d.ThinkTimeout)},
		{d.Heartbeat < time.Second, fmt.Sprintf("heartbeat: must be at least 1s, not %v", d.Heartbeat)},
		{d.Deaths < 1, fmt.Sprintf("deaths: must be at least 1, not %d", d.Deaths)},
		{
			d.MaxPayload < 1 && d.MaxPayload != policy.Unlimited,
			fmt.Sprintf("max_payload: must be at least 1 byte, or policy.Unlimited, not %d", d.MaxPayload),
		},
		{d.MaxEvents < minEvents, fmt.Sprintf("max_events: %d: give %d or more", d.MaxEvents, minEvents)},
		{slices.Contains(slices.Collect(maps.Values(w.Models)), nil), "models: one is nil; remove it"},
		{slices.Contains(w.Outputs, nil), "outputs: one is nil; use the Schema of schema.For"},
		{slices.Contains(w.Observers, nil), "observers: one is nil; remove it"},
		{w.Session.Seed != "", "session: seed: all sessions would share it; set Options.Seed of each run"},
		{w.Session.Journal != nil, "session: journal: leave it out; the record of a run is its history"},
	} {
		if c.wrong {
			errs = append(errs, errors.New(c.text))
		}
	}
	if err := w.Session.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("session: %w", err))
	}
	return errs
}

// within returns the agents that are tools, and all tools.
func (w Worker) within() (map[string]within, *tool.Set, error) {
	var errs []error
	agents, all := map[string]within{}, w.Tools.All()
	for _, n := range w.Agents {
		own, err := n.within(w.Agent)
		if err != nil {
			errs = append(errs, fmt.Errorf("agents: %w", err))
			continue
		}
		agents[n.Agent], all = own, append(all[:len(all):len(all)], own.tool)
	}
	if len(agents) == 0 || len(errs) > 0 {
		return nil, w.Tools, errors.Join(errs...)
	}
	tools, err := tool.NewSet(all...)
	return agents, tools, err
}

// agent is a registered worker.
type agent struct {
	Worker
	// reducing has the reducers. Its own state is ignored.
	reducing    *session.Session
	transcripts *transcripts
	// agents are the tools that are agents, by name. They are among Tools.
	agents map[string]within
}

// Register registers the workflow and the activities of an agent, and those of its Agents. Its error is that
// of [Worker.Validate].
func Register(r worker.Registry, w Worker) error {
	a, err := newAgent(w)
	if err == nil {
		a.register(r)
	}
	return err
}

func (a *agent) register(r worker.Registry) {
	r.RegisterWorkflowWithOptions(a.run, workflow.RegisterOptions{Name: a.Agent})
	for name, f := range a.activities() {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: a.named(name)})
	}
	for _, own := range a.agents {
		own.register(r)
	}
}

// activities returns the agent's activities by the last part of their names.
func (a *agent) activities() map[string]any {
	return map[string]any{
		"model": a.callModel, "tool": a.callTool, "try": a.makeTry, "think": a.think, "planner": a.plan,
		"prompt": a.makePrompt, "summary": a.sumUp,
	}
}

func newAgent(w Worker) (*agent, error) {
	a, err := made(w)
	if err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	return a, nil
}

// made returns a registered worker. The error joins all faults.
func made(w Worker) (*agent, error) {
	a := &agent{Worker: w.withDefaults()}
	var err error
	a.agents, a.Tools, err = a.within()
	if err := errors.Join(append(w.faults(), err)...); err != nil {
		return nil, err
	}
	cfg := a.Session
	cfg.ID = ""
	a.reducing, err = session.New(cfg)
	a.transcripts = newTranscripts(a.Store)
	return a, err
}

// named returns the full name of an activity.
func (a *agent) named(activity string) string { return a.Agent + "." + activity }

// model returns the model with that name, or nil. The empty name is the agent's own model.
func (a *agent) model(name string) loop.Model {
	if name == "" {
		return a.Model
	}
	return a.Models[name]
}

// offered returns the tools with those names; nil means all.
func (a *agent) offered(names []string) (*tool.Set, error) {
	if names == nil {
		return a.Tools, nil
	}
	tools := make([]*tool.Tool, len(names))
	for n, name := range names {
		t, ok := a.Tools.Get(name)
		if !ok {
			return nil, fmt.Errorf("the agent %s has no tool %q: offer tools that its workers have",
				a.Agent, name)
		}
		tools[n] = t
	}
	return tool.NewSet(tools...)
}
