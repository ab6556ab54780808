package dbos

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// flow is a run within a workflow. All of it follows from the input and the results of the steps.
type flow struct {
	*agent
	ctx      sdk.Context
	id       string
	st       machine.State
	asked    machine.Effect
	settings tool.Settings
	// at is when the last step ended, and fresh that it was made now and not read from the record.
	at      time.Time
	fresh   bool
	running []*running
	teller  observe.Teller
	box
	// moves counts what the core has asked for. call says whether a model is called.
	moves int
	call  callState
	// shown is the last board of questions that people were shown, and unheard are warnings about what came
	// after the end.
	shown   string
	unheard []string
	// depth and deepest are those of the order, and cost is what the run has cost; nil if that is not known.
	depth, deepest int
	cost           *int64
}

// run is the workflow. Its error is DBOS's own: what ends a run is in its report.
func (a *agent) run(ctx sdk.Context, input string) (string, error) {
	id, err := sdk.GetWorkflowID(ctx)
	if err != nil {
		return "", err
	}
	return a.runAs(ctx, id, id, input)
}

// runAs makes the run of a session in a workflow.
func (a *agent) runAs(ctx sdk.Context, workflow, id, input string) (string, error) {
	f := &flow{agent: a, ctx: ctx, id: id, teller: observe.Teller{Observers: a.Observers,
		Tools: a.Config.Tools, Output: a.Config.Output}}
	defer f.open(ctx, workflow)()
	err := f.drive(f.begin(input))
	var out report
	for failed := (*RunError)(nil); errors.As(err, &failed); { // twice where reducers are to hear of the end
		if out.Trouble == "" {
			out.Trouble = failed.Text
		}
		if p := f.st.Phase; p == "" || p == machine.Idle || p == machine.Stopped {
			err = nil
			break
		}
		if err = f.step(machine.Event{Kind: machine.Broken, Failure: engine.CauseOf(failed)}); err != nil {
			break
		}
		err = f.drive(nil)
	}
	if err != nil {
		return "", err
	}
	// What is sent after this may not be read; whoever sent it sees the event, and waits for the end.
	if err := sdk.SetEvent(f.ctx, closing, ""); err != nil && !errors.Is(err, errCut) {
		return "", err
	}
	if out.Trouble == "" { // else there is no result that has warnings
		if err := f.hearAll(); err != nil && !errors.Is(err, errCut) {
			return "", err
		}
	}
	if f.hooks.heard != nil {
		f.hooks.heard()
	}
	if out.Cost = f.cost; f.st.Phase == machine.Stopped {
		if out.State, err = f.st.Snapshot(); err != nil {
			return "", err
		}
	}
	out.Unheard = f.unheard
	text, err := engine.Marshal(out)
	return string(text), err
}

// drive carries out effects until the run has stopped.
func (f *flow) drive(err error) error {
	for err == nil && f.st.Phase != machine.Stopped {
		if err = errLate; !f.outOfTime() || !engine.Begins(f.asked.Kind) {
			err = f.execute(f.asked)
		}
		if isEnd(err) {
			err = f.end(err, false)
		}
	}
	return err
}

// errLate is the error of a step that ended because the time of the run was up.
var errLate = errors.New("the time of the run is up")

// outOfTime reports that the time of the run was up when the last step ended.
func (f *flow) outOfTime() bool {
	d := f.st.Config.Deadline
	return !d.IsZero() && !f.at.Before(d)
}

// isEnd reports that the run ends from outside.
func isEnd(err error) bool { return errors.Is(err, errLate) || errors.Is(err, errCut) }

// end ends the run at its deadline, or where its record ends. left reports that a call of a model is left.
func (f *flow) end(why error, left bool) error {
	cause := context.Canceled
	if d := f.st.Config.Deadline; errors.Is(why, errLate) {
		cause = context.DeadlineExceeded
		if f.at.Before(d) { // the timer and the clock are not the same
			f.at = d
		}
	}
	return f.step(machine.Event{Kind: machine.Cancelled, Failure: engine.CauseOf(cause), Left: left})
}

// inTime returns work that ends at the deadline of the run, whatever it does. Its error is then [errLate].
func inTime[T any](f *flow, work func(context.Context) (T, error)) func(context.Context) (T, error) {
	end := f.st.Config.Deadline
	if end.IsZero() {
		return work
	}
	return func(ctx context.Context) (v T, err error) {
		left := end.Sub(f.hooks.now())
		if left <= 0 { // after a crash
			return v, errLate
		}
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		defer f.hooks.after(left, func() { stop(errLate) })()
		v, err = engine.Call(ctx, engine.Limits{}, f.hooks.after, func(ctx context.Context, _ engine.Tell) (T, error) {
			return usercode.Contained(func() (T, error) { return work(ctx) })
		})
		if context.Cause(ctx) == errLate {
			err = errLate
		}
		return v, err
	}
}

// broken is an error that ends a run.
func broken(format string, args ...any) error {
	return &RunError{fault.Scrub("dbos: " + fmt.Errorf(format, args...).Error())}
}

// begin starts the run.
func (f *flow) begin(input string) (err error) {
	var in order
	if err := engine.Unmarshal([]byte(input), &in); err != nil {
		return broken("the input: %w", err)
	}
	if err := f.same(&in); err != nil {
		return err
	}
	f.depth, f.deepest = in.Depth, in.Deepest
	cfg := f.Session
	cfg.ID = f.id
	s, err := session.New(cfg)
	if err != nil {
		return broken("session: %w", err)
	}
	if f.st, err = machine.New(in.Config, s.State()); err != nil {
		return broken("config: %w", err)
	}
	if err := f.time(); err != nil && !errors.Is(err, errCut) {
		return err
	}
	return f.step(machine.Event{Kind: machine.Started, Messages: in.Messages, Warnings: in.Warnings,
		Hears: in.Hears})
}

