package policy

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fields"
)

// Set has all the policies of a run: the layers of the correction plane, those of the transport plane, and
// the limits of the whole run. Make one with [DefaultSet]. The zero value allows no failed attempt and no
// model call, and [Set.Validate] refuses it.
//
// For each field the most specific layer wins. From the least specific: the built-in [Correction], Global,
// the tool's layer (or Answer for the final answer), Call, Adjusted.
type Set struct {
	// Global (global) applies to every action of the run.
	Global Layer `policy:"global"`
	// Tools (tools) applies to the actions of single tools, by registered name.
	Tools map[string]Layer `policy:"tools,each=tool"`
	// Answer (answer) applies to the final answer.
	Answer Layer `policy:"answer"`
	// Call (call) is set by the caller or planner for this run.
	Call Layer `policy:"call"`
	// Adjusted (adjusted) is set during the run; see [Adjust].
	Adjusted Layer `policy:"adjusted"`
	// Transport (transport) is merged over the policy [Transport]. It applies to model calls that fail.
	Transport Layer `policy:"transport"`
	// ToolTransport (tool_transport) is merged over Transport. It applies to calls of single tools that fail,
	// by registered name. It limits the tries of a call; the tool's own declaration decides whether its calls
	// are tried again at all.
	ToolTransport map[string]Layer `policy:"tool_transport,each=tool"`
	// Budgets (budgets) bounds the failed attempts of the run.
	Budgets Budgets `policy:"budgets"`
	// Prices (prices) are what models cost, by their providers' names; nil means that costs are unknown.
	Prices Prices `policy:"prices,each=model"`
	// Spending (spending) bounds the tokens and the money of model calls. The zero value, the default, bounds
	// nothing.
	Spending Spending `policy:"spending"`
	// Context (context) says how prompts are kept within the window of their model.
	Context Context `policy:"context"`
	// MaxTurns (max_turns) is the most successful model calls of the run: at least 1, or [Unlimited]. 100 by
	// default. As often, but at least 100 times, a planner can have a failed request made again after the
	// policy's last attempt, or by another model.
	MaxTurns int `policy:"max_turns,unlimited,least=1"`
	// MaxCalls (max_calls) is the most tool calls of one reply: at least 1; [Unlimited] and more than
	// [MostCalls] mean MostCalls. 128 by default. A reply with more is refused as a whole: none of its calls
	// is checked or run.
	MaxCalls int `policy:"max_calls,unlimited,least=1"`
	// AllOrNothing (all_or_nothing) runs the calls of a reply only if all of them are valid. Off by default:
	// valid calls run, and invalid ones are answered with feedback.
	AllOrNothing bool `policy:"all_or_nothing"`
}

// MostCalls is the most tool calls of any reply, so that reading and explaining them takes little memory.
const MostCalls = 1000

// CallLimit returns the most tool calls of one reply: MaxCalls within [MostCalls].
func (s *Set) CallLimit() int {
	if s.MaxCalls == Unlimited {
		return MostCalls
	}
	return min(s.MaxCalls, MostCalls)
}

// Budgets bounds the failed attempts of the correction plane within one run. Tool calls that failed count
// too: those with an unknown outcome and those whose tries are used up. A budget of N allows N failed
// attempts; the next one stops. 0 means that no failed attempt is retried, [Unlimited] means no limit. Only a
// planner or a person begins the counts anew during a run.
type Budgets struct {
	// Tool (tool) applies to each tool: 4 by default. Several failing calls of one tool in one reply count
	// once.
	Tool int `policy:"tool,unlimited"`
	// Run (run) applies to the whole run: 8 by default.
	Run int `policy:"run,unlimited"`
	// UnknownTools (unknown_tools) is shared by all calls of tools that are not offered: 2 by default.
	UnknownTools int `policy:"unknown_tools,unlimited"`
}

// DefaultSet returns the default set: empty layers; budgets of 4 failed attempts per tool, 8 per run, 2 for
// unknown tools; 100 turns, 128 calls in one reply.
func DefaultSet() Set {
	return Set{Budgets: Budgets{Tool: 4, Run: 8, UnknownTools: 2}, MaxTurns: 100, MaxCalls: 128}
}

