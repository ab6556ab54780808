package policy

import (
	"maps"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// Set is all the policy that a run is given: layers of the correction plane, the layer of the transport
// plane, and the bounds of the run as a whole. Make one with [DefaultSet]: the zero value allows no failed
// attempt and no model call, and [Set.Validate] refuses it.
//
// Most specific wins, field by field: the built-in [Correction], then Global, then the tool's layer (or
// Answer for the final answer), then Call, then Adjusted.
type Set struct {
	// Global (global) is for every action of the run.
	Global Layer
	// Tools (tools) is for the actions of single tools, by registered name.
	Tools map[string]Layer
	// Answer (answer) is for the final answer: what Tools is for tools.
	Answer Layer
	// Call (call) is what the caller or planner of this one run says.
	Call Layer
	// Adjusted (adjusted) is what was adjusted in mid-run; see [Fold].
	Adjusted Layer
	// Transport (transport) lies over the policy [Transport] and is for model calls that do not come through.
	Transport Layer
	// ToolTransport (tool_transport) lies over Transport and is for calls of single tools that do not come
	// through, by registered name. It bounds the tries of a call; which calls are tried again at all is the
	// tool's own declaration.
	ToolTransport map[string]Layer
	// Budgets (budgets) bounds the failed attempts of the run.
	Budgets Budgets
	// MaxTurns (max_turns) bounds the model calls of the run that came through: at least 1, or [Unlimited].
	// 100 by default.
	MaxTurns int
	// MaxCalls (max_calls) bounds the tool calls of one reply: at least 1, or [Unlimited]. 128 by default. A
	// reply with more is refused whole: none of its calls is checked or run.
	MaxCalls int
	// AllOrNothing (all_or_nothing) runs the calls of a reply only when all of them are good. Off by default:
	// good calls run while bad ones are answered with feedback.
	AllOrNothing bool
}

// Budgets bounds failed attempts of the correction plane within one run, and calls of tools that failed:
// those whose outcome is not known, and those whose tries are used up. With a budget of N the N+1st failed
// attempt stops; 0 means that no failed attempt is retried, [Unlimited] that there is no bound. Counts are
// not reset in a run.
type Budgets struct {
	// Tool (tool) is for each tool: 4 by default. Several failing calls of one tool in one reply count once.
	Tool int
	// Run (run) is for the run as a whole: 8 by default.
	Run int
	// UnknownTools (unknown_tools) is one pool for all names of tools that were not offered: 2 by default.
	UnknownTools int
}

// DefaultBudgets are the budgets of a run that configures none: 4, 8, 2.
func DefaultBudgets() Budgets { return Budgets{Tool: 4, Run: 8, UnknownTools: 2} }

// DefaultSet is the set of a run that configures nothing: empty layers, [DefaultBudgets], 100 turns, 128
// calls in one reply.
func DefaultSet() Set { return Set{Budgets: DefaultBudgets(), MaxTurns: 100, MaxCalls: 128} }

// Fold returns the set after a mid-run adjustment of the correction plane: adjustment lies above all other
// layers and above the adjustments before it, field by field. The set given stays as it was. It looks at
// nothing: see [Adjust].
func Fold(s Set, adjustment Layer) Set {
	s.Adjusted = adjustment.Over(s.Adjusted)
	return s
}

// OwnClasses are the classes that the set names and package fault does not know, in ascending order: those
// that only the program's own errors have ([fault.ClassError]).
func (s *Set) OwnClasses() []fault.Class {
	layers := []Layer{s.Global, s.Answer, s.Call, s.Adjusted, s.Transport}
	for _, tools := range []map[string]Layer{s.Tools, s.ToolTransport} {
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			layers = append(layers, tools[name])
		}
	}
	var own []fault.Class
	for _, l := range layers {
		for _, c := range append(slices.Sorted(maps.Keys(l.Bases)), l.RetryableErrors...) {
			if _, known := fault.Lookup(c); !known {
				own = append(own, c)
			}
		}
	}
	slices.Sort(own)
	return slices.Compact(own)
}

// Clone is the set with all that it points to of its own.
func (s *Set) Clone() *Set {
	c, table := *s, fields.For[Set]()
	for n := range table.Rows {
		if fields.Says(s, n) {
			table.Copy(&c, s, n)
		}
	}
	return &c
}

func (l Layer) clone() Layer {
	c := Layer{Origins: slices.Clone(l.Origins)}
	for n := range layerTable().Rows {
		if fields.Says(&l, n) {
			layerTable().Copy(&c, &l, n)
		}
	}
	return c
}

// MarshalJSON writes the set in the form that package policy/file reads; layers that say nothing are left
// out.
func (s Set) MarshalJSON() ([]byte, error) {
	s.dropEmpty()
	return fields.For[Set]().JSON(&s)
}

// dropEmpty makes maps without layers nil: both mean that no tool has one.
func (s *Set) dropEmpty() {
	if len(s.Tools) == 0 {
		s.Tools = nil
	}
	if len(s.ToolTransport) == 0 {
		s.ToolTransport = nil
	}
}

// UnmarshalJSON replaces s: what the JSON does not name has the value of [DefaultSet]. It is as strict as
// that of [Layer]. It checks types and no values: see [Set.Validate].
func (s *Set) UnmarshalJSON(data []byte) error {
	read := DefaultSet()
	if err := fields.ReadJSON(data, &read); err != nil {
		return err
	}
	*s = read
	return nil
}

// MarshalJSON writes all three budgets.
func (b Budgets) MarshalJSON() ([]byte, error) { return fields.For[Budgets]().JSON(&b) }

// UnmarshalJSON replaces b: a budget the JSON does not name has the value of [DefaultBudgets]. It is as
// strict as that of [Layer].
func (b *Budgets) UnmarshalJSON(data []byte) error {
	read := DefaultBudgets()
	if err := fields.ReadJSON(data, &read); err != nil {
		return err
	}
	*b = read
	return nil
}
