package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	_ "github.com/retake-go/retake/feedback/prompt"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// Options say where and under which name a run is made.
type Options struct {
	// ID is the id of the workflow and of the session: whoever starts it again while it runs joins it.
	ID string
	// TaskQueue is that of the workers.
	TaskQueue string
	// Agent is that of the [Worker]; empty for [DefaultAgent].
	Agent string
	// Tools names those of the worker's tools that are offered; nil for all.
	Tools []string
	// Session is the snapshot of the session as an earlier run left it ([Handle.Session]); nil for a new one.
	Session []byte
	// Person makes a person the planner, in the place of the worker's: see [Handle.Plan].
	Person bool
	// SearchAttributes sets [AttributeStatus], [AttributeAttempts] and [AttributeExhausted], which must be
	// registered.
	SearchAttributes bool
	// Workflow has what else is to be said of the workflow; its ID and TaskQueue are not looked at.
	Workflow client.StartWorkflowOptions
	// MaxPayload is as that of the [Worker].
	MaxPayload int
}

// Validate reports all that is wrong, joined, each fault with its field; nil when nothing is.
func (o Options) Validate() error {
	var errs []error
	if o.ID == "" {
		errs = append(errs, errors.New("id: it is missing: give the session an id, by which its run is found again"))
	}
	if _, err := session.NewState(o.ID); err != nil {
		errs = append(errs, fmt.Errorf("id: %w", err))
	}
	if o.TaskQueue == "" {
		errs = append(errs, errors.New("task_queue: it is missing: give that of the workers"))
	}
	if o.Session != nil {
		if s, err := session.ParseState(o.Session); err != nil {
			errs = append(errs, fmt.Errorf("session: %w", err))
		} else if s.ID() != o.ID {
			errs = append(errs, fmt.Errorf("session: it is that of %q, and the id is %q", s.ID(), o.ID))
		}
	}
	if o.MaxPayload < 0 && o.MaxPayload != policy.Unlimited {
		errs = append(errs, fmt.Errorf("max_payload: %d: give bytes, or policy.Unlimited", o.MaxPayload))
	}
	return errors.Join(errs...)
}

// Run starts a run and waits for its end: [loop.Run] on workers. cfg is data only: its Tools must be nil, for
// tools are the worker's.
//
// A run that ends without an answer returns a [loop.RetryExhaustedError], with the reducer's, tool's or
// provider's error in it where there was one. A [SizeError] and a [RunError] are what kept a run from going
// on; any other error is the engine's. When ctx ends, the run goes on: see [Handle.Cancel].
func Run(
	ctx context.Context, c client.Client, o Options, prompt string, cfg loop.Config,
) (loop.Result, error) {
	h, err := Start(ctx, c, o, prompt, cfg)
	if err != nil {
		return loop.Result{}, err
	}
	return h.Result(ctx)
}

// Generate is [Run] for an answer of type T, as [loop.Generate] is for [loop.Run]. The worker needs T's
// schema in its Outputs.
func Generate[T any](
	ctx context.Context, c client.Client, o Options, prompt string, cfg loop.Config,
) (loop.Answer[T], error) {
	typed, err := schema.For[T]()
	if err != nil {
		return loop.Answer[T]{}, err
	}
	cfg.Output = typed.Schema()
	result, err := Run(ctx, c, o, prompt, cfg)
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

// Do makes the tries of one action on workers, and waits for their end: [loop.Do], with the worker's Try as
// the function.
func Do(ctx context.Context, c client.Client, o Options, a *loop.Action) error {
	m, err := a.Machine()
	if err != nil {
		return err
	}
	h, err := start(ctx, c, o, order{Config: m})
	if err != nil {
		return err
	}
	_, err = h.Result(ctx)
	return err
}

// Start starts a run and returns at once.
func Start(ctx context.Context, c client.Client, o Options, prompt string, cfg loop.Config) (*Handle, error) {
	in, err := orderOf(prompt, cfg)
	if err != nil {
		return nil, err
	}
	return start(ctx, c, o, in)
}

// orderOf is what a config comes to on the wire.
func orderOf(prompt string, cfg loop.Config) (order, error) {
	if cfg.Tools != nil {
		return order{}, errors.New("temporal: tools: they are the worker's: leave them nil, and name those on offer in Options.Tools")
	}
	asked := cfg.Consult
	cfg.Consult = nil // as workers read them
	m, err := cfg.Machine()
	if err != nil {
		return order{}, fmt.Errorf("temporal: %w", err)
	}
	m.Consult, m.Behaviours = asked, nil
	said := slices.Concat(cfg.History, []message.Message{{Role: message.User, Text: prompt,
		Parts: cfg.Attach}})
	in := order{Config: m, Messages: said}
	in.Output = outputOf(cfg.Output)
	return in, nil
}

// Order is what the workflow of a run is started with, for those who start it by other means than [Start]:
// schedules, parent workflows, test environments. The workflow's name is that of the agent.
func Order(o Options, prompt string, cfg loop.Config) (any, error) {
	in, err := orderOf(prompt, cfg)
	if err != nil {
		return nil, err
	}
	in, err = o.order(in)
	return over(in), err
}

// Outcome is the end of a workflow that was started with an [Order], as [Run] would have returned it: get
// reads the workflow's result into what it is given.
func Outcome(get func(valuePtr any) error) (loop.Result, error) {
	var r wire[report]
	if err := get(&r); err != nil {
		return loop.Result{}, fmt.Errorf("temporal: %w", err)
	}
	return r.v.result()
}

// order is an order under the options.
func (o Options) order(in order) (order, error) {
	if err := o.Validate(); err != nil {
		return in, fmt.Errorf("temporal: %w", err)
	}
	in.Session, in.Tools, in.After, in.Person, in.Attributes = o.ID, o.Tools, o.Session, o.Person,
		o.SearchAttributes
	limit := Worker{MaxPayload: o.MaxPayload}.withDefaults()
	doc, err := engine.Marshal(in)
	if err == nil {
		err = fits(limit.MaxPayload, "the beginning of the run", len(doc))
	}
	return in, err
}

func start(ctx context.Context, c client.Client, o Options, in order) (*Handle, error) {
	in, err := o.order(in)
	if err != nil {
		return nil, err
	}
	how := o.Workflow
	how.ID, how.TaskQueue = o.ID, o.TaskQueue
	run, err := c.ExecuteWorkflow(ctx, how, Worker{Agent: o.Agent}.withDefaults().Agent, over(in))
	if err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	return &Handle{client: c, id: run.GetID(), run: run}, nil
}

// Get is the run of that session, whether it goes on or has ended; that there is one is seen by the first
// use.
func Get(ctx context.Context, c client.Client, id string) *Handle {
	return &Handle{client: c, id: id, run: c.GetWorkflow(ctx, id, "")}
}

// Handle is a run on workers. Safe for concurrent use.
type Handle struct {
	client client.Client
	id     string
	run    client.WorkflowRun
}

// ID is the id of the session and of the workflow.
func (h *Handle) ID() string { return h.id }

// Result waits for the end of the run: see [Run]. It may be called again.
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

// result is the report as [loop.Run] would have returned it.
func (r report) result() (loop.Result, error) {
	if err := r.Trouble.err(); err != nil {
		return loop.Result{}, err
	}
	st, err := machine.Restore(r.State)
	if err != nil {
		return loop.Result{}, fmt.Errorf("temporal: the report: %w", err)
	}
	return loop.ResultOf(st, r.Cause.cause())
}

// Session waits for the end of the run and is the snapshot of its session then: what [Options].Session of the
// next run is given.
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
	return st.Session.Snapshot()
}

