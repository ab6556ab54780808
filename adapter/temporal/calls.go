package temporal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// slack is how much longer than a call the engine waits for its outcome: the call's own end is a failure, and the policy's.
const slack = time.Minute

// once is how an activity is run: again only where its worker died.
func (f *flow) once(ctx workflow.Context, bound time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: bound + slack,
		HeartbeatTimeout:    f.Heartbeat,
		RetryPolicy: &sdk.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 1, MaximumAttempts: int32(f.begun.Deaths) + 1,
			NonRetryableErrorTypes: []string{"payloadSizeError", "PayloadSizeError", "PanicError"},
		},
	})
}

// missed is what an activity without an outcome amounts to: a failure where every worker died, else an error that ends the run.
func (f *flow) missed(err error, what string) (*RemoteError, error) {
	if _, ok := errors.AsType[*sdk.TimeoutError](err); ok {
		f.paid++
		text := fmt.Sprintf("%s was begun %d times and has no outcome: it may have been paid for", what, f.begun.Deaths+1)
		f.note(journal.Note{Kind: journal.MaybePaid, At: f.now(), Text: text})
		return &RemoteError{Text: text, Seen: fault.Failure{
			Plane: fault.Transport, Class: fault.Timeout, Message: "no worker lived to say what came of it",
		}}, nil
	}
	return nil, fmt.Errorf("%s: %w", what, err)
}

// call calls the model.
func (f *flow) call(m *machine.ModelCall) error {
	if err := f.adjust(); err != nil {
		return err
	}
	said := f.st.Transcript.Slice(f.keptLen, f.st.Transcript.Len())
	in := modelCall{
		Call: *m, Output: f.in.Output, Tools: f.in.Tools, Only: f.in.Config.CallsOnly, Reading: readingOf(f.settings),
		Kept: f.kept, Said: said, Trail: f.trail,
	}
	if err := f.measure("the conversation of a model call", in); err != nil {
		return err
	}
	ctx, stop := workflow.WithCancel(f.ctx)
	defer stop()
	future := workflow.ExecuteActivity(f.once(ctx, f.ModelTimeout), f.named("model"), over(in))
	if on, err := f.until(future.IsReady); !on || err != nil {
		return err
	}
	var out wire[modelResult]
	if err := future.Get(f.ctx, &out); err != nil {
		failed, err := f.missed(err, "the model call")
		if err != nil {
			return err
		}
		out.v = modelResult{Failure: failed}
	}
	return f.called(in, out.v)
}

// called feeds what came of a model call.
func (f *flow) called(in modelCall, out modelResult) error {
	f.follow(in.Trail, out.Trail)
	f.lost(out.Tries, "the model call")
	if err := out.Trouble.err(); err != nil {
		return err
	}
	if out.Kept != "" {
		f.kept, f.keptLen = out.Kept, f.keptLen+len(in.Said)
	}
	f.err, f.cause, f.errs = out.Failure, nil, nil
	if out.Failure != nil {
		return f.step(machine.Event{Kind: machine.CallFailed, Failure: &out.Failure.Seen})
	}
	if out.Reply == nil {
		return errors.New("the model activity gave neither a reply nor a failure")
	}
	if a := out.Reply.Answer; a != nil && len(a.Issues) == 0 {
		reduced, err := f.reduce(loop.AnswerEvents(out.Reply.Message, a))
		if err != nil {
			return err
		}
		if a.Reduced = reduced; reduced.Error != nil {
			f.err = refusal(reduced.Error)
		}
	}
	return f.step(machine.Event{Kind: machine.Replied, Reply: out.Reply})
}

// measure says whether a value may be sent in one piece.
func (f *flow) measure(what string, v any) error {
	if f.begun.MaxPayload == policy.Unlimited {
		return nil
	}
	doc, err := canon.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fits(f.begun.MaxPayload, what, len(doc))
}

// running is a tool call under way.
type running struct {
	run machine.ToolRun
	// out is its outcome, nil until it is there; err is why there is none.
	out  *toolResult
	err  error
	stop workflow.CancelFunc
}

// runTools runs the calls of a reply, some at a time, and feeds their outcomes in call order.
func (f *flow) runTools(runs []machine.ToolRun) error {
	ctx, stop := workflow.WithCancel(f.ctx)
	defer func() { stop(); f.running = nil }()
	slots := workflow.NewSemaphore(ctx, int64(f.begun.Parallel))
	f.running = nil
	for _, run := range runs {
		own, end := workflow.WithCancel(ctx)
		r := &running{run: run, stop: end}
		f.running = append(f.running, r)
		workflow.Go(own, func(ctx workflow.Context) {
			if r.err = slots.Acquire(ctx, 1); r.err == nil {
				r.out, r.err = f.invoke(ctx, run)
				slots.Release(1)
			}
		})
	}
	for _, r := range f.running {
		if on, err := f.until(func() bool { return r.out != nil || r.err != nil }); !on || err != nil {
			return err
		}
		if err := f.ended(r); err != nil {
			return err
		}
	}
	return nil
}

