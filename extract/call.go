package extract

import (
	"cmp"
	"slices"
	"sort"
)

// Call is one call found in a text. It shares no memory with the text's other calls.
type Call struct {
	// Name is the registered name, or the name as written where it is not registered; empty where a wrapper
	// made for calls holds something that names no tool (Broken is set then).
	Name string
	// Known reports whether Name is registered.
	Known bool
	// Arguments is a JSON object as strict JSON; nil where Broken is set. With [TaggedArguments] among the
	// repairs, each of its members is a string.
	Arguments []byte
	// Form is what the call was read by.
	Form Form
	// Offset and End bound the call's own text, in bytes, without tags, fences and lists around it.
	Offset, End int
	// Repairs are in order of offset.
	Repairs []Repair
	// Broken says why the call cannot be used; nil where it can.
	Broken *Broken
}

// Broken says why a call or value cannot be read.
type Broken struct {
	// Rule is the stable name of what is wrong: one of the Rule constants.
	Rule string
	// Offset is the byte offset in the text of the first thing wrong.
	Offset int
}

// The rules of a [Broken].
const (
	RuleSyntax       = "syntax"
	RuleDuplicateKey = "duplicate_key"
	RuleInvalidUTF8  = "invalid_utf8"
	RuleTrailingData = "trailing_data"
	RuleDepth        = "depth"
	RuleSize         = "size"
)

func sortRepairs(repairs []Repair) []Repair {
	sort.Sort(byPlace(repairs))
	return slices.Compact(repairs)
}

// byPlace are repairs by where they are, then by what they are. Other packages sort by the same code:
// slices.SortFunc would be made anew.
type byPlace []Repair

func (r byPlace) Len() int      { return len(r) }
func (r byPlace) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r byPlace) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(r[i].Offset, r[j].Offset), cmp.Compare(r[i].Kind, r[j].Kind)) < 0
}
