package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest/scenario"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// outside does what comes from outside in the story.
func (p *play) outside(n int) {
	p.mu.Lock()
	first := !p.done[n]
	p.done[n] = true
	p.mu.Unlock()
	if !first {
		return
	}
	s := p.steps[n]
	id := fmt.Sprintf("update-%d", n)
	told := &testsuite.TestUpdateCallback{
		OnReject: func(err error) { p.t.Errorf("step %d: %s: rejected: %v", n, s.Event.Kind, err) },
		OnComplete: func(_ any, err error) {
			if err != nil {
				p.t.Errorf("step %d: %s: %v", n, s.Event.Kind, err)
			}
		},
	}
	// The environment may be used by its own loop only.
	p.env.RegisterDelayedCallback(func() {
		switch s.Event.Kind {
		case machine.Adjusted:
			p.env.UpdateWorkflow(UpdateAdjust, id, told, over(*s.Event.Adjust))
		case machine.Planned:
			p.env.UpdateWorkflow(UpdatePlan, id, told, over(*s.Event.Plan))
		case machine.Dispatched:
			p.env.UpdateWorkflow(UpdateDispatch, id, told, over(s.Dispatched))
		case machine.Responded:
			answer := *s.Event.Response
			if s.Event.Tool != nil {
				answer.Result = s.Event.Tool.Result
			}
			p.env.UpdateWorkflow(UpdateAnswer, id, told, over(answer))
		case machine.Spoken:
			p.env.UpdateWorkflow(UpdateSay, id, told, over(s.Event.Said.Words))
		case machine.Cancelled:
			p.env.CancelWorkflow()
		}
	}, 0)
}

// reach executes what comes from outside before step n, and reports whether the story gets there.
func (p *play) reach(n int) bool {
	for {
		p.mu.Lock()
		at, over, moved := p.at, p.over, p.moved
		p.mu.Unlock()
		switch {
		case over:
			return false
		case at == n:
			return true
		case external(p.steps[at].Event.Kind):
			p.outside(at)
		}
		<-moved
	}
}

// find returns the first step from now on for which so is true; -1 for none.
func (p *play) find(is func(scenario.Step) bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := p.at; n < len(p.steps); n++ {
		if is(p.steps[n]) {
			return n
		}
	}
	return -1
}

var errStoryOver = errors.New("the story has ended")

// next returns the step that ends what the run waits for.
func (p *play) next() (scenario.Step, error) {
	n := p.find(func(s scenario.Step) bool { return !external(s.Event.Kind) })
	if n < 0 || !p.reach(n) {
		p.reach(len(p.steps))
		return scenario.Step{}, errStoryOver
	}
	return p.steps[n], nil
}

// latency is the duration of the current call in the story.
func (p *play) latency() time.Duration {
	n := p.find(func(s scenario.Step) bool { return !external(s.Event.Kind) })
	if n < 0 {
		return 0
	}
	return max(0, p.steps[n].Event.At.Sub(p.env.Now().UTC()))
}

func (p *play) reply(context.Context, loop.Request) (message.Reply, error) {
	s, err := p.next()
	switch {
	case err != nil:
		return message.Reply{}, err
	case s.Event.Kind == machine.CallFailed:
		return message.Reply{}, &RemoteError{Text: s.Event.Failure.Text, Seen: *s.Event.Failure, Limits: s.Event.RateLimit}
	}
	return s.Event.Reply.Message, nil
}

func (p *play) try(context.Context, Try) (message.Usage, error) {
	s, err := p.next()
	switch {
	case err != nil:
		return message.Usage{}, err
	case s.Event.Try.Abandoned:
		return message.Usage{}, ErrAbandoned
	case s.Event.Try.Failure.Failed():
		return s.Event.Try.Usage, &RemoteError{Text: s.Event.Try.Failure.Text, Seen: s.Event.Try.Failure}
	}
	return s.Event.Try.Usage, nil
}

func (p *play) prompt(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
	s, err := p.next()
	return s.Event.System, s.Event.Messages, err
}

// runTool is a call of a tool.
func (p *play) runTool(ctx context.Context) (json.RawMessage, error) {
	key := tool.IdempotencyKey(ctx)
	n := p.find(func(s scenario.Step) bool { return s.Event.Kind == machine.ToolEnded && p.keyOf(s) == key })
	if n < 0 || !p.reach(n) {
		p.reach(len(p.steps))
		return nil, errStoryOver
	}
	o := p.steps[n].Outcome
	if o.Progress != nil {
		if err := tool.Progress(ctx, json.RawMessage(o.Progress)); err != nil {
			return nil, err
		}
	}
	for _, e := range o.Events {
		if err := tool.Emit(ctx, e.Name, json.RawMessage(e.Payload)); err != nil {
			return nil, err
		}
	}
	if err := tool.AddUsage(ctx, o.Usage); err != nil { // an agent's
		return nil, err
	}
	if o.Cost != nil {
		if err := tool.AddCost(ctx, *o.Cost); err != nil {
			return nil, err
		}
	}
	if o.InDoubt {
		if err := tool.Doubt(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case o.Err != nil:
		return nil, o.Err
	case o.Failed != "":
		return nil, &tool.FailedError{Text: o.Failed, Whole: o.Whole}
	case len(o.Issues) > 0:
		return nil, tool.AskAgain(o.Issues...)
	}
	return o.Result, nil
}

// keyOf is the idempotency key of the call that a step ends.
func (p *play) keyOf(s scenario.Step) string {
	for n := len(p.steps) - 1; n >= 0; n-- {
		if p.steps[n].Event.Tool == s.Event.Tool {
			for m := n - 1; m >= 0; m-- {
				for _, e := range p.steps[m].Effects {
					for _, r := range e.Tools {
						if r.Index == s.Event.Tool.Index {
							return r.Key
						}
					}
				}
			}
		}
	}
	return ""
}

// quiet is a logger that drops everything.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
