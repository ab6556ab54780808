package journal

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// DifferenceError reports a recorded decision that differs from today's. errors.Is matches [ErrDiffers].
type DifferenceError struct {
	// Line is the line of the decision; 0 if it was not recorded in a journal (see [Compare]). Event is the
	// number of its event. Both count from 1.
	Line  int64 `json:"line"`
	Event int64 `json:"event"`
	// Kind is the kind of the event.
	Kind machine.EventKind `json:"kind"`
	// Position and Plane are those of the first effect that differs.
	Position machine.Position `json:"position,omitzero"`
	Plane    fault.Plane      `json:"plane,omitempty"`
	// Was and Now are that effect then and now, one sentence each; empty if there is none.
	Was string `json:"was,omitempty"`
	Now string `json:"now,omitempty"`
	// Changes are the members that differ, in the order of their paths.
	Changes []Change `json:"changes,omitempty"`
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// difference returns how the recorded decision on an event differs from today's, or nil.
func difference(event int64, kind machine.EventKind, recorded, now Decision) error {
	was, err := canon.Marshal(recorded)
	if err != nil {
		return err
	}
	is, err := canon.Marshal(now)
	if err != nil || bytes.Equal(was, is) {
		return err
	}
	d := &DifferenceError{Event: event, Kind: kind, Changes: changes(was, is)}
	n := firstOther(recorded.Effects, now.Effects)
	d.Was, d.Now = sentence(effectAt(recorded.Effects, n)), sentence(effectAt(now.Effects, n))
	d.Position, d.Plane = aboutOf(recorded.Effects, now.Effects, n)
	return d
}

// Compare returns how a recorded decision differs from today's, or nil. It is for engines that do not record
// decisions in a journal. event is the number of the event, from 1, and kind is its kind. Digests of prompts
// are not compared.
func Compare(event int64, kind machine.EventKind, recorded, now Decision) error {
	recorded.Prompt, now.Prompt = "", ""
	return difference(event, kind, recorded, now)
}

// effectAt returns effect n of a list, or nil.
func effectAt(all []machine.Effect, n int) *machine.Effect {
	if n >= len(all) {
		return nil
	}
	return &all[n]
}

// sentence returns an effect as text; empty for nil. An effect that was not folded may lack its payload.
func sentence(e *machine.Effect) string {
	if e == nil {
		return ""
	}
	if there, _ := payload(e); !there {
		return string(e.Kind)
	}
	return e.String()
}

// positionOf returns the attempt of an effect.
func positionOf(e *machine.Effect) (machine.Position, fault.Plane, bool) {
	switch {
	case e == nil:
	case e.Decision != nil:
		return e.Decision.Position, e.Decision.Plane, true
	case e.Question != nil:
		return e.Question.Position, e.Question.Plane, true
	case e.Try != nil:
		return e.Try.Position, fault.Correction, true
	case e.Model != nil && len(e.Model.At) > 0:
		return e.Model.At[0], fault.Correction, true
	}
	return machine.Position{}, "", false
}

// aboutOf returns the attempt of effect n of either side, or of the last effect before it that has one.
func aboutOf(then, now []machine.Effect, n int) (machine.Position, fault.Plane) {
	for ; n >= 0; n-- {
		for _, e := range []*machine.Effect{effectAt(then, n), effectAt(now, n)} {
			if at, plane, ok := positionOf(e); ok {
				return at, plane
			}
		}
	}
	return machine.Position{}, fault.Correction
}

// Error returns the difference in one line: the place and both effects.
func (e *DifferenceError) Error() string {
	text := e.place() + ": " + e.turned()
	if e.Line > 0 {
		text = fmt.Sprintf("journal: line %d: %s", e.Line, text)
	}
	return text
}

// place names the event and the attempt.
func (e *DifferenceError) place() string {
	text := fmt.Sprintf("event %d (%s)", e.Event, e.Kind)
	if e.Position.Attempt > 0 {
		text += ", " + e.Position.On(e.Plane)
	}
	return text
}

// turned says what the effect was and is. If both have the same text, it names the first member that differs.
func (e *DifferenceError) turned() string {
	if e.Was != e.Now {
		return fmt.Sprintf("recorded was %q, now it is %q", orNothing(e.Was), orNothing(e.Now))
	}
	if len(e.Changes) == 0 {
		return "it was written in another form"
	}
	return e.Changes[0].String()
}

// maxShown is the most members that are shown.
const maxShown = 30

// Explain returns the difference as a page of text: the place, both effects, and each member that differs.
func (e *DifferenceError) Explain() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, ", e.Line)
	}
	fmt.Fprintf(&b, "%s\n", e.place())
	if e.Was != e.Now {
		fmt.Fprintf(&b, "  was   %s\n  now   %s\n", orNothing(e.Was), orNothing(e.Now))
	}
	writeChanges(&b, e.Changes)
	return b.String()
}

// Is matches ErrDiffers.
func (e *DifferenceError) Is(target error) bool { return target == ErrDiffers }
