package schema

import (
	"slices"

	"github.com/retake-go/retake/internal/fields"
)

// suggest names the member that was probably meant by one that is not allowed, unless it was sent as well. It
// comes first: a list of very many names is cut.
func (e *evaluation) suggest(f *failure) {
	names := f.allowed()
	if len(names) < 2 || !e.likens(len(names)) {
		return
	}
	near := fields.Nearest(f.value.name(), names)
	if near < 0 || f.value.parent().member(names[near]).isThere() {
		return
	}
	meant := names[near]
	names = slices.Concat(names[near:near+1], names[:near], names[near+1:])
	f.said = notAllowed(names, func(name string) string {
		if name == meant {
			return nameOf(name) + " (the nearest name)"
		}
		return nameOf(name)
	}, f.at.raw["patternProperties"])
}

// allowed returns the names of the members that are allowed where one is not, sorted; none for other
// failures.
func (f *failure) allowed() []string {
	switch {
	case f.at == nil || f.joined != nil || f.lacks != "":
		return nil
	case f.rule == "additionalProperties":
		return f.at.names
	case f.rule == "unevaluatedProperties":
		if all := namesIn(inPlace(f.at.up)); !slices.Contains(all, f.value.name()) {
			return all
		}
	}
	return nil
}
