package random_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	loopengine "github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest/random"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// cases is how many cases a test makes without an environment that says otherwise.
func cases() int {
	if testing.Short() {
		return random.Cases(300)
	}
	return random.Cases(1000)
}

func isRun(c random.Case) bool     { return c.Action == nil }
func endsAlone(c random.Case) bool { return !c.Cancels() }

func isQuick(c random.Case) bool { return endsAlone(c) && !c.Hangs }

func isAction(c random.Case) bool { return c.Action != nil }

// Every driver of package loop makes of a case what Run and Do make of it.
func TestDriversMakeTheSame(t *testing.T) {
	random.Check(t, cases(),
		random.Driver{Name: "Pool", Takes: func(c random.Case) bool { return isRun(c) && endsAlone(c) }, Run: inPool},
		random.Driver{Name: "Pool.Await", Takes: isRun, Run: awaited},
		random.Driver{Name: "Runner", Takes: isQuick, Run: byRunner},
		random.Driver{Name: "Attempts", Takes: isAction, Run: inAttempts},
	)
}

// A run that crashed after any append to its journal goes on as if nothing had happened.
func TestCrashesChangeNothing(t *testing.T) {
	random.Check(t, cases(), random.Driver{Name: "a resumed run", Run: crashing})
}

// A journal that leaves texts out changes nothing in the run, and decides the same; nor does a crash.
func TestRedactionChangesNothing(t *testing.T) {
	random.Check(t, cases(),
		random.Driver{Name: "a redacted run", Run: func(ctx context.Context, w *random.World) (random.Trace, error) {
			w.Redact()
			return crashing(ctx, w)
		}},
	)
}

// inPool makes a run in a pool, which is closed and made again a few times in between.
func inPool(ctx context.Context, w *random.World) (t random.Trace, err error) {
	s, j, err := w.Begin(ctx)
	if err != nil {
		return t, err
	}
	var (
		result loop.Result
		ended  error
		over   bool
	)
	shared := loop.PoolConfig{Model: w.Model, Config: w.Config, Options: w.Options(), Done: func(_ *session.Session, r loop.Result, err error) {
		result, ended, over = r, err, true
	}}
	p, err := loop.NewPool(shared)
	if err != nil {
		return t, err
	}
	if _, err = p.Add(s, w.Case.Prompt, j); err != nil {
		return t, err
	}
	closed := rand.New(rand.NewPCG(w.Case.Seed, 0))
	for n := closed.IntN(4); n > 0 && !over; n-- {
		if at, ok := p.Next(); ok && at.After(w.Clock.Now()) {
			w.Clock.Add(at.Sub(w.Clock.Now()))
		}
		p.Due(w.Clock.Now())
		left := p.Close()
		if p, err = loop.NewPool(shared); err != nil {
			return t, err
		}
		for _, k := range left {
			if _, err := p.AddParked(k); err != nil {
				return t, err
			}
		}
	}
	if err := errors.Join(p.Run(ctx, 2), j.Close(), w.ReadJournal()); err != nil {
		return t, err
	}
	if !over {
		return t, errors.New("Done was not called")
	}
	if err := session.DriverOf(s).Acquire(); err != nil {
		return t, fmt.Errorf("after the run: %w", err)
	}
	return w.End(result, ended)
}

// awaited waits for the end of a run in a pool.
func awaited(ctx context.Context, w *random.World) (t random.Trace, err error) {
	s, j, err := w.Begin(ctx)
	if err != nil {
		return t, err
	}
	p, err := loop.NewPool(loop.PoolConfig{Model: w.Model, Config: w.Config, Options: w.Options()})
	if err != nil {
		return t, err
	}
	drive, stop := context.WithCancel(context.WithoutCancel(ctx))
	var driven sync.WaitGroup
	driven.Go(func() { _ = p.Serve(drive, 1) })
	result, ended := p.Await(ctx, s, w.Case.Prompt, j)
	stop()
	driven.Wait()
	if err := errors.Join(j.Close(), w.ReadJournal(), session.DriverOf(s).Acquire()); err != nil {
		return t, err
	}
	return w.End(result, ended)
}

