package scenario

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

func (sc *story) plan(l *line) error {
	delay, err := l.duration("delay")
	if err != nil {
		return err
	}
	p := machine.Plan{
		Do: machine.PlanKind(l.name), Prompt: l.body, Model: l.args["model"],
		Delay: delay, Warning: l.args["warning"],
	}
	if p.Policy, err = l.layer(); err != nil {
		return err
	}
	return sc.fed(sc.runner.Planned(sc.at, p))
}

func (sc *story) adjust(l *line) error {
	layer, err := readLayer(l.body)
	if err != nil {
		return err
	}
	return sc.fed(sc.runner.Adjusted(sc.at, layer))
}

// layer returns the argument policy=, or nil if it is absent.
func (l *line) layer() (*policy.Layer, error) {
	if !l.has("policy") {
		return nil, nil
	}
	layer, err := readLayer("{" + l.args["policy"] + "}")
	return &layer, err
}

// readLayer reads a policy file that is one policy.
func readLayer(text string) (policy.Layer, error) {
	set, err := file.Read("policy.yaml", []byte(text))
	if err != nil {
		return policy.Layer{}, err
	}
	layer := set.Global
	set.Global = policy.Layer{}
	if !reflect.DeepEqual(set, policy.DefaultSet()) {
		return policy.Layer{}, errors.New("one policy may stand here, and no layers, budgets or limits of the run")
	}
	layer.Origins = nil
	return layer, nil
}

// setLadder makes a ladder the planner: it answers by itself.
func (sc *story) setLadder(l *line) error {
	ask, err := l.duration("ask")
	if err != nil {
		return err
	}
	sc.ladder = &planner.Ladder{Models: split(l.body, "\n"), Ask: ask}
	return sc.ladder.Validate()
}

// climb answers the run's questions to its planner with the ladder.
func (sc *story) climb() error {
	for sc.ladder != nil && sc.runner != nil && sc.runner.State().Phase == machine.Planning {
		q := planner.NewQuestion(sc.runner.State(), sc.pending, nil)
		plan, err := sc.ladder.Plan(context.Background(), q)
		if err != nil {
			return err
		}
		sc.say(fmt.Sprintf("the ladder says %s", plan.Note))
		if err := sc.fed(sc.runner.Planned(sc.at, plan)); err != nil {
			return err
		}
	}
	return nil
}
