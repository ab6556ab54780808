package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	nested "github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// Agent is an agent that is a tool of a [Worker], as [nested.AsTool] makes one in process. A call of it is a
// child workflow, of the workflow "OUTER.NAME", whose id is that of [machine.State.Child]. Its queries and
// updates are those of every run: see [Get].
type Agent struct {
	// Worker has the agent's model, its tools and all else of its runs, with defaults of its own. Its Agent
	// is the name of the tool. It may have agents itself.
	Worker
	// Description is that of the tool.
	Description string
	// Config is that of the agent's runs. Its Tools must be nil, because the worker has them. An Output of
	// a Go type need not be in the worker's Outputs.
	Config loop.Config
	// Handoff makes it an agent that answers the user: see [nested.Handoff].
	Handoff bool
}

// within is a registered agent that is a tool.
type within struct {
	*agent
	tool *tool.Tool
	// order is what each of its runs begins with.
	order order
}

// within returns the agent as a tool of the outer one.
func (n Agent) within(outer string) (w within, err error) {
	if n.Agent == "" {
		return w, errors.New("one has no name: set the Agent of its Worker")
	}
	fail := func(err error) (within, error) { return w, fmt.Errorf("%q: %w", n.Agent, err) }
	own := n.Worker
	own.Agent = outer + "." + n.Agent
	if out := n.Config.Output; out != nil && out.Type() != "" {
		own.Outputs = append(own.Outputs[:len(own.Outputs):len(own.Outputs)], out)
	}
	if w.order, err = templateOf(n.Config); err != nil {
		return fail(err)
	}
	w.order.Config.Models = n.Config.Models
	if w.agent, err = made(own); err != nil {
		return fail(err)
	}
	cfg := n.Config
	cfg.Tools = w.Tools
	_, err = cfg.Machine(loop.WithModels(n.Models), loop.WithPlanner(n.Planner), loop.WithPrompt(n.Prompt),
		loop.WithSummary(n.Summary))
	switch {
	case err != nil:
		return fail(err)
	case n.Model == nil:
		return fail(errors.New("model: is nil; set that of the agent"))
	case cfg.CallsOnly:
		return fail(errors.New("calls_only: nobody runs the calls of an agent that is a tool: leave it out"))
	}
	var opts []tool.Option
	if n.Handoff {
		opts = append(opts, tool.Answers())
	}
	if w.tool, err = nested.ToolOf(n.Agent, n.Description, w.Tools, notWithin, opts...); err != nil {
		return fail(err)
	}
	return w, nil
}

// notWithin is a call of an agent in an activity, by a run that began when its tool was none.
func notWithin(context.Context, string) (loop.Result, error) { return loop.Result{}, loop.ErrNotWithin }

// orders returns what the runs of the agents among the offered tools begin with.
func (a *agent) orders(offered *tool.Set) (all map[string]order) {
	for name, w := range a.agents {
		if _, ok := offered.Get(name); ok {
			if all == nil {
				all = map[string]order{}
			}
			all[name] = w.order
		}
	}
	return all
}

// child is a run within a call, as the run around it sees it.
type child struct {
	engine.Outer
	// id is that of its session and workflow, and until when the call takes too long; zero for never.
	id    string
	until time.Time
	// report is what it came to, and err why there is none.
	report report
	err    error
	// late reports that it ended because the call took too long.
	late bool
}

