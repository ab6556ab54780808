package scenario

import (
	"errors"
	"reflect"

	"github.com/retake-go/retake/loop/machine"
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
