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
	g.unlessOff(ctx, func() { g.to.Observe(ctx, n) })
}

// Begin forwards to the observer if it is an [observe.Tracer].
func (g *guarded) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	t, ok := g.to.(observe.Tracer)
	if !ok {
		return ctx, nil
	}
	inner, end := ctx, (func(observe.WorkEnd))(nil)
	g.unlessOff(ctx, func() { inner, end = t.Begin(ctx, w) })
	return inner, func(e observe.WorkEnd) {
		if end != nil {
			g.unlessOff(ctx, func() { end(e) })
		}
	}
}

// unlessOff tells the observer something, unless it has panicked before.
func (g *guarded) unlessOff(ctx context.Context, tell func()) {
	if g.off.Load() {
		return
	}
	panicked := OrElse(ctx, g.f, TelemetryFailed, func(context.Context) (bool, error) {
		tell()
		return false, nil
	}, func() bool { return true })
	if panicked {
		g.off.Store(true)
	}
}
