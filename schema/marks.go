package schema

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

const (
	echoKeyword   = "x-echo"
	noEchoKeyword = "x-noecho"
)

// maxEcho bounds an echoed value, in bytes.
const maxEcho = 100

// echoed returns the value at a place as JSON, where a schema of the place or of one above it marks it as
// safe to echo. Where a place has very many schemas, nothing is echoed.
func (p *places) echoed(v value, levels [][]*node) string {
	tooMany := slices.ContainsFunc(levels, func(nodes []*node) bool { return len(nodes) >= maxNodes })
	isHidden := anyMarked(levels, noEchoKeyword, secretKeyword)
	if !v.isThere() || tooMany || isHidden || !anyMarked(levels, echoKeyword) || !p.spend(v.size()) {
		return ""
	}
	text, _ := jsontext.AppendFormat(nil, v.canonical(), jsontext.EscapeForJS(true)) // cannot fail: it is JSON
	return canon.Cut(string(text), maxEcho)
}

// anyMarked reports whether one of the keywords is true in a schema of a place, or of one above it.
func anyMarked(levels [][]*node, keywords ...string) bool {
	for _, nodes := range levels {
		for _, n := range nodes {
			if slices.ContainsFunc(keywords, func(keyword string) bool { return n.raw[keyword] == true }) {
				return true
			}
		}
	}
	return false
}

const secretKeyword = "x-secret"

// maxPlaces bounds the places that are searched for secrets: each reference may double their number.
// maxPointer bounds the bytes of their JSON Pointers.
const maxPlaces, maxPointer = 4096, 4096

// Secrets lists the places whose values must not be kept, as JSON Pointers in ascending order; "*" stands for
// any member or item. The tag `retake:"secret"` marks a field as secret, the keyword "x-secret" a place in a
// raw schema. In a recursive type, a part that may hold a secret at any depth is secret as a whole. So is,
// beyond 4096 places or 4 KiB of a pointer, everything that holds one. The slice is the caller's own.
func (s *Schema) Secrets() []string {
	w := &secrets{left: maxPlaces, dynamic: s.scoped && anyMarked([][]*node{s.nodes}, secretKeyword)}
	if w.search(s.root); w.holds[s.root] {
		w.walk(s.root, "")
	}
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

type secrets struct {
	found   []string
	left    int
	dynamic bool           // the target of a dynamic reference may be secret
	holds   map[*node]bool // what is secret or holds a secret
	under   []*node        // the targets of references that are being walked
}

// search finds the schemas that are secret or hold a secret at any depth.
func (w *secrets) search(root *node) {
	around := map[*node][]*node{root: nil}
	w.holds = map[*node]bool{}
	todo, found := []*node{root}, []*node(nil)
	for n := 0; n < len(todo); n++ {
		at := todo[n]
		if w.isSecret(at) {
			found = append(found, at)
		}
		at.parts(func(sub *node, _ ...string) {
			if _, known := around[sub]; !known {
				todo = append(todo, sub)
			}
			around[sub] = append(around[sub], at)
		})
	}
	for len(found) > 0 {
		at := found[len(found)-1]
		if found = found[:len(found)-1]; !w.holds[at] {
			w.holds[at] = true
			found = append(found, around[at]...)
		}
	}
}

func (w *secrets) isSecret(n *node) bool {
	return n.raw[secretKeyword] == true || n.dynamic != nil && w.dynamic
}

// parts visits the subschemas of a node, with the step to the member or item that they describe, if any.
func (n *node) parts(visit func(sub *node, step ...string)) {
	for _, sub := range n.same {
		visit(sub)
	}
	inner := slices.Concat(n.first, []*node{n.each, n.rest, n.contains, n.unevaluatedItems, n.unevaluatedMembers})
	for _, p := range n.patterns {
		inner = append(inner, p.node)
	}
	for _, sub := range inner {
		if sub != nil {
			visit(sub, "*")
		}
	}
	for _, name := range n.names {
		visit(n.members[name], name)
	}
}

// walk finds the secret places of a node that holds a secret.
func (w *secrets) walk(n *node, at string) {
	if w.left--; w.left < 0 || w.isSecret(n) {
		w.found = append(w.found, at)
		return
	}
	n.parts(func(sub *node, step ...string) {
		switch {
		case !w.holds[sub]:
		case len(step) == 0 && sub == n.target():
			w.follow(sub, at)
		case len(at)+len(strings.Join(step, "")) > maxPointer:
			w.found = append(w.found, at)
		default:
			w.walk(sub, at+canon.Pointer(step...))
		}
	})
}

// follow walks the target of a reference. A recursive one is secret as a whole.
func (w *secrets) follow(n *node, at string) {
	if slices.Contains(w.under, n) {
		w.found = append(w.found, at)
		return
	}
	w.under = append(w.under, n)
	w.walk(n, at)
	w.under = w.under[:len(w.under)-1]
}
