package temporal

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// Options select the workflow of a run.
type Options struct {
	// ID is the id of the workflow and of the session. Starting a run again while it is running joins
	// it. Once it has ended that begins another one, unless Workflow.WorkflowIDReusePolicy is to reject
	// duplicates: then the end of the first is returned.
	ID string
	// TaskQueue is the task queue of the workers.
	TaskQueue string
	// Agent is the name of the [Worker]; empty means [DefaultAgent].
	Agent string
	// Tools are the names of the worker's tools to offer; nil offers all.
	Tools []string
	// Seed is the session's own seed of the jitter. It goes before that of the config or action; empty means
	// that one or, without one, the ID.
	Seed string
	// Session is the snapshot of the session after an earlier run ([Handle.Session] or
	// [session.Session.Snapshot]); nil begins a new one. The run continues its conversation.
	Session []byte
	// Person makes a person the planner instead of the worker's: see [Handle.Plan].
	Person bool
	// SearchAttributes sets [AttributeStatus], [AttributeAttempts] and [AttributeExhausted]. They must be
	// registered: otherwise the server refuses the start. A run of [Order] would wait for them without end.
	SearchAttributes bool
	// Workflow has further options of the workflow. Its ID and TaskQueue are ignored. A RetryPolicy or a
	// CronSchedule would make the whole run again, with all that it does.
	Workflow client.StartWorkflowOptions
	// MaxPayload is that of the [Worker].
	MaxPayload int
}

// Validate returns an error that joins all faults, each with its field; nil if there is none.
func (o Options) Validate() error {
	var errs []error
	if o.ID == "" {
		errs = append(errs, errors.New("id: is empty; give the session an id"))
	}
	if _, err := session.NewState(o.ID); err != nil {
		errs = append(errs, fmt.Errorf("id: %w", err))
	}
	if utf8(o.Seed) != o.Seed {
		errs = append(errs, fmt.Errorf("seed: %.64q: give UTF-8", o.Seed))
	}
	if o.TaskQueue == "" {
		errs = append(errs, errors.New("task_queue: is empty; give the task queue of the workers"))
	}
	if o.Session != nil {
		if s, err := session.ParseContents(o.Session); err != nil {
			errs = append(errs, fmt.Errorf("session: %w", err))
		} else if id := s.State.ID(); id != o.ID {
			errs = append(errs, fmt.Errorf("session: has the id %q, but the option ID is %q", id, o.ID))
		}
	}
	if o.MaxPayload < 0 && o.MaxPayload != policy.Unlimited {
		errs = append(errs, fmt.Errorf("max_payload: must be at least 1 byte, or policy.Unlimited, not %d",
			o.MaxPayload))
	}
	return errors.Join(errs...)
}

// Run executes [loop.Loop.Run] on workers, and waits for the end. cfg has only data: its Tools must be nil,
// because tools belong to the worker, and so must its Estimate.
//
// A run without an answer returns a [loop.RetryExhaustedError] with the reducer's, tool's or provider's
// error, if there is one. A [SizeError] or a [RunError] says why the run could not continue. Any other
// error is Temporal's. The run continues when ctx ends: see [Handle.Cancel].
func Run(
	ctx context.Context, c client.Client, o Options, in loop.Input, cfg loop.Config,
) (loop.Result, error) {
	h, err := Start(ctx, c, o, in, cfg)
	if err != nil {
		return loop.Result{}, err
	}
	return h.Result(ctx)
}

// Generate executes [loop.Generate] on workers: the answer has type T. The worker needs T's schema in its
// Outputs.
func Generate[T any](
	ctx context.Context, c client.Client, o Options, in loop.Input, cfg loop.Config,
) (loop.Answer[T], error) {
	typed, err := schema.For[T]()
	if err != nil {
		return loop.Answer[T]{}, err
	}
	cfg.Output = typed.Schema()
	result, err := Run(ctx, c, o, in, cfg)
	a := loop.Answer[T]{Result: result}
	if err != nil || result.Degraded {
		return a, err
	}
	value, issues := typed.Decode(result.Value)
	if len(issues) > 0 {
		return a, fmt.Errorf("temporal: the accepted answer does not decode into %T: %s", value, issues[0])
	}
	a.Value = value
	return a, nil
}

