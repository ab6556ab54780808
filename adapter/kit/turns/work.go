package turns

import (
	"context"
	"reflect"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// work is what the tracers follow. The runtime makes the calls, so a model call is between what the run says
// before it and hears after it.
type work struct {
	tracers observe.Tracers
	// base is the runtime's context when the run began, and values are those of the tracers on top of it.
	base, values context.Context
	// about is what the runtime says of its model.
	about machine.ModelInfo
	// run and model report the ends of what is under way; nil if nothing is.
	run, model func(observe.WorkEnd)
}

// overlay is a context of the runtime with the values that the tracers gave the run.
type overlay struct {
	context.Context
	base, values context.Context
}

func (o overlay) Value(key any) any {
	if v := o.values.Value(key); v != nil && !same(v, o.base.Value(key)) {
		return v
	}
	return o.Context.Value(key)
}

// same reports whether two values are equal. Values that cannot be compared are none of a tracer's.
func same(v, w any) bool {
	return !reflect.ValueOf(v).Comparable() || w != nil && reflect.ValueOf(w).Comparable() && v == w
}

// within returns a context of the runtime within the run.
func (w *work) within(ctx context.Context) context.Context {
	if w.values == nil {
		return ctx
	}
	return overlay{ctx, w.base, w.values}
}

// Describe says what the model is that the runtime asks, for observers. Call it before [Run.Next]. Where the
// policy asks for another model, observers are told that one's name.
func (r *Run) Describe(about machine.ModelInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.work.about = about
}

// begin reports work within the run.
func (r *Run) begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	w.CorrelationID, w.At = r.runner.State().Session.ID(), r.now()
	ctx = observe.WithSecrets(r.work.within(ctx), &r.secrets)
	return r.work.tracers.Begin(ctx, w)
}

// runBegins reports the begin of a run of the core.
func (r *Run) runBegins() {
	if len(r.work.tracers) == 0 {
		return
	}
	values, end := r.begin(r.ctx, observe.Work{Kind: observe.WorkRun, Info: r.work.about})
	r.work.base, r.work.values, r.work.run = r.ctx, values, end
}

// runEnds reports the end of a run of the core.
func (r *Run) runEnds(err error) {
	r.modelEnds(message.Reply{}, err, nil)
	if end := r.work.run; end != nil {
		e := loop.WorkEnd(r.runner.State().Outcome, err)
		e.At = r.now()
		end(e)
	}
	r.work = work{tracers: r.work.tracers, about: r.work.about}
}

// modelBegins reports that the runtime asks the model. A call without an outcome is asked again.
func (r *Run) modelBegins() {
	if r.work.model == nil && len(r.work.tracers) > 0 {
		asked := observe.ModelWork(&r.asked)
		asked.Structured = r.cfg.Settings.Output != nil
		if asked.Model == "" {
			asked.Info = r.work.about
		}
		_, r.work.model = r.begin(r.ctx, asked)
	}
}

// modelEnds reports that the model call under way has its outcome.
func (r *Run) modelEnds(reply message.Reply, err error, effects []machine.Effect) {
	if end := r.work.model; end != nil {
		r.work.model = nil
		e := observe.ModelEnd(reply, err, effects)
		e.At = r.now()
		end(e)
	}
}

// replyEnds reports the end of a model call by the event that it led to.
func (r *Run) replyEnds(ev *machine.Event, effects []machine.Effect) {
	switch ev.Kind {
	case machine.Replied:
		r.modelEnds(ev.Reply.Message, nil, effects)
	case machine.CallFailed:
		r.modelEnds(message.Reply{}, r.classified(r.last), effects)
	}
}

// Begins reports that the runtime runs the call's tool, and returns the context for it. It is reported once
// for each try; [Call.End] and [Call.Leave] report the end.
func (c *Call) Begins(ctx context.Context) context.Context {
	r := c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cfg.Observers) == 0 || c.c.run == nil {
		return ctx
	}
	values, end := r.begin(ctx, observe.Work{Kind: observe.WorkTool, Tool: c.c.run.Tool, CallID: c.c.run.ID,
		Transport: c.c.run.Transport})
	c.c.end = end
	return valued{ctx, values}
}

// ends reports the end of the try under way.
func (c *Call) ends(out tool.Outcome) {
	if end := c.c.end; end != nil {
		c.c.end = nil
		e := observe.ToolEnd(out)
		e.At = c.r.now()
		end(e)
	}
}

// valued is a context with the values of another.
type valued struct {
	context.Context
	values context.Context
}

func (v valued) Value(key any) any { return v.values.Value(key) }
