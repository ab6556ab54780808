package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// begin returns what the worker has for a run that begins.
func (a *agent) begin(in order) begun {
	a.endReplay()
	b := begun{
		Behaviours: machine.Behaviours(), Reducers: len(a.Session.Reducers) > 0,
		Hears: engine.Hears(a.reducing), Adjust: a.Adjust != nil, Prompt: a.Prompt != nil,
		Planner: a.Planner != nil && !in.Person, Slow: a.Slow, View: a.View,
		Summaries: a.Summary != nil,
		Models:    a.modelNames(),
		Parallel:  a.Parallel, Deaths: a.Deaths, MaxPayload: a.MaxPayload, MaxEvents: a.MaxEvents,
	}
	tools, err := a.offered(in.Tools)
	if err == nil {
		var output *schema.Schema
		b.Tools = engine.Header(in.Config, engine.Offer{Tools: tools}).Tools
		b.Policy, b.Agents = new(tools.Policy(in.Config.Policy)), a.orders(tools)
		if b.Warnings, err = tools.Absent(&in.Config.Policy); err == nil {
			output, err = a.outputSchema(in.Output)
		}
		if err == nil && b.Policy.Meters() {
			b.Described = a.described(in.Config.Models)
			b.Offered = engine.Offer{Tools: tools, Output: output}.Size()
		}
		if err == nil {
			err = engine.Offer{Tools: tools, CallsOnly: in.Config.CallsOnly}.CheckChoice(in.Config.ToolChoice)
		}
		if err == nil && !in.Config.Single {
			err = a.lacks(b.Policy)
		}
	}
	if err == nil {
		b.Session, err = a.sessionFor(in)
	}
	switch {
	case err != nil:
	case in.Config.Single && a.Try == nil:
		err = errors.New("the agent makes no single actions: set Try of its worker")
	case !in.Config.Single && a.Model == nil:
		err = errors.New("the agent makes only single actions: set Model of its worker")
	}
	if err == nil {
		err = a.fitsAs("the description of the worker", b)
	}
	if err != nil {
		b.Session, b.Tools, b.Policy, b.Agents = nil, nil, nil, nil
		b.Trouble = troubled(fmt.Errorf("temporal: %w", err))
	}
	return b
}

// lacks returns an error for models of the policy that the worker does not have.
func (a *agent) lacks(p *policy.Set) error {
	if err := p.CheckModels(a.modelNames()); err != nil {
		return fmt.Errorf("policy: %w (the models of a run are the worker's Models)", err)
	}
	return nil
}

// described returns what is known of the models: what the order says, else what they say of themselves.
func (a *agent) described(known map[string]machine.ModelInfo) map[string]machine.ModelInfo {
	all := map[string]machine.ModelInfo{}
	for name, m := range a.Models {
		if d, ok := m.(loop.Describer); ok {
			all[name] = d.Describe()
		}
	}
	if d, ok := a.Model.(loop.Describer); ok {
		all[""] = d.Describe()
	}
	maps.Copy(all, known)
	return all
}

// modelNames returns the names of the worker's further models, sorted.
func (a *agent) modelNames() []string { return slices.Sorted(maps.Keys(a.Models)) }

// endReplay ends a replay at the first call of user code.
func (a *agent) endReplay() {
	if a.hooks.pastEnd != nil {
		a.hooks.pastEnd()
	}
}

// sessionFor returns the session that a run begins with.
func (a *agent) sessionFor(in order) ([]byte, error) {
	cfg := a.Session
	cfg.ID = in.Session
	s, err := session.New(cfg)
	if err == nil && in.After != nil {
		s, err = session.Restore(cfg, in.After)
	}
	if err != nil {
		return nil, err
	}
	return s.Snapshot()
}

// callModel is the activity of one model call. It also reads and checks the reply. A failure of the model
// is a value.
func (a *agent) callModel(ctx context.Context, in wire[modelCall]) (wire[modelResult], error) {
	out := modelResult{outcome: begins(ctx)}
	model, cfg, err := a.asking(in.v)
	if err != nil {
		out.Refused = refusedBy(err)
		return over(out), nil
	}
	stop := a.beat(ctx, nil)
	defer stop()
	if out.Reply, out.Failure, err = a.reply(ctx, model, cfg, in.v, &out); err != nil {
		out.Refused = refusedBy(err)
		return over(out), nil
	}
	return acted(ctx, a, "a model's reply", &out, &out.outcome)
}

