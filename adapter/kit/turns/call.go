package turns

import (
	"context"
	"encoding/json"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/tool"
)

// call is one call of the current reply.
type call struct {
	id, name, arguments string
	// taken is set once the runtime has asked for the call, left while it has paused it.
	taken, left bool
	// run is the current try; nil if the call may not run.
	run *machine.ToolRun
	// outcome is that of the try, until the core has it.
	outcome *tool.Outcome
	// end reports the end of the try to the tracers; nil if none is under way.
	end func(observe.WorkEnd)
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

// Call is a call of the current reply, for the runtime.
type Call struct {
	r *Run
	c *call
}

// Answer is the answer to a call.
type Answer struct {
	// Own means that the tool's own result is the answer; Text is empty then.
	Own bool
	// Again means that the call is to be repeated: the wait before it is over.
	Again bool
	// Text replaces the result.
	Text string
}

// Name sets the ids that the runtime has given the calls of the reply, in call order.
func (r *Run) Name(ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := range min(len(ids), len(r.calls)) {
		r.calls[n].id = ids[n]
	}
	r.index()
}

// index rebuilds byID.
func (r *Run) index() {
	r.byID = make(map[string][]int, len(r.calls))
	for n, c := range r.calls {
		r.byID[c.id] = append(r.byID[c.id], n)
	}
}

// Claim finds the call that the runtime is about to make: by its id, and among calls with the same or no
// id by name and arguments. A paused call is found again. If found is nil and seen is set, the reply has no
// such call; else the call is not the run's, because no reply came yet.
func (r *Run) Claim(id, name, arguments string) (found *Call, seen bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	best, score := -1, 0
	for _, n := range r.byID[id] {
		c := &r.calls[n]
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
	c.taken, c.left = true, false
	return &Call{r, c}, true
}

// Refused returns the answer to a call that may not run; ok is false for a call that may, which begins with
// it. The error is that of a run that has ended.
func (c *Call) Refused() (text string, ok bool, err error) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.c.run == nil || c.c.over {
		return c.c.answer, true, c.r.err
	}
	c.begins()
	return "", false, c.r.err
}

// begins says that a try of the call begins, so that it is in doubt if the run ends before the try does.
func (c *Call) begins() {
	_, _ = c.r.runner.ToolBegins(c.r.now(), *c.c.run) // without a journal it returns nothing
}

// Arguments returns the arguments for the tool: canonical JSON, repaired if the policy allows it.
func (c *Call) Arguments() json.RawMessage {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return c.c.run.Arguments
}

// Invoke calls do as the core would: with what the call knows about itself, with a view of the session, with
// events and progress, and without panics.
func (c *Call) Invoke(
	ctx context.Context, do func(context.Context, json.RawMessage) (json.RawMessage, error),
) tool.Outcome {
	c.r.mu.Lock()
	run, tools, st := *c.c.run, c.r.tools, c.r.runner.State()
	c.r.mu.Unlock()
	t, _ := tools.Get(run.Tool)
	at := st.Attempt(run.Tool)
	ctx = loop.WithView(context.WithValue(ctx, doKey{}, do), st.Session)
	ctx = tool.WithInvocation(ctx, tool.Invocation{
		Key: run.Key, CallID: run.ID, SessionID: st.Session.ID(), Attempt: at.Attempt,
		MaxAttempts: at.MaxAttempts, Transport: run.Transport, Progress: run.Progress,
	})
	return t.Invoke(c.Begins(ctx), run.Arguments)
}

// End passes the outcome of an attempt to the core and returns the answer. It waits for earlier calls if the
// answer depends on them. If the call is repeated, it waits for all of the reply, and for the wait before
// the repetition.
func (c *Call) End(ctx context.Context, out tool.Outcome) (Answer, error) {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	c.ends(out)
	if c.c.over || r.err != nil {
		return Answer{Text: c.c.answer}, r.err
	}
	r.ctx = context.WithoutCancel(ctx)
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
			c.begins()
			return Answer{Again: true}, nil
		case own && !r.reduces:
			return Answer{Own: true}, nil
		case r.paused() != nil:
			r.passOver(r.paused())
			continue
		}
		r.await(ctx)
	}
}

// Leave pauses a call: it has no outcome until the runtime makes it again, which continues the run with its
// budgets. A run that ends before counts as cancelled.
func (c *Call) Leave() {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.ends(tool.Outcome{})
	c.c.taken, c.c.left = false, true
	c.r.runner.ToolPaused(*c.c.run)
	c.r.wake()
}

// Forget ends a call whose outcome the run will not hear of. To the core it is over and costs nothing.
func (c *Call) Forget(ctx context.Context) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.c.outcome = &tool.Outcome{Failed: "The result is not known to the run."}
	c.r.feed(ctx)
}

// Paused reports whether the run waits for a call that the runtime has paused.
func (r *Run) Paused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err == nil && r.paused() != nil
}

// paused returns the call that the core waits for if it is paused; nil if not.
func (r *Run) paused() *call {
	if st := r.runner.State(); st.Phase == machine.Running && r.calls[st.Batch.Cursor].left {
		return &r.calls[st.Batch.Cursor]
	}
	return nil
}

// passOver ends a paused call, because the answer to another call depends on it: the runtime waits for that
// answer before it pauses.
func (r *Run) passOver(c *call) {
	c.outcome = &tool.Outcome{Failed: "The call was paused, and has no result yet."}
	r.feed(context.Background())
}

// feed passes on the outcomes that are next in call order, and waits before calls are repeated.
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

// giveUp ends the calls that the runtime answered by itself or left: the next model call shows that it
// went on.
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
