package random_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest/random"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// One case is made by an engine and by loop.Run. A test does this with many: see random.Check.
func Example() {
	c := random.New(2)
	want, err := play(c, random.Run)
	if err != nil {
		panic(err)
	}
	got, err := play(c, byRunner)
	if err != nil {
		panic(err)
	}
	fmt.Printf("differs: %q\n", random.Diff(want, got))
	// Output: differs: ""
}

func play(c random.Case, run func(context.Context, *random.World) (random.Trace, error)) (random.Trace, error) {
	w, err := random.NewWorld(c)
	if err != nil {
		return random.Trace{}, err
	}
	return run(context.Background(), w)
}

// byRunner makes the runs with an engine of the user's own.
func byRunner(ctx context.Context, w *random.World) (t random.Trace, err error) {
	s, err := session.New(w.Session)
	if err != nil {
		return t, err
	}
	e := &own{w: w, s: s, now: w.Clock.Now(), left: map[string]bool{}}
	w.Hear = e.hear
	for in := range w.Inputs(s) {
		if err := e.run(ctx, in); err != nil {
			return t, err
		}
	}
	return w.Trace()
}

// run makes one run, after what was said before.
func (e *own) run(ctx context.Context, in loop.Input) (err error) {
	var effects []machine.Effect
	e.adjusted = policy.Layer{}
	var m machine.Config
	of := engine.RunnerConfig{Session: e.s, Record: e.w.Record}
	if e.w.Case.Action != nil {
		m, err = e.w.Case.Action.Machine(e.w.Options()...)
	} else {
		cfg := e.w.Config
		of.Input = &in
		of.Offer = engine.Offer{Tools: cfg.Tools, Output: cfg.Output, CallsOnly: cfg.CallsOnly}
		m, err = cfg.Machine(e.w.Options()...)
	}
	if err != nil {
		return err
	}
	if of.Machine, err = machine.Compile(&m); err != nil {
		return err
	}
	if e.r, err = engine.New(of); err == nil {
		effects, err = e.r.Start(e.now)
	}
	for err == nil && e.r.State().Phase != machine.Stopped {
		if effects, err = e.carry(ctx, effects[len(effects)-1]); err == nil {
			effects, err = e.say(effects, false, false)
		}
	}
	if err != nil {
		return err
	}
	e.r.Close()
	result, ended := loop.ResultOf(e.r.End(), nil)
	if e.w.Case.Action != nil {
		result = loop.Result{}
		if ended == nil {
			result.Value = e.value
		}
	}
	e.w.Ended(result, ended)
	return nil
}

// own carries out the effects of a [engine.Runner] by itself, one after the other, by a clock of its own.
type own struct {
	w   *random.World
	s   *session.Session
	r   *engine.Runner
	now time.Time
	// adjusted is the last layer of the policy in the run.
	adjusted policy.Layer
	value    []byte
	// heard is what the user said and the run has not been told, and leave ends the model call.
	heard []session.Words
	leave context.CancelFunc
	// left are the questions that the person at hand has left, and inbox has answers to them.
	left  map[string]bool
	inbox []machine.Response
}

// hear hears what the user says.
func (e *own) hear(w session.Words) error {
	if e.heard = append(e.heard, w); w.Stop && e.leave != nil {
		e.leave()
	}
	return nil
}

// say tells the run what the user has said. It returns the effects that it goes on with. left reports that a
// model call was left for it, and nobody knows what that consumed.
func (e *own) say(effects []machine.Effect, late, left bool) ([]machine.Effect, error) {
	words := e.heard
	e.heard = nil
	for _, w := range words {
		if e.r.State().Phase == machine.Stopped {
			by := ""
			if w.By != "" {
				by = " by " + w.By
			}
			e.r.Undelivered(e.now, "a message"+by+" came after the run had ended")
			continue
		}
		ev := engine.Spoken(e.r.State(), e.now, w, late)
		if ev == nil {
			continue
		}
		ev.Left, left = left, false
		if next, err := e.r.Step(*ev); err != nil {
			return nil, err
		} else if len(next) > 0 {
			effects = next
		}
	}
	return effects, nil
}