// Do executes [loop.Do] on workers, with [Worker].Try as the function, and waits for the end.
func Do(ctx context.Context, c client.Client, o Options, a *loop.Action) error {
	m, err := a.Machine()
	if err != nil {
		return err
	}
	h, err := start(ctx, c, o, order{Config: m}, nil)
	if err != nil {
		return err
	}
	_, err = h.Result(ctx)
	return err
}

// Start starts a run and returns at once.
func Start(ctx context.Context, c client.Client, o Options, in loop.Input, cfg loop.Config) (*Handle, error) {
	run, err := orderOf(in, cfg)
	if err != nil {
		return nil, err
	}
	return start(ctx, c, o, run, &in)
}

// orderOf turns the input of a run and its config into an order without the conversation before the run.
func orderOf(in loop.Input, cfg loop.Config) (order, error) {
	if err := in.Validate(); err != nil {
		return order{}, fmt.Errorf("temporal: input: %w", err)
	}
	o, err := templateOf(cfg)
	if err != nil {
		return order{}, fmt.Errorf("temporal: %w", err)
	}
	o.Config.RequestID, o.Config.Deadline = in.RequestID, in.Deadline
	return o, nil
}

// templateOf turns the config of runs into an order without an input.
func templateOf(cfg loop.Config) (order, error) {
	if cfg.Tools != nil {
		return order{}, errors.New("tools: must be nil, because the worker has the tools; " +
			"name those to offer in Options.Tools")
	}
	if cfg.Estimate != nil {
		return order{}, errors.New("estimate: must be nil, because code is not sent to workers; " +
			"machine.EstimateTokens takes its place")
	}
	asked, choice := cfg.Consult, cfg.ToolChoice
	cfg.Consult, cfg.ToolChoice = nil, "" // as workers read them
	m, err := cfg.Machine()
	if err != nil && !leftToWorker(cfg) {
		return order{}, err
	}
	m.Consult, m.ToolChoice, m.Behaviours = asked, choice, nil
	deepest := cmp.Or(cfg.MaxDepth, loop.DefaultDepth)
	return order{Config: m, Output: outputOf(cfg.Output), Deepest: deepest}, nil
}

// leftToWorker reports whether nothing is wrong with a config but that the layers of its tools do not fit
// together. With the layers that the worker's tools declare they may, and the worker checks them.
func leftToWorker(cfg loop.Config) bool {
	if cfg.Policy == nil {
		return false
	}
	shared := *cfg.Policy
	for _, layers := range []map[string]policy.Layer{shared.Tools, shared.ToolTransport} {
		for _, l := range layers {
			if l.Validate() != nil {
				return false
			}
		}
	}
	shared.Tools, shared.ToolTransport, cfg.Policy = nil, nil, &shared
	_, err := cfg.Machine()
	return err == nil
}

// Order is the input of the workflow of a run, for those who start it by other means than [Start]:
// schedules, parent workflows, test environments. The name of the workflow is that of the agent.
func Order(o Options, in loop.Input, cfg loop.Config) (any, error) {
	run, err := orderOf(in, cfg)
	if err != nil {
		return nil, err
	}
	run, err = o.order(run, &in)
	return over(run), err
}

// Outcome returns what [Run] would have returned, for a workflow that was started with an [Order]. get
// decodes the workflow's result into its argument.
func Outcome(get func(valuePtr any) error) (loop.Result, error) {
	var r wire[report]
	if err := get(&r); err != nil {
		return loop.Result{}, fmt.Errorf("temporal: %w", err)
	}
	return r.v.result()
}

// order completes an order with the options and the input of its run; nil for a single action.
func (o Options) order(run order, in *loop.Input) (order, error) {
	err := o.Validate()
	if err == nil {
		err = o.goOn(&run, in)
	}
	if err != nil {
		return run, fmt.Errorf("temporal: %w", err)
	}
	run.Session, run.Tools, run.Person, run.Attributes = o.ID, o.Tools, o.Person, o.SearchAttributes
	run.Config.Seed = cmp.Or(o.Seed, run.Config.Seed)
	return run, measured(cmp.Or(o.MaxPayload, defaultMaxPayload), "the beginning of the run", run)
}

