package journal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// Explain returns the difference as a page of text. a and b are the names of the journals.
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
	writeChanges(b, h.Changes)
}

func policyName(of string) string {
	switch of {
	case "answer", "run":
		return "the " + of
	}
	return of
}

// said returns the value of a field with its origin.
func said(e policy.Explained) string {
	switch {
	case e.Layer == "":
		return e.Value
	case e.Source == "":
		return e.Value + " (" + e.Layer + ")"
	}
	return e.Value + " (" + e.Layer + ", " + e.Source + ")"
}

func offered(schema string) string {
	if schema == "" {
		return "not on offer"
	}
	return "schema " + schema
}

func (s *stepDifference) explain(b *strings.Builder, nameA, nameB string) {
	how := ""
	if s.SameEvent {
		how = ": the same happened, and was decided differently"
	}
	fmt.Fprintf(b, "event %d is the first that differs%s\n", s.Number, how)
	s.A.explain(b, nameA)
	s.B.explain(b, nameB)
	writeChanges(b, s.Changes)
}

func (s side) explain(b *strings.Builder, name string) {
	if s.Line == 0 {
		fmt.Fprintf(b, "  %s ends here\n", name)
		return
	}
	fmt.Fprintf(b, "  %s, line %d: %s\n", name, s.Line, s.Event)
	for _, e := range s.Effects {
		fmt.Fprintf(b, "    %s\n", e)
	}
}

// plainEvents describe the events whose payload does not matter.
var plainEvents = map[machine.EventKind]string{
	machine.Started:     "the run starts",
	machine.Prompted:    "the user's code made the prompt",
	machine.Woke:        "the wait is over",
	machine.Adjusted:    "the policy was adjusted",
	machine.Dispatched:  "the program dispatched an event",
	machine.ReducersRan: "the reducers heard of it",
	machine.Cancelled:   "the caller gave up",
	machine.Broken:      "the run could not continue",
}

// eventText describes an event in one sentence. An event that was not folded may lack its payload.
func eventText(ev *machine.Event) string {
	switch {
	case ev.Kind == machine.Replied && ev.Reply != nil:
		return replyText(ev.Reply)
	case ev.Kind == machine.CallFailed && ev.Failure != nil:
		return "the model call failed: " + string(ev.Failure.Class)
	case ev.Kind == machine.ToolEnded && ev.Tool != nil:
		return fmt.Sprintf("call %d of the reply ended: %s", ev.Tool.Index+1, ev.Tool.Verdict)
	case ev.Kind == machine.Tried && ev.Try != nil:
		return tryText(ev.Try)
	case ev.Kind == machine.Planned && ev.Plan != nil:
		return "the planner says " + string(ev.Plan.Do)
	}
	return cmp.Or(plainEvents[ev.Kind], string(ev.Kind))
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