// invoke runs one call.
func (f *flow) invoke(ctx workflow.Context, run machine.ToolRun) (*toolResult, error) {
	var out wire[toolResult]
	in := toolCall{Run: run, Trail: f.trail}
	err := f.measure("the arguments of a call of "+run.Tool, in)
	if err != nil {
		return nil, err
	}
	if err = workflow.ExecuteActivity(f.once(ctx, f.ToolTimeout), f.named("tool"), over(in)).Get(ctx, &out); err == nil {
		f.follow(in.Trail, out.v.Trail)
	}
	return &out.v, err
}

// ended feeds the outcome of one call.
func (f *flow) ended(r *running) error {
	out, err := r.outcome(f)
	if err != nil {
		return err
	}
	f.lost(out.Tries, "a call of "+r.run.Tool)
	if err := out.Trouble.err(); err != nil {
		return err
	}
	if err := f.adjust(); err != nil {
		return err
	}
	if f.err = out.Failure; f.err != nil {
		if f.errs == nil {
			f.errs = map[int]*RemoteError{}
		}
		f.errs[r.run.Index] = f.err
	}
	end := out.End
	if end == nil {
		end = &machine.ToolEnd{Index: r.run.Index, Verdict: machine.Broke, Failure: &out.Failure.Seen}
	}
	if end.Verdict == machine.Done {
		events := slices.Concat(loop.ToolEvents(r.run, tool.Outcome{Result: end.Result}), out.Events)
		if end.Reduced, err = f.reduce(events); err != nil {
			return err
		}
		if end.Reduced.Error != nil {
			f.err = refusal(end.Reduced.Error)
		}
	}
	return f.step(machine.Event{Kind: machine.ToolEnded, Tool: end})
}

// outcome is what came of a call, also where it has no outcome of its own.
func (r *running) outcome(f *flow) (*toolResult, error) {
	switch {
	case r.err == nil:
		return r.out, nil
	case sdk.IsCanceledError(r.err):
		return &toolResult{Failure: &RemoteError{
			Text: "the call was cancelled", Seen: fault.Failure{Plane: fault.Transport, Class: fault.Cancelled, Tool: r.run.Tool},
		}}, nil
	}
	failed, err := f.missed(r.err, "a call of "+r.run.Tool)
	return &toolResult{Failure: failed}, err
}

// try makes one try of a single action.
func (f *flow) try(t machine.TryRun) error {
	ctx, stop := workflow.WithCancel(f.ctx)
	defer stop()
	in := tryCall{Try: Try{TryRun: t, Feedback: f.st.Feedback(t.Action)}, Trail: f.trail}
	if err := f.measure("what a try is given", in); err != nil {
		return err
	}
	future := workflow.ExecuteActivity(f.once(ctx, f.ToolTimeout), f.named("try"), over(in))
	if on, err := f.until(future.IsReady); !on || err != nil {
		return err
	}
	var out wire[tryResult]
	if err := future.Get(f.ctx, &out); err != nil {
		failed, err := f.missed(err, "a try")
		if err != nil {
			return err
		}
		out.v = tryResult{Try: machine.Try{Failure: failed.Seen}, Failure: failed}
	}
	f.follow(in.Trail, out.v.Trail)
	f.lost(out.v.Tries, "a try")
	if err := out.v.Trouble.err(); err != nil {
		return err
	}
	if err := f.adjust(); err != nil {
		return err
	}
	f.err, f.cause = out.v.Failure, nil
	return f.step(machine.Event{Kind: machine.Tried, Try: &out.v.Try})
}

// sessionJSON is the session as it stands, for user code.
func (f *flow) sessionJSON() (json.RawMessage, error) { return f.st.Session.Snapshot() }

// reduce lets the reducers say what events change. Where there are none, nothing is written in the history.
func (f *flow) reduce(events []session.Event) (*machine.Reduced, error) {
	if !f.begun.Reducers {
		return &machine.Reduced{}, nil
	}
	said, err := f.conclude(false, events)
	if err != nil {
		return nil, err
	}
	if said.Reduced == nil {
		return nil, errors.New("the reducers said nothing")
	}
	return said.Reduced, nil
}
