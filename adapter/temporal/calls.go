package temporal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// slack is added to the time limit of an activity, so that the call's own timeout comes first and the
// policy decides on it.
const slack = time.Minute

// activityOptions returns activity options: at most so many attempts, repeated only if the worker died.
func (f *flow) activityOptions(ctx workflow.Context, bound time.Duration, most int) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: bound + slack,
		HeartbeatTimeout:    f.Heartbeat,
		RetryPolicy: &sdk.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 1, MaximumAttempts: int32(most),
			NonRetryableErrorTypes: []string{"payloadSizeError", "PayloadSizeError", "PanicError", notRegistered},
		},
	})
}

// notRegistered is the type of the SDK's error of a worker that does not have the agent of an activity.
const notRegistered = "ActivityNotRegisteredError"

// isOf reports whether an error, or one behind it, is Temporal's of a type.
func isOf(err error, kind string) bool {
	for e, ok := errors.AsType[*sdk.ApplicationError](err); ok; e, ok = errors.AsType[*sdk.ApplicationError](e.Unwrap()) {
		if e.Type() == kind {
			return true
		}
	}
	return false
}

// isLost reports that an activity has no outcome because its worker died, stopped or took too long.
func isLost(err error) bool {
	_, late := errors.AsType[*sdk.TimeoutError](err)
	return late || isOf(err, cutOffType)
}

// isUnseen reports that nobody knows what came of what was begun once: it is lost, or the store of ClaimCheck
// did not take its outcome.
func isUnseen(err error) bool { return isLost(err) || isOf(err, notStored) }

// missed handles an activity without an outcome. If every worker was lost, it returns a failure; any other
// error ends the run.
func (f *flow) missed(err error, what string) (*RemoteError, error) {
	if isLost(err) {
		return f.unseen(fmt.Sprintf("%s was begun %d times and has no outcome: it may have been paid for",
			what, f.begun.Deaths+1)), nil
	}
	return nil, fmt.Errorf("temporal: %s: %w", what, err)
}

// taken returns the error that ends the run, and notes what may have been paid for twice.
func (f *flow) taken(o outcome, what string) error {
	f.lost(o.Tries, what)
	return o.Trouble.err()
}

// perform executes an activity and waits for its result, and executes updates meanwhile. on is false if the
// run ended meanwhile; err says why there is no result.
func perform[T interface{ refusal() string }](
	f *flow, activity string, bound time.Duration, most int, in any,
) (out T, on bool, err error) {
	ctx, stop := workflow.WithCancel(f.ctx)
	defer stop()
	return askWorkers[T](f, f.activityOptions(ctx, bound, most), activity, in, f.until)
}

// askWorkers executes an activity and waits for its result by until. A worker that refuses, or does not have
// the agent, has begun nothing: it asks again, and another worker may take the activity.
func askWorkers[T interface{ refusal() string }](
	f *flow, ctx workflow.Context, activity string, in any, until func(ready func() bool) (bool, error),
) (out T, on bool, err error) {
	for asked := 1; ; asked++ {
		var got wire[T]
		future := workflow.ExecuteActivity(ctx, f.named(activity), in)
		if on, err := until(future.IsReady); !on || err != nil {
			return out, false, err
		}
		err := future.Get(ctx, &got)
		why := got.v.refusal()
		if isOf(err, notLoaded) {
			why = "temporal: the store of ClaimCheck does not give the input of a call"
		} else if isOf(err, notRegistered) {
			why = "temporal: a worker of the task queue does not have the agent " + f.Agent + ": register it in all of them"
		} else if err != nil || why == "" {
			return got.v, true, err
		}
		if err := f.tooOften(asked, why); err != nil {
			return out, true, err
		}
		timer := workflow.NewTimer(ctx, patience(asked))
		if on, err := until(timer.IsReady); !on || err != nil {
			return out, false, err
		}
	}
}

// tooOften ends the run if it was refused more often than workers may die.
func (f *flow) tooOften(asked int, why string) error {
	if asked <= f.begun.Deaths {
		return nil
	}
	return &RunError{fmt.Sprintf("%s (%d workers were asked)", why, asked)}
}

// maxPatience is the longest wait before the run asks again for a worker that has what the run needs.
const maxPatience = time.Minute

// patience is the wait after so many refusals: 1 s, doubled each time.
func patience(asked int) time.Duration {
	return min(time.Second<<min(asked-1, 10), maxPatience)
}

