package loop

import (
	"context"
	"errors"
	"sync"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// batch are calls that run at the same time.
type batch struct {
	runs     []machine.ToolRun
	outcomes []chan tool.Outcome
	// calls are those that have begun here; nil for others.
	calls []*outer
	// release ends the context of the calls.
	release context.CancelCauseFunc
	// begun is the number of calls that began, in call order.
	begun int

	mu sync.Mutex
	// turn is the index of the next outcome to enter. over reports that no more enter.
	turn int
	over bool
}

// beginUpTo begins the calls before index n that have not begun. A call whose outcome is in the journal is
// not run.
func (p *process) beginUpTo(ctx context.Context, b *batch, n int) error {
	for ; b.begun < min(n, len(b.runs)) && ctx.Err() == nil; b.begun++ {
		run, ended := b.runs[b.begun], make(chan tool.Outcome, 1)
		b.outcomes[b.begun] = ended
		cutOff := p.cutOffBefore(run)
		past, err := p.runner.ToolBegins(p.now(), run)
		if err != nil {
			return err
		}
		if past != nil {
			ended <- *past
			continue
		}
		call := p.around(run)
		call.cutOff = cutOff
		b.calls[b.begun] = call
		go p.runOne(ctx, b, b.begun, call, p.invocation(run))
	}
	return nil
}

// runOne runs call n of a batch. A tool that ends its goroutine has an outcome, too.
func (p *process) runOne(ctx context.Context, b *batch, n int, call *outer, inv tool.Invocation) {
	out := tool.Outcome{Err: tool.ErrExited}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if left := call.stuck.Load(); left != nil && out.Err != nil {
			b.release(left) // no other call can help it
		}
		if (b.over || b.turn < n) && !call.isLeft(&out) {
			p.land(ctx, b.runs[n], out)
		}
		b.outcomes[n] <- out
	}()
	out = p.invoke(context.WithValue(ctx, viewKey{}, call), call.Run, inv)
	if call.cutOff && !call.inside.Load() {
		engine.CutOff(&out)
	}
}

// cutOffBefore reports whether a call began before, without an outcome: its process died.
func (p *process) cutOffBefore(run machine.ToolRun) bool {
	if p.journal == nil || !run.Repeatable || run.ReadOnly { // it is not made again, or has no effect
		return false
	}
	began, _ := p.journal.Call(run.Key, run.Transport)
	return began
}

// around returns a call that begins as a run within it knows it.
func (p *process) around(run machine.ToolRun) *outer {
	call := &outer{process: p,
		Outer: engine.Outer{State: p.runner.State(), Run: run, Depth: p.depth, Deepest: p.deepest}}
	if p.journal == nil || !p.journal.Unfinished() {
		return call
	}
	if t, ok := p.cfg.Tools.Get(run.Tool); ok && t.Repeatable() && run.Repeatable {
		call.again, call.until = true, p.until // the call is made again, and goes on inside
	}
	return call
}

// isLeft reports whether a call ended because the run within it was left to be continued.
func (o *outer) isLeft(out *tool.Outcome) bool {
	return o != nil && out.Err != nil && (o.left.Load() || o.stuck.Load() != nil)
}

// leaveTools leaves the calls of a reply from call n on; a run within call n was left. The calls are made
// when the run goes on. If the run ends before that, they are in doubt. Outcomes of later calls that have
// begun are waited for, and recorded.
func (p *process) leaveTools(ctx context.Context, b *batch, n int) ([]machine.Effect, error) {
	b.end(-1)
	for m := n + 1; m < b.begun; m++ {
		select {
		case <-b.outcomes[m]:
		case <-ctx.Done():
			return p.cut(ctx)
		}
	}
	p.asked = new(p.runner.State().Left(*p.asked))
	return nil, errCallLeft
}

// errOver is the cause of the end of a tool's context if another call of the reply ended the run.
var errOver = errors.New("loop: the run has ended")

// runTools runs the calls of a reply, each on its own goroutine and at most p.parallel at a time, and feeds
// their outcomes in call order. A further call begins only after an outcome has entered, because an outcome
// may end the run. When the context ends it does not wait for the calls: their results are dropped, or
// recorded if the run is left to be resumed.
func (p *process) runTools(
	ctx context.Context, runs []machine.ToolRun,
) (effects []machine.Effect, err error) {
	b := &batch{runs: runs, outcomes: make([]chan tool.Outcome, len(runs)), calls: make([]*outer, len(runs))}
	ctx, b.release = context.WithCancelCause(ctx)
	defer b.release(errOver) // of calls that still run
	defer b.end(-1)
	for n, run := range b.runs {
		b.await(n)
		if err := p.beginUpTo(ctx, b, n+p.parallel); err != nil {
			return nil, err
		}
		select {
		case out := <-b.outcomes[n]:
			switch left := b.calls[n].isLeft(&out); {
			case left && ctx.Err() != nil:
				return p.cut(ctx)
			case left:
				return p.leaveTools(ctx, b, n)
			}
			if effects, err = p.toolEnded(ctx, run, out); err != nil || p.runner.State().Phase == machine.Stopped {
				return effects, err
			}
		case <-ctx.Done():
			if out := b.end(n); out != nil && !b.calls[n].isLeft(out) {
				return p.toolEnded(ctx, run, *out)
			}
			return p.cut(ctx)
		}
	}
	return effects, nil
}