// cutOffType is the type of Temporal's error of an activity whose worker stopped, or lost the server.
const cutOffType = "retake.cut_off"

// cutOff is the error of an activity whose context has ended. The workflow asks for that, or the worker.
func cutOff(ctx context.Context) error {
	if sdk.IsCanceledError(context.Cause(ctx)) {
		return ctx.Err()
	}
	return sdk.NewApplicationError("the worker stopped, or lost the server", cutOffType)
}

// acted is the result of an activity: an error if it was cut off, and trouble if it is too large for one
// payload. o is its outcome.
func acted[T any](ctx context.Context, a *agent, what string, result *T, o *outcome) (wire[T], error) {
	if ctx.Err() != nil && o.Failure != nil {
		return wire[T]{}, cutOff(ctx)
	}
	if err := a.fitsAs(what, *result); err != nil {
		tries := o.Tries
		*result = *new(T)
		o.Tries, o.Trouble = tries, troubled(err)
	}
	return over(*result), nil
}

// asking returns the worker's model, tools and output for a model call. The error names what is missing.
func (a *agent) asking(in modelCall) (loop.Model, loop.Config, error) {
	cfg := loop.Config{CallsOnly: in.Only}
	model := a.model(in.Call.Model)
	if model == nil {
		return nil, cfg, fmt.Errorf("there is no model %q: name one of the worker's Models", in.Call.Model)
	}
	var err error
	if cfg.Tools, err = a.ownTools(in.Tools); err == nil {
		cfg.Output, err = a.outputSchema(in.Output)
	}
	return model, cfg, err
}

// refusedBy is the text of a refusal in the history.
func refusedBy(err error) string { return "temporal: " + cut(utf8(err.Error()), maxText) }

// reply calls the model and reads its reply. The error is that of the store: the model was not called.
func (a *agent) reply(
	ctx context.Context, model loop.Model, cfg loop.Config, in modelCall, out *modelResult,
) (*machine.Reply, *RemoteError, error) {
	said, kept, err := a.transcripts.extend(ctx, in.Kept, in.Said)
	if err != nil {
		return nil, nil, err
	}
	out.Kept = kept
	asked := usercode.Prompt{Session: in.Session, Call: &in.Call, Said: said, Cuts: in.Cuts, Config: cfg}
	reply, err := usercode.Reply(ctx, model, asked, a.ModelTimeout)
	if err != nil {
		return nil, remote(err), nil
	}
	settings := in.Reading
	settings.Stop = func() bool { return ctx.Err() != nil }
	read := engine.Read(reply, engine.Offer{Tools: cfg.Tools, Output: cfg.Output, CallsOnly: cfg.CallsOnly},
		in.Call.ToolChoice, settings)
	if err := ctx.Err(); err != nil { // what was read until then is of no use
		return nil, remote(err), nil
	}
	return read, nil, nil
}

// callTool is the activity of one tool call.
func (a *agent) callTool(ctx context.Context, in wire[toolCall]) (wire[toolResult], error) {
	run := in.v.Run
	out := toolResult{outcome: begins(ctx)}
	t, err := a.tool(run.Tool, in.v.Schema)
	if err != nil {
		out.Refused = refusedBy(err)
		return over(out), nil
	}
	if out.Tries > 1 && !(run.Repeatable && t.Repeatable()) {
		o := tool.Outcome{Err: tool.ErrUnknown}
		out.ends(a.reducing, run, o)
		return over(out), nil
	}
	p := &progress{}
	if last := ""; activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &last) == nil {
		run.Progress = json.RawMessage(last) // of the worker that died
	}
	stop := a.beat(ctx, p)
	defer stop()
	calling := tool.WithInvocation(ctx, tool.Invocation{
		Key: run.Key, CallID: run.ID, SessionID: in.v.Session, Attempt: in.v.At.Attempt,
		MaxAttempts: in.v.At.MaxAttempts, Transport: run.Transport, Progress: run.Progress,
		Report: func(doc []byte) {
			// If a heartbeat is too large, Temporal would repeat the call. The outcome then
			// reports the size.
			if fits(a.MaxPayload, "", len(doc)) == nil {
				p.set(doc)
				activity.RecordHeartbeat(ctx, string(doc))
			}
		},
	})
	if len(in.v.View) > 0 {
		view, err := session.ParseState(in.v.View)
		if err != nil {
			return wire[toolResult]{}, err
		}
		calling = loop.WithView(calling, view)
	}
	o := t.InvokeWithin(calling, run.Arguments, cmp.Or(run.Timeout, a.ToolTimeout), usercode.After)
	if out.Tries > 1 && !run.ReadOnly {
		engine.CutOff(&o)
	}
	out.ends(a.reducing, run, o)
	out.Events = o.Events
	return acted(ctx, a, "the result of "+run.Tool, &out, &out.outcome)
}

