package scenario

import (
	"context"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
)

// setLadder makes a ladder the planner: it answers by itself.
func (sc *story) setLadder(l *line) error {
	ladder := planner.Ladder{Models: split(l.body, "\n")}
	if l.has("ask") {
		var err error
		if ladder.Ask, err = duration("ask", l.args["ask"]); err != nil {
			return err
		}
	}
	sc.ladder = &ladder
	return ladder.Validate()
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

// classes returns the classes of a list.
func classes(list string) []fault.Class {
	var all []fault.Class
	for _, c := range split(list, ", ") {
		all = append(all, fault.Class(c))
	}
	return all
}
