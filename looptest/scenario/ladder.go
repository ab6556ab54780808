package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/ratelimit"
)

// setLadder makes a ladder the planner: it answers by itself.
func (sc *story) setLadder(l *line) error {
	ladder := planner.NewLadder(strings.FieldsFunc(l.body, func(r rune) bool { return r == '\n' })...)
	for _, w := range []struct {
		name string
		to   *planner.Wait
	}{{"long", &ladder.Long}, {"short", &ladder.Short}} {
		if !l.has(w.name) {
			continue
		}
		unknown, most, _ := strings.Cut(l.args[w.name], ", ")
		for _, d := range []struct {
			text string
			to   *time.Duration
		}{{unknown, &w.to.Unknown}, {most, &w.to.Max}} {
			var err error
			if *d.to, err = duration(w.name, d.text); err != nil {
				return err
			}
		}
	}
	sc.ladder = &ladder
	return ladder.Validate()
}

// climb lets the ladder answer what the run asks its planner.
func (sc *story) climb() error {
	for sc.ladder != nil && sc.runner != nil && sc.runner.State().Phase == machine.Planning {
		cause := &ratelimit.LimitedError{Err: &fault.ProviderError{Class: fault.Unknown}, State: sc.limits}
		q := planner.NewQuestion(sc.runner.State(), sc.pending, cause)
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

// classes are those of a list.
func classes(list string) []fault.Class {
	var all []fault.Class
	for _, c := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		all = append(all, fault.Class(c))
	}
	return all
}
