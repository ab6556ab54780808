package temporal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest/scenario"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

const stories = "../../testdata/scenarios"

// Every story of the repo has the same decisions, requested delays and prompts in a workflow.
func TestScenariosComeOutTheSame(t *testing.T) {
	runs := 0
	scenario.Run(t, stories, scenario.Telling(func(t *testing.T, sessions []scenario.Told) {
		for _, told := range sessions {
			if c := told.Steps[0].State.Config; c != nil && c.Estimates {
				continue // a workflow has the default estimate alone
			}
			if slices.ContainsFunc(told.Steps, func(s scenario.Step) bool { return s.Event.Kind == machine.Spoken }) {
				continue // when an update comes is not the story's to say: see TestAUserSpeaksToARun
			}
			runs += playTold(t, told)
		}
	}))
	require.Greater(t, runs, 80)
}

// playTold plays the runs of a session in order, as loop.Run does: each begins with the session of the one
// before.
func playTold(t *testing.T, told scenario.Told) (runs int) {
	t.Helper()
	var snapshot []byte
	var said []message.Message
	for at := 0; at < len(told.Steps); {
		if told.Steps[at].Event.Kind != machine.Started {
			at++
			continue
		}
		end := at + 1
		for end < len(told.Steps) && told.Steps[end].Event.Kind != machine.Started && told.Steps[end-1].State.Phase != machine.Stopped {
			end++
		}
		p := &play{t: t, told: told, steps: told.Steps[at:end], session: snapshot, moved: make(chan struct{})}
		p.messages = append(said, told.Steps[at].Event.Messages...)
		p.run()
		runs++
		for end < len(told.Steps) && told.Steps[end].Event.Kind != machine.Started {
			end++
		}
		last := told.Steps[end-1].State
		held, err := last.Session.Snapshot()
		require.NoError(t, err)
		snapshot, said, at = held, last.Transcript(), end
	}
	return runs
}

// play executes one run of a story in a workflow. Models, tools and people follow the story.
type play struct {
	t       *testing.T
	told    scenario.Told
	steps   []scenario.Step
	session []byte
	// messages are the earlier conversation and the prompt.
	messages []message.Message
	env      *testsuite.TestWorkflowEnvironment

	mu    sync.Mutex
	at    int
	over  bool
	moved chan struct{}
	done  map[int]bool
	trace []string
	// lastSaid is the length of the transcript after the last step.
	lastSaid int
	// within are the runs of agents, by the names of their tools.
	within map[string]*play
}

// machineConfig is the config of the workflow.
func (p *play) machineConfig() machine.Config {
	m := *p.steps[0].State.Config
	m.Behaviours, m.Planner, m.UserPrompt = nil, false, false
	return m
}

func (p *play) order() order {
	st := p.steps[0].State
	in := order{
		Session: st.Session.ID(), Config: p.machineConfig(), After: p.session, Person: p.told.Planner,
		Messages: p.messages, Deepest: loop.DefaultDepth,
	}
	if p.told.Config.Output != nil {
		in.Output = outputOf(p.told.Config.Output)
	}
	return in
}

// worker has the actors of the story.
func (p *play) worker() Worker {
	w := Worker{Model: loop.ModelFunc(p.reply), Session: p.told.Session, hooks: hooks{step: p.record}, Parallel: 1, Heartbeat: time.Minute}
	w.Models = map[string]loop.Model{}
	for _, s := range p.steps {
		if s.Event.Plan != nil && s.Event.Plan.Model != "" {
			w.Models[s.Event.Plan.Model] = loop.ModelFunc(p.reply)
		}
		for _, e := range s.Effects {
			if e.Model != nil && e.Model.Model != "" {
				w.Models[e.Model.Model] = loop.ModelFunc(p.reply)
			}
		}
	}
	if p.told.Config.Tools != nil {
		var tools []*tool.Tool
		for _, t := range p.told.Config.Tools.All() {
			if in := p.within[t.Name()]; in != nil {
				own := in.worker()
				own.Agent = t.Name()
				w.Agents = append(w.Agents, Agent{Worker: own, Description: t.Description()})
				continue
			}
			var declared []tool.Option
			switch t.Declared() {
			case tool.DeclaredReadOnly:
				declared = append(declared, tool.ReadOnly())
			case tool.DeclaredIdempotent:
				declared = append(declared, tool.Idempotent())
			}
			own, err := tool.Raw(t.Name(), t.Description(), t.Parameters(), func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
				return p.runTool(ctx)
			}, declared...)
			require.NoError(p.t, err)
			tools = append(tools, own)
		}
		set, err := tool.NewSet(tools...)
		require.NoError(p.t, err)
		w.Tools = set
	}
	if p.told.Action != nil {
		w.Model, w.Try = nil, p.try
	}
	if p.told.Prompts {
		w.Prompt = p.prompt
	}
	return w
}

