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
// differs. It does not compare observed times and notes, and the ids of two sessions only in their headers.
// An error names the journal that cannot be read.
func Diff(a, b io.Reader, o Diffing) (Divergence, error) {
	var found Divergence
	x := reading{Diffing: o, steps: steps{r: NewReader(a)}, name: "first"}
	y := reading{Diffing: o, steps: steps{r: NewReader(b)}, name: "second"}
	for {
		if err := errors.Join(x.next(), y.next()); err != nil {
			return found, err
		}
		switch {
		case x.line == 0 && y.line == 0:
			return found, nil
		case x.header != nil && y.header != nil:
			if h, differ := DiffHeaders(*x.header, *y.header); differ {
				h.Run = x.run
				found.Headers = append(found.Headers, h)
			}
		case x.event != nil && y.event != nil && bytes.Equal(x.traced, y.traced):
			found.Steps++
		default:
			found.Step = stepsDiffer(found.Steps+1, &x, &y)
			return found, nil
		}
	}
}

// reading is one of the compared journals, at a step of it.
type reading struct {
	Diffing
	steps
	step
	name   string
	run    int
	traced []byte
}

// next reads the next header or step.
func (r *reading) next() (err error) {
	r.step, err = r.steps.next()
	switch {
	case err != nil:
	case r.header != nil:
		if r.run++; r.IgnoreSeed {
			r.header.Config.Seed = "ignored"
		}
	case r.event != nil:
		anonymous(r.decision.Effects)
		if r.traced, err = r.trace(); err == nil && r.IgnoreSeed {
			r.traced, err = seedless(r.traced)
		}
	}
	if err != nil {
		return fmt.Errorf("the %s journal: %w", r.name, err)
	}
	return nil
}

// anonymous leaves out what follows from the session's id, which the headers compare: two sessions that did
// the same are told apart once.
func anonymous(effects []machine.Effect) {
	for n := range effects {
		e := &effects[n]
		if e.Decision != nil && e.Decision.Feedback != nil {
			e.Decision.Feedback.CorrelationID = ""
		}
		for i := range e.Tools {
			e.Tools[i].Key = ""
		}
		for i := range e.Asks {
			e.Asks[i].Key = ""
		}
		if e.Settled != nil {
			e.Settled.Ask.Key = ""
		}
		if e.Outcome != nil {
			for i := range e.Outcome.InDoubt {
				e.Outcome.InDoubt[i].Key = ""
			}
		}
	}
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
	s := side{Line: r.line, Run: r.run, Event: "another run begins"}
	switch {
	case r.line == 0:
		return side{}
	case r.header != nil:
		return s
	}
	s.Event = eventText(r.event)
	for n := range r.decision.Effects {
		s.Effects = append(s.Effects, sentence(&r.decision.Effects[n]))
	}
	return s
}

// stepsDiffer compares the current steps.
func stepsDiffer(number int64, a, b *reading) *stepDifference {
	s := &stepDifference{Number: number, A: a.side(), B: b.side()}
	if a.event != nil && b.event != nil {
		s.Changes, s.SameEvent = changes(a.traced, b.traced), sameEvent(*a.event, *b.event)
	}
	return s
}

// sameEvent reports whether two events are equal except for their times.
func sameEvent(a, b machine.Event) bool {
	was, err := machine.Trace(a, nil, nil)
	is, err2 := machine.Trace(b, nil, nil)
	return err == nil && err2 == nil && bytes.Equal(was, is)
}
