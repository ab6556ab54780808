package extract

import (
	"cmp"
	"slices"
)

// Call is one call found in a text. It shares no memory with the text's other calls.
type Call struct {
	// Name is the registered name, or the name as written if it is not registered. It is empty if a wrapper
	// for calls has no tool's name in it; Broken is set then.
	Name string
	// Known reports whether Name is registered.
	Known bool
	// Arguments is a JSON object as strict JSON; nil if Broken is set. With the repair [TaggedArguments] each
	// of its members is a string.
	Arguments []byte
	// Form is the form of the call.
	Form Form
	// Offset and End bound the call's own text, in bytes, without tags, fences and lists around it.
	Offset, End int
	// Repairs are in order of offset.
	Repairs []Repair
	// Broken says why the call cannot be used; nil if it can.
	Broken *Broken
}

func (c *Call) repaired(kind Form, offset int) {
	c.Repairs = append(c.Repairs, Repair{kind, offset})
}

// noArguments reads what stands at an offset as no arguments.
func (c *Call) noArguments(offset int) {
	c.Arguments = []byte("{}")
	c.repaired(formNoArguments, offset)
}

// Broken says why a call or value cannot be read.
type Broken struct {
	// Rule is the stable name of what is wrong: such as [fault.RuleSyntax].
	Rule string
	// Offset is the byte offset in the text of the first thing wrong.
	Offset int
}

// sortRepairs sorts repairs by offset and kind, and removes duplicates.
func sortRepairs(repairs []Repair) []Repair {
	slices.SortFunc(repairs, func(a, b Repair) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(repairs)
}
