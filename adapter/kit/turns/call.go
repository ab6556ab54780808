package turns

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// call is one call of the current reply.
type call struct {
	id, name, arguments string
	// taken is set once the runtime has asked for the call, left while it has paused it.
	taken, left bool
	// told is set if the runtime got an answer before the core has the outcome. It is not repeated then.
	told bool
	// run is the current try; nil if the call may not run. begun is set once a try has begun.
	run   *machine.ToolRun
	begun bool
	// outcome is that of the try, until the core has it.
	outcome *tool.Outcome
	// denied is set if the outcome is that a person refused the call.
	denied bool
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

// Wait waits for the answer to a call that does not run because it equals another one of the reply: until
// that one has ended, the context or the run ends, or the call waits for one that is paused. Call it before
// [Call.Refused], once the runtime has begun all calls of the reply or those before it. Any other call does
// not wait.
func (c *Call) Wait(ctx context.Context) {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for c.c.run == nil && !c.c.over && r.err == nil && ctx.Err() == nil {
		if r.paused() != nil {
			c.c.answer = "Not run: it equals another call of the same reply, which has no result yet."
			return
		}
		r.await(ctx)
	}
}

// Failed reports whether the answer to a call that may not run says that it failed. That to a call which
// equals another one is the other's result.
func (c *Call) Failed() bool {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return !c.c.over || c.c.isError
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
	c.c.begun = true
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
	r.put(ctx, c.c, out)
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
		case r.cfg.Sequential && r.runner.State().Batch.Calls[c.c.run.Index].Lost != nil:
			// The core asks after the next call, which waits for this one.
			r.broken(unasked(machine.AskDoubt, c.c.name))
			continue
		}
		if text, known := r.foresee(c.c); known {
			return Answer{Own: own, Text: text}, nil
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

// Forget ends a call whose outcome the run will not hear of. To the core it is over and has not failed: its
// result is a text which says that the result is not known.
func (c *Call) Forget(ctx context.Context) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.put(ctx, c.c, tool.Outcome{Result: json.RawMessage(`"The result is not known to the run."`)})
}

// Deny ends a call that a person refused. It was not made, and costs nothing.
func (c *Call) Deny(ctx context.Context) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.ends(tool.Outcome{})
	c.c.denied = true
	c.r.put(ctx, c.c, tool.Outcome{})
}

// put keeps the outcome of a call, and passes on those that are next.
func (r *Run) put(ctx context.Context, c *call, out tool.Outcome) {
	c.outcome = &out
	if r.feed(ctx); r.paused() != nil {
		r.wake() // a later call may wait for this one alone
	}
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

// foresee returns the answer to a call that waits for paused ones, because the runtime waits for the answer
// before it pauses. It is what the core would say if those had no result. The core itself gets the outcome
// when they have ended. known is false if no call is paused, or if one before it still runs.
func (r *Run) foresee(c *call) (text string, known bool) {
	if r.paused() == nil {
		return "", false
	}
	st := r.runner.State()
	for st.Phase == machine.Running && &r.calls[st.Batch.Cursor] != c {
		next := &r.calls[st.Batch.Cursor]
		if !next.left && next.outcome == nil {
			return "", false
		}
		st = r.ended(st, next)
	}
	c.told = true
	if st.Phase == machine.Running {
		st = r.ended(st, c)
	}
	return cmp.Or(r.answerIn(st, c), notAgain), true
}

// notAgain is the answer to a call that the core would make again once those that are paused have ended.
const notAgain = "No result: the call failed, and is not made again while another one of its reply is paused. " +
	"Its effect may or may not have happened."

// ended returns the state after the outcome of the call that is next, with nothing recorded. A call that is
// paused has none.
func (r *Run) ended(st machine.State, c *call) machine.State {
	out := tool.Outcome{Failed: "It has no result yet."}
	if !c.left {
		out = *c.outcome
		out.Err = r.toolError(out, true)
	}
	end := engine.EndOf(nil, *c.run, out)
	if c.denied {
		end = c.denial()
	}
	ev := machine.Event{Kind: machine.ToolEnded, At: r.now(), Tool: end}
	if _, err := machine.Step(&st, &ev); err != nil {
		st.Phase = machine.Stopped // the core says so when it has the outcome
	}
	return st
}

// answerIn returns the answer to a call in a state; empty if it has none.
func (r *Run) answerIn(st machine.State, c *call) string {
	n := slices.IndexFunc(r.calls, func(x call) bool { return x.run == c.run })
	if st.Batch != nil {
		said, _ := st.Batch.Answered(n)
		return said.Answer
	}
	for _, m := range st.TranscriptFrom(r.mark) {
		if m.Role != message.Tool {
			continue
		}
		if n == 0 {
			return m.Text
		}
		n--
	}
	return ""
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
		if c.denied {
			r.fed(r.runner.Step(machine.Event{Kind: machine.ToolEnded, At: r.now(), Tool: c.denial()}))
			continue
		}
		out.Err = r.toolError(out, c.told)
		r.fed(r.runner.ToolEnded(r.now(), *c.run, out))
	}
	for r.err == nil && r.runner.State().Phase == machine.Waiting && r.runner.State().Batch != nil {
		if r.wait(ctx); ctx.Err() != nil {
			_ = r.cancel(ctx)
		}
	}
}

// denial is the end of a call that a person refused.
func (c *call) denial() *machine.ToolEnd {
	return &machine.ToolEnd{Index: c.run.Index, Verdict: machine.Denied}
}

// giveUp ends the calls that the runtime answered by itself or left: the next model call shows that it
// went on. One that has begun may have had an effect.
func (r *Run) giveUp() {
	for n := range r.calls {
		if c := &r.calls[n]; c.run != nil && !c.over && c.outcome == nil {
			c.outcome = &tool.Outcome{Failed: "No result was reported.", InDoubt: c.begun}
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
