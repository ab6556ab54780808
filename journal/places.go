package journal

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// places are the places in a JSON document to redact: the parts of JSON Pointers as a tree. "*" matches any
// part, and a name matches in any case, because a model may write it so. The zero value has none.
type places struct {
	next map[string]*places // by folded parts
	// here redacts the value at this place, and below all values inside it.
	here, below bool
}

// add adds places: JSON Pointers relative to base. "**" at the end means the place and everything inside.
// Invalid pointers are ignored.
func (p *places) add(base string, pointers ...string) {
	for _, pointer := range pointers {
		if parts, ok := parsePointer(base + pointer); ok {
			p.put(parts)
		}
	}
}

func (p *places) put(parts []string) {
	switch {
	case len(parts) == 0:
		p.here = true
		return
	case len(parts) == 1 && parts[0] == "**":
		p.here, p.below = true, true
		return
	case p.next == nil:
		p.next = map[string]*places{}
	}
	part := folded(parts[0])
	if p.next[part] == nil {
		p.next[part] = new(places)
	}
	p.next[part].put(parts[1:])
}

// has reports whether a place is included.
func (p *places) has(at []string) bool {
	switch {
	case p == nil:
		return false
	case p.below, len(at) == 0:
		return p.below || p.here
	}
	return p.next[folded(at[0])].has(at[1:]) || p.next["*"].has(at[1:])
}

// folded returns the same for names that differ in case alone.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// hasAbove reports whether a place is inside an included one.
func (p *places) hasAbove(at []string) bool {
	for n := range at {
		if p.has(at[:n]) {
			return true
		}
	}
	return false
}

// parsePointer splits a JSON Pointer.
func parsePointer(p string) (parts []string, ok bool) {
	at := jsontext.Pointer(p)
	return slices.Collect(at.Tokens()), at.IsValid()
}