// OwnClasses returns the classes in s that package fault does not know, in ascending order. Only the
// program's own errors can have them (see [fault.ClassError]).
func (s *Set) OwnClasses() []fault.Class {
	var own []fault.Class
	s.each(func(l *Layer, _, _ string) {
		for _, c := range append(canon.Keys(l.Bases), l.RetryableErrors...) {
			if c.Plane() == "" {
				own = append(own, c)
			}
		}
	})
	slices.Sort(own)
	return slices.Compact(own)
}

// each calls do with each layer of the set, and with where it stands: under a key, and there under the name
// of its tool, if it is that of a tool.
func (s *Set) each(do func(l *Layer, key, tool string)) {
	do(&s.Global, layerGlobal, "")
	do(&s.Answer, layerAnswer, "")
	do(&s.Call, layerCall, "")
	do(&s.Adjusted, layerAdjusted, "")
	for _, tool := range canon.Keys(s.Tools) {
		do(layerOf(s.Tools, tool), layerTools, tool)
	}
	do(&s.Transport, layerTransport, "")
	for _, tool := range canon.Keys(s.ToolTransport) {
		do(layerOf(s.ToolTransport, tool), layerToolTransport, tool)
	}
}

// Clone returns a deep copy of the set.
func (s *Set) Clone() *Set { return new(fields.Clone(*s)) }

// MarshalJSON writes the set in the form that package policy/file reads. Empty layers are left out.
func (s Set) MarshalJSON() ([]byte, error) {
	s.dropEmpty()
	return fields.JSON(&s, nil)
}

// dropEmpty sets empty maps to nil. Both mean that no tool has a layer, and no model a price.
func (s *Set) dropEmpty() {
	if len(s.Tools) == 0 {
		s.Tools = nil
	}
	if len(s.ToolTransport) == 0 {
		s.ToolTransport = nil
	}
	if len(s.Prices) == 0 {
		s.Prices = nil
	}
}

// UnmarshalJSON replaces s. Fields that are absent from the JSON have the value of [DefaultSet]. It is as
// strict as [Layer.UnmarshalJSON].
func (s *Set) UnmarshalJSON(data []byte) error {
	read, f := DefaultSet(), fields.Collect()
	fields.Reader{Also: read.also}.Read(data, &read, f)
	if read.dropEmpty(); f.Found() > 0 {
		f.Besides(read.check)
		return fields.Err[FieldError](f)
	}
	*s = read
	return nil
}

// also reads the layers of a set. A layer with a fault keeps its other fields, so that they are checked too.
func (s *Set) also(name string, v jsontext.Value, f fields.Faults) bool {
	one := map[string]*Layer{layerGlobal: &s.Global, layerAnswer: &s.Answer, layerCall: &s.Call,
		layerAdjusted: &s.Adjusted, layerTransport: &s.Transport}[name]
	many := map[string]*map[string]Layer{layerTools: &s.Tools, layerToolTransport: &s.ToolTransport}[name]
	switch {
	case one != nil:
		one.read(v, f, name)
	case many != nil:
		*many = map[string]Layer{}
		fields.Members(v, f, func(tool string, v jsontext.Value, f fields.Faults) {
			var l Layer
			l.read(v, f, name)
			(*many)[tool] = l
		})
	}
	return one != nil || many != nil
}

// MarshalJSON writes all three budgets.
func (b Budgets) MarshalJSON() ([]byte, error) { return fields.JSON(&b, nil) }

// UnmarshalJSON replaces b. A budget that is absent from the JSON has the value of [DefaultSet]. It is as
// strict as [Layer.UnmarshalJSON].
func (b *Budgets) UnmarshalJSON(data []byte) error {
	read, f := DefaultSet().Budgets, fields.Collect()
	fields.Read(data, &read, f)
	if err := fields.Err[FieldError](f); err != nil {
		return err
	}
	*b = read
	return nil
}