// ends sets the outcome of a call. Its error is classified as in process.
func (r *toolResult) ends(reducing *session.Session, run machine.ToolRun, o tool.Outcome) {
	r.End, r.Failure = engine.EndOf(reducing, run, o), remote(o.Err)
	if r.Failure != nil {
		r.Failure.Seen = *r.End.Failure
	}
}

// makeTry is the activity of one attempt of a single action.
func (a *agent) makeTry(ctx context.Context, in wire[tryCall]) (wire[tryResult], error) {
	out := tryResult{outcome: begins(ctx)}
	if a.Try == nil {
		out.Refused = "temporal: this worker has no Try, but the action needs it"
		return over(out), nil
	}
	stop := a.beat(ctx, nil)
	defer stop()
	limits := engine.Limits{Whole: cmp.Or(in.v.Try.Timeout, a.ToolTimeout), Late: "the try did not return"}
	usage, err := engine.Call(ctx, limits, usercode.After,
		func(ctx context.Context, _ engine.Tell) (message.Usage, error) {
			return usercode.Contained(func() (message.Usage, error) { return a.Try(ctx, in.v.Try) })
		})
	if ctx.Err() != nil && err != nil {
		return wire[tryResult]{}, cutOff(ctx)
	}
	if out.Try.Usage = usage; errors.Is(err, ErrAbandoned) {
		out.Try.Abandoned = true
	} else if err != nil {
		action := in.v.Try.Action
		rules := fault.TryRules{Tool: action, Classify: a.Classify, Words: in.v.Words && action == ""}
		out.Failure, out.Try.Failure = remote(err), fault.Recordable(rules.Failure(err), err)
		out.Failure.Seen, out.Try.RateLimit = out.Try.Failure, engine.RateLimit(err)
		if by := out.Failure.Reducer; by != nil && out.Try.Failure.Class == fault.Reducer {
			by.Message = fault.Scrub(by.Message)
			out.Try.Failure, out.Try.Reduced = fault.Failure{}, &machine.Reduced{Error: by}
		}
	}
	return acted(ctx, a, "the outcome of an attempt", &out, &out.outcome)
}

// fitsAs returns an error if a value is too large for one payload.
func (a *agent) fitsAs(what string, v any) error { return measured(a.MaxPayload, what, v) }

// begins is the outcome of an activity that begins.
func begins(ctx context.Context) outcome { return outcome{Tries: activity.GetInfo(ctx).Attempt} }

// progress is what a tool reported last.
type progress struct {
	mu   sync.Mutex
	last string
}

func (p *progress) set(doc []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = string(doc)
}

// details are the details of a heartbeat: the last report. A heartbeat without details would remove it.
func (p *progress) details() []any {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == "" {
		return nil
	}
	return []any{p.last}
}

// beat sends heartbeats by a clock until the call ends, because a model may be silent for long.
func (a *agent) beat(ctx context.Context, p *progress) (stop func()) {
	done := make(chan struct{})
	most := cmp.Or(activity.GetInfo(ctx).HeartbeatTimeout, a.Heartbeat) // of the worker that asked
	ticker := time.NewTicker(max(most/3, time.Millisecond))
	var over sync.WaitGroup
	over.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				activity.RecordHeartbeat(ctx, p.details()...)
			case <-done:
				return
			}
		}
	})
	return func() { close(done); over.Wait() }
}
