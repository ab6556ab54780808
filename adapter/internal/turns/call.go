package turns

import (
	"context"
	"encoding/json"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// call is one call of the reply under way.
type call struct {
	id, name, arguments string
	// taken is set once the runtime has asked for it, left once it has taken it out of the run's hands.
	taken, left bool
	// run is what is to be run of it, and which try of it; nil where it may not be run.
	run *machine.ToolRun
	// outcome is what came of the try, until the core has taken it.
	outcome *tool.Outcome
	// over is set when the call has its answer.
	over    bool
	answer  string
	isError bool
}

func (c *call) answered(text string, isError bool) {
	if !c.over {
		c.over, c.answer, c.isError = true, text, isError
	}
}

// Call is a call of the reply under way, as the runtime makes it.
type Call struct {
	r *Run
	c *call
}

// Answer is what a call is answered by.
type Answer struct {
	// Own says that the result which the tool returned stands as it is; then Text says nothing.
	Own bool
	// Again says that the call is to be made again: the wait before it is over.
	Again bool
	// Text is what the model is told instead of a result.
	Text string
}

// Name gives the calls of the reply the ids that the runtime has given them meanwhile, in call order.
func (r *Run) Name(ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := range min(len(ids), len(r.calls)) {
		r.calls[n].id = ids[n]
	}
	r.index()
}

// index notes which calls have which id.
func (r *Run) index() {
	r.byID = make(map[string][]int, len(r.calls))
	for n, c := range r.calls {
		r.byID[c.id] = append(r.byID[c.id], n)
	}
}

// Claim finds the call that the runtime is about to make: by its id, and among calls that share one, or have
// none, by name and arguments. Where found is nil, seen says that the reply has no such call; else it is none
// of the run's: no reply was fed yet, or the call was left.
func (r *Run) Claim(id, name, arguments string) (found *Call, seen bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	best, score := -1, 0
	for _, n := range r.byID[id] {
		c := &r.calls[n]
		if c.left {
			return nil, false
		}
		if c.taken {
			continue
		}
		fits := 1
		if c.name == name {
			fits += 2
		}
		if c.arguments == arguments {
			fits++
		}
		if fits > score {
			best, score = n, fits
		}
	}
	if best < 0 {
		return nil, r.mark > 0 || r.replied
	}
	c := &r.calls[best]
	c.taken = true
	return &Call{r, c}, true
}

// Refused returns what the model is told of a call that may not be run; ok is false for one that may. The
// error is that of a run that has ended.
func (c *Call) Refused() (text string, ok bool, err error) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.c.run == nil || c.c.over {
		return c.c.answer, true, c.r.err
	}
	return "", false, c.r.err
}

// Arguments are those to run the tool with: canonical JSON, repaired where the policy allows it.
func (c *Call) Arguments() json.RawMessage {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return c.c.run.Arguments
}

// Invoke makes the call by do, as the core would: with its idempotency key, with events and progress, and
// without panics.
func (c *Call) Invoke(ctx context.Context, do func(context.Context, json.RawMessage) (json.RawMessage, error)) tool.Outcome {
	c.r.mu.Lock()
	run, tools := *c.c.run, c.r.tools
	c.r.mu.Unlock()
	t, _ := tools.Get(run.Tool)
	ctx = tool.WithInvocation(context.WithValue(ctx, doKey{}, do), tool.Invocation{Key: run.Key, CallID: run.ID})
	return t.Invoke(ctx, run.Arguments)
}

// End feeds the outcome of a try, and returns what the call is answered by. It waits for the calls before it
// where the answer depends on them, for all of the reply where the call is to be made again, and for the wait
// before that.
func (c *Call) End(ctx context.Context, out tool.Outcome) (Answer, error) {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.c.over || r.err != nil {
		return Answer{Text: c.c.answer}, r.err
	}
	own := out.Err == nil && len(out.Issues) == 0 && out.Failed == ""
	try := c.c.run.Transport
	c.c.outcome = &out
	r.feed(ctx)
	for {
		switch {
		case r.err != nil:
			return Answer{Own: own, Text: c.c.answer}, r.err
		case c.c.over:
			return Answer{Own: own && !c.c.isError, Text: c.c.answer}, nil
		case c.c.run.Transport != try:
			return Answer{Again: true}, nil
		case own && !r.reduces:
			return Answer{Own: true}, nil
		}
		r.await(ctx)
	}
}

// Leave ends a call that the runtime has paused: to the core it is over, uncharged, and when the runtime
// makes it again that is its own affair.
func (c *Call) Leave(ctx context.Context) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.c.left = true
	c.c.outcome = &tool.Outcome{Failed: "The run was paused before there was a result."}
	c.r.feed(ctx)
}

// feed feeds the outcomes that are next in call order, and makes the wait before calls are made again.
func (r *Run) feed(ctx context.Context) {
	for r.err == nil && r.runner.State().Phase == machine.Running {
		c := &r.calls[r.runner.State().Batch.Cursor]
		if c.outcome == nil {
			return
		}
		out := *c.outcome
		c.outcome, r.last = nil, out.Err
		out.Err = r.toolError(out)
		r.fed(r.runner.ToolEnded(r.now(), *c.run, out))
	}
	for r.err == nil && r.runner.State().Phase == machine.Waiting && r.runner.State().Batch != nil {
		if r.wait(ctx); ctx.Err() != nil {
			_ = r.cancel(ctx)
		}
	}
}

// giveUp ends the calls that the runtime answered by itself, or left: the model call that follows shows that
// it went on.
func (r *Run) giveUp() {
	for n := range r.calls {
		if c := &r.calls[n]; c.run != nil && !c.over && c.outcome == nil {
			c.outcome = &tool.Outcome{Failed: "No result was reported."}
		}
	}
	r.feed(context.Background())
}

// await waits for the next step.
func (r *Run) await(ctx context.Context) {
	changed := r.changed
	r.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-changed:
	}
	r.mu.Lock()
	if ctx.Err() != nil {
		_ = r.cancel(ctx)
	}
}