// nest makes the run of an agent within a call, in a child workflow.
func (f *flow) nest(ctx workflow.Context, r *running, in order) (*toolResult, error) {
	c := child{Outer: engine.Outer{State: f.st, Run: r.run, Depth: f.in.Depth, Deepest: f.in.Deepest}}
	if err := f.orderOf(&c, &in); err != nil {
		return nil, err
	}
	if past, ok := f.doubtful[c.id]; ok { // the run has ended, and what it consumed was told
		end := *past.End
		end.Index, end.Usage, end.Cost = r.run.Index, message.Usage{}, nil
		past.End = &end
		return &past, nil
	}
	begun := false
	if c.err = loop.ErrTooDeep; !c.TooDeep() {
		r.child = c.id
		c.err = f.await(ctx, &c, in)
		if sdk.IsCanceledError(c.err) {
			return nil, c.err
		}
		_, held := errors.AsType[*sdk.ChildWorkflowExecutionAlreadyStartedError](c.err)
		begun = !held
	}
	out, err := once[toolResult](workflow.SideEffect(ctx,
		func(workflow.Context) any { return over(f.agent.ended(&c)) }))
	if err == nil && begun && out.End != nil && out.End.InDoubt {
		if f.doubtful == nil {
			f.doubtful = map[string]toolResult{}
		}
		f.doubtful[c.id] = out
	}
	return &out, err
}

// orderOf completes the order of a run within a call.
func (f *flow) orderOf(c *child, in *order) error {
	var given struct {
		Task string `json:"task"`
	}
	if err := engine.Unmarshal(c.Run.Arguments, &given); err != nil {
		return fmt.Errorf("temporal: the arguments of %s: %w", c.Run.Tool, err)
	}
	in.Depth, in.Deepest = c.Depths(in.Deepest)
	c.id, in.Config = c.Inner(in.Config, f.now())
	in.Session, in.Attributes = c.id, f.in.Attributes
	if in.Config.Policy = c.Bound(&in.Config.Policy); !in.Config.Policy.Meters() {
		in.Config.Models = nil
	}
	if d := c.Run.Timeout; d > 0 {
		c.until = f.now().Add(d)
	}
	task := loop.Input{Prompt: given.Task}
	in.Messages = []message.Message{task.Message()}
	return f.measure("the task of "+c.Run.Tool, *in)
}

// await makes the child workflow, and waits for its report. When the call is cancelled it is, too, and still
// reports what it consumed.
func (f *flow) await(ctx workflow.Context, c *child, in order) error {
	how := workflow.ChildWorkflowOptions{
		WorkflowID: c.id, WaitForCancellation: true,
		ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
	}
	if d := c.Run.Timeout; d > 0 { // its own deadline comes first
		how.WorkflowExecutionTimeout = d + slack
	}
	var got wire[report]
	err := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, how), f.named(c.Run.Tool), over(in)).
		Get(ctx, &got)
	c.report = got.v
	c.late = !c.until.IsZero() && !f.now().Before(c.until)
	return err
}

// ended returns what a run within a call came to as the outcome of the call, with the words of
// [nested.AsTool].
func (a *agent) ended(c *child) (out toolResult) {
	a.endReplay()
	made := nested.Child{Outer: c.Outer, Err: c.failure(), Usage: c.report.Usage, Cost: c.report.Cost, Late: c.late}
	if made.Err == nil {
		made.Result, made.Err = c.report.result()
	}
	o, err := made.Outcome()
	if err != nil {
		return toolResult{outcome: outcome{Trouble: troubled(err)}}
	}
	out.ends(a.reducing, c.Run, o)
	if err := a.fitsAs("the result of "+c.Run.Tool, out); err != nil {
		return toolResult{outcome: outcome{Trouble: troubled(err)}}
	}
	return out
}

func cost(known *int64) int64 { return *cmp.Or(known, new(int64)) }

// failure returns why there is no report of the run, or nil.
func (c *child) failure() error {
	if c.err == nil || errors.Is(c.err, loop.ErrTooDeep) {
		return c.err
	}
	if _, held := errors.AsType[*sdk.ChildWorkflowExecutionAlreadyStartedError](c.err); held {
		return &journal.ConflictError{Session: c.id}
	}
	if _, late := errors.AsType[*sdk.TimeoutError](c.err); late {
		return &fault.TransportError{Class: fault.Timeout, Cause: c.err}
	}
	return fmt.Errorf("temporal: the run of the agent has no report: %w", c.err)
}
