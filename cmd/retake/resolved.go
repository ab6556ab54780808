package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// resolved is the policy of one kind of action, as its layers give it.
type resolved struct {
	// Of is "answer", "transport", "run" (what is no layer), "tool NAME" or "tool_transport NAME".
	Of     string  `json:"of"`
	Fields []field `json:"fields"`
}

// field is one row of a resolved policy. Instead is the value that the layer replaced; it is absent where
// none did.
type field struct {
	policy.Explained
	Instead string `json:"instead,omitempty"`
}

// resolve returns the policies of a set: of the answer, of model calls, of the whole run, and of each tool
// that the set names.
func resolve(set policy.Set) []resolved {
	standard := policy.DefaultSet()
	correction := standard.Explain(policy.Target{})
	transport := standard.Explain(policy.Target{Plane: fault.Transport})
	answer := set.Explain(policy.Target{})
	calls := set.Explain(policy.Target{Plane: fault.Transport})
	all := []resolved{compared("answer", answer, correction), compared("transport", calls, transport),
		compared("run", set.ExplainRun(), standard.ExplainRun())}
	// No tool has an empty name: what it gets is what every tool gets.
	everyTool := set
	everyTool.Answer = policy.Layer{}
	below := everyTool.Explain(policy.Target{})
	for _, name := range slices.Sorted(maps.Keys(set.Tools)) {
		own := set.Explain(policy.Target{Tool: name})
		all = append(all, compared("tool "+name, own, below))
	}
	for _, name := range slices.Sorted(maps.Keys(set.ToolTransport)) {
		own := set.Explain(policy.Target{Plane: fault.Transport, Tool: name})
		all = append(all, compared("tool_transport "+name, own, calls))
	}
	return all
}

// compared puts an explanation beside the one that holds without the layer. Fields that mean nothing for the
// transport plane are left out there.
func compared(of string, e, without policy.Explanation) resolved {
	r := resolved{Of: of}
	isTransport := of == "transport" || strings.HasPrefix(of, "tool_transport ")
	meant := policy.Transport().TransportLayer().Sets()
	for n, row := range e {
		if isTransport && !slices.Contains(meant, row.Field) {
			continue
		}
		f := field{Explained: row}
		if row.Value != without[n].Value {
			f.Instead = without[n].Value
		}
		r.Fields = append(r.Fields, f)
	}
	return r
}

// write shows the fields that a layer set, a line each. The others have their defaults.
func (r resolved) write(e *env) {
	var rest []string
	name, value := 0, 0
	for _, f := range r.Fields {
		if f.Instead == "" {
			rest = append(rest, f.Field+" "+f.Value)
			continue
		}
		const longest = 40 // of a value: a longer one pushes the rest of its line, and no other
		name = max(name, len(f.Field))
		if n := utf8.RuneCountInString(f.Value); n <= longest {
			value = max(value, n)
		}
	}
	e.printf("\n%s\n", e.bold(plain(r.Of)))
	for _, f := range r.Fields {
		if f.Instead != "" {
			line := fmt.Sprintf("  %-*s  %-*s  instead of %s", name, f.Field, value, f.Value, f.Instead)
			if f.Layer != "" {
				line += ", by " + strings.TrimSpace(f.Layer+" "+f.Source)
			}
			e.println(plain(line))
		}
	}
	if len(rest) > 0 && !strings.HasPrefix(r.Of, "tool") {
		e.println(e.faint(folded("  by default: "+strings.Join(rest, "; "), "    ")))
	}
}
