package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// deepest is how many runs may be nested in a story.
const deepest = 4

// outerRun is a run of a story that waits for a run within a call of its tool.
type outerRun struct {
	run
	call machine.ToolRun
}

// nesting has the agents of a story, and the runs around the one that the story goes on with, outermost
// first.
type nesting struct {
	agents map[string]*tool.Set
	around []*outerRun
	// ended is the run within the call that is to end now.
	ended *engine.Runner
}

// addAgent declares a tool that is an agent. Its own tools were declared before, and only it has them.
func (sc *story) addAgent(l *line) error {
	var own []*tool.Tool
	for _, name := range split(l.args["tools"], ", ") {
		at := slices.IndexFunc(sc.tools, func(t *tool.Tool) bool { return t.Name() == name })
		if at < 0 {
			return fmt.Errorf("tools: there is no tool %q, or another agent has it: declare it first", name)
		}
		own = append(own, sc.tools[at])
		sc.tools = slices.Delete(slices.Clone(sc.tools), at, at+1)
	}
	tools, err := tool.NewSet(own...)
	if err != nil {
		return err
	}
	t, err := agent.ToolOf(l.name, "An agent of this story.", tools, sc.agentEnded)
	if err != nil {
		return err
	}
	if sc.agents == nil {
		sc.agents = map[string]*tool.Set{}
	}
	sc.tools, sc.agents[l.name] = append(sc.tools, t), tools
	return nil
}

// agentEnded is what the run of an agent came to.
func (sc *story) agentEnded(ctx context.Context, _ string) (loop.Result, error) {
	r, err := loop.ResultOf(sc.ended.End(), nil)
	_ = tool.AddUsage(ctx, r.Usage) // errors would say that this is not within a call
	if cost := sc.ended.State().Charged.Cost; cost > 0 {
		_ = tool.AddCost(ctx, cost)
	}
	if len(r.InDoubt) > 0 {
		_ = tool.Doubt(ctx)
	}
	return r, err
}

// within begins the run of an agent in a call of the current run, which goes on when that has ended.
func (sc *story) within(tools *tool.Set, call machine.ToolRun) error {
	var given struct{ Task string }
	if err := json.Unmarshal(call.Arguments, &given); err != nil {
		return err
	}
	o := engine.Outer{State: sc.runner.State(), Run: call, Depth: len(sc.around), Deepest: deepest}
	if o.TooDeep() {
		return errors.New("agents are nested deeper than a story allows")
	}
	whole := sc.run
	sc.around = append(sc.around, &outerRun{whole, call})
	sc.run = run{at: whole.at, calls: whole.calls, deadline: o.Deadline(time.Time{}, whole.at)}
	set := o.Bound(nil)
	sc.cfg = loop.Config{Tools: tools, Policy: &set}
	sc.id, sc.cfg.Seed = o.State.Child(call.Index)
	if err := sc.begin(); err != nil {
		return err
	}
	sc.beginTelling()
	return sc.fed(sc.runner.Start(sc.at, message.Message{Role: message.User, Text: given.Task}))
}

// goOut goes on with the run around an agent's.
func (sc *story) goOut() machine.ToolRun {
	in, out := sc.run, sc.around[len(sc.around)-1]
	sc.around = sc.around[:len(sc.around)-1]
	sc.runner.Close()
	sc.run = out.run
	sc.at, sc.calls = in.at, in.calls
	return out.call
}

// takeUpAll resumes all runs from their journals, the outermost first, which make their calls again.
func (sc *story) takeUpAll() error {
	inner, all := sc.run, sc.around
	for n, out := range all {
		sc.run, sc.around = out.run, all[:n]
		err := sc.takeUp()
		if err == nil {
			_, err = sc.runner.ToolBegins(inner.at, out.call)
		}
		out.run = sc.run
		if sc.run, sc.around = inner, all; err != nil {
			return fmt.Errorf("the run around an agent: %w", err)
		}
	}
	return sc.takeUp()
}

// label says whose run a line is about: nothing for the outermost.
func (sc *story) label() string {
	var b strings.Builder
	for _, out := range sc.around {
		b.WriteString(out.call.Tool + "> ")
	}
	return b.String()
}
