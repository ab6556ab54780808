package journal

import (
	"fmt"
	"strings"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// Explain is the difference as a page for people; a and b name the journals.
func (d Divergence) Explain(a, b string) string {
	var out strings.Builder
	for _, h := range d.Headers {
		fmt.Fprintf(&out, "run %d begins differently (%s -> %s)\n", h.Run, a, b)
		h.explain(&out)
	}
	if d.Step != nil {
		d.Step.explain(&out, a, b)
	}
	return out.String()
}

func (h HeaderDifference) explain(b *strings.Builder) {
	of := ""
	for _, p := range h.Policies {
		if p.Of != of {
			of = p.Of
			fmt.Fprintf(b, "  policy of %s\n", policyName(of))
		}
		fmt.Fprintf(b, "    %s: %s -> %s\n", p.Name, said(p.A), said(p.B))
	}
	for _, t := range h.Tools {
		if t.A != t.B {
			fmt.Fprintf(b, "  tool %s: %s -> %s\n", t.Name, offered(t.A), offered(t.B))
		}
		if t.Description {
			fmt.Fprintf(b, "  tool %s: its description is another\n", t.Name)
		}
	}
	writeChanges(b, h.Changes, "  ")
}

func policyName(of string) string {
	switch of {
	case "answer", "run":
		return "the " + of
	}
	return of
}

// said is a field's value, and who said so.
func said(e policy.Explained) string {
	text := Field{Name: e.Value, Layer: e.Layer, Source: e.Source}.String()
	return strings.TrimSpace(text)
}

func offered(schema string) string {
	if schema == "" {
		return "not on offer"
	}
	return "schema " + schema
}

func (s *StepDifference) explain(b *strings.Builder, nameA, nameB string) {
	how := ""
	if s.SameEvent {
		how = ": the same happened, and was decided differently"
	}
	fmt.Fprintf(b, "event %d is the first that differs%s\n", s.Number, how)
	s.A.explain(b, nameA)
	s.B.explain(b, nameB)
	writeChanges(b, s.Changes, "  ")
}

func (s Side) explain(b *strings.Builder, name string) {
	if s.Line == 0 {
		fmt.Fprintf(b, "  %s ends here\n", name)
		return
	}
	fmt.Fprintf(b, "  %s, line %d: %s\n", name, s.Line, s.Event)
	for _, e := range s.Effects {
		fmt.Fprintf(b, "    %s\n", e)
	}
}

// eventTexts says what happened, for each kind of event.
var eventTexts = [...]struct {
	kind machine.EventKind
	text func(*Event) string
}{
	{machine.Started, func(*Event) string { return "the run starts" }},
	{machine.Prompted, func(*Event) string { return "the user's code made the prompt" }},
	{machine.Replied, func(ev *Event) string { return replyText(ev.Reply) }},
	{machine.CallFailed, func(ev *Event) string { return "the model call failed: " + string(ev.Failure.Class) }},
	{machine.ToolEnded, func(ev *Event) string {
		return fmt.Sprintf("call %d of the reply ended: %s", ev.Tool.Index+1, ev.Tool.Verdict)
	}},
	{machine.Tried, func(ev *Event) string { return tryText(ev.Try) }},
	{machine.Woke, func(*Event) string { return "the wait is over" }},
	{machine.Planned, func(ev *Event) string { return "the planner says " + string(ev.Plan.Do) }},
	{machine.Adjusted, func(*Event) string { return "the policy was adjusted" }},
	{machine.Dispatched, func(*Event) string { return "the program dispatched an event" }},
	{machine.Cancelled, func(*Event) string { return "the caller gave up" }},
}

// eventText is what happened as one sentence for people. Events of a journal that was not folded may lack
// their payload.
func eventText(ev *Event) string {
	for _, row := range eventTexts {
		if row.kind == ev.Kind && complete(ev) {
			return row.text(ev)
		}
	}
	return string(ev.Kind)
}

// complete reports whether the payload that the kind needs is there.
func complete(ev *Event) bool {
	switch ev.Kind {
	case machine.Replied:
		return ev.Reply != nil
	case machine.CallFailed:
		return ev.Failure != nil
	case machine.ToolEnded:
		return ev.Tool != nil
	case machine.Tried:
		return ev.Try != nil
	case machine.Planned:
		return ev.Plan != nil
	}
	return true
}

func replyText(r *machine.Reply) string {
	if len(r.Calls) == 0 {
		return "the model replied with text"
	}
	calls := make([]string, len(r.Calls))
	for n, c := range r.Calls {
		calls[n] = c.Tool
		if c.Class != "" {
			calls[n] += " (" + string(c.Class) + ")"
		}
	}
	return "the model called " + strings.Join(calls, ", ")
}

func tryText(t *machine.Try) string {
	switch {
	case t.Abandoned:
		return "the try was left without an outcome"
	case t.Failure.Failed():
		return "the try failed: " + string(t.Failure.Class)
	}
	return "the try succeeded"
}
