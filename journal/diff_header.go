package journal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
)

// HeaderDifference is how the headers of a run differ.
type HeaderDifference struct {
	// Run is the number of the run, from 1.
	Run int `json:"run"`
	// Policies are the fields of the resolved policies that differ.
	Policies []policyDifference `json:"policies,omitempty"`
	// Tools are the tools that only one header has, or that differ.
	Tools []toolDifference `json:"tools,omitempty"`
	// Changes are all other members that differ, such as /config/seed.
	Changes []Change `json:"changes,omitempty"`
}

// policyDifference is one field of a policy that differs.
type policyDifference struct {
	// Of names the policy as [policy.Target] does: "answer", "transport", "tool book_room" or "tool_transport
	// book_room"; "run" for the limits of the run.
	Of string `json:"of"`
	// Name is the field's name in files.
	Name string `json:"name"`
	// A and B are its values with their origins.
	A policy.Explained `json:"a"`
	B policy.Explained `json:"b"`
}

// toolDifference is a tool with the digests of its schemas. A digest is empty if the header does not have the
// tool.
type toolDifference struct {
	Name string `json:"name"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
	// Description reports that the descriptions differ.
	Description bool `json:"description,omitempty"`
}

// String returns the difference as text, several lines.
func (h HeaderDifference) String() string {
	var b strings.Builder
	h.explain(&b)
	return strings.TrimRight(b.String(), "\n")
}

// DiffHeaders compares two headers and reports whether they differ.
func DiffHeaders(a, b Header) (d HeaderDifference, differ bool) {
	d = HeaderDifference{
		Policies: policiesDiffer(&a, &b), Tools: toolsDiffer(a.Tools, b.Tools), Changes: restDiffers(a, b),
	}
	return d, len(d.Policies)+len(d.Tools)+len(d.Changes) > 0
}

// policiesDiffer compares the policies that either header has, and the limits of the run: of the answer, of
// transport, and of tools in order of name.
func policiesDiffer(a, b *Header) []policyDifference {
	var found []policyDifference
	compare := func(of string, x, y policy.Explanation) {
		for n := range x {
			if x[n].Value != y[n].Value {
				found = append(found, policyDifference{of, x[n].Field, x[n], y[n]})
			}
		}
	}
	for _, of := range targetsOf(a, b) {
		compare(of.String(), a.Config.Policy.Explain(of), b.Config.Policy.Explain(of))
	}
	compare("run", a.Config.Policy.ExplainRun(), b.Config.Policy.ExplainRun())
	return found
}

// targetsOf returns the targets of the policies that either header has: the answer, transport, and tools in
// order of name.
func targetsOf(a, b *Header) []policy.Target {
	all := append(slices.Concat(a.Policies(), b.Policies()), policy.Target{})
	slices.SortFunc(all, func(x, y policy.Target) int {
		return cmp.Or(cmp.Compare(x.Tool, y.Tool), cmp.Compare(x.Plane, y.Plane))
	})
	return slices.Compact(all)
}

func toolsDiffer(a, b []Tool) []toolDifference {
	var found []toolDifference
	for _, t := range slices.Concat(a, b) {
		was, inA := toolOf(a, t.Name)
		is, inB := toolOf(b, t.Name)
		d := toolDifference{t.Name, was.Schema, is.Schema, inA && inB && was.Description != is.Description}
		if (d.A != d.B || d.Description) && !slices.Contains(found, d) {
			found = append(found, d)
		}
	}
	return found
}

func toolOf(all []Tool, name string) (t Tool, there bool) {
	n := slices.IndexFunc(all, func(t Tool) bool { return t.Name == name })
	if n < 0 {
		return Tool{}, false
	}
	return all[n], true
}

// restDiffers compares everything but policies and tools.
func restDiffers(a, b Header) []Change {
	var raw [2][]byte
	for n, h := range []*Header{&a, &b} {
		h.Config.Policy, h.Tools = policy.Set{}, nil
		var err error
		if raw[n], err = canon.Marshal(h); err != nil {
			return []Change{{Was: err.Error()}}
		}
	}
	return changes(raw[0], raw[1])
}
