package usercode

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/contain"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// Contained calls a function. A panic is returned as a [fault.PanicError], with the place of the panic.
func Contained[T any](call func() (T, error)) (value T, err error) {
	defer contain.Recover(&err)
	return call()
}

// After returns the machine's clock, for the limits of calls.
func After(d time.Duration, f func()) (stop func()) {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// Prompt is what a model is asked.
type Prompt struct {
	// Session is the id of the session.
	Session string
	Call    *machine.ModelCall
	// Said is the conversation, and Cuts are what the prompt leaves out of it.
	Said []message.Message
	Cuts []projection.Cut
	// Config has the tools and the schema of the answer.
	Config loop.Config
}

// Reply asks a model. most is the longest that a call without a limit of its own may take; 0 means no bound.
// The error is that of the model, or a [fault.TransportError] of class [fault.Timeout].
func Reply(ctx context.Context, model loop.Model, p Prompt, most time.Duration) (message.Reply, error) {
	m, limits := p.Call, engine.LimitsOf(p.Call)
	limits.Whole = cmp.Or(limits.Whole, most)
	return engine.Call(ctx, limits, After, func(ctx context.Context, tell engine.Tell) (message.Reply, error) {
		r := loop.Request{
			Session: p.Session, System: m.System, Messages: message.Clone(projection.Apply(p.Said, p.Cuts)),
			Tools: p.Config.Tools.All(), Output: p.Config.Output, Model: m.Model, At: m.At,
			Temperature: m.Temperature, ToolChoice: m.ToolChoice, Stop: m.Stop,
			MaxOutputTokens: m.MaxOutputTokens,
		}
		if limits.Streamed() {
			r.Stream = func(loop.Delta) { tell(func() {}) }
		}
		return Contained(func() (message.Reply, error) { return model.Reply(ctx, r) })
	})
}

// SumUp has messages summed up, within most. The usage is that of the models, with an error, too.
func SumUp(
	ctx context.Context, sum loop.SummaryFunc, said []message.Message, most time.Duration,
) (machine.Summary, error) {
	limits := engine.Limits{Whole: most, Late: "nobody summed up"}
	call := func(ctx context.Context, _ engine.Tell) (machine.Summary, error) {
		return Contained(func() (made machine.Summary, err error) {
			if made.Text, made.Usage, err = sum(ctx, message.Clone(said)); err == nil {
				err = engine.SummaryFault(made.Text)
			}
			return made, err
		})
	}
	made, err := engine.Call(ctx, limits, After, call)
	if err != nil {
		made.Text = ""
	}
	return made, err
}

// Judged is a person's answer as it was checked: the event that it is, or why it is not taken.
type Judged struct {
	Event   *machine.Event       `json:"event,omitempty"`
	Refused *machine.AnswerError `json:"refused,omitempty"`
}

// Judge checks a person's answer, as [engine.Answered] does, with the checks of its tool.
func Judge(st machine.State, tools *tool.Set, at time.Time, answer machine.Response) Judged {
	ev, err := Contained(func() (machine.Event, error) { return engine.Answered(st, tools, at, answer) })
	if err == nil {
		return Judged{Event: &ev}
	}
	refused, ok := errors.AsType[*machine.AnswerError](err)
	if !ok { // the check of the tool panicked
		refused = &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit,
			Why: fault.Scrub(err.Error())}
	}
	return Judged{Refused: refused}
}

// Plan asks a planner a question about a state, and checks its plan. models are the names of the further
// models. The plan of an error is to abort.
func Plan(
	ctx context.Context, by planner.Planner, st machine.State, q planner.Question, models []string,
) (machine.Plan, error) {
	p, err := Contained(func() (machine.Plan, error) { return by.Plan(ctx, q) })
	if err == nil {
		err = p.Fault(st, models)
	}
	if err != nil {
		return machine.Plan{Do: machine.Abort}, err
	}
	return p.Printable(), nil
}
