package journal

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
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
	// RuleWas and RuleNow are the reasons then and now; empty if there is none.
	RuleWas policy.Reason `json:"rule_was,omitempty"`
	RuleNow policy.Reason `json:"rule_now,omitempty"`
	// Fields are the settings that the difference depends on, as far as known.
	Fields []fieldDifference `json:"fields,omitempty"`
	// Changes are the members that differ, in the order of their paths.
	Changes []Change `json:"changes,omitempty"`
}

// fieldDifference is a setting that a decision depends on: a field of the policy or of the config.
type fieldDifference struct {
	// Field is the name of the field in policy files, such as "max_attempts" or "budgets.run", or of a member
	// of the header's config, such as "deadline".
	Field string `json:"name"`
	// Value is what the layers in the header resolve to. It is empty if that is a text of the header. If
	// Layer is [policy.LayerDefault], another release may have had another value.
	Value string `json:"value,omitempty"`
	// Layer is the layer that set the field, and Source is where it was written: see [policy.Explained].
	Layer  string `json:"layer,omitempty"`
	Source string `json:"source,omitempty"`
}

// String returns the field as text: "max_attempts 3 (global, policy.yaml:3:1)".
func (f fieldDifference) String() string {
	text := f.Field
	if f.Value != "" {
		text += " " + f.Value
	}
	if f.Layer == "" {
		return text
	}
	if f.Source == "" {
		return text + " (" + f.Layer + ")"
	}
	return text + " (" + f.Layer + ", " + f.Source + ")"
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// difference explains how a recorded decision differs from today's. It returns nil if they are equal.
func (f *Fold) difference(recorded, now Decision) error {
	was, err := canon.Marshal(recorded)
	if err != nil {
		return err
	}
	is, err := canon.Marshal(now)
	if err != nil || bytes.Equal(was, is) {
		return err
	}
	d := &DifferenceError{Event: f.events, Kind: f.last.Kind, Changes: changes(was, is)}
	n := firstOther(recorded.Effects, now.Effects)
	then, today := effectAt(recorded.Effects, n), effectAt(now.Effects, n)
	d.Was, d.Now = sentence(then), sentence(today)
	d.RuleWas, d.RuleNow = reasonOf(then), reasonOf(today)
	d.Position, d.Plane = aboutOf(recorded.Effects, now.Effects, n)
	d.Fields = f.dependsOn(d, then, today)
	return d
}

// Compare returns how a recorded decision differs from today's, or nil. It is for engines that do not record
// decisions in a journal. st is the state after the event, and event the number of the event, from 1. Digests
// of prompts are not compared. It is safe for concurrent use.
func Compare(st machine.State, event int64, kind machine.EventKind, recorded, now Decision) error {
	recorded.Prompt, now.Prompt = "", ""
	f := Fold{Header: Header{Config: *st.Config}, State: st, events: event, last: &machine.Event{Kind: kind}}
	return f.difference(recorded, now)
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

// reasonOf returns the reason of an effect, or "".
func reasonOf(e *machine.Effect) policy.Reason {
	switch {
	case e == nil:
		return ""
	case e.Decision != nil:
		return e.Decision.Reason
	case e.Wait != nil:
		return e.Wait.Reason
	case e.Question != nil:
		return e.Question.Reason
	case e.Outcome != nil:
		return e.Outcome.Reason
	}
	return ""
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

// Error returns the difference in one line: the place, both effects, and the fields behind it.
func (e *DifferenceError) Error() string {
	text := e.place() + ": " + e.turned()
	if e.Line > 0 {
		text = fmt.Sprintf("journal: line %d: %s", e.Line, text)
	}
	if len(e.Fields) > 0 {
		text += "; it depends on " + e.behind()
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

func (e *DifferenceError) behind() string {
	names := make([]string, len(e.Fields))
	for n, f := range e.Fields {
		names[n] = f.String()
	}
	return strings.Join(names, ", ")
}

// maxShown is the most members that are shown.
const maxShown = 30

// Explain returns the difference as a page of text: the place, both effects, their reasons, the fields behind
// them, and each member that differs.
func (e *DifferenceError) Explain() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, ", e.Line)
	}
	fmt.Fprintf(&b, "%s\n", e.place())
	if e.Was != e.Now {
		fmt.Fprintf(&b, "  was   %s\n  now   %s\n", orNothing(e.Was), orNothing(e.Now))
	}
	if e.RuleWas != e.RuleNow {
		fmt.Fprintf(&b, "  rule  %s -> %s\n", ruleText(e.RuleWas), ruleText(e.RuleNow))
	} else if e.RuleWas != "" {
		fmt.Fprintf(&b, "  rule  %s\n", ruleText(e.RuleWas))
	}
	if len(e.Fields) > 0 {
		fmt.Fprintf(&b, "  depends on  %s\n", e.behind())
	}
	writeChanges(&b, e.Changes)
	return b.String()
}

func ruleText(r policy.Reason) string {
	if r == "" {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", string(r), r.Phrase())
}

// Is matches ErrDiffers.
func (e *DifferenceError) Is(target error) bool { return target == ErrDiffers }
