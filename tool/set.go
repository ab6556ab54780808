package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// Set is the tools that are offered to a model together. It never changes and is safe for concurrent use. A
// nil Set has no tools.
type Set struct {
	tools   []*Tool
	byAlias map[string]*Tool
	names   extract.Names
}

// NewSet makes a set, in the order given. Tools that are nil or zero, share a name, or could not be told
// apart by providers, which see aliases (a.b and a_b are both a_b, 1a and _1a both _1a), are refused; the
// error names all of them.
func NewSet(tools ...*Tool) (*Set, error) {
	s := &Set{tools: slices.Clone(tools), byAlias: map[string]*Tool{}}
	var faults []error
	taken := map[string]*Tool{}
	for n, t := range tools {
		if t == nil {
			faults = append(faults, fmt.Errorf("tools[%d]: is nil", n))
			continue
		}
		if t.name == "" {
			faults = append(faults, fmt.Errorf("tools[%d]: is the zero value: make it with New or Raw", n))
			continue
		}
		alias := ProviderName(t.name)
		if alias[0] == '-' || alias[0] >= '0' && alias[0] <= '9' {
			alias = "_" + alias // as several providers have it
		}
		switch other := taken[alias]; {
		case other == nil:
			taken[alias], s.byAlias[ProviderName(t.name)] = t, t
		case other.name == t.name:
			faults = append(faults,
				fmt.Errorf("tools[%d]: %q is given twice: leave one out, or rename it", n, t.name))
		default:
			faults = append(faults,
				fmt.Errorf("tools[%d]: %q and %q would both be %q to a provider: rename one",
					n, other.name, t.name, alias))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	s.names = extract.NewNames(s.Names())
	return s, nil
}

// Get returns the tool registered under a name.
func (s *Set) Get(name string) (*Tool, bool) {
	if t := s.resolve(name); t != nil && t.name == name {
		return t, true
	}
	return nil, false
}

// Names lists the names in order of registration. The slice is the caller's own.
func (s *Set) Names() []string {
	var names []string
	for _, t := range s.All() {
		names = append(names, t.name)
	}
	return names
}

// All lists the tools in order of registration. The slice is the caller's own.
func (s *Set) All() []*Tool {
	if s == nil {
		return nil
	}
	return slices.Clone(s.tools)
}

// resolve finds the tool a native call names, by its name or its alias; nil where there is none.
func (s *Set) resolve(name string) *Tool {
	if s == nil {
		return nil
	}
	return s.byAlias[ProviderName(name)]
}

// ProviderName returns the name to offer a tool under to providers that allow letters, digits, "_" and "-"
// only: every other character becomes "_". [Set.Read] takes both names.
func ProviderName(name string) string {
	return strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, name)
}

// plain reports whether every provider allows a character in a name.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// maxOffered bounds the names in an issue about an unknown tool.
const maxOffered = 20

// offer lists the names of a set, for a call of a name that is not among them. A name close enough to be
// meant comes first and is marked as the nearest.
func (s *Set) offer(name string) string {
	names := s.Names()
	if len(names) == 0 {
		return fault.OneOf("")
	}
	if at := fields.Nearest(name, names); at >= 0 {
		near := names[at]
		copy(names[1:], names[:at])
		names[0] = near + " (the nearest name)"
	}
	more := ""
	if rest := len(names) - maxOffered; rest > 0 {
		names, more = names[:maxOffered], fmt.Sprintf(" and %d more", rest)
	}
	return fault.OneOf(strings.Join(names, ", ") + more)
}
