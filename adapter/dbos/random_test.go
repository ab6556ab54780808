package dbos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/looptest/random"
	"github.com/retake-go/retake/session"
)

// A workflow makes of random runs what loop.Run makes of them.
func TestAWorkflowMakesTheSame(t *testing.T) {
	c := contextOf(t, "random")
	cases := &casesOfTest{agents: map[string]*oneCase{}, c: c}
	sdk.RegisterWorkflow(c, cases.run, sdk.WithWorkflowName("random"))
	require.NoError(t, sdk.Launch(c))
	n := 4000 // about one in five is taken
	if testing.Short() {
		n = 1000
	}
	random.Check(t, random.Cases(n), random.Driver{Name: "a workflow", Takes: takes, Run: cases.make})
}

// takes leaves out what is not supported: see Agent.
func takes(c random.Case) bool {
	return c.Action == nil && c.Adjust == nil && len(c.Follows) == 0 && inOrder(c) &&
		!c.NestsCode() && !c.Cancels() && !c.Hangs
}

// inOrder leaves out what is said in another order here: what is said with an answer comes before it.
func inOrder(c random.Case) bool {
	for _, s := range c.Says {
		if s.Asked && c.AnswersAtOnce() {
			return false
		}
	}
	return true
}

// people answer the questions of a run, and speak to it.
type people struct {
	w  *random.World
	c  sdk.Context
	id string
	// left are the questions that they leave, and due the answers that they give just before the deadline.
	left map[string]bool
	due  []dueAnswer
	// told has what came of each letter that the run does not wait for. given is how many there are, and open
	// how many the run has not read.
	told        chan error
	given, open int
	// steps is set in a step of the run, which takes no letter then.
	steps bool
}

type dueAnswer struct {
	machine.Response
	deadline time.Time
}

// stepped has the person asked who comes next in a step that asks. An answer at once has the time of the
// machine when it was given, which is no part of a trace.
func (p *people) stepped(ev machine.Event, effects []machine.Effect, st machine.State) {
	if ev.Response != nil && !ev.Response.At.Equal(looptest.Epoch) {
		own := *ev.Response
		own.At, ev.Response = time.Time{}, &own
	}
	p.steps = true
	defer func() { p.steps = false }()
	p.w.Record(ev, effects, st)
	for _, a := range st.Asks() {
		if len(effects) > 0 && !p.left[a.ID] && p.ask(a, st.Session) {
			return
		}
	}
}

// ask asks a person. It returns false if the person does nothing now.
func (p *people) ask(a machine.Ask, view session.State) bool {
	answer, silent, err := p.w.Answer(a, view)
	switch {
	case err != nil:
		panic(err)
	case answer.Verdict != "" && answer.At.IsZero():
		p.post(func() error { return Answer(p.c, p.id, answer, time.Minute) })
		return true
	case answer.Verdict != "":
		p.due = append(p.due, dueAnswer{answer, a.Deadline})
	}
	p.left[a.ID] = silent.IsZero()
	return !silent.IsZero()
}

// hear says something, in a call of a model or when a question is asked.
func (p *people) hear(w session.Words) error {
	say := func() error { return Say(p.c, p.id, w, time.Minute) }
	if !p.steps {
		return say()
	}
	p.post(say)
	return nil
}

// post has a letter sent.
func (p *people) post(send func() error) {
	p.given++
	p.open++
	go func() { p.told <- send() }()
}

// read is told that the run has read a letter.
func (p *people) read(l letter) {
	if p.open > 0 {
		p.open--
	}
}

// recv waits for a letter that somebody sends; nobody else sends one.
func (p *people) recv(ctx sdk.Context, topic string, most time.Duration) (string, error) {
	if p.open == 0 && len(p.due) > 0 && p.due[0].deadline.Sub(p.w.Clock.Now()) <= most {
		p.w.Clock.Add(max(p.due[0].deadline.Sub(p.w.Clock.Now())-1, 0))
		due := p.due[0].Response
		p.due = p.due[1:]
		p.post(func() error { return Answer(p.c, p.id, due, time.Minute) })
	}
	wait := time.Duration(0)
	if p.open > 0 {
		wait = time.Minute
	}
	text, err := sdk.Recv[string](ctx, topic, wait)
	if errors.Is(err, sdk.ErrTimeout) {
		p.w.Clock.Add(most)
	}
	return text, err
}