// await sets whose outcome enters next.
func (b *batch) await(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn = n
}

// end records that no more outcomes enter, and returns that of call n if it has come in the meantime.
func (b *batch) end(n int) *tool.Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if n < 0 {
		return nil
	}
	select {
	case out := <-b.outcomes[n]:
		return &out
	default:
		return nil
	}
}

// toolEnded feeds the outcome of a call. If the run is left to be resumed, the outcome is recorded for then.
func (p *process) toolEnded(
	ctx context.Context, run machine.ToolRun, out tool.Outcome,
) ([]machine.Effect, error) {
	if ctx.Err() != nil {
		effects, err := p.cut(ctx)
		if errors.Is(err, ErrSuspended) {
			p.land(ctx, run, out)
		}
		return effects, err
	}
	unadjusted := p.adjustedAfter(ctx, run, out)
	delete(p.failed, run.Index)
	if p.err = out.Err; out.Err != nil {
		if p.failed == nil {
			p.failed = map[int]failedCall{}
		}
		p.failed[run.Index] = failedCall{run, out}
	}
	effects, err := p.runner.ToolEnded(p.now(), run, out)
	if unadjusted != nil { // the outcome is known all the same
		return nil, unadjusted
	}
	return effects, err
}

// adjustedAfter is adjustPolicy once a call has an outcome, which is recorded if the user's function panics.
func (p *process) adjustedAfter(ctx context.Context, run machine.ToolRun, out tool.Outcome) error {
	returned := false
	defer func() {
		if !returned {
			p.land(ctx, run, out)
		}
	}()
	err := p.adjustPolicy()
	returned = true
	return err
}

// invocation returns what a call knows about itself.
func (p *process) invocation(run machine.ToolRun) tool.Invocation {
	at := p.runner.State().Attempt(run.Tool)
	return tool.Invocation{
		Key: run.Key, CallID: run.ID, SessionID: p.s.ID(), Attempt: at.Attempt, MaxAttempts: at.MaxAttempts,
		Transport: run.Transport, Progress: run.Progress, Checked: p.runner.Checked(run),
	}
}

type viewKey struct{}

// View returns the session of the run when the call of a tool began. It is read-only; session.View reads
// its slices. ok is false if the context is not that of a run; on Temporal also if the worker gives no view.
func View(ctx context.Context) (view session.State, ok bool) {
	switch v := ctx.Value(viewKey{}).(type) {
	case *outer:
		return v.State.Session, true
	case session.State:
		return v, true
	}
	return view, false
}

// WithView returns a context in which [View] returns view: for engines that run tools themselves.
func WithView(ctx context.Context, view session.State) context.Context {
	return context.WithValue(ctx, viewKey{}, view)
}

func (p *process) invoke(ctx context.Context, run machine.ToolRun, inv tool.Invocation) (out tool.Outcome) {
	ctx, end := p.begin(ctx, observe.Work{Kind: observe.WorkTool, Tool: run.Tool, CallID: run.ID,
		Transport: run.Transport})
	out.Err = tool.ErrExited
	defer func() {
		if len(p.tracers) > 0 {
			end(observe.ToolEnd(out))
		}
	}()
	if p.journal != nil || p.teller != nil {
		inv.Report = p.reporting(ctx, run)
	}
	ctx = tool.WithInvocation(ctx, inv)
	t, _ := p.cfg.Tools.Get(run.Tool)
	return t.InvokeWithin(ctx, run.Arguments, run.Timeout, p.alarms.set)
}

// reporting returns the function that records and reports a tool's progress. It is safe for concurrent use.
func (p *process) reporting(ctx context.Context, run machine.ToolRun) func(progress []byte) {
	return func(progress []byte) { p.progress(ctx, &run, progress) }
}

func (p *process) progress(ctx context.Context, run *machine.ToolRun, progress []byte) {
	at := p.clock.Now().UTC().Round(0)
	if p.journal != nil { // if it cannot be written, the next step ends the run
		_ = p.journal.Note(journal.Note{Kind: journal.Progressed, At: at, Key: run.Key, Tool: run.Tool,
			Progress: progress})
	}
	p.tell(ctx, observe.Notice{
		Kind: observe.Progressed, CorrelationID: p.s.ID(), At: at, Action: run.Tool, Progress: progress,
	})
}