// goOn gives an order the session before it and, if it has an input, the conversation and the prompt.
func (o Options) goOn(run *order, in *loop.Input) (err error) {
	var held session.Contents
	if o.Session != nil {
		if held, err = session.ParseContents(o.Session); err == nil {
			run.After, err = held.State.Snapshot()
		}
		if err != nil {
			return fmt.Errorf("session: %w", err)
		}
	}
	if in == nil {
		return nil
	}
	said, known, err := engine.Before(in, held)
	if err == nil {
		err = session.Unanswered(said)
	}
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	run.Messages, run.Known = append(slices.Clip(said), in.Message()), known
	return nil
}

func start(
	ctx context.Context, c client.Client, o Options, run order, input *loop.Input,
) (*Handle, error) {
	if c == nil {
		return nil, errors.New("temporal: the client is nil; make one with client.Dial")
	}
	in, err := o.order(run, input)
	if err != nil {
		return nil, err
	}
	how := o.Workflow
	how.ID, how.TaskQueue = o.ID, o.TaskQueue
	//lint:ignore SA1019 a start must not have both kinds, and some may still set the other one
	if o.SearchAttributes && len(how.SearchAttributes) == 0 {
		how.TypedSearchAttributes = initialAttributes(how.TypedSearchAttributes)
	}
	began, err := c.ExecuteWorkflow(ctx, how, cmp.Or(o.Agent, DefaultAgent), over(in))
	if err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	return &Handle{client: c, id: began.GetID(), run: began}, nil
}

// Get returns the run of a session, whether or not it has ended. A session that does not exist is an error
// of the first use.
func Get(ctx context.Context, c client.Client, id string) *Handle {
	return &Handle{client: c, id: id, run: c.GetWorkflow(ctx, id, "")}
}

// Handle is a run on workers. It is safe for concurrent use.
type Handle struct {
	client client.Client
	id     string
	run    client.WorkflowRun
}

// ID returns the id of the session, which is also that of the workflow.
func (h *Handle) ID() string { return h.id }

// Result waits for the end of the run, and returns what [Run] does. It may be called again.
func (h *Handle) Result(ctx context.Context) (loop.Result, error) {
	r, err := h.report(ctx)
	if err != nil {
		return loop.Result{}, err
	}
	return r.result()
}

func (h *Handle) report(ctx context.Context) (report, error) {
	var r wire[report]
	if err := h.run.Get(ctx, &r); err != nil {
		return report{}, fmt.Errorf("temporal: %w", err)
	}
	return r.v, nil
}

// result returns what [loop.Loop.Run] would have returned.
func (r report) result() (loop.Result, error) {
	if err := r.Trouble.err(); err != nil {
		return loop.Result{}, err
	}
	st, err := machine.Restore(r.State)
	if err != nil {
		return loop.Result{}, fmt.Errorf("temporal: the report: %w", err)
	}
	return loop.ResultOf(engine.End{State: st}, r.Cause.cause())
}

// Session waits for the end of the run and returns the snapshot of its session with the conversation, for
// [Options].Session of the next run.
func (h *Handle) Session(ctx context.Context) ([]byte, error) {
	r, err := h.report(ctx)
	if err != nil {
		return nil, err
	}
	if len(r.State) == 0 {
		return nil, r.Trouble.err()
	}
	st, err := machine.Restore(r.State)
	if err != nil {
		return nil, fmt.Errorf("temporal: the report: %w", err)
	}
	return st.Contents().Snapshot()
}

// Status returns the current status of the run.
func (h *Handle) Status(ctx context.Context) (Status, error) { return ask[Status](ctx, h, QueryStatus) }

// Feedback returns what the model was told to correct so far, oldest first.
func (h *Handle) Feedback(ctx context.Context) ([]feedback.RetryFeedback, error) {
	return ask[[]feedback.RetryFeedback](ctx, h, QueryFeedback)
}

// Attempts returns the attempts of the run so far on both planes, oldest first.
func (h *Handle) Attempts(ctx context.Context) ([]session.Attempt, error) {
	return ask[[]session.Attempt](ctx, h, QueryAttempts)
}

// ReducerErrors returns the reducer errors of the session, oldest first.
func (h *Handle) ReducerErrors(ctx context.Context) ([]fault.ReducerError, error) {
	return ask[[]fault.ReducerError](ctx, h, QueryReducerErrors)
}

