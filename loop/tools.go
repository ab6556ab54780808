package loop

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// runTools runs the calls of a reply, and feeds their outcomes in call order. One that is alone is run on the goroutine of the
// run, unless the options detach it; several run on goroutines of their own, at most d.parallel at a time.
func (d *driver) runTools(ctx context.Context, runs []machine.ToolRun) ([]machine.Effect, error) {
	if len(runs) > 1 || d.detached {
		return d.collectTools(ctx, &batch{runs: runs, outcomes: make([]chan tool.Outcome, len(runs))})
	}
	switch past, err := d.runner.ToolBegins(d.now(), runs[0]); {
	case err != nil:
		return nil, err
	case past != nil:
		return d.toolEnded(ctx, runs[0], *past)
	}
	return d.toolEnded(ctx, runs[0], d.invokeHere(ctx, runs[0]))
}

// batch are calls that run at the same time.
type batch struct {
	runs     []machine.ToolRun
	outcomes []chan tool.Outcome
	// begun counts the calls that began, in call order.
	begun int
	// turn is the place of the call whose outcome enters next, over is set when no more enter.
	turn atomic.Int32
	over atomic.Bool
}

// beginUpTo begins the calls before place n that have not begun. A call whose outcome the journal has needs no run.
func (d *driver) beginUpTo(ctx context.Context, b *batch, n int) error {
	for ; b.begun < min(n, len(b.runs)) && ctx.Err() == nil; b.begun++ {
		ended := make(chan tool.Outcome, 1)
		b.outcomes[b.begun] = ended
		past, err := d.runner.ToolBegins(d.now(), b.runs[b.begun])
		if err != nil {
			return err
		}
		if past != nil {
			ended <- *past
			continue
		}
		go d.runOne(ctx, b, b.begun)
	}
	return nil
}

// runOne runs call n of a batch. A tool that ends its goroutine has an outcome too.
func (d *driver) runOne(ctx context.Context, b *batch, n int) {
	out := tool.Outcome{Err: ErrToolExited}
	defer func() {
		if b.over.Load() || int(b.turn.Load()) < n {
			d.land(ctx, b.runs[n], out)
		}
		b.outcomes[n] <- out
	}()
	out = d.invoke(ctx, b.runs[n])
}

// collectTools runs a batch and feeds its outcomes. A further call begins once an outcome has entered and the run goes on: one that has
// not entered may end it. When the context ends it does not wait for the calls: what they return then is dropped, or noted where the run
// is left to be resumed.
func (d *driver) collectTools(ctx context.Context, b *batch) (effects []machine.Effect, err error) {
	defer b.over.Store(true)
	for n, run := range b.runs {
		b.turn.Store(int32(n))
		if err := d.beginUpTo(ctx, b, n+d.parallel); err != nil {
			return nil, err
		}
		select {
		case out := <-b.outcomes[n]:
			if effects, err = d.toolEnded(ctx, run, out); err != nil || d.runner.st.Phase == machine.Stopped {
				return effects, err
			}
		case <-ctx.Done():
			return d.cancel(ctx)
		}
	}
	return effects, nil
}

// toolEnded feeds the outcome of a call. That of a run which is left to be resumed is kept for then.
func (d *driver) toolEnded(ctx context.Context, run machine.ToolRun, out tool.Outcome) ([]machine.Effect, error) {
	if ctx.Err() != nil {
		effects, err := d.cancel(ctx)
		if errors.Is(err, ErrSuspended) {
			d.land(ctx, run, out)
		}
		return effects, err
	}
	if err := d.adjustPolicy(); err != nil {
		return nil, err
	}
	if d.err = out.Err; out.Err != nil {
		d.asked = with(d.asked, run.Index, broke{run.Tool, out.Err})
	} else {
		delete(d.asked, run.Index)
	}
	d.tool = run.Tool
	return d.runner.ToolEnded(d.now(), run, out)
}

// broke is the error of a call that did not come through.
type broke struct {
	tool string
	err  error
}

func with(errs map[int]broke, n int, b broke) map[int]broke {
	if errs == nil {
		errs = map[int]broke{}
	}
	errs[n] = b
	return errs
}

// ErrToolExited is the error of a tool that ended the goroutine it ran on, as the FailNow of a test does; where that was the
// goroutine of the run, it is what the run was cancelled by.
var ErrToolExited = errors.New("loop: the tool ended its goroutine (runtime.Goexit)")

// errExited is the same of whatever else a run calls.
var errExited = errors.New("loop: the model, or a function that was given, panicked or ended its goroutine (runtime.Goexit)")

// invokeHere runs a call on the goroutine of the run.
func (d *driver) invokeHere(ctx context.Context, run machine.ToolRun) tool.Outcome {
	d.exited = true // unless it returns
	out := d.invoke(ctx, run)
	d.exited = false
	return out
}

// exit ends a run whose goroutine was ended by what it called.
func (d *driver) exit() (Result, error) {
	if d.cause = errExited; d.exited {
		d.cause = ErrToolExited
	}
	if _, err := d.runner.Cancel(d.now(), d.cause); err != nil {
		return Result{}, d.broken(err)
	}
	return d.runner.Result(d.cause)
}

func (d *driver) invoke(ctx context.Context, run machine.ToolRun) (out tool.Outcome) {
	ctx, end := d.begin(ctx, &Work{Kind: WorkTool, Tool: run.Tool, CallID: run.ID, Transport: run.Transport})
	out.Err = ErrToolExited
	defer func() { end(toolRunEnd(out)) }()
	inv := tool.Invocation{Key: run.Key, CallID: run.ID}
	if d.runner.journal != nil || len(d.observers) > 0 {
		inv.Report = func(p []byte) { d.progress(run, p) }
	}
	ctx = tool.WithInvocation(ctx, inv)
	t, _ := d.cfg.Tools.Get(run.Tool)
	return t.Invoke(ctx, run.Arguments)
}

func (d *driver) progress(run machine.ToolRun, p []byte) {
	at := d.clock.Now().UTC().Round(0)
	d.note(run, at, p)
	if d.watch != nil {
		d.watch.progressed(d, Notice{Kind: Progressed, CorrelationID: d.s.ID(), At: at, Action: run.Tool, Progress: p})
	}
}