// same reports tools and an answer that are not as they were when the run began.
func (f *flow) same(in *order) error {
	then, err := engine.Marshal(in.Header)
	if err != nil {
		return broken("the input: %w", err)
	}
	now, err := engine.Marshal(engine.Header(machine.Config{}, f.offer()))
	if err != nil || !bytes.Equal(then, now) {
		return broken("the tools or the schema of the answer are not those with which the run began: keep them "+
			"for an application version (%v)", err)
	}
	return nil
}

// step feeds an event to the core. An event without a time has that of the last step's end.
func (f *flow) step(ev machine.Event) error {
	if ev.At.IsZero() {
		ev.At = f.at
	}
	policy, cost := f.st.Policy, f.st.Charged.Cost
	effects, err := engine.Step(&f.st, &ev, func() []int { return f.underWay(&ev) })
	if err != nil {
		return broken("the core: %w", err)
	}
	if added := engine.Cost(&f.st, cost, &ev); added != nil && f.depth > 0 {
		f.cost = new(*cmp.Or(f.cost, new(int64)) + *added)
	}
	if ev.At.After(f.at) { // a wait that is over, by a clock that lags behind
		f.at = ev.At
	}
	if n := len(effects); n > 0 {
		f.asked = effects[n-1]
		f.moves++
	}
	if f.asked.Kind == machine.AskPerson { // before others are told, who may answer
		if err := f.publish(); err != nil {
			return err
		}
	}
	if f.hooks.step != nil {
		f.hooks.step(ev, effects, f.st)
	}
	f.teller.Step(f.teller.Context(context.Background()), &f.st, &ev, effects,
		func(e machine.Effect) error { return behind(&ev, e) }, !f.fresh)
	if f.st.Policy != policy || ev.Kind == machine.Started {
		f.settings = engine.Settings(f.st.Policy)
	}
	return nil
}

// behind returns the recorded error behind an effect of an event, or nil.
func behind(ev *machine.Event, e machine.Effect) error {
	failed := ev.Failure
	if ev.Tool != nil {
		failed = ev.Tool.Failure
	}
	if o := e.Outcome; o != nil && o.Exhaustion != nil {
		return askedAbout(o.Exhaustion)
	}
	if failed == nil {
		return nil
	}
	return &fault.RecordedError{Recorded: *failed}
}

// execute carries out an effect.
func (f *flow) execute(e machine.Effect) error {
	on := f.offer()
	if on.Estimate = nil; e.Kind == machine.EstimateCall && f.Config.Estimate != nil {
		return f.estimate(e)
	}
	return engine.Execute(f, &f.st, e, on, f.at)
}

// Answered feeds an answer that needs nobody.
func (f *flow) Answered(ev machine.Event) error { return f.step(ev) }

// Try refuses what no agent here begins.
func (f *flow) Try(machine.TryRun) error { return broken("single actions are not supported here") }

// made is the result of a step in the record.
type made[T any] struct {
	At   time.Time `json:"at"`
	Made T         `json:"made"`
	// Late reports that there is none, because the time of the run was up, and Trouble says why else.
	Late    bool   `json:"late,omitempty"`
	Trouble string `json:"trouble,omitempty"`
}

// record returns a step whose result is canonical JSON, with its time: another encoder would rewrite the
// arguments of calls. fresh is set if it is made.
func record[T any](f *flow, fresh *bool, work func(context.Context) (T, error)) sdk.Step[string] {
	return func(ctx context.Context) (string, error) {
		*fresh = true
		var out made[T]
		v, err := usercode.Contained(func() (T, error) { return work(ctx) })
		if out.At = f.hooks.now().UTC().Round(0); err == nil {
			out.Made = v
			var text []byte
			if text, err = engine.Marshal(out); err == nil {
				return string(text), nil
			}
		}
		var none T
		out.Made = none
		if out.Late = errors.Is(err, errLate); !out.Late {
			out.Trouble = fault.Scrub(strings.ToValidUTF8(err.Error(), "\uFFFD"))
		}
		text, err := engine.Marshal(out)
		return string(text), err
	}
}

// taken reads the result of a step, whether it ran now or before, and takes its time.
func taken[T any](f *flow, text string, err error) (v T, _ error) {
	if err != nil {
		return v, err
	}
	var out made[T]
	if err := engine.Unmarshal([]byte(text), &out); err != nil {
		return v, broken("the record of a step: %w", err)
	}
	if out.At.After(f.at) { // a clock may be set back
		f.at = out.At
	}
	switch {
	case out.Late:
		return v, errLate
	case out.Trouble != "":
		return v, broken("%s", out.Trouble)
	}
	return out.Made, nil
}

// do makes a step. An error of work ends the run.
func do[T any](f *flow, name string, work func(context.Context) (T, error)) (T, error) {
	f.fresh = false
	text, err := sdk.RunAsStep(f.ctx, record(f, &f.fresh, work), sdk.WithStepName("retake."+name))
	return taken[T](f, text, err)
}

// time takes the time of the clock.
func (f *flow) time() error {
	_, err := do(f, "time", func(context.Context) (bool, error) { return true, nil })
	return err
}

// Wait waits until a time. The database keeps the end of the wait.
func (f *flow) Wait(until time.Time) error {
	if until.After(f.at) {
		if over, err := f.hearUntil(until); !over || err != nil {
			return err
		}
	}
	return f.step(engine.Woke(f.at, until))
}