// inAttempts makes the tries of an action with Attempts.
func inAttempts(ctx context.Context, w *random.World) (t random.Trace, err error) {
	s, j, err := w.Begin(ctx)
	if err != nil {
		return t, err
	}
	var last json.RawMessage
	tries := loop.Attempts(ctx, s, w.Case.Action, append(w.Options(), loop.WithJournal(j))...)
	for try := range tries.All() {
		value, err := w.Try(ctx, *try)
		last = value
		try.EndWith(loop.AttemptEnd{Err: err, Value: value})
	}
	if err := errors.Join(j.Close(), w.ReadJournal()); err != nil {
		return t, err
	}
	var result loop.Result
	if tries.Err() == nil {
		result.Value = last
	}
	return w.End(result, tries.Err())
}

// byRunner is an engine of its own: it carries out the effects of a Runner by itself, one after the other.
func byRunner(ctx context.Context, w *random.World) (t random.Trace, err error) {
	s, err := session.New(w.Session)
	if err != nil {
		return t, err
	}
	e := &engine{w: w, s: s, now: w.Clock.Now()}
	var effects []machine.Effect
	if w.Case.Action != nil {
		if e.r, err = loop.NewActionRunner(s, w.Case.Action, w.Record, w.Options()...); err == nil {
			effects, err = e.r.Start(e.now)
		}
	} else if e.r, err = loop.NewRunner(s, w.Config, w.Record, w.Options()...); err == nil {
		prompt := message.Message{Role: message.User, Text: w.Case.Prompt, Parts: w.Config.Attach}
		effects, err = e.r.Start(e.now, append(slices.Clip(w.Config.History), prompt)...)
	}
	for err == nil && e.r.State().Phase != machine.Stopped {
		effects, err = e.carry(ctx, effects[len(effects)-1])
	}
	if err != nil {
		return t, err
	}
	result, ended := e.r.Result(nil)
	if w.Case.Action != nil {
		result = loop.Result{}
		if ended == nil {
			result.Value = e.value
		}
	}
	return w.End(result, ended)
}

// engine is an engine of a user's own.
type engine struct {
	w   *random.World
	s   *session.Session
	r   *loop.Runner
	now time.Time
	// adjusted is the last layer of the policy.
	adjusted policy.Layer
	value    []byte
}

// carry carries out an effect and feeds its outcome.
func (e *engine) carry(ctx context.Context, f machine.Effect) ([]machine.Effect, error) {
	st := e.r.State()
	switch f.Kind {
	case machine.CallModel:
		return e.call(ctx, f.Model)
	case machine.MakePrompt:
		system, add, err := e.w.Prompt(ctx, st.Session, f.Model.At)
		if err != nil {
			return nil, err
		}
		return e.r.Step(machine.Event{Kind: machine.Prompted, At: e.now, System: system, Messages: add})
	case machine.RunTools:
		return e.runTools(ctx, f.Tools)
	case machine.WaitUntil:
		e.now = f.Wait.Until
		return e.r.Woke(e.now)
	case machine.AskPlanner:
		plan, err := e.w.Planner.Plan(ctx, planner.NewQuestion(st, f, nil))
		if err == nil {
			err = plan.Fault(st, e.w.Case.Models)
		}
		if err != nil {
			return e.r.PlannerFailed(e.now, err)
		}
		return e.r.Planned(e.now, plan)
	case machine.TryAction:
		return e.try(ctx, f.Try)
	}
	return nil, fmt.Errorf("the effect %q is not known here", f.Kind)
}

// adjust changes the policy before a decision, if the user wants it.
func (e *engine) adjust() error {
	if e.w.Adjust == nil {
		return nil
	}
	layer, ok := e.w.Adjust(e.r.State().Session)
	if !ok || reflect.DeepEqual(layer, e.adjusted) {
		return nil
	}
	e.adjusted = layer
	_, err := e.r.Adjusted(e.now, layer)
	return err
}