// Status is the run as it stands.
func (h *Handle) Status(ctx context.Context) (Status, error) { return ask[Status](ctx, h, QueryStatus) }

// Feedback is what the model was told to correct so far, oldest first.
func (h *Handle) Feedback(ctx context.Context) ([]feedback.RetryFeedback, error) {
	return ask[[]feedback.RetryFeedback](ctx, h, QueryFeedback)
}

// Attempts are the attempts of the run so far on both planes, oldest first.
func (h *Handle) Attempts(ctx context.Context) ([]session.Attempt, error) {
	return ask[[]session.Attempt](ctx, h, QueryAttempts)
}

// ReducerErrors are the errors of reducers that the session has, oldest first.
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

// Adjust lays a layer over the policy of the run, from now on. It returns when that is done. The error names
// each field of the layer that makes no sense, alone or over the policy in force; nothing is changed then.
func (h *Handle) Adjust(ctx context.Context, l policy.Layer) error {
	if err := l.Validate(); err != nil {
		return fmt.Errorf("temporal: adjusting the policy: %w", err)
	}
	return h.update(ctx, UpdateAdjust, over(l), nil)
}

// Plan answers what the run asks its planner, where a person is that: see [Status].Planning.
func (h *Handle) Plan(ctx context.Context, p machine.Plan) error {
	if p.Policy != nil {
		if err := p.Policy.Validate(); err != nil {
			return fmt.Errorf("temporal: the plan's policy: %w", err)
		}
	}
	return h.update(ctx, UpdatePlan, over(p), nil)
}

// Dispatch runs the reducers on events, as one transaction. The error is the reducer's, where one refused.
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

// CancelAction cancels the calls of a tool that are under way: the model is told that they failed. With
// [AllActions] it cancels the run.
func (h *Handle) CancelAction(ctx context.Context, action string) error {
	return h.update(ctx, UpdateCancel, action, nil)
}

// Cancel asks the engine to cancel the run, which then ends with [policy.Cancelled]. It does not wait for
// that.
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

// Progress is what a call under way reported last.
type Progress struct {
	// Activity is the name of its activity ("retake.tool", "retake.model"), Attempt how often the engine
	// began it.
	Activity string
	Attempt  int
	// Progress is JSON; empty where nothing was reported yet. It comes with heartbeats, so that it may be
	// some seconds old.
	Progress json.RawMessage
	// Beat is when the worker was heard of last.
	Beat time.Time
}

// Progress is what the calls under way reported last.
func (h *Handle) Progress(ctx context.Context) ([]Progress, error) {
	d, err := h.client.DescribeWorkflowExecution(ctx, h.id, "")
	if err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	var all []Progress
	for _, p := range d.GetPendingActivities() {
		one := Progress{Activity: p.GetActivityType().GetName(), Attempt: int(p.GetAttempt()),
			Beat: p.GetLastHeartbeatTime().AsTime()}
		if text, ok := lastBeat(p.GetHeartbeatDetails()); ok {
			one.Progress = json.RawMessage(text)
		}
		all = append(all, one)
	}
	return all, nil
}