// ask asks people, one after the other, and then waits for the inbox until the first deadline.
func (e *own) ask(asks []machine.Ask) ([]machine.Effect, error) {
	until := machine.AskedUntil(asks)
	for _, a := range asks {
		if e.left[a.ID] || !until.IsZero() && !e.now.Before(until) {
			continue
		}
		r, silent, err := e.w.Answer(a, e.r.State().Session)
		if err != nil {
			return nil, err
		}
		switch {
		case !silent.IsZero():
			e.now = silent
		case r.Verdict == "" || !r.At.IsZero():
			if e.left[a.ID] = true; r.Verdict != "" {
				e.inbox = append(e.inbox, r)
			}
		default:
			return e.respond(r)
		}
		if len(e.heard) > 0 {
			return []machine.Effect{{Kind: machine.AskPerson, Asks: asks}}, nil
		}
	}
	if e.now.Before(until) {
		e.now = until
	}
	var effects []machine.Effect
	answers := e.inbox
	e.inbox = nil
	slices.SortFunc(answers, func(a, b machine.Response) int { return strings.Compare(a.Question, b.Question) })
	for _, r := range answers {
		if next, err := e.respond(r); err == nil {
			effects = next
		}
	}
	if effects != nil {
		return effects, nil
	}
	return e.r.Woke(e.now)
}

// respond feeds a person's answer.
func (e *own) respond(r machine.Response) ([]machine.Effect, error) {
	if err := e.adjust(); err != nil {
		return nil, err
	}
	return e.r.Respond(e.now, r)
}

// carry carries out an effect and feeds its outcome.
func (e *own) carry(ctx context.Context, f machine.Effect) ([]machine.Effect, error) {
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
	case machine.AskPerson:
		return e.ask(f.Asks)
	case machine.Summarise:
		made := machine.Summary{}
		var err error
		if made.Text, made.Usage, err = e.w.Summary(ctx, st.Span(f.Summary.Span)); err != nil {
			return e.r.SummaryFailed(e.now, err, made.Usage)
		}
		return e.r.Summarised(e.now, made)
	case machine.TryAction:
		return e.try(ctx, f.Try)
	}
	return nil, fmt.Errorf("the effect %q is not known here", f.Kind)
}

// adjust changes the policy before a decision, if the user wants it.
func (e *own) adjust() error {
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

func (e *own) call(ctx context.Context, m *machine.ModelCall) ([]machine.Effect, error) {
	model := e.w.Model
	if m.Model != "" {
		model = e.w.Models[m.Model]
	}
	ctx, e.leave = context.WithCancel(ctx)
	defer e.leave()
	reply, err := model.Reply(ctx, loop.Request{
		Session: e.r.State().Session.ID(), System: m.System, Messages: e.r.State().Shown(),
		Tools: e.w.Config.Tools.All(), Output: e.w.Config.Output,
		Model: m.Model, Temperature: m.Temperature, At: m.At, ToolChoice: m.ToolChoice, Stop: m.Stop,
	})
	if e.leave = nil; ctx.Err() != nil {
		return e.say(nil, false, reply.Usage == message.Usage{})
	}
	if _, err := e.say(nil, true, false); err != nil {
		return nil, err
	}
	if err := e.adjust(); err != nil {
		return nil, err
	}
	if err != nil {
		return e.r.CallFailed(e.now, err)
	}
	return e.r.Reply(e.now, reply)
}

// runTools runs one call after another. As many have begun as may run at the same time.
func (e *own) runTools(ctx context.Context, runs []machine.ToolRun) (effects []machine.Effect, err error) {
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

func (e *own) try(ctx context.Context, t *machine.TryRun) ([]machine.Effect, error) {
	value, err := e.w.Try(ctx, loop.Attempt{Number: t.Attempt, Transport: t.Transport})
	came := machine.Try{}
	if err != nil {
		words := t.Action == machine.AnswerAction && e.r.State().Policy.Policy(policy.Target{Plane: fault.Transport}).ClassifyWords
		came.Failure = fault.Recordable(fault.TryRules{Tool: t.Action, Words: words}.Failure(err), err)
	} else {
		events := engine.TryEvents(session.DriverOf(e.s).Hears, t.Action, value)
		came.Reduced = engine.Reduce(e.s, e.r.State().Session, events)
		if e.value = value; e.w.Case.Action.ID != "" {
			came.Value = value
		}
	}
	if err := e.adjust(); err != nil {
		return nil, err
	}
	return e.r.Step(machine.Event{Kind: machine.Tried, At: e.now, Try: &came})
}
