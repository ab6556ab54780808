package temporal

import (
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

// DefaultAgent is the name of a [Worker] and of the runs that it makes, where none is given.
const DefaultAgent = "retake"

// The defaults of a [Worker].
const (
	DefaultModelTimeout = 10 * time.Minute
	DefaultToolTimeout  = time.Hour
	DefaultThinkTimeout = time.Minute
	DefaultHeartbeat    = 10 * time.Second
	DefaultDeaths       = 10
	// DefaultMaxPayload leaves room below the 2 MiB at which servers refuse.
	DefaultMaxPayload = 1_900_000
	// DefaultMaxEvents is below the 51,200 at which servers end a workflow, with room for one reply's tools.
	DefaultMaxEvents = 10_000
)

// minEvents is about what one turn takes.
const minEvents = 20

// Worker is what runs are made with: the same values that [loop.Run] is given in process. Its zero durations
// and counts mean the defaults. It must not be changed once it is registered.
type Worker struct {
	// Agent names the workflow that makes the runs, and is the first part of the names of its activities;
	// empty for [DefaultAgent]. A worker process may have several agents.
	Agent string
	// Model is asked; Models are those that a planner may fall back to and a policy may name for an attempt,
	// by name.
	Model  loop.Model
	Models map[string]loop.Model
	// Tools may be offered; nil for none.
	Tools *tool.Set
	// Outputs are the schemas of the Go types that runs may want as answers: Schema of schema.For[T]. A run
	// is told by name of one that is missing, or that has another [schema.Schema.Digest]. Schemas of
	// [schema.Compile] need not be here: they cross.
	Outputs []*schema.Schema
	// Try makes one try of a single action, for [Do]; nil for none.
	Try func(ctx context.Context, t Try) (message.Usage, error)
	// Session declares slices and reducers. Its ID is not looked at.
	Session session.Config
	// Planner decides what follows exhaustion; nil for none. It runs in a local activity, as Prompt does.
	Planner planner.Planner
	// Prompt makes the prompt of each model call; nil for that of the config.
	Prompt loop.PromptFunc
	// Adjust may change the policy before each decision; nil for none.
	Adjust func(session.State) (policy.Layer, bool)
	// View gives each tool the session as it was when the call was scheduled ([loop.View]). The session is
	// then part of each call in the history.
	View bool
	// Slow runs reducers and Adjust in a local activity, and not as a side effect: for those that may take
	// longer than the second that a workflow may think.
	Slow bool
	// Observers are told what is recorded, when it happens and not when a history is replayed. A worker that
	// dies may tell it again.
	Observers []observe.Observer
	// Store keeps conversations, so that each model call carries only what was said since the one before it;
	// nil sends the whole conversation with every call, up to MaxPayload.
	Store degrade.Storage
	// Parallel is how many tools of one reply run at once; 0 means [loop.DefaultParallel].
	Parallel int
	// ModelTimeout bounds one model call, ToolTimeout one tool call or try, ThinkTimeout one call of a
	// planner, of the code that makes prompts, or of slow reducers. One that takes longer is a failure of
	// class timeout, for the policy to decide on. A policy's own timeout stands in the place of the first
	// two.
	ModelTimeout, ToolTimeout, ThinkTimeout time.Duration
	// Heartbeat is after how much silence a worker counts as dead.
	Heartbeat time.Duration
	// Deaths is how many workers may die over one call; the next one is a failure of class timeout.
	Deaths int
	// MaxPayload bounds in bytes what is sent in one piece; [policy.Unlimited] for clients with the converter
	// of [ClaimCheck].
	MaxPayload int
	// MaxEvents is the length of a history beyond which a run goes on in a new one, between two turns. The
	// server may ask for that earlier.
	MaxEvents int

	// hooks are told of a run also when a history is replayed.
	hooks hooks
}

// hooks are told what a run does. Any may be nil.
type hooks struct {
	// opened is told of the idle state.
	opened func(order, begun, machine.State)
	step   func(machine.Event, []machine.Effect, machine.State)
	note   func(journal.Note)
	// beyond is called where user code would be: what is replayed has come to its end.
	beyond func()
}

// Try is one try of a single action.
type Try struct {
	machine.TryRun
	// Feedback is what was wrong with the try before; nil on the first.
	Feedback *feedback.RetryFeedback `json:"feedback,omitempty"`
}

// withDefaults fills in what is zero.
func (w Worker) withDefaults() Worker {
	if w.Agent == "" {
		w.Agent = DefaultAgent
	}
	for _, d := range []struct {
		to *time.Duration
		is time.Duration
	}{
		{&w.ModelTimeout, DefaultModelTimeout}, {&w.ToolTimeout, DefaultToolTimeout}, {&w.ThinkTimeout, DefaultThinkTimeout},
		{&w.Heartbeat, DefaultHeartbeat},
	} {
		if *d.to == 0 {
			*d.to = d.is
		}
	}
	for _, d := range []struct{ to, is *int }{
		{&w.Parallel, new(loop.DefaultParallel)}, {&w.Deaths, new(DefaultDeaths)}, {&w.MaxPayload, new(DefaultMaxPayload)},
		{&w.MaxEvents, new(DefaultMaxEvents)},
	} {
		if *d.to == 0 {
			*d.to = *d.is
		}
	}
	return w
}

// Validate reports all that is wrong, joined, each fault with its field; nil when nothing is.
func (w Worker) Validate() error {
	d := w.withDefaults()
	var errs []error
	for _, c := range []struct {
		wrong bool
		text  string
	}{
		{w.Model == nil && w.Try == nil, "model: it is nil: give one that replies, or Try for single actions"},
		{strings.ContainsAny(d.Agent, " \t\n/"), fmt.Sprintf("agent: %q has white space or a slash: it names a workflow", d.Agent)},
		{d.Parallel < 1, fmt.Sprintf("parallel: %d tools at once: give 1 or more", d.Parallel)},
		{d.ModelTimeout < 0, fmt.Sprintf("model_timeout: %v: give more than 0", d.ModelTimeout)},
		{d.ToolTimeout < 0, fmt.Sprintf("tool_timeout: %v: give more than 0", d.ToolTimeout)},
		{d.ThinkTimeout < 0, fmt.Sprintf("think_timeout: %v: give more than 0", d.ThinkTimeout)},
		{d.Heartbeat < 0, fmt.Sprintf("heartbeat: %v: give more than 0", d.Heartbeat)},
		{d.Deaths < 1, fmt.Sprintf("deaths: %d: give 1 or more", d.Deaths)},
		{
			d.MaxPayload < 1 && d.MaxPayload != policy.Unlimited,
			fmt.Sprintf("max_payload: %d: give bytes, or policy.Unlimited", d.MaxPayload),
		},
		{d.MaxEvents < minEvents, fmt.Sprintf("max_events: %d: give %d or more", d.MaxEvents, minEvents)},
		{slices.Contains(slices.Collect(maps.Values(w.Models)), nil), "models: one is nil: give one that replies"},
		{slices.Contains(w.Outputs, nil), "outputs: one is nil: give the Schema of schema.For"},
		{slices.Contains(w.Observers, nil), "observers: one is nil: give one that observes"},
	} {
		if c.wrong {
			errs = append(errs, errors.New(c.text))
		}
	}
	if err := w.Session.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("session: %w", err))
	}
	return errors.Join(errs...)
}