func (e *engine) call(ctx context.Context, m *machine.ModelCall) ([]machine.Effect, error) {
	model := e.w.Model
	if m.Model != "" {
		model = e.w.Models[m.Model]
	}
	reply, err := model.Reply(ctx, loop.Request{
		System: m.System, Messages: e.r.State().Transcript(), Tools: e.w.Config.Tools.All(), Output: e.w.Config.Output,
		Model: m.Model, Temperature: m.Temperature, At: m.At, ToolChoice: m.ToolChoice, Stop: m.Stop,
	})
	if err := e.adjust(); err != nil {
		return nil, err
	}
	if err != nil {
		return e.r.CallFailed(e.now, err)
	}
	return e.r.Reply(e.now, reply)
}

// runTools runs one call after another. As many have begun as may run at the same time.
func (e *engine) runTools(ctx context.Context, runs []machine.ToolRun) (effects []machine.Effect, err error) {
	begun := 0
	for n, run := range runs {
		for ; begun < min(n+max(e.w.Case.Parallel, 1), len(runs)); begun++ {
			if _, err := e.r.ToolBegins(e.now, runs[begun]); err != nil {
				return nil, err
			}
		}
		t, _ := e.w.Config.Tools.Get(run.Tool)
		at := e.r.State().Attempt(run.Tool)
		out := t.Invoke(tool.WithInvocation(ctx, tool.Invocation{
			Key: run.Key, CallID: run.ID, SessionID: e.s.ID(), Attempt: at.Attempt, MaxAttempts: at.MaxAttempts,
			Transport: run.Transport, Progress: run.Progress,
		}), run.Arguments)
		if err := e.adjust(); err != nil {
			return nil, err
		}
		effects, err = e.r.ToolEnded(e.now, run, out)
		if err != nil || e.r.State().Phase == machine.Stopped {
			break
		}
	}
	return effects, err
}

func (e *engine) try(ctx context.Context, t *machine.TryRun) ([]machine.Effect, error) {
	value, err := e.w.Try(ctx, loop.Attempt{Number: t.Attempt, Transport: t.Transport})
	came := machine.Try{}
	if err != nil {
		words := t.Action == machine.AnswerAction && e.r.State().Policy.Policy(policy.Target{Plane: fault.Transport}).ClassifyWords
		came.Failure = fault.Recordable(fault.TryRules{Tool: t.Action, Words: words}.Failure(err), err)
	} else {
		events := loopengine.TryEvents(session.DriverOf(e.s).Hears, t.Action, value)
		came.Reduced = loopengine.Reduce(e.s, e.r.State().Session, events)
		if e.value = value; e.w.Case.Action.ID != "" {
			came.Value = value
		}
	}
	if err := e.adjust(); err != nil {
		return nil, err
	}
	return e.r.Step(machine.Event{Kind: machine.Tried, At: e.now, Try: &came})
}

// crashing makes a run, and then resumes it from every point at which its process may have died. It returns
// the trace of the last of these runs.
func crashing(ctx context.Context, w *random.World) (t random.Trace, err error) {
	whole, err := random.Run(ctx, w)
	if err != nil {
		return t, err
	}
	lines := strings.SplitAfter(string(w.Store.Text(w.Session.ID)), "\n")
	lines = lines[:len(lines)-2] // the last line ends the run
	if a := w.Case.Action; a != nil && a.ID == "" {
		// Without an ID the value of the last try is not recorded, and once the action has ended Do makes it again.
		end := len(lines) - 1
		for ; !strings.Contains(lines[end], `"kind":"tried"`) && !strings.Contains(lines[end], `"kind":"cancelled"`); end-- {
		}
		lines = lines[:end]
	}
	cut := 0
	for n, line := range lines {
		cut += len(line)
		if within := strings.Contains(line, `"record":{"event":`) || n == 0; within && w.Case.Seed%3 != 0 {
			continue // an append has an event and its decision; the file ends between them in some cases only
		}
		again, err := w.Crash(cut)
		if err != nil {
			return t, fmt.Errorf("after line %d: %w", n+1, err)
		}
		resumed, err := random.Run(ctx, again)
		if err != nil {
			return t, fmt.Errorf("after line %d: %w", n+1, err)
		}
		if diff := random.Diff(whole, resumed); diff != "" && !again.InDoubt {
			return t, fmt.Errorf("after line %d: %s", n+1, diff)
		}
	}
	return whole, nil
}
