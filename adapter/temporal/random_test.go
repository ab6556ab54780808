package temporal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
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

// takes leaves out what a worker cannot be given, and the value of a try, which is not recorded here.
func takes(c random.Case) bool {
	if c.Action == nil {
		return inOrder(c) && !c.NestsCode() && !c.Cancels() && !c.Hangs
	}
	for _, r := range c.Reducers {
		if r.On == session.EventToolResult || r.On == session.EventStructuredOutput || r.On == session.EventRunEnded {
			return false
		}
	}
	return c.Action.ID == "" && !c.Cancels()
}

// inOrder leaves out what is said in another order here. A policy is adjusted before a call of a model, and
// in process after it. What is said with an answer comes when the call that follows has begun.
func inOrder(c random.Case) bool {
	for _, s := range c.Says {
		if s.Asked && c.AnswersAtOnce() || !s.Asked && c.Adjust != nil {
			return false
		}
	}
	return true
}

// people answer the questions of a run, and speak to it, by updates.
type people struct {
	w   *random.World
	env *testsuite.TestWorkflowEnvironment
	// left are the questions that they leave, and sent is the number of updates.
	left map[string]bool
	sent int
	// leave leaves the call of a model that is under way.
	leave context.CancelFunc
}

// send makes an update. done is told its error.
func (p *people) send(update string, in any, done func(error)) {
	p.sent++
	p.env.UpdateWorkflow(update, fmt.Sprint("update-", p.sent), &testsuite.TestUpdateCallback{
		OnReject: done, OnAccept: func() {}, OnComplete: func(_ any, err error) { done(err) },
	}, in)
}

// accepted panics if an update was refused.
func accepted(err error) {
	if err != nil {
		panic(err)
	}
}

// model lets words leave its calls.
func (p *people) model(m loop.Model) loop.Model {
	return loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		ctx, p.leave = context.WithCancel(ctx)
		defer p.leave()
		return m.Reply(ctx, req)
	})
}

// hear takes what is said in a call of a model, or when a question is asked.
func (p *people) hear(w session.Words) error {
	leave := p.leave
	p.send(UpdateSay, over(w), func(err error) {
		if accepted(err); w.Stop {
			leave()
		}
	})
	return nil
}

// stepped has the person asked who comes next in a step that asks.
func (p *people) stepped(ev machine.Event, effects []machine.Effect, st machine.State) {
	p.w.Record(ev, effects, st)
	for _, a := range st.Asks() {
		if len(effects) > 0 && !p.left[a.ID] && p.ask(a, st.Session) {
			return
		}
	}
}

// ask asks a person. It returns false if the person does nothing.
func (p *people) ask(a machine.Ask, view session.State) bool {
	answer, silent, err := p.w.Answer(a, view)
	accepted(err)
	post := func() { p.send(UpdateAnswer, over(answer), accepted) }
	inTime := a.Deadline.Sub(p.env.Now()) - 1
	switch {
	case answer.Verdict != "" && answer.At.IsZero():
		post()
		return true
	case answer.Verdict != "":
		p.env.RegisterDelayedCallback(post, inTime)
	}
	p.left[a.ID] = silent.IsZero()
	return !silent.IsZero()
}

// agentsIn are the agents of a case.
func agentsIn(all []random.Agent) (made []Agent) {
	for _, a := range all {
		own := Agent{Worker: Worker{Agent: a.Name, Model: a.Model, Tools: a.Config.Tools, Agents: agentsIn(a.Agents)},
			Description: a.Description, Config: a.Config, Handoff: a.Handoff}
		own.Config.Tools = nil
		made = append(made, own)
	}
	return made
}

func inWorkflow(_ context.Context, w *random.World) (t random.Trace, err error) {
	s, err := session.New(w.Session)
	if err != nil {
		return t, err
	}
	who := &people{w: w, left: map[string]bool{}}
	w.Hear = who.hear
	var value []byte
	own := Worker{
		Model: who.model(w.Model), Models: map[string]loop.Model{}, Tools: w.Tools, Agents: agentsIn(w.Agents), Session: w.Session, Planner: w.Planner, Prompt: w.Prompt, Adjust: w.Adjust, Summary: w.Summary,
		Parallel: w.Case.Parallel, Heartbeat: time.Minute, hooks: hooks{step: who.stepped},
	}
	for name, m := range w.Models {
		own.Models[name] = who.model(m)
	}
	if w.Case.Action != nil {
		own.Model, own.Try = nil, func(ctx context.Context, t Try) (message.Usage, error) {
			var err error
			value, err = w.Try(ctx, loop.Attempt{Number: t.Attempt, Transport: t.Transport})
			return message.Usage{}, err
		}
	}
	agent, err := newAgent(own)
	if err != nil {
		return t, err
	}
	now := looptest.Epoch
	for given := range w.Inputs(s) {
		in, err := orderIn(s, w, given)
		if err != nil {
			return t, err
		}
		var out report
		if out, now, err = workflowOf(agent, in, now, who); err != nil {
			return t, err
		}
		result, ended := out.result()
		if err := keep(s, &out); err != nil {
			return t, err
		}
		if w.Case.Action != nil {
			if result = (loop.Result{}); ended == nil {
				result.Value = value
			}
		}
		w.Ended(result, ended)
	}
	return w.Trace()
}

// orderIn is the order of a run that goes on with a session.
func orderIn(s *session.Session, w *random.World, given loop.Input) (in order, err error) {
	o := Options{ID: w.Session.ID, TaskQueue: "queue", Seed: w.Session.Seed}
	if o.Session, err = s.Snapshot(); err != nil {
		return in, err
	}
	if a := w.Case.Action; a != nil {
		if in.Config, err = a.Machine(); err != nil {
			return in, err
		}
		return o.order(in, nil)
	}
	cfg := w.Config
	cfg.Tools = nil
	if in, err = orderOf(given, cfg); err != nil {
		return in, err
	}
	return o.order(in, &given)
}

// keep gives a session what a run left.
func keep(s *session.Session, out *report) error {
	st, err := machine.Restore(out.State)
	if err != nil {
		return err
	}
	d := session.DriverOf(s)
	defer d.Release()
	return errors.Join(d.Acquire(), d.Conclude(st.Contents()))
}

// workflowOf makes a run in a workflow that begins at a time, and returns the time of its end.
func workflowOf(
	agent *agent, in order, begins time.Time, who *people,
) (out report, ends time.Time, err error) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartTime(begins)
	who.env = env
	env.SetWorkflowRunTimeout(1000 * time.Hour)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Hour}) // on a busy machine a step may take a second
	agent.register(env)
	env.ExecuteWorkflow(agent.Agent, over(in))
	if !env.IsWorkflowCompleted() || env.GetWorkflowError() != nil {
		return out, begins, errors.Join(errors.New("the workflow did not end well"), env.GetWorkflowError())
	}
	var read wire[report]
	err = env.GetWorkflowResult(&read)
	return read.v, env.Now(), err
}
