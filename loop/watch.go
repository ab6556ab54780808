package loop

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// watch is what a driver does for observers and tracers. An option that gives one names it, so that a program without any does not link
// what tells them.
type watch struct {
	stepped    func(d *driver, at time.Time, failed *fault.ReducerError, effects []machine.Effect)
	progressed func(d *driver, all ...Notice)
	began      func(d *driver, ctx context.Context, w Work) (context.Context, func(WorkEnd))
	beganRun   func(d *driver, ctx context.Context, resumed bool) (context.Context, func(*machine.Outcome, error))
}

// watching is the one there is. Read-only.
var watching = watch{(*driver).tellStep, (*driver).tell, (*driver).beginTraced, (*driver).beginTracedRun}

// tellStep tells the observers of one step; failed is a reducer error that none of its effects is about, nil for none.
func (d *driver) tellStep(at time.Time, failed *fault.ReducerError, effects []machine.Effect) {
	if failed != nil {
		d.tell(Notice{
			Kind: ReducerFailed, CorrelationID: d.s.ID(), At: at, Action: d.tool, Plane: fault.Correction, Class: fault.Reducer,
			Reason: policy.ReducerError, Err: d.err, Reducer: failed.Reducer,
		})
	}
	for _, e := range effects {
		for _, n := range notices(d.s.ID(), at, e, d.err) {
			if n.Kind == Exhausted && !d.runner.ends() {
				n.Kind = ToolFailed
			}
			d.tell(n)
		}
	}
}

func (d *driver) tell(all ...Notice) {
	for _, n := range all {
		for _, o := range d.observers {
			tell(d.ctx, o, n)
		}
	}
}

func (d *driver) beginTraced(ctx context.Context, w Work) (context.Context, func(WorkEnd)) {
	w.CorrelationID, w.At = d.s.ID(), d.clock.Now().UTC().Round(0)
	inner := ctx
	ends := make([]func(WorkEnd), 0, len(d.tracers))
	for _, t := range d.tracers {
		values, end := begun(inner, t, w)
		inner = values
		ends = append(ends, end)
	}
	return scoped{ctx, inner}, func(e WorkEnd) {
		if e.At = d.clock.Now().UTC().Round(0); e.At.Before(w.At) {
			e.At = w.At
		}
		for _, end := range slices.Backward(ends) {
			told(end, e)
		}
	}
}

// begun tells one tracer, whatever it does.
func begun(ctx context.Context, t Tracer, w Work) (inner context.Context, end func(WorkEnd)) {
	defer func() {
		if recover() != nil || inner == nil {
			inner = ctx
		}
	}()
	return t.Begin(ctx, w)
}

// told tells one tracer of an end, whatever it does.
func told(end func(WorkEnd), e WorkEnd) {
	defer func() { _ = recover() }()
	if end != nil {
		end(e)
	}
}

// beginTracedRun is beginRun where there are tracers.
func (d *driver) beginTracedRun(ctx context.Context, resumed bool) (context.Context, func(*machine.Outcome, error)) {
	w := Work{Kind: WorkRun, Resumed: resumed}
	for _, t := range d.cfg.Tools.All() {
		w.Tools = append(w.Tools, t.Name())
	}
	ctx, end := d.begin(ctx, &w)
	d.ctx = ctx
	return ctx, func(o *machine.Outcome, err error) { end(runEnd(o, err)) }
}

// runEnd is how a run ended that returns err.
func runEnd(o *machine.Outcome, err error) WorkEnd {
	e := WorkEnd{Err: err}
	if o != nil {
		e.Usage = o.Usage
	}
	if exhausted, ok := errors.AsType[*RetryExhaustedError](err); ok {
		e.Class, e.Reason = exhausted.Failure.Class, exhausted.Reason
	} else if err != nil {
		e.Class = failureOf(err).Class
	} else if o != nil {
		e.Reason = o.Reason
	}
	return e
}
