package schema

import (
	"maps"
	"slices"

	"github.com/retake-go/retake/internal/canon"
)

const (
	echoKeyword   = "x-echo"
	noEchoKeyword = "x-noecho"
)

// maxEcho bounds an echoed value, in bytes.
const maxEcho = 100

// echoed is the value at a place as JSON, where a schema of the place or of one above it marks it as safe to
// echo. Where a place has very many schemas, nothing is echoed.
func (p *places) echoed(v *value, levels [][]*node) string {
	tooMany := slices.ContainsFunc(levels, func(nodes []*node) bool { return len(nodes) >= maxNodes })
	isHidden := anyMarked(levels, noEchoKeyword, secretKeyword)
	if v == nil || tooMany || isHidden || !anyMarked(levels, echoKeyword) || !p.spend(v.size()) {
		return ""
	}
	return canon.Cut(string(v.sorted(p.doc)), maxEcho)
}

// anyMarked reports whether one of the keywords is true in a schema of a place, or of one above it.
func anyMarked(levels [][]*node, keywords ...string) bool {
	isMarked := func(n *node) bool {
		return slices.ContainsFunc(keywords, func(keyword string) bool { return n.raw[keyword] == true })
	}
	anyOf := func(nodes []*node) bool { return slices.ContainsFunc(nodes, isMarked) }
	return slices.ContainsFunc(levels, anyOf)
}

const secretKeyword = "x-secret"

// maxPlaces bounds the places that are searched for secrets: each reference may double their number.
const maxPlaces = 4096

// Secrets lists the places whose values must not be kept, as JSON Pointers in ascending order; "*" stands for
// any member or item. The tag `retake:"secret"` marks a field as secret, the keyword "x-secret" a place in a
// raw schema. In a recursive type, a part that may hold a secret at any depth is secret as a whole. Beyond
// 4096 places, everything else counts as secret. The slice is the caller's own.
func (s *Schema) Secrets() []string {
	w := &secrets{left: maxPlaces, dynamic: isMarked(s.tree, secretKeyword)}
	w.walk(s.root, "")
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

type secrets struct {
	found   []string
	left    int
	dynamic bool    // the target of a dynamic reference may be secret
	under   []*node // the targets of references that are being walked
}

func (w *secrets) walk(n *node, at string) {
	if n == nil {
		return
	}
	w.left--
	if n.raw[secretKeyword] == true || w.left < 0 || n.dynamic != nil && w.dynamic {
		w.found = append(w.found, at)
	}
	if n.raw[secretKeyword] == true || w.left < 0 {
		return
	}
	for _, sub := range n.same {
		if sub == n.target() {
			w.follow(sub, at)
			continue
		}
		w.walk(sub, at)
	}
	inner := []*node{n.each, n.rest, n.contains, n.unevaluatedItems, n.unevaluatedMembers}
	for _, sub := range slices.Concat(n.first, inner) {
		w.walk(sub, at+"/*")
	}
	for _, name := range canon.Keys(n.members) {
		w.walk(n.members[name], at+canon.Pointer(name))
	}
	for _, p := range n.patterns {
		w.walk(p.node, at+"/*")
	}
}

// follow walks the target of a reference. A recursive target is secret as a whole if anything in it is.
func (w *secrets) follow(n *node, at string) {
	if slices.Contains(w.under, n) {
		if isMarked(n.raw, secretKeyword) {
			w.found = append(w.found, at)
		}
		return
	}
	w.under = append(w.under, n)
	w.walk(n, at)
	w.under = w.under[:len(w.under)-1]
}

// isMarked reports whether a keyword is true anywhere in a schema document.
func isMarked(tree any, keyword string) bool {
	switch at := tree.(type) {
	case map[string]any:
		within := func(v any) bool { return isMarked(v, keyword) }
		return at[keyword] == true || slices.ContainsFunc(slices.Collect(maps.Values(at)), within)
	case []any:
		return slices.ContainsFunc(at, func(v any) bool { return isMarked(v, keyword) })
	}
	return false
}
