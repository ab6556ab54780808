package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// Divergence is how two journals differ. The zero value means that they do not.
type Divergence struct {
	// Steps is the number of equal steps before the first difference.
	Steps int64 `json:"steps"`
	// Headers are the differences of headers up to that step, one for each run with different headers.
	Headers []HeaderDifference `json:"headers,omitempty"`
	// Step is the first step that differs, or nil.
	Step *stepDifference `json:"step,omitempty"`
}

// Same reports whether the journals are equal.
func (d Divergence) Same() bool { return len(d.Headers) == 0 && d.Step == nil }

// side is one of the two journals at the step that differs.
type side struct {
	// Line is the line of the event or header, and Run the number of the run. Both count from 1, and are 0 if
	// the journal has ended.
	Line int64 `json:"line"`
	Run  int   `json:"run"`
	// Event is what happened, and Effects what was decided, one sentence each. They are empty if the journal
	// has ended.
	Event   string   `json:"event,omitempty"`
	Effects []string `json:"effects,omitempty"`
}

// stepDifference is the first step in which two journals differ.
type stepDifference struct {
	// Number is the number of the event in both journals, from 1.
	Number int64 `json:"number"`
	A      side  `json:"a"`
	B      side  `json:"b"`
	// SameEvent reports that the events are equal and the decisions differ.
	SameEvent bool `json:"same_event"`
	// Changes are the members of the canonical step that differ, in the order of their paths. There are none
	// if one journal has ended.
	Changes []Change `json:"changes,omitempty"`
}

// Diffing configures [Diff]. The zero value compares everything.
type Diffing struct {
	// IgnoreSeed leaves out the seed and what is drawn from it: the lengths of waits.
	IgnoreSeed bool
}

// Diff compares two recorded journals: the headers of their runs, and their steps up to the first that
// differs. It does not compare observed times and notes. An error names the journal that cannot be read.
func Diff(a, b io.Reader, o Diffing) (Divergence, error) {
	d := differ{a: reading{steps: NewSteps(a), name: "first"}, b: reading{steps: NewSteps(b), name: "second"}}
	d.a.Diffing, d.b.Diffing = o, o
	for {
		more, err := d.next()
		if err != nil || !more {
			return d.found, err
		}
	}
}

// reading is one of the compared journals.
type reading struct {
	Diffing
	steps  *Steps
	name   string
	run    int
	header *Header
	step   *Step
	trace  []byte
	ended  bool
}

// next reads the next header or step.
func (r *reading) next() error {
	var err error
	r.header, r.step, err = r.steps.Next()
	if errors.Is(err, io.EOF) {
		r.ended = true
		return nil
	}
	if err == nil && r.step != nil {
		if r.trace, err = r.step.Trace(); err == nil && r.IgnoreSeed {
			r.trace, err = seedless(r.trace)
		}
	}
	if r.header != nil {
		r.run++
		if r.IgnoreSeed {
			r.header.Config.Seed = "ignored"
		}
	}
	if err != nil {
		return fmt.Errorf("the %s journal: %w", r.name, err)
	}
	return nil
}

// drawn are the members of a step's trace whose values follow from the seed.
var drawn = []string{"seed", "delay_ns", "wait_ns", "waited_ns", "next_delay_seconds", "retry_scheduled_at"}

// seedless returns a trace without what follows from the seed.
func seedless(trace []byte) ([]byte, error) {
	var v any
	if err := canon.Unmarshal(trace, &v); err != nil {
		return nil, err
	}
	dropDrawn(v)
	return canon.Marshal(v)
}

func dropDrawn(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range drawn {
			delete(v, name)
		}
		for _, name := range canon.Keys(v) {
			dropDrawn(v[name])
		}
	case []any:
		for _, item := range v {
			dropDrawn(item)
		}
	}
}

// side returns the current header or step.
func (r *reading) side() side {
	switch {
	case r.ended:
		return side{}
	case r.header != nil:
		return side{Line: r.steps.r.Line(), Run: r.run, Event: "another run begins"}
	}
	s := side{Line: r.step.Line, Run: r.run, Event: eventText(&r.step.Event)}
	for n := range r.step.Decision.Effects {
		s.Effects = append(s.Effects, sentence(&r.step.Decision.Effects[n]))
	}
	return s
}

type differ struct {
	a, b  reading
	found Divergence
}

// next compares the next header or step of both journals. It reports whether to continue.
func (d *differ) next() (bool, error) {
	if err := errors.Join(d.a.next(), d.b.next()); err != nil {
		return false, err
	}
	a, b := &d.a, &d.b
	switch {
	case a.ended && b.ended:
		return false, nil
	case a.header != nil && b.header != nil:
		if h, differ := DiffHeaders(*a.header, *b.header); differ {
			h.Run = a.run
			d.found.Headers = append(d.found.Headers, h)
		}
		return true, nil
	case a.step != nil && b.step != nil && !a.ended && !b.ended && bytes.Equal(a.trace, b.trace):
		d.found.Steps++
		return true, nil
	}
	d.found.Step = d.stepsDiffer()
	return false, nil
}

// stepsDiffer compares the current steps.
func (d *differ) stepsDiffer() *stepDifference {
	s := &stepDifference{Number: d.found.Steps + 1, A: d.a.side(), B: d.b.side()}
	if d.a.ended || d.b.ended || d.a.step == nil || d.b.step == nil {
		return s
	}
	s.Changes = changes(d.a.trace, d.b.trace)
	s.SameEvent = sameEvent(d.a.step.Event, d.b.step.Event)
	return s
}

// sameEvent reports whether two events are equal except for their times.
func sameEvent(a, b machine.Event) bool {
	was, err := machine.Trace(a, nil, nil)
	is, err2 := machine.Trace(b, nil, nil)
	return err == nil && err2 == nil && bytes.Equal(was, is)
}
