package main

import (
	"fmt"
	"strings"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

var diffCommand = command{
	name:    "diff",
	summary: "compares two journals: their configs, and the first step that differs",
	example: "retake diff before.jsonl after.jsonl",
	usage:   []string{"diff [-ignore-seed] [-json] JOURNAL JOURNAL"},
	about: `
Compares the config of each run (policy, templates, schemas of tools, seed), and then its steps up to the
first that differs. Observed times and notes are not compared. One of the two may be - for standard input.
With -ignore-seed neither the seeds nor the lengths of the waits are compared: two runs that did the same with
other seeds are the same.

JSON: {"steps", "headers", "step"}. "steps" is the number of equal steps.`,
	task: newTask[diff],
}

type diff struct {
	jsonAnswer
	unsealing
	IgnoreSeed bool `flag:"ignore-seed" help:"compare neither seeds nor the lengths of waits"`
	a, b       place
}

func (d *diff) take(args []string) error {
	if len(args) != 2 {
		return misused("give two journals, not %d", len(args))
	}
	for n, to := range []*place{&d.a, &d.b} {
		found, err := places(args[n], journalArgs, journalsIn)
		if err != nil {
			return err
		}
		if len(found) > 1 {
			return misused("%s has %s: name one, such as %s",
				args[n], several.Of(len(found), "journal"), found[0])
		}
		*to = found[0]
	}
	return stdinOnce([]place{d.a, d.b})
}

func (d *diff) run(e *env) error {
	a, err := e.open(d.a)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := e.open(d.b)
	if err != nil {
		return err
	}
	defer b.Close()
	found, err := journal.Diff(a, b, journal.Diffing{IgnoreSeed: d.IgnoreSeed})
	if err != nil {
		return fmt.Errorf("%s, %s: %w", d.a.inErrors(), d.b.inErrors(), err)
	}
	switch {
	case d.JSON:
		err = e.json(found)
	case found.Same():
		e.printf("%s  %s\n", e.green("same"), several.Of(found.Steps, "step"))
	default:
		e.print(plainLines(strings.TrimRight(found.Explain(title(d.a), title(d.b)), "\n")), "\n")
	}
	if err != nil || found.Same() {
		return err
	}
	return errNotOK
}