func (p *play) run() {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	p.env, p.done = suite.NewTestWorkflowEnvironment(), map[int]bool{}
	p.env.SetStartTime(p.steps[0].Event.At)
	p.env.SetTestTimeout(20 * time.Second)
	p.env.SetWorkflowRunTimeout(1000 * time.Hour)
	want := p.reference()
	p.nest()
	a, err := newAgent(p.worker())
	require.NoError(p.t, err)
	a.register(p.env)
	p.takesAsLong(a)
	for name, in := range p.within {
		in.takesAsLong(a.agents[name].agent)
	}
	p.env.ExecuteWorkflow(a.Agent, over(p.order()))
	require.True(p.t, p.env.IsWorkflowCompleted())
	require.NoError(p.t, p.env.GetWorkflowError())
	require.Equal(p.t, strings.Join(want, "\n"), strings.Join(p.trace, "\n"))
	for _, in := range p.within {
		require.Equal(p.t, strings.Join(in.reference(), "\n"), strings.Join(in.trace, "\n"))
	}
	p.checkReport()
}

// nest makes the plays of the agents. In a story each is called once.
func (p *play) nest() {
	p.within = map[string]*play{}
	for _, told := range p.told.Within {
		require.Nil(p.t, p.within[told.Agent], "an agent is called twice")
		in := &play{t: p.t, told: told, steps: told.Steps, env: p.env, moved: make(chan struct{}), done: map[int]bool{}}
		in.messages = told.Steps[0].Event.Messages
		in.reference()
		p.within[told.Agent] = in
	}
}

// takesAsLong makes calls of models and tries take as long as in the story.
func (p *play) takesAsLong(a *agent) {
	for name, f := range map[string]any{"model": a.callModel, "try": a.makeTry} {
		p.env.OnActivity(a.named(name), mock.Anything, mock.Anything).AfterFn(p.latency).Return(f).Maybe()
	}
	p.env.OnActivity(a.named("tool"), mock.Anything, mock.Anything).Return(
		func(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
			out, err := a.callTool(ctx, in)
			if out.v.End != nil && out.v.End.Verdict == machine.Unknown { // no tool of a story says so itself
				out.v.ends(a.reducing, in.v.Run, tool.Outcome{Err: tool.ErrUnknown})
			}
			return out, err
		}).Maybe()
}

// reference is the trace of the run in process, with its steps.
func (p *play) reference() []string {
	cfg := *p.steps[0].State.Config
	st := machine.State{}
	held, err := session.New(p.told.Session)
	require.NoError(p.t, err)
	if p.session != nil {
		held, err = session.Restore(p.told.Session, p.session)
		require.NoError(p.t, err)
	}
	st, err = machine.New(cfg, held.State())
	require.NoError(p.t, err)
	var lines []string
	p.steps = slices.Clone(p.steps)
	p.steps[0].Event.Messages = p.messages
	for n, s := range p.steps {
		ev := s.Event
		before := st.TranscriptLen()
		effects, err := machine.Step(&st, &ev)
		require.NoError(p.t, err)
		lines = append(lines, p.line(ev, effects, st, before))
		p.steps[n].Effects, p.steps[n].State = effects, st
	}
	return lines
}

func (p *play) line(ev machine.Event, effects []machine.Effect, st machine.State, said int) string {
	line, err := machine.Trace(ev, effects, st.TranscriptFrom(said))
	require.NoError(p.t, err)
	return string(line)
}

// checkReport compares the workflow's result with that of loop.Run.
func (p *play) checkReport() {
	last := p.steps[len(p.steps)-1]
	if last.State.Phase != machine.Stopped {
		return
	}
	var out wire[report]
	require.NoError(p.t, p.env.GetWorkflowResult(&out))
	got, gotErr := out.v.result()
	want, wantErr := loop.ResultOf(engine.End{State: last.State}, nil)
	require.Equal(p.t, want.Text, got.Text)
	require.Equal(p.t, string(want.Value), string(got.Value))
	require.Equal(p.t, want.Warnings, got.Warnings)
	require.Equal(p.t, want.Usage, got.Usage)
	require.Equal(p.t, want.Waited, got.Waited)
	require.Equal(p.t, want.Turns, got.Turns)
	if wantErr == nil {
		require.NoError(p.t, gotErr)
		return
	}
	var w, g *loop.RetryExhaustedError
	require.ErrorAs(p.t, wantErr, &w)
	require.ErrorAs(p.t, gotErr, &g)
	require.Equal(p.t, w.Reason, g.Reason)
	require.Equal(p.t, w.Failure, g.Failure)
	require.Equal(p.t, w.Policy, g.Policy)
	require.Equal(p.t, w.Explanation, g.Explanation)
}

// record gets every step of the workflow. It ignores what comes after the end of the story.
func (p *play) record(ev machine.Event, effects []machine.Effect, st machine.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.trace = append(p.trace, p.line(ev, effects, st, p.lastSaid))
	p.lastSaid = st.TranscriptLen()
	p.at++
	close(p.moved)
	p.moved = make(chan struct{})
	if p.at == len(p.steps) {
		if p.over = true; st.Phase != machine.Stopped {
			p.env.RegisterDelayedCallback(p.env.CancelWorkflow, 0)
		}
		return
	}
	next := p.steps[p.at]
	if external(next.Event.Kind) && (st.Phase == machine.Waiting || st.Phase == machine.Planning || st.Phase == machine.Asking ||
		st.Phase == machine.Prompting) {
		n := p.at
		p.env.RegisterDelayedCallback(func() { p.outside(n) }, max(0, next.Event.At.Sub(st.At)))
	}
}

func external(k machine.EventKind) bool {
	return k == machine.Adjusted || k == machine.Dispatched || k == machine.Cancelled || k == machine.Planned ||
		k == machine.Responded || k == machine.Spoken
}
