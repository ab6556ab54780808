package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The names of layers in an [Explanation]; a tool's layer is named "tool book_room".
const (
	LayerDefault   = "default"
	LayerGlobal    = "global"
	LayerAnswer    = "answer"
	LayerCall      = "call"
	LayerAdjusted  = "adjusted"
	LayerTransport = "transport"
	// LayerToolTransport stands before a tool's name.
	LayerToolTransport = "tool_transport"
)

// Explanation says of each field of a resolved policy what it is and who said so, in the order of [Fields].
type Explanation []Explained

// Explained is one row of an [Explanation].
type Explained struct {
	// Field is the field's name in files.
	Field string `json:"field"`
	// Value is its value as text for people.
	Value string `json:"value"`
	// Layer names the layer that won: "default", "global", "tool book_room", "answer", "call", "adjusted", "transport",
	// "tool_transport book_room".
	Layer string `json:"layer"`
	// Source is where it was written ("policy.yaml:3:1"); empty where that is not known.
	Source string `json:"source,omitempty"`
}

// String is the explanation as a table for people, one field a line.
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

// named is a layer under the name that explanations give it. The layer is read-only.
type named struct {
	name  string
	layer *Layer
}

// correctionDefault and transportDefault lie beneath all layers. Read-only.
var (
	correctionDefault = Correction().Layer()
	transportDefault  = Transport().Layer()
)

// nothing is a layer that says nothing. Read-only.
var nothing Layer

// tool is the layer of a tool.
func (s *Set) tool(name string) *Layer { return layerOf(s.Tools, name) }

// layerOf is the layer of a tool; one that says nothing where there is none.
func layerOf(all map[string]Layer, name string) *Layer {
	if l, ok := all[name]; ok {
		return new(l)
	}
	return &nothing
}

// layersOf are the layers of an action of the correction plane, the lowest first.
func (s *Set) layersOf(action string) [5]named {
	own := named{LayerAnswer, &s.Answer}
	if action != "" {
		own = named{"tool " + action, s.tool(action)}
	}
	return [...]named{{LayerDefault, &correctionDefault}, {LayerGlobal, &s.Global}, own, {LayerCall, &s.Call}, {LayerAdjusted, &s.Adjusted}}
}

// layersOfTransport are the layers of the transport plane, the lowest first.
func (s *Set) layersOfTransport() [2]named {
	return [...]named{{LayerDefault, &transportDefault}, {LayerTransport, &s.Transport}}
}

// layersOfToolTransport are the layers for calls of a tool that do not come through, the lowest first.
func (s *Set) layersOfToolTransport(tool string) [3]named {
	own := named{LayerToolTransport + " " + tool, layerOf(s.ToolTransport, tool)}
	return [...]named{{LayerDefault, &transportDefault}, {LayerTransport, &s.Transport}, own}
}

// Resolve makes the policy of one action out of the layers of the correction plane, and explains it. The action is a
// tool's registered name, or "" for the final answer. The result shares slices and maps with the set; treat both as
// read-only.
func Resolve(s Set, action string) (RetryPolicy, Explanation) {
	layers := s.layersOf(action)
	return resolve(layers[:])
}

// ResolveTransport makes the policy of model calls: the set's transport layer over [Transport].
func ResolveTransport(s Set) (RetryPolicy, Explanation) {
	layers := s.layersOfTransport()
	return resolve(layers[:])
}

// ResolveToolTransport makes the policy of calls of a tool that do not come through: the tool's transport layer over that of the set.
func ResolveToolTransport(s Set, tool string) (RetryPolicy, Explanation) {
	layers := s.layersOfToolTransport(tool)
	return resolve(layers[:])
}

// Effective is the policy that [Resolve] makes, without the explanation: much cheaper.
func Effective(s *Set, action string) RetryPolicy {
	own := &s.Answer
	if action != "" {
		own = s.tool(action)
	}
	p := correctionBase
	s.Global.onto(&p)
	own.onto(&p)
	s.Call.onto(&p)
	s.Adjusted.onto(&p)
	return p
}

// EffectiveTransport is the policy that [ResolveTransport] makes, without the explanation.
func EffectiveTransport(s *Set) RetryPolicy {
	p := transportBase
	s.Transport.onto(&p)
	return p
}

// EffectiveToolTransport is the policy that [ResolveToolTransport] makes, without the explanation.
func EffectiveToolTransport(s *Set, tool string) RetryPolicy {
	p := EffectiveTransport(s)
	layerOf(s.ToolTransport, tool).onto(&p)
	return p
}

// correctionBase and transportBase are what the defaults come to. Read-only.
var (
	correctionBase = correctionDefault.resolved()
	transportBase  = transportDefault.resolved()
)

// merge lays the layers over one another, the last on top. The first has every field set.
func merge(layers []named) RetryPolicy {
	p := layers[0].layer.resolved()
	for n := 1; n < len(layers); n++ {
		layers[n].layer.onto(&p)
	}
	return p
}

// resolve is merge, with a row for each field that says who won.
func resolve(layers []named) (RetryPolicy, Explanation) {
	p := merge(layers)
	explanation := make(Explanation, len(fields))
	for n, f := range fields {
		w := winner(f, layers)
		explanation[n] = Explained{Field: f.name, Value: f.show(&p), Layer: w.name, Source: w.layer.Source(f.name).String()}
	}
	return p, explanation
}

// winner is the last of the layers that says something about the field.
func winner(f field, layers []named) named {
	for n := len(layers) - 1; n > 0; n-- {
		if f.set(layers[n].layer) {
			return layers[n]
		}
	}
	return layers[0]
}
