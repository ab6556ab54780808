package degrade

import (
	"context"
	"sync/atomic"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
)

// PlainText is a [planner.Planner] that accepts the text of an answer if no attempt matched its schema: the
// run succeeds, degraded and with a warning. Other questions go to Next; with a nil Next the policy is
// followed.
type PlainText struct{ Next planner.Planner }

// Plan degrades if only the structure of the answer is wrong.
func (p PlainText) Plan(ctx context.Context, q planner.Question) (machine.Plan, error) {
	if q.Plane == fault.Correction && q.Action == machine.AnswerAction &&
		q.Failure.Class == fault.StructuredOutput {
		return machine.Plan{Do: machine.Degrade, Warning: string(ParsingFailed)}, nil
	}
	if p.Next == nil {
		return machine.Plan{Do: machine.Follow}, nil
	}
	return p.Next.Plan(ctx, q)
}

// Guard returns an observer that forwards to o until o panics.
func Guard(f *Fallbacks, o observe.Observer) observe.Observer { return &guarded{f: f, to: o} }

type guarded struct {
	f   *Fallbacks
	to  observe.Observer
	off atomic.Bool
}

func (g *guarded) Observe(ctx context.Context, n observe.Notice) {
	if g.off.Load() {
		return
	}
	OrElse(ctx, g.f, TelemetryFailed, func(ctx context.Context) (struct{}, error) {
		g.to.Observe(ctx, n)
		return struct{}{}, nil
	}, func() struct{} { g.off.Store(true); return struct{}{} })
}

// Begin forwards to the observer if it is an [observe.Tracer].
func (g *guarded) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	t, ok := g.to.(observe.Tracer)
	if !ok || g.off.Load() {
		return ctx, nil
	}
	var end func(observe.WorkEnd)
	inner := OrElse(ctx, g.f, TelemetryFailed, func(ctx context.Context) (inner context.Context, _ error) {
		inner, end = t.Begin(ctx, w)
		return inner, nil
	}, func() context.Context { g.off.Store(true); return ctx })
	return inner, func(e observe.WorkEnd) { g.end(ctx, end, e) }
}

func (g *guarded) end(ctx context.Context, end func(observe.WorkEnd), e observe.WorkEnd) {
	if end == nil || g.off.Load() {
		return
	}
	OrElse(ctx, g.f, TelemetryFailed, func(context.Context) (struct{}, error) {
		end(e)
		return struct{}{}, nil
	}, func() struct{} { g.off.Store(true); return struct{}{} })
}
