package schema

import (
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fields"
)

// suggest names the member that was probably meant by one that is not allowed. It comes first: a list of very
// many names is cut.
func (e *evaluation) suggest(f *failure) {
	names := f.allowed()
	if len(names) < 2 || !e.likens(len(names)) {
		return
	}
	near := fields.Nearest(f.value.name(), names)
	if near < 0 {
		return
	}
	meant := names[near]
	names = slices.Concat(names[near:near+1], names[:near], names[near+1:])
	f.said = clip(fault.NoMember(bounded(names, func(name string) string {
		if name == meant {
			return nameOf(name) + " (the nearest name)"
		}
		return nameOf(name)
	})))
}

// allowed are the names of the members that are allowed where one is not, sorted; none for other failures.
func (f *failure) allowed() []string {
	switch {
	case f.at == nil || f.joined != nil || f.lacks != "":
		return nil
	case f.rule == "additionalProperties":
		return f.at.names
	case f.rule == "unevaluatedProperties":
		if all := namesIn(inPlace(f.at.up)); all[f.value.name()] == nil {
			return canon.Keys(all)
		}
	}
	return nil
}