// agent is a worker that is registered.
type agent struct {
	Worker
	// reducing holds the reducers: what it holds itself is not looked at.
	reducing *session.Session
	said     *transcripts
}

// Register registers the workflow and the activities that runs of the agent are made of: one call beside
// worker.New. The error is that of [Worker.Validate].
func Register(r worker.Registry, w Worker) error {
	a, err := newAgent(w)
	if err != nil {
		return err
	}
	r.RegisterWorkflowWithOptions(a.run, workflow.RegisterOptions{Name: a.Agent})
	for name, f := range a.activities() {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: a.named(name)})
	}
	return nil
}

// activities are those of the agent, by the last part of their names.
func (a *agent) activities() map[string]any {
	return map[string]any{
		"model": a.callModel, "tool": a.callTool, "try": a.makeTry, "think": a.think, "planner": a.plan, "prompt": a.makePrompt,
	}
}

func newAgent(w Worker) (*agent, error) {
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	a := &agent{Worker: w.withDefaults()}
	cfg := a.Session
	cfg.ID = ""
	var err error
	a.reducing, err = session.New(cfg)
	a.said = newTranscripts(a.Store)
	return a, err
}

// named is the name of one of the agent's activities.
func (a *agent) named(activity string) string { return a.Agent + "." + activity }

// model is the model of that name, the first for the empty one; nil where there is none.
func (a *agent) model(name string) loop.Model {
	if name == "" {
		return a.Model
	}
	return a.Models[name]
}

// offered are the tools of those names, all for nil.
func (a *agent) offered(names []string) (*tool.Set, error) {
	if names == nil {
		return a.Tools, nil
	}
	tools := make([]*tool.Tool, len(names))
	for n, name := range names {
		t, ok := a.Tools.Get(name)
		if !ok {
			return nil, fmt.Errorf("the agent %s has no tool %q: offer those that its workers have", a.Agent, name)
		}
		tools[n] = t
	}
	return tool.NewSet(tools...)
}
