package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// Explanation has the value of each field of a resolved policy and the layer that set it, in the order of
// [RetryPolicy].
type Explanation []Explained

// LayerDefault is the name of the built-in layer in an [Explanation].
const LayerDefault = "default"

// The names of the other layers, as in files. A tool's layer is named "tool book_room".
const (
	layerGlobal    = "global"
	layerAnswer    = "answer"
	layerCall      = "call"
	layerAdjusted  = "adjusted"
	layerTransport = "transport"
	// layerTools is not named in explanations, and layerToolTransport is followed by a tool's name.
	layerTools         = "tools"
	layerToolTransport = "tool_transport"
)

// Explained is one row of an [Explanation].
type Explained struct {
	// Field is the field's name in files.
	Field string `json:"field"`
	// Value is the value as text.
	Value string `json:"value"`
	// Layer names the layer that won: "default", "global", "tool book_room", "answer", "call", "adjusted",
	// "transport", "tool_transport book_room".
	Layer string `json:"layer"`
	// Source is where it was written ("policy.yaml:3:1"), or empty if that is unknown.
	Source string `json:"source,omitempty"`
}

// String returns the explanation as a table, one field a line.
func (e Explanation) String() string {
	widths := [3]int{}
	for _, row := range e {
		for n, cell := range [...]string{row.Field, row.Value, row.Layer} {
			widths[n] = max(widths[n], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range e {
		line := fmt.Sprintf("%-*s  %-*s  %-*s  %s",
			widths[0], row.Field, widths[1], row.Value, widths[2], row.Layer, row.Source)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// named is a layer and its name in explanations. The lowest layer also has the whole policy. Both are
// read-only.
type named struct {
	name  string
	layer *Layer
	whole *RetryPolicy
}

// correctionDefault and transportDefault are the lowest layers of their planes.
var (
	correctionDefault = sync.OnceValue(func() named { return defaults(Correction()) })
	transportDefault  = sync.OnceValue(func() named { return defaults(Transport()) })
)

func defaults(p RetryPolicy) named { return named{LayerDefault, new(p.Layer()), &p} }

// layerOf returns the layer of a tool, or an empty one.
func layerOf(all map[string]Layer, name string) *Layer { return new(all[name]) }

// Target is what a policy applies to. The zero value is the final answer.
type Target struct {
	// Plane is the correction plane, also if it is empty, or [fault.Transport].
	Plane fault.Plane
	// Tool is a tool's registered name: its calls that cannot be used, or in the transport plane its runs
	// that fail. Empty means the final answer, or in the transport plane model calls.
	Tool string
}

// String names the target by the layer of its own: "answer", "tool book_room", "transport", "tool_transport
// book_room".
func (t Target) String() string {
	switch {
	case t.Plane == fault.Transport && t.Tool != "":
		return layerToolTransport + " " + t.Tool
	case t.Plane == fault.Transport:
		return layerTransport
	case t.Tool != "":
		return "tool " + t.Tool
	}
	return layerAnswer
}

// layers returns the layers of a target, lowest first.
func (s *Set) layers(of Target) []named {
	own := named{name: of.String(), layer: &s.Answer}
	switch {
	case of.Plane == fault.Transport && of.Tool != "":
		own.layer = layerOf(s.ToolTransport, of.Tool)
		return []named{transportDefault(), {name: layerTransport, layer: &s.Transport}, own}
	case of.Plane == fault.Transport:
		own.layer = &s.Transport
		return []named{transportDefault(), own}
	case of.Tool != "":
		own.layer = layerOf(s.Tools, of.Tool)
	}
	return []named{
		correctionDefault(), {name: layerGlobal, layer: &s.Global}, own, {name: layerCall, layer: &s.Call},
		{name: layerAdjusted, layer: &s.Adjusted},
	}
}

// Policy merges the layers of a target into its policy, which shares slices and maps with them.
func (s *Set) Policy(of Target) RetryPolicy { return merge(s.layers(of)) }

// Explain returns the value of each field of [Set.Policy], and where it comes from.
func (s *Set) Explain(of Target) Explanation {
	layers := s.layers(of)
	p, explanation := merge(layers), make(Explanation, len(layerFields))
	for n, row := range layerFields {
		explanation[n] = Explained{Field: row.Name, Value: fields.Show(&p, n)}
		for _, l := range layers {
			if fields.Says(l.layer, n) {
				explanation[n].Layer, explanation[n].Source = l.name, l.layer.Origins[row.Name].String()
			}
		}
	}
	return explanation
}

// ExplainRun returns the value of each key of the set that is no layer, as JSON: the limits of the whole run,
// and prices.
func (s *Set) ExplainRun() (all Explanation) {
	add := func(field string, v any, none bool) {
		text, err := json.Marshal(v)
		switch {
		case none || err != nil:
			text = []byte("none")
		case v == Unlimited:
			text = []byte("unlimited")
		}
		all = append(all, Explained{Field: field, Value: string(text)})
	}
	add("budgets.tool", s.Budgets.Tool, false)
	add("budgets.run", s.Budgets.Run, false)
	add("budgets.unknown_tools", s.Budgets.UnknownTools, false)
	add("prices", s.Prices, len(s.Prices) == 0)
	add("spending", s.Spending, s.Spending.IsZero())
	from, to := s.Context.Shares()
	add("context", Context{Steps: s.Context.Order(), From: &from, To: &to, Keep: new(s.Context.Newest())}, false)
	add("max_turns", s.MaxTurns, false)
	add("max_calls", s.MaxCalls, false)
	add("all_or_nothing", s.AllOrNothing, false)
	return all
}

// merge merges the layers, the last on top. The policy shares slices and maps with them.
func merge(layers []named) RetryPolicy {
	p := *layers[0].whole
	for _, l := range layers[1:] {
		below, progress, approval := p.Backoff, p.Progress, p.Approval
		fields.Over(&p, l.layer)
		p.Backoff = keepJitter(p.Backoff, below)
		p.Progress, p.Approval = p.Progress.over(progress), p.Approval.over(approval)
	}
	fitJitter(&p.Backoff)
	return p
}

// keepJitter returns top, with the jitter of the layer below if top has none. So a file that only changes a
// delay does not make all clients wait in lockstep.
func keepJitter(top, below backoff.BackoffStrategy) backoff.BackoffStrategy {
	if top.Jitter.Kind == "" {
		top.Jitter = below.Jitter
	}
	return top
}

// fitJitter clears AfterCap if the strategy has no cap: the jitter may come from a lower layer that has one.
func fitJitter(s *backoff.BackoffStrategy) { s.Jitter.AfterCap = s.Jitter.AfterCap && s.Cap > 0 }