// CallModel calls the model.
func (f *flow) CallModel(m *machine.ModelCall) error {
	if err := f.adjust(); err != nil {
		return err
	}
	said := f.st.TranscriptFrom(f.keptLen)
	in := modelCall{
		Session: f.in.Session, Call: *m, Output: f.in.Output.short(), Tools: f.begun.Tools,
		Only: f.in.Config.CallsOnly, Reading: f.settings, Kept: f.kept, Said: said, Cuts: f.st.Cuts,
	}
	if err := f.measure("the conversation of a model call", in); err != nil {
		return err
	}
	f.calling = true
	bound := cmp.Or(m.Timeout, f.ModelTimeout)
	out, on, err := perform[modelResult](f, "model", bound, f.begun.Deaths+1, over(in))
	f.calling, f.left = false, false
	if !on {
		return err
	}
	if err != nil {
		out = modelResult{}
		if out.Failure, err = f.missed(err, "the model call"); err != nil {
			return err
		}
	}
	return f.called(in, out)
}

// called feeds the result of a model call to the core.
func (f *flow) called(in modelCall, out modelResult) error {
	if err := f.taken(out.outcome, "the model call"); err != nil {
		return err
	}
	if out.Kept != "" {
		f.kept, f.keptLen = out.Kept, f.keptLen+len(in.Said)
	}
	f.err, f.errs = out.Failure, nil
	if out.Failure != nil {
		return f.step(machine.Event{Kind: machine.CallFailed, Failure: &out.Failure.Seen,
			RateLimit: engine.RateLimit(out.Failure)})
	}
	if out.Reply == nil {
		return errors.New("temporal: the model activity returned neither a reply nor a failure")
	}
	return f.reduced(machine.Event{Kind: machine.Replied, Reply: out.Reply}, nil)
}

// measure returns an error if a value is too large for one payload.
func (f *flow) measure(what string, v any) error { return measured(f.begun.MaxPayload, what, v) }

// running is a tool call that runs.
type running struct {
	run machine.ToolRun
	// child is the id of the run that it makes, if it is that of an agent.
	child string
	// out is its outcome, nil until there is one; err says why there is none.
	out  *toolResult
	err  error
	stop workflow.CancelFunc
	// began is set when its activity is asked for, and entered when its outcome has been recorded.
	began, entered bool
}

// RunTools runs the calls of a reply, some at a time, and feeds their outcomes in call order.
func (f *flow) RunTools(runs []machine.ToolRun) error {
	ctx, stop := workflow.WithCancel(f.ctx)
	defer func() { stop(); f.running = nil }()
	f.running = nil
	entered := 0
	for n, run := range runs {
		own, end := workflow.WithCancel(ctx)
		r := &running{run: run, stop: end}
		f.running = append(f.running, r)
		workflow.Go(own, func(ctx workflow.Context) {
			// An outcome may end the run: a further call begins only after one has entered, as in process.
			r.err = workflow.Await(ctx, func() bool { return n < entered+f.begun.Parallel })
			if r.err != nil {
				return
			}
			r.began = true
			if in, ok := f.begun.Agents[run.Tool]; ok {
				r.out, r.err = f.nest(ctx, r, in)
			} else {
				r.out, r.err = f.invoke(ctx, run)
			}
		})
	}
	for _, r := range f.running {
		if on, err := f.until(func() bool { return r.out != nil || r.err != nil }); !on || err != nil {
			return err
		}
		if err := f.ended(r); err != nil || f.st.Phase != machine.Running { // the run may have ended
			return err
		}
		r.entered = true
		entered++
	}
	return nil
}

// invoke runs one call.
func (f *flow) invoke(ctx workflow.Context, run machine.ToolRun) (*toolResult, error) {
	in := toolCall{Run: run, Session: f.in.Session, At: f.st.Attempt(run.Tool)}
	for _, t := range f.begun.Tools {
		if t.Name == run.Tool {
			in.Schema = t.Schema
		}
	}
	var err error
	if f.begun.View {
		if in.View, err = f.sessionJSON(); err != nil {
			return nil, err
		}
	}
	if err = f.measure("the arguments of a call of "+run.Tool, in); err != nil {
		return nil, err
	}
	// A call that lost its worker may have had an effect.
	most := 1
	if run.Repeatable {
		most += f.begun.Deaths
	}
	own := f.activityOptions(ctx, cmp.Or(run.Timeout, f.ToolTimeout), most)
	out, _, err := askWorkers[toolResult](f, own, "tool", over(in),
		func(ready func() bool) (bool, error) { return true, workflow.Await(ctx, ready) })
	return &out, err
}

