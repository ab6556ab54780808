package random

import (
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// delegateCase is a tool that is an agent: see [agent.AsTool].
type delegateCase struct {
	Name    string
	Handoff bool
	agentCase
}

// delegateNames are those of agents, and deeper that of the agent of an agent.
var delegateNames = []string{"ada", "bob"}

const deeper = "deeper"

// drawDelegates makes agents that are tools, and has replies call them. It has dice of its own, so that other
// cases stay as they are.
func (c *Case) drawDelegates() {
	d := newDice(c.Seed ^ 0x64656c6567617465)
	if c.Action != nil || c.Hangs || c.Cancels() || c.Nests() || c.Config.CallsOnly || !d.one(3) {
		return
	}
	for n := range d.between(1, len(delegateNames)) {
		c.Delegates = append(c.Delegates, delegateCase{delegateNames[n], d.one(4), *drawAgent(d, 1)})
	}
	for n := range c.Replies {
		r := &c.Replies[n]
		if r.Finish != message.ToolUse && r.Finish != message.Stop || !d.one(2) {
			continue
		}
		for range d.between(1, 2) {
			task := pick(d, `{"task":"Dig."}`, `{"task":"Dig."}`, `{"task":"Dig here."}`, `{"task":""}`)
			call := message.Call{ID: pick(d, "x1", "x2", "x3"), Name: pick(d, delegateNames...), Arguments: task}
			r.Calls = append(r.Calls[:len(r.Calls):len(r.Calls)], call)
		}
		r.Finish = message.ToolUse
	}
}

// NestsTools reports that calls of the run are agents that are tools of their own: see [World.Agents].
func (c Case) NestsTools() bool { return len(c.Delegates) > 0 }

// Agent is an agent that is a tool of the run, as [agent.AsTool] and [agent.Handoff] make one in process.
type Agent struct {
	Name, Description string
	Handoff           bool
	Model             loop.Model
	// Config has its tools, without its agents.
	Config loop.Config
	// Agents are those within it.
	Agents []Agent
}

// agentsOf returns the agents that are tools of the run.
func (w *World) agentsOf() (all []Agent, err error) {
	for n := range w.Case.Delegates {
		of := &w.Case.Delegates[n]
		a, err := w.agentOf(of.Name, &of.agentCase)
		if err != nil {
			return nil, err
		}
		a.Handoff = of.Handoff
		all = append(all, a)
	}
	return all, nil
}

func (w *World) agentOf(name string, of *agentCase) (Agent, error) {
	set := policy.DefaultSet()
	set.MaxTurns = of.MaxTurns
	a := Agent{Name: name, Description: "Asks " + name + ".", Config: loop.Config{Policy: &set}}
	last := digs
	if of.Within != nil {
		inner, err := w.agentOf(deeper, of.Within)
		if err != nil {
			return a, err
		}
		a.Agents, last = []Agent{inner}, call{deeper, `{"task":"Dig %d."}`}
	}
	a.Model = w.digger(of, last)
	dig, err := w.digTool(of, nil)
	if err == nil {
		a.Config.Tools, err = tool.NewSet(dig)
	}
	return a, err
}

// withAgents returns the tools of an agent or a run with those of its agents, as a program makes them in
// process.
func withAgents(own *tool.Set, agents []Agent) (*tool.Set, error) {
	if len(agents) == 0 {
		return own, nil
	}
	all := own.All()
	for _, a := range agents {
		cfg := a.Config
		var err error
		if cfg.Tools, err = withAgents(cfg.Tools, a.Agents); err != nil {
			return nil, err
		}
		made := agent.AsTool
		if a.Handoff {
			made = agent.Handoff
		}
		t, err := made(a.Name, a.Description, a.Model, cfg)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return tool.NewSet(all...)
}
