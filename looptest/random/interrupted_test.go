package random_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest/random"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// A run that was suspended in a call, or left by a panic of a model, planner or prompt, goes on as if nothing
// had happened, also from journals that were compacted.
func TestInterruptionsChangeNothing(t *testing.T) {
	random.Check(t, cases(), random.Driver{Name: "an interrupted run", Run: interrupted})
}

// interrupted makes a run, which is interrupted up to three times.
func interrupted(ctx context.Context, w *random.World) (t random.Trace, err error) {
	dice := rand.New(rand.NewPCG(w.Case.Seed, 1))
	for range 3 {
		in := interrupt(ctx, w, dice.IntN(5), dice.IntN(2) == 0)
		t, broke := in.run()
		if !in.done || broke != nil {
			return t, broke
		}
		if w, err = w.Crash(len(w.Store.Text(w.Session.ID))); err != nil {
			return t, err
		}
		if dice.IntN(2) == 0 {
			if err = w.Compact(ctx); err != nil {
				return t, err
			}
		}
	}
	return random.Run(ctx, w)
}

// errInterrupted is the panic of an interruption.
var errInterrupted = errors.New("interrupted")

// ours reports whether a panic is that of an interruption.
func ours(p any) bool {
	if err, ok := p.(error); ok {
		if within, ok := errors.AsType[*fault.PanicError](err); ok {
			p = within.Value
		}
	}
	return p == any(errInterrupted)
}

// interruption ends a run in one of its calls: by a panic, or by ErrSuspended.
type interruption struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	w      *random.World
	// left is the number of calls before. done reports that the run was interrupted.
	left         int
	panics, done bool
}

// interrupt makes the models, the planner, the prompt and the tries of a world interrupt its run.
func interrupt(ctx context.Context, w *random.World, after int, panics bool) *interruption {
	in := &interruption{w: w, left: after, panics: panics}
	if a := w.Case.Action; a != nil && a.ID == "" {
		in.panics = false // such an action ends with the panic
	}
	in.ctx, in.cancel = context.WithCancelCause(w.Context(ctx))
	w.Model = in.model(w.Model)
	named := map[string]loop.Model{}
	for name, m := range w.Models {
		named[name] = in.model(m)
	}
	w.Models = named
	if plan := w.Planner; plan != nil {
		w.Planner = planner.PlannerFunc(func(ctx context.Context, q planner.Question) (machine.Plan, error) {
			if err := in.now(ctx); err != nil {
				return machine.Plan{}, err
			}
			return plan.Plan(ctx, q)
		})
	}
	if prompt := w.Prompt; prompt != nil {
		w.Prompt = func(ctx context.Context, s session.State, at []machine.Position) (string, []message.Message, error) {
			if err := in.now(ctx); err != nil {
				return "", nil, err
			}
			return prompt(ctx, s, at)
		}
	}
	return in
}

func (in *interruption) model(m loop.Model) loop.Model {
	return loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		if err := in.now(ctx); err != nil {
			return message.Reply{}, err
		}
		return m.Reply(ctx, req)
	})
}

// now interrupts the run, if it is time to.
func (in *interruption) now(ctx context.Context) error {
	in.left--
	if in.left != -1 {
		return nil
	}
	in.done = true
	if in.panics {
		panic(errInterrupted)
	}
	in.cancel(loop.ErrSuspended)
	<-ctx.Done()
	return context.Cause(ctx)
}

// run makes the run, as far as it goes.
func (in *interruption) run() (t random.Trace, err error) {
	defer in.cancel(nil)
	defer func() {
		if p := recover(); p != nil && !ours(p) {
			panic(p)
		}
	}()
	s, j, err := in.w.Begin(context.WithoutCancel(in.ctx))
	if err != nil {
		return t, err
	}
	try := func(ctx context.Context, a loop.Attempt) (json.RawMessage, error) {
		if err := in.now(ctx); err != nil {
			return nil, err
		}
		return in.w.Try(ctx, a)
	}
	for given := range in.w.Inputs(s) {
		var result loop.Result
		var ended error
		if in.w.Case.Action != nil {
			result.Value, ended = loop.Do(in.ctx, s, in.w.Case.Action, try, in.w.Options()...)
		} else {
			result, ended = fixture.Run(in.ctx, in.w.Model, s, given, in.w.Config, in.w.Options()...)
		}
		if in.done && !errors.Is(ended, loop.ErrSuspended) {
			return t, fmt.Errorf("the run was suspended, and ended with %w", ended)
		}
		if in.w.Ended(result, ended); in.done {
			break
		}
	}
	if err := errors.Join(j.Close(), in.w.ReadJournal()); err != nil || in.done {
		return t, err
	}
	return in.w.Trace()
}
