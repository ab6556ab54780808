package loop

import (
	"context"
	"sync/atomic"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// runTools runs the calls of a reply, at most d.parallel at a time, and feeds their outcomes in call order. When the
// context ends it does not wait for the calls: what they return then is dropped.
func (d *driver) runTools(ctx context.Context, runs []machine.ToolRun) ([]machine.Effect, error) {
	b := &batch{runs: runs, outcomes: make([]chan tool.Outcome, len(runs))}
	slots := make(chan struct{}, d.parallel)
	// What the journal holds is read before any call runs, for calls that land are added to it.
	for n, run := range runs {
		b.outcomes[n] = make(chan tool.Outcome, 1)
		if landed, ok := d.landed.Result(run); ok {
			b.outcomes[n] <- outcomeOf(landed)
		}
	}
	for n, run := range runs {
		if len(b.outcomes[n]) > 0 {
			continue
		}
		go func() {
			select {
			case slots <- struct{}{}:
				out := d.invoke(ctx, run)
				if int(b.turn.Load()) < n {
					d.land(run, out)
				}
				b.outcomes[n] <- out
				<-slots
			case <-ctx.Done():
			}
		}()
	}
	return d.collectTools(ctx, b)
}

// batch are calls that run at the same time.
type batch struct {
	runs     []machine.ToolRun
	outcomes []chan tool.Outcome
	// turn is the place of the call whose outcome enters next.
	turn atomic.Int32
}

func (d *driver) collectTools(ctx context.Context, b *batch) (effects []machine.Effect, err error) {
	for n, run := range b.runs {
		b.turn.Store(int32(n))
		select {
		case out := <-b.outcomes[n]:
			if ctx.Err() != nil {
				return d.cancel(ctx)
			}
			if err := d.adjustPolicy(); err != nil {
				return nil, err
			}
			if d.err = out.Err; out.Err != nil {
				d.asked = with(d.asked, run.Index, out.Err)
			}
			d.tool = run.Tool
			if effects, err = d.runner.ToolEnded(d.now(), run, out); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return d.cancel(ctx)
		}
	}
	return effects, nil
}

func with(errs map[int]error, n int, err error) map[int]error {
	if errs == nil {
		errs = map[int]error{}
	}
	errs[n] = err
	return errs
}

func (d *driver) invoke(ctx context.Context, run machine.ToolRun) tool.Outcome {
	ctx, end := d.begin(ctx, Work{Kind: WorkTool, Tool: run.Tool, CallID: run.ID, Transport: run.Transport})
	t, _ := d.cfg.Tools.Get(run.Tool)
	ctx = tool.WithInvocation(ctx, tool.Invocation{Key: run.Key, CallID: run.ID, Report: func(p []byte) { d.progress(run, p) }})
	out := t.Invoke(ctx, run.Arguments)
	end(toolRunEnd(out))
	return out
}

func (d *driver) progress(run machine.ToolRun, p []byte) {
	at := d.clock.Now().UTC().Round(0)
	d.note(run, at, p)
	d.tell(Notice{Kind: Progressed, CorrelationID: d.s.ID(), At: at, Action: run.Tool, Progress: p})
}