func ask[T any](ctx context.Context, h *Handle, query string) (T, error) {
	var out wire[T]
	v, err := h.client.QueryWorkflow(ctx, h.id, "", query)
	if err == nil {
		err = v.Get(&out)
	}
	if err != nil {
		return out.v, fmt.Errorf("temporal: %w", err)
	}
	return out.v, nil
}

// Adjust puts a layer over the policy of the run. The change holds when Adjust returns. If a field is
// invalid, alone or over the current policy, the error names it and nothing changes.
func (h *Handle) Adjust(ctx context.Context, l policy.Layer) error {
	if err := l.Validate(); err != nil {
		return fmt.Errorf("temporal: adjusting the policy: %w", err)
	}
	return h.update(ctx, UpdateAdjust, over(l), nil)
}

// Plan answers for the planner, if a person is the planner: see [Status].Planning.
func (h *Handle) Plan(ctx context.Context, p machine.Plan) error {
	if p.Policy != nil {
		if err := p.Policy.Validate(); err != nil {
			return fmt.Errorf("temporal: the plan's policy: %w", err)
		}
	}
	return h.update(ctx, UpdatePlan, over(p), nil)
}

// Answer answers a question to a person: see [Status].Asking. It returns once the answer is in the history.
// Errors are a [*machine.AnswerError] for an answer that the run does not take, and [loop.ErrNobodyAsks] for
// a run that has ended.
func (h *Handle) Answer(ctx context.Context, answer machine.Response) error {
	return refusedAs(loop.ErrNobodyAsks, h.update(ctx, UpdateAnswer, over(answer), nil))
}

// Say says something to the run: see [session.Words]. It enters before the next model call, and is in the
// history when Say returns. An empty ID is made; give one to be able to say it again after an error. The
// error is [session.ErrNotHeld] for a run that has ended, and that of an invalid message.
func (h *Handle) Say(ctx context.Context, w session.Words) error {
	if w.ID == "" {
		w.ID = rand.Text()
	}
	if err := w.Validate(); err != nil {
		return err
	}
	return refusedAs(session.ErrNotHeld, h.update(ctx, UpdateSay, over(w), nil))
}

// Dispatch runs the reducers on events, as one transaction. It returns the error of a reducer that refuses.
func (h *Handle) Dispatch(ctx context.Context, events ...session.Event) error {
	var out wire[machine.Reduced]
	if err := h.update(ctx, UpdateDispatch, over(events), &out); err != nil {
		return err
	}
	if e := out.v.Error; e != nil {
		return e
	}
	return nil
}

// CancelAction cancels the running calls of a tool. The model reads that they failed. [AllActions] cancels
// the run.
func (h *Handle) CancelAction(ctx context.Context, action string) error {
	return h.update(ctx, UpdateCancel, action, nil)
}

// Cancel asks Temporal to cancel the run, which then ends with [policy.ReasonCancelled]. It does not wait for
// the end.
func (h *Handle) Cancel(ctx context.Context) error { return h.client.CancelWorkflow(ctx, h.id, "") }

func (h *Handle) update(ctx context.Context, name string, in, out any) error {
	u, err := h.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: h.id, UpdateName: name, Args: []any{in},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = u.Get(ctx, out)
	}
	if err != nil {
		return fmt.Errorf("temporal: %w", err)
	}
	return nil
}

// Progress is what a running call reported last.
type Progress struct {
	// Activity is the name of the activity ("retake.tool", "retake.model"). Attempt counts how often
	// Temporal began it.
	Activity string
	Attempt  int
	// Progress is JSON; empty if nothing was reported yet. It comes with heartbeats and may be some
	// seconds old.
	Progress json.RawMessage
	// Beat is the time of the worker's last heartbeat.
	Beat time.Time
}

// Progress returns what the running calls reported last.
func (h *Handle) Progress(ctx context.Context) ([]Progress, error) {
	d, err := h.client.DescribeWorkflowExecution(ctx, h.id, "")
	if err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	var all []Progress
	for _, p := range d.GetPendingActivities() {
		one := Progress{Activity: p.GetActivityType().GetName(), Attempt: int(p.GetAttempt()),
			Beat: p.GetLastHeartbeatTime().AsTime()}
		var last string
		err := converter.GetDefaultDataConverter().FromPayloads(p.GetHeartbeatDetails(), &last)
		if err == nil && last != "" {
			one.Progress = json.RawMessage(last)
		}
		all = append(all, one)
	}
	return all, nil
}
