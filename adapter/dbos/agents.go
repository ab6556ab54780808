package dbos

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/retake-go/retake/loop"
	nested "github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// AgentTool is an agent that is a tool of another, as [nested.AsTool] makes one in process. A call of it is a
// child workflow whose id is that of [machine.State.Child]. [Asking] and [Answer] reach it by that id.
type AgentTool struct {
	// Agent is the agent. Its Name is that of the tool. It may have agents itself.
	Agent
	// Description is that of the tool.
	Description string
	// Handoff makes it an agent that answers the user: see [nested.Handoff].
	Handoff bool
}

// within returns the agents within one, by the names of their tools, and the tools with them.
func (a Agent) within() (agents map[string]*agent, tools *tool.Set, err error) {
	if len(a.Agents) == 0 {
		return nil, a.Config.Tools, nil
	}
	agents, all := map[string]*agent{}, a.Config.Tools.All()
	for _, n := range a.Agents {
		if n.Name == "" {
			return nil, nil, errors.New("one has no name")
		}
		t, own, err := n.within(a.withDefaults().Name)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w", n.Name, err)
		}
		agents[n.Name], all = own, append(all, t)
	}
	tools, err = tool.NewSet(all...)
	return agents, tools, err
}

// within returns the agent as a tool of the outer one.
func (n AgentTool) within(outer string) (*tool.Tool, *agent, error) {
	if n.Config.CallsOnly {
		return nil, nil, errors.New("calls_only: nobody runs the calls of an agent that is a tool: leave it out")
	}
	of := n.Agent
	of.Name = outer + "." + n.Name
	own, err := newAgent(of)
	if err != nil {
		return nil, nil, err
	}
	var opts []tool.Option
	if n.Handoff {
		opts = append(opts, tool.Answers())
	}
	t, err := nested.ToolOf(n.Name, n.Description, own.Config.Tools, notWithin, opts...)
	return t, own, err
}

// notWithin is never called: a call of an agent is a workflow.
func notWithin(context.Context, string) (loop.Result, error) { return loop.Result{}, loop.ErrNotWithin }

// child is a run within a call, as the run around it sees it.
type child struct {
	engine.Outer
	// h is its workflow, nil if there may be none, and until is when the call takes too long; zero for never.
	h     sdk.WorkflowHandle[string]
	until time.Time
}

// nest begins the run of an agent within a call, or joins the run that the call has begun before.
func (f *flow) nest(ctx sdk.Context, within *agent, run machine.ToolRun) (*child, error) {
	c := &child{Outer: engine.Outer{State: f.st, Run: run, Depth: f.depth, Deepest: f.deepest}}
	if c.TooDeep() {
		return c, nil
	}
	var given struct {
		Task string `json:"task"`
	}
	if err := engine.Unmarshal(run.Arguments, &given); err != nil {
		return nil, broken("the arguments of %s: %w", run.Tool, err)
	}
	set := c.Bound(within.Config.Policy)
	cfg, err := within.machine(&set)
	if err != nil {
		return nil, broken("%s: %w", run.Tool, err)
	}
	if d := run.Timeout; d > 0 {
		c.until = f.at.Add(d)
	}
	task := loop.Input{Prompt: given.Task}
	o := order{Messages: []message.Message{task.Message()}}
	id, cfg := c.Inner(cfg, f.at)
	o.Config = cfg
	o.Depth, o.Deepest = c.Depths(within.deepest())
	text, err := within.written(o)
	if err != nil {
		return nil, broken("%s: %w", run.Tool, err)
	}
	c.h, err = within.begin(ctx, id, text)
	return c, err
}

// childEnded waits for the run of an agent, and feeds what it came to.
func (f *flow) childEnded(r *running) error {
	made, err := f.report(r.child)
	if err != nil {
		return err
	}
	o, err := made.Outcome()
	if err != nil {
		return broken("%s: %w", r.run.Tool, err)
	}
	end := engine.EndOf(f.reducing, r.run, o)
	err = f.reduced(machine.Event{Kind: machine.ToolEnded, Tool: end}, nil)
	r.entered = true
	return err
}

// report waits for the report of a run within a call. The error is that of the run around it.
func (f *flow) report(c *child) (*nested.Child, error) {
	made := &nested.Child{Outer: c.Outer, Err: loop.ErrTooDeep}
	if c.h == nil {
		return made, nil
	}
	text, err := c.h.GetResult()
	if errors.Is(err, sdk.ErrAwaitedWorkflowCancelled) {
		made.Err = fmt.Errorf("dbos: the run of the agent has no report: %w", err)
		return made, nil
	}
	if err != nil {
		return nil, err
	}
	var of ended
	made.Result, of, made.Err = read(text)
	made.Usage, made.Cost = of.st.Usage, of.Cost
	if err := f.time(); err != nil && !errors.Is(err, errCut) {
		return nil, err
	}
	made.Late = !c.until.IsZero() && !f.at.Before(c.until)
	return made, nil
}

// leave cancels the runs of agents whose calls are left.
func (f *flow) leave() (err error) {
	for _, r := range f.running {
		if r.child != nil && r.child.h != nil && !r.entered && err == nil {
			err = sdk.CancelWorkflow(f.ctx, r.child.h.GetWorkflowID(), sdk.WithCancelChildren())
		}
	}
	if errors.Is(err, errCut) {
		return nil
	}
	return err
}
