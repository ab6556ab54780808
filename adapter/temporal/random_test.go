package temporal

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/looptest/random"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// A workflow makes of random runs what loop.Run makes of them.
func TestAWorkflowMakesTheSame(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 300
	}
	random.Check(t, random.Cases(n), random.Driver{Name: "a workflow", Takes: takes, Run: inWorkflow})
}

// takes leaves out what a worker cannot be given: the value of a try is not recorded here, and a workflow is
// one run.
func takes(c random.Case) bool {
	if len(c.Follows) > 0 {
		return false
	}
	if c.Action == nil {
		return c.Config.ToolChoice == "" && !c.Cancels() && !c.Hangs
	}
	for _, r := range c.Reducers {
		if r.On == session.EventToolResult || r.On == session.EventStructuredOutput || r.On == session.EventRunEnded {
			return false
		}
	}
	return c.Action.ID == "" && !c.Cancels()
}

func inWorkflow(_ context.Context, w *random.World) (t random.Trace, err error) {
	var value []byte
	own := Worker{
		Model: w.Model, Models: w.Models, Tools: w.Config.Tools, Session: w.Session, Planner: w.Planner, Prompt: w.Prompt, Adjust: w.Adjust,
		Parallel: w.Case.Parallel, Heartbeat: time.Minute, hooks: hooks{step: w.Record},
	}
	in := order{}
	if a := w.Case.Action; a != nil {
		in.Config, err = a.Machine()
		own.Model, own.Try = nil, func(ctx context.Context, t Try) (message.Usage, error) {
			value, err = w.Try(ctx, loop.Attempt{Number: t.Attempt, Transport: t.Transport})
			return message.Usage{}, err
		}
	} else {
		cfg := w.Config
		cfg.Tools = nil
		in, err = orderOf(w.Case.Prompt, cfg)
	}
	if err != nil {
		return t, err
	}
	in.Session = w.Session.ID
	agent, err := newAgent(own)
	if err != nil {
		return t, err
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartTime(looptest.Epoch)
	env.SetWorkflowRunTimeout(1000 * time.Hour)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Hour}) // on a busy machine a step may take a second
	env.RegisterWorkflowWithOptions(agent.run, workflow.RegisterOptions{Name: agent.Agent})
	for name, f := range agent.activities() {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: agent.named(name)})
	}
	env.ExecuteWorkflow(agent.Agent, over(in))
	if !env.IsWorkflowCompleted() || env.GetWorkflowError() != nil {
		return t, errors.Join(errors.New("the workflow did not end well"), env.GetWorkflowError())
	}
	var out wire[report]
	if err := env.GetWorkflowResult(&out); err != nil {
		return t, err
	}
	result, ended := out.v.result()
	if w.Case.Action != nil {
		if result = (loop.Result{}); ended == nil {
			result.Value = value
		}
	}
	return w.End(result, ended)
}
