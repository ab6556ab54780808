package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// firstSession is the id of a session that the story does not name.
const firstSession = "order-42"

// start begins a run; the first one in a session makes the session.
func (sc *story) start(l *line) error {
	id := l.args["session"]
	if sc.runner == nil || (id != "" && id != sc.session.ID()) {
		if id == "" {
			id = firstSession
		}
		if err := sc.open(id, l); err != nil {
			return err
		}
	}
	var prompt []message.Message
	if l.body != "" {
		prompt = []message.Message{{Role: message.User, Text: l.body}}
	}
	return sc.fed(sc.runner.Start(sc.at, prompt...))
}

// open makes a session and a runner in it.
func (sc *story) open(id string, l *line) error {
	left, err := l.duration("deadline")
	if err != nil {
		return err
	}
	sc.run = run{id: id, at: looptest.Epoch, calls: sc.calls}
	if left > 0 {
		sc.deadline = sc.at.Add(left)
	}
	set, err := tool.NewSet(sc.tools...)
	if err != nil {
		return err
	}
	sc.cfg = sc.config(set, &sc.policy)
	sc.cfg.Seed = l.args["seed"]
	sc.cfg.CallsOnly = sc.cfg.CallsOnly || l.has("calls")
	sc.cfg.Consult = slices.Clip(sc.cfg.Consult)
	for _, name := range split(l.args["consult"], ", ") {
		class, err := classOf(name)
		if err != nil {
			return fmt.Errorf("consult: %w", err)
		}
		sc.cfg.Consult = append(sc.cfg.Consult, class)
	}
	sc.cfg.Models = map[string]machine.ModelInfo{"": {Name: l.args["model"], Unbounded: l.has("unbounded")}}
	if l.has("estimates") {
		sc.cfg.Estimate = func(_ string, added []message.Message) int64 { return 10 * int64(len(added)) }
	}
	if l.has("single") {
		sc.single = singleAction(l.args["single"], sc)
	}
	if l.has("planner") || sc.ladder != nil {
		sc.options = append(sc.options, loop.WithPlanner(planner.PlannerFunc(nil)))
	}
	if l.has("prompts") {
		sc.options = append(sc.options, loop.WithPrompt(noPrompt))
	}
	if err := sc.begin(); err != nil {
		return err
	}
	sc.beginTelling()
	return nil
}

// noPrompt replaces the user's code: the story itself has the prompts.
func noPrompt(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
	return "", nil, errors.New("the story makes the prompts")
}

func singleAction(name string, sc *story) *loop.Action {
	a := loop.FinalAnswer()
	if name != "answer" {
		a = loop.ToolCall(name)
	}
	a.Policy = sc.policy.Policy(policy.Target{Tool: a.Tool})
	a.Transport = sc.policy.Policy(policy.Target{Plane: fault.Transport})
	a.Seed, a.Deadline = sc.cfg.Seed, sc.deadline
	return a
}

// nativeCall is a line of a reply that calls a tool.
var nativeCall = regexp.MustCompile(`^([A-Za-z0-9_./-]+) (\{.*)$`)

func (sc *story) reply(l *line) error {
	usage, err := l.usage()
	if err != nil {
		return err
	}
	finish := message.FinishReason(l.args["finish"])
	r := message.Reply{Refusal: l.args["refusal"], Finish: finish, Usage: usage}
	var text []string
	for _, s := range strings.Split(l.body, "\n") {
		m := nativeCall.FindStringSubmatch(s)
		if m == nil || l.has("text") {
			text = append(text, s)
			continue
		}
		sc.calls++
		r.Calls = append(r.Calls, message.Call{ID: fmt.Sprintf("c%d", sc.calls), Name: m[1], Arguments: m[2]})
	}
	r.Text = strings.Join(text, "\n")
	if r.Finish == "" {
		r.Finish = message.Stop
		if len(r.Calls) > 0 {
			r.Finish = message.ToolUse
		}
	}
	return sc.fed(sc.runner.Reply(sc.at, r))
}

func (sc *story) prompted(l *line) error {
	return sc.step(machine.Event{Kind: machine.Prompted, System: l.body})
}

// later lets time pass. A wait that is over by then ends when it is due.
func (sc *story) later(l *line) error {
	d, err := duration("how long", l.name)
	if err != nil {
		return err
	}
	end := sc.at.Add(d)
	if until := machine.AskedUntil(sc.runner.State().Asks()); !until.IsZero() && !until.After(end) {
		sc.at = until
		if err := sc.fed(sc.runner.Woke(sc.at)); err != nil {
			return err
		}
	}
	if sc.runner.State().Phase == machine.Waiting {
		until := sc.pending.Wait.Until
		if until.After(end) {
			sc.say(fmt.Sprintf("still waiting, %s to go", until.Sub(end)))
		} else {
			sc.at = until
			if err := sc.fed(sc.runner.Woke(sc.at)); err != nil {
				return err
			}
		}
	}
	sc.at = end
	return nil
}

// dispatch runs the reducers on an event of the embedding program.
func (sc *story) dispatch(l *line) error {
	ev := session.Event{Name: l.name, Payload: json.RawMessage(l.body)}
	sc.with.Dispatched = []session.Event{ev}
	effects, err := sc.runner.Dispatch(sc.at, ev)
	sc.with = Step{}
	if _, refused := errors.AsType[*fault.ReducerError](err); refused {
		err = nil
	}
	return sc.fed(effects, err)
}

// cancel ends the run, and those around it.
func (sc *story) cancel(*line) error {
	for len(sc.around) > 0 {
		if err := sc.fed(sc.runner.Cancel(sc.at, context.Canceled)); err != nil {
			return err
		}
		sc.goOut()
	}
	return sc.fed(sc.runner.Cancel(sc.at, context.Canceled))
}

// reducerFailed is the session's callback.
func (sc *story) reducerFailed(e fault.ReducerError) {
	sc.say("OnReducerError: " + e.Error())
	if own := sc.own.Session.OnReducerError; own != nil {
		own(e)
	}
}

func (sc *story) step(ev machine.Event) error {
	ev.At = sc.at
	return sc.fed(sc.runner.Step(ev))
}

// fed shows the effects of a step. An event that does not fit is part of the story.
func (sc *story) fed(effects []machine.Effect, err error) error {
	if misfit, ok := errors.AsType[*machine.EventError](err); ok {
		sc.say("refused: " + misfit.Error())
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range effects {
		sc.say(e.String())
	}
	if sc.broken == nil && sc.crashes {
		sc.broken = sc.takeUpAll()
	}
	return sc.broken
}