// ended feeds the outcome of one call to the core.
func (f *flow) ended(r *running) error {
	out, err := r.outcome(f)
	if err != nil {
		return err
	}
	if err := f.taken(out.outcome, "a call of "+r.run.Tool); err != nil {
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
	return f.reduced(machine.Event{Kind: machine.ToolEnded, Tool: end}, out.Events)
}

// outcome returns the outcome of a call, and makes one if the call was cancelled or lost its worker.
func (r *running) outcome(f *flow) (*toolResult, error) {
	switch {
	case r.err == nil:
		return r.out, nil
	case sdk.IsCanceledError(r.err):
		return &toolResult{outcome: outcome{Failure: &RemoteError{
			Text: "the call was cancelled",
			Seen: fault.Failure{Plane: fault.Transport, Class: fault.Cancelled, Tool: r.run.Tool},
		}}}, nil
	}
	if isUnseen(r.err) && !r.run.Repeatable {
		return f.unknown(r.run), nil
	}
	failed, err := f.missed(r.err, "a call of "+r.run.Tool)
	return &toolResult{outcome: outcome{Failure: failed}}, err
}

// unknown is the outcome of a call that began and lost its worker. The call is not repeated, and the model
// is told.
func (f *flow) unknown(run machine.ToolRun) *toolResult {
	doubt := f.doubt("a call of " + run.Tool)
	doubt.Seen.Tool = run.Tool
	end := &machine.ToolEnd{Index: run.Index, Verdict: machine.Unknown, Failure: &doubt.Seen}
	return &toolResult{outcome: outcome{Failure: doubt}, End: end}
}

// doubt notes that something began once and lost its worker.
func (f *flow) doubt(what string) *RemoteError {
	return f.unseen(what + " was begun and has no outcome: its effect may have happened")
}

// unseen notes that nobody knows what came of a call, and returns its failure.
func (f *flow) unseen(text string) *RemoteError {
	f.maybePaid(text)
	return &RemoteError{Text: text, Seen: fault.Failure{
		Plane: fault.Transport, Class: fault.Timeout, Message: "no worker lived to say what came of it",
	}}
}

// Try makes one attempt of a single action.
func (f *flow) Try(t machine.TryRun) error {
	in := tryCall{
		Try:   Try{TryRun: t, Feedback: f.st.Feedback(t.Action)},
		Words: f.st.PolicyOf(policy.Target{Plane: fault.Transport}).ClassifyWords,
	}
	if err := f.measure("the input of an attempt", in); err != nil {
		return err
	}
	out, on, err := perform[tryResult](f, "try", cmp.Or(t.Timeout, f.ToolTimeout), 1, over(in))
	if !on {
		return err
	}
	if err != nil {
		if !isUnseen(err) {
			return fmt.Errorf("temporal: an attempt: %w", err)
		}
		out = tryResult{outcome: outcome{Failure: f.doubt("a try")}, Try: machine.Try{Abandoned: true}}
	}
	if err := f.taken(out.outcome, "a try"); err != nil {
		return err
	}
	if err := f.adjust(); err != nil {
		return err
	}
	ev := machine.Event{Kind: machine.Tried, Try: &out.Try}
	if f.err = out.Failure; out.Try.Abandoned {
		if f.ending = out.Failure; f.ending != nil {
			ev.Failure = &f.ending.Seen
		}
	} else if out.Failure == nil {
		if out.Try.Reduced, err = f.reduce(engine.TryEvents(nil, t.Action, nil)); err != nil {
			return err
		}
	}
	return f.step(ev)
}

// sessionJSON is the current session, for user code.
func (f *flow) sessionJSON() (json.RawMessage, error) { return f.st.Session.Snapshot() }

// TellReducers runs the reducers on the notices of the run.
func (f *flow) TellReducers() error {
	said, err := f.callCode(thinkCall{Notices: f.st.Notices})
	if err != nil {
		return err
	}
	return f.step(machine.Event{Kind: machine.ReducersRan, Reductions: said.Reductions})
}

// reduce runs the reducers on events. Without reducers it adds nothing to the history.
func (f *flow) reduce(events []session.Event) (*machine.Reduced, error) {
	if !f.begun.Reducers {
		return &machine.Reduced{}, nil
	}
	said, err := f.callCode(thinkCall{Events: events})
	if err != nil {
		return nil, err
	}
	if said.Reduced == nil {
		return nil, errors.New("temporal: the reducers returned no result")
	}
	return said.Reduced, nil
}