// ended returns why answers were not taken.
func (p *people) ended() (err error) {
	for ; p.given > 0; p.given-- {
		err = errors.Join(err, <-p.told)
	}
	return err
}

// casesOfTest runs each case with an agent of its own.
type casesOfTest struct {
	c      sdk.Context
	mu     sync.Mutex
	agents map[string]*oneCase
	n      int
}

type oneCase struct {
	own *Registered
	id  string
}

func (s *casesOfTest) run(ctx sdk.Context, input string) (string, error) {
	id, err := sdk.GetWorkflowID(ctx)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	one := s.agents[id]
	s.mu.Unlock()
	return one.own.runAs(ctx, id, one.id, input)
}

func (s *casesOfTest) make(_ context.Context, w *random.World) (t random.Trace, err error) {
	held := w.Session
	held.ID, held.Journal = "", nil
	s.mu.Lock()
	s.n++
	id := fmt.Sprint("case-", s.n)
	s.mu.Unlock()
	who := &people{w: w, c: s.c, id: id, left: map[string]bool{}, told: make(chan error)}
	w.Hear = who.hear
	h := hooks{now: w.Clock.Now, after: w.Clock.Timeout, recv: (&people{w: w}).recv} // nobody speaks to agents within
	a := Agent{
		Model: w.Model, Models: w.Models, Config: w.Config, Session: held, Planner: w.Planner, Prompt: w.Prompt,
		Summary: w.Summary, Parallel: w.Case.Parallel, hooks: h, Agents: agentsIn(w.Agents, h),
	}
	a.Config.Tools, a.hooks.step, a.hooks.recv, a.hooks.read = w.Tools, who.stepped, who.recv, who.read
	own, err := newAgent(a)
	if err != nil {
		return t, err
	}
	s.beginsHere(own, id)
	s.mu.Lock()
	s.agents[id] = &oneCase{&Registered{own}, w.Session.ID}
	s.mu.Unlock()
	for in := range w.Inputs(nil) {
		order, err := own.order(in)
		if err != nil {
			return t, err
		}
		h, err := sdk.RunWorkflow(s.c, s.run, order, sdk.WithWorkflowID(id))
		if err != nil {
			return t, err
		}
		w.Ended((&Run{h: h}).Result())
		if err := errors.Join(who.ended(), s.readsTheSame(id)); err != nil {
			return t, err
		}
	}
	return w.Trace()
}

// agentsIn are the agents of a case.
func agentsIn(all []random.Agent, h hooks) (made []AgentTool) {
	for _, a := range all {
		own := Agent{Name: a.Name, Model: a.Model, Config: a.Config, Agents: agentsIn(a.Agents, h), hooks: h}
		made = append(made, AgentTool{Agent: own, Description: a.Description, Handoff: a.Handoff})
	}
	return made
}

// beginsHere has the agents of an agent begin their runs as workflows of the test. The sessions of several
// cases have the same ids, so their workflows have that of the case before them.
func (s *casesOfTest) beginsHere(own *agent, of string) {
	for _, a := range own.agents {
		a.hooks.begin = func(ctx sdk.Context, id, order string) (sdk.WorkflowHandle[string], error) {
			s.mu.Lock()
			s.agents[of+id] = &oneCase{&Registered{a}, id}
			s.mu.Unlock()
			return sdk.RunWorkflow(ctx, s.run, order, sdk.WithWorkflowID(of+id))
		}
		s.beginsHere(a, of)
	}
}

// readsTheSame reports a record that is read otherwise than the run that it is of.
func (s *casesOfTest) readsTheSame(id string) error {
	s.mu.Lock()
	of := s.agents[id]
	s.mu.Unlock()
	want, err := Get(s.c, id)
	if err != nil {
		return err
	}
	text, err := want.h.GetResult()
	if err != nil {
		return err
	}
	read, err := of.own.recorded(s.c, id, of.id)
	if err == nil && read != text {
		err = fmt.Errorf("the record is read otherwise:\n%s\n%s", text, read)
	}
	return err
}
