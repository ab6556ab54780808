package schema

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/internal/canon"
)

// node is one compiled schema with its subschemas as nodes, in a fixed order.
type node struct {
	*jsonschema.Schema
	types         kind   // 0 for all
	never, always bool   // the schemas false and true
	shared        bool   // several places refer to it: its answer for a value is remembered
	required      bool   // as a member, by the schema that has it
	closed        bool   // there may be no other members
	open          bool   // there may be others, and they count as described
	full          bool   // there may be no other items
	values        keys   // those that const or enum lists; nil for none
	listing       string // the keyword that lists them
	listed        kind   // their kinds
	ref, not      *node
	same          []*node // the subschemas for the same value
	meant         *node   // what it refers to, where it says no more than that; else nil

	textSize, listSize, objectSize size

	text   *pattern
	bounds []bound
	format *jsonschema.Format

	members            map[string]*node
	names              []string // of the members that may be there, sorted
	patterns           []patternNode
	rest               *node // of other members
	nameRule           *node
	unevaluatedMembers *node
	wants              []string // the members that it requires, each name after "/"
	needs              []need
	lookups            int // how many members are looked for by name

	first            []*node // of the first items
	each             *node   // of the other items
	contains         *node
	unevaluatedItems *node

	dynamic         *node // the first target of a dynamic reference
	anchor          string
	all, any, one   []*node
	anyTag, oneTag  *tag // the discriminators of any and one
	cond, then, els *node
	asks            []string // the members that cond looks at and that are required

	raw      map[string]any // as it is written in the document
	wanted   []string       // what the Go type wants besides, in words
	up       *node          // the schema that has this one as a branch or as its unevaluated… keyword
	under    string         // the keyword it is the value of
	expected sync.Map       // phrases, by rule or by missing member
	orOthers sync.Map       // as an alternative, the joined failures, by wrongBy
	home     *resource
}

// slashed puts "/" before names, as they stand in failures.
func slashed(names []string) (all []string) {
	for _, name := range names {
		all = append(all, "/"+name)
	}
	return all
}

// need is what the presence of a member requires: other members, or a schema for the whole object.
type need struct {
	rule   string
	name   string
	others []string // each name after "/"
	schema *node
}

// patternNode is the schema for members whose names match a pattern.
type patternNode struct {
	*pattern
	*node
}

// resource is a schema with an $id of its own. Its anchors are the targets of dynamic references.
type resource struct {
	anchors map[string]*node
}

// linker makes nodes of a compiled schema.
type linker struct {
	tree    any
	nodes   map[*jsonschema.Schema]*node
	order   []*node
	homes   map[string]*resource
	dynamic bool
	tracks  bool // the schema uses unevaluatedProperties or unevaluatedItems
	formats bool // formats are asserted; only the metaschemas need that
}

// child returns the node of the subschema under a keyword; nil for none.
func (l *linker) child(s *jsonschema.Schema, under string, up *node) *node {
	n := l.node(s)
	if n != nil && n.under == "" {
		n.under, n.up = under, up
	}
	return n
}

// node returns the node of a schema; nil for none.
func (l *linker) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n, known := l.nodes[s]; known {
		n.shared = true
		return n
	}
	n := &node{Schema: s}
	n.raw, n.home = l.source(s)
	n.always = s.Bool != nil && *s.Bool
	n.never = s.Bool != nil && !*s.Bool
	l.nodes[s] = n
	l.order = append(l.order, n)
	if s.Ref != nil && s.DraftVersion < 2019 {
		n.ref = l.node(s.Ref) // these drafts ignore keywords beside $ref
		return n
	}
	l.values(n)
	l.branches(n)
	l.object(n)
	l.array(n)
	if a := s.DynamicAnchor; a != "" {
		n.home.anchors[a], n.shared = n, true
	}
	return n
}

func (l *linker) values(n *node) {
	s := n.Schema
	if s.Types != nil {
		for _, t := range s.Types.ToStrings() {
			n.types |= kindsOf[t]
		}
	}
	if s.Enum != nil {
		n.values, n.listing = keysOf(s.Enum.Values...), "enum"
	}
	if s.Const != nil {
		constant := keysOf(*s.Const)
		isOther := func(v key) bool { return n.values != nil && !n.values.has(v) }
		n.values, n.listing = slices.DeleteFunc(constant, isOther), "const"
	}
	for _, v := range n.values {
		n.listed |= v.kind
	}
	if l.formats {
		n.format = s.Format
	}
	n.text, _ = s.Pattern.(*pattern)
	n.textSize, n.bounds = sizeOf(s.MinLength, s.MaxLength), boundsOf(s)
}

func (l *linker) branches(n *node) {
	s := n.Schema
	n.ref, n.not = l.node(s.Ref), l.child(s.Not, "not", nil)
	n.all, n.any, n.one = l.list(s.AllOf, n), l.list(s.AnyOf, n), l.list(s.OneOf, n)
	n.cond, n.then, n.els = l.child(s.If, "if", n), l.child(s.Then, "then", n), l.child(s.Else, "else", n)
	switch {
	case s.DynamicRef != nil:
		n.dynamic, l.dynamic = l.node(s.DynamicRef.Ref), true
		if d := s.DynamicRef; d.Ref.DynamicAnchor == d.Anchor {
			n.anchor = d.Anchor
		}
	case s.RecursiveRef != nil:
		n.dynamic, l.dynamic = l.node(s.RecursiveRef), true
		if s.RecursiveRef.RecursiveAnchor {
			n.anchor = recursive
		}
	}
	if s.RecursiveAnchor {
		n.home.anchors[recursive], n.shared = n, true
	}
}

// recursive is the name given to $recursiveAnchor, which has none.
const recursive = "#"

func (l *linker) list(schemas []*jsonschema.Schema, up *node) (list []*node) {
	for _, s := range schemas {
		list = append(list, l.child(s, "branch", up))
	}
	return list
}

func (l *linker) object(n *node) {
	s := n.Schema
	n.objectSize, n.members = sizeOf(s.MinProperties, s.MaxProperties), map[string]*node{}
	for _, name := range canon.Keys(s.Properties) {
		n.members[name] = l.child(s.Properties[name], "properties", nil)
		if !n.members[name].isNever() {
			n.names = append(n.names, name)
		}
	}
	n.wants, n.lookups = slashed(s.Required), len(s.Required)
	for _, name := range s.Required {
		if sub := n.members[name]; sub != nil {
			sub.required = true
		}
	}
	need := func(rule, name string, others []string, sub *jsonschema.Schema) {
		n.needs = append(n.needs, need{rule, name, slashed(others), l.child(sub, rule, n)})
		n.lookups += 1 + len(others)
	}
	for _, name := range canon.Keys(s.DependentRequired) {
		need("dependentRequired", name, s.DependentRequired[name], nil)
	}
	for _, name := range canon.Keys(s.DependentSchemas) {
		need("dependentSchemas", name, nil, s.DependentSchemas[name])
	}
	for _, name := range canon.Keys(s.Dependencies) {
		others, _ := s.Dependencies[name].([]string)
		sub, _ := s.Dependencies[name].(*jsonschema.Schema)
		need("dependencies", name, others, sub)
	}
	byText := func(a, b jsonschema.Regexp) int { return cmp.Compare(a.String(), b.String()) }
	for _, p := range slices.SortedFunc(maps.Keys(s.PatternProperties), byText) {
		sub := l.child(s.PatternProperties[p], "patternProperties", nil)
		n.patterns = append(n.patterns, patternNode{p.(*pattern), sub})
	}
	switch rest := s.AdditionalProperties.(type) {
	case bool:
		n.closed, n.open = !rest, rest
	case *jsonschema.Schema:
		n.rest = l.child(rest, "additionalProperties", nil)
	}
	n.nameRule = l.child(s.PropertyNames, "propertyNames", nil)
	n.unevaluatedMembers = l.child(s.UnevaluatedProperties, "unevaluatedProperties", n)
	l.tracks = l.tracks || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil
}

func (l *linker) array(n *node) {
	s := n.Schema
	first := s.PrefixItems
	n.listSize = sizeOf(s.MinItems, s.MaxItems)
	n.each = l.child(s.Items2020, "items", nil)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		n.each = l.child(items, "items", nil)
	case []*jsonschema.Schema:
		first = items
		more, _ := s.AdditionalItems.(*jsonschema.Schema)
		n.each = l.child(more, "additionalItems", nil)
		n.full = s.AdditionalItems == false
	}
	for _, sub := range first {
		n.first = append(n.first, l.child(sub, "prefixItems", nil))
	}
	n.contains = l.child(s.Contains, "contains", nil)
	n.unevaluatedItems = l.child(s.UnevaluatedItems, "unevaluatedItems", n)
}

// sameOf lists the subschemas of a node that apply to the same value.
func sameOf(n *node) []*node {
	list := slices.Concat([]*node{n.ref, n.dynamic}, n.all, n.any, n.one, []*node{n.cond, n.then, n.els})
	for _, need := range n.needs {
		list = append(list, need.schema)
	}
	return slices.DeleteFunc(list, func(n *node) bool { return n == nil })
}

// refersTo returns the schema that a reference leads to, if nothing demands anything beside it; else nil.
func (n *node) refersTo() *node {
	isIdle := func(keyword string) bool { return slices.Contains([]string{"$ref", "title", "description"}, keyword) }
	for keyword := range n.raw {
		if !isIdle(keyword) {
			return nil
		}
	}
	return n.ref
}

// source finds a schema as it is written in the document, and its resource: the nearest schema around it that
// has an $id. A metaschema is no part of the document: of it there are the keywords that issues use.
func (l *linker) source(s *jsonschema.Schema) (raw map[string]any, home *resource) {
	address, fragment, _ := strings.Cut(s.Location, "#")
	if address == baseURL {
		plain, _ := url.PathUnescape(fragment) // cannot fail: the library has escaped it
		at, path, depth := l.tree, canon.Path(plain), 0
		for n := range path {
			at, _ = canon.At(at, path[n:n+1])
			around, _ := at.(map[string]any)
			if id := textOf(around["$id"]); id != "" && id[0] != '#' {
				depth = n + 1
			}
		}
		if raw, _ = at.(map[string]any); raw == nil {
			raw = map[string]any{}
		}
		address += "#" + strings.Join(path[:depth], "/")
	} else {
		raw = keywordsOf(s)
	}
	if l.homes[address] == nil {
		l.homes[address] = &resource{anchors: map[string]*node{}}
	}
	return raw, l.homes[address]
}

// keywordsOf returns the types, the values and the bounds that a schema takes, as they are written.
func keywordsOf(s *jsonschema.Schema) map[string]any {
	raw := map[string]any{}
	if s.Types != nil {
		var types []any
		for _, t := range s.Types.ToStrings() {
			types = append(types, t)
		}
		raw["type"] = types
	}
	if s.Enum != nil {
		raw["enum"] = s.Enum.Values
	}
	for keyword, least := range map[string]*big.Rat{"minimum": s.Minimum, "exclusiveMinimum": s.ExclusiveMinimum} {
		if least != nil {
			raw[keyword] = json.Number(least.RatString())
		}
	}
	if s.MinItems != nil {
		raw["minItems"] = json.Number(strconv.Itoa(*s.MinItems))
	}
	return raw
}

// maxNodes bounds the schemas that are collected for one place of a document. Where there are more, hints are
// left out.
const maxNodes = 256

// inPlace lists schemas and all their subschemas for the same value, maxNodes at most. It uses the memory of
// the list that it is given.
func inPlace(from ...*node) []*node {
	nodes := from[:0]
	add := func(list []*node) {
		for _, n := range list {
			if n != nil && len(nodes) < maxNodes && !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	}
	add(from)
	for i := 0; i < len(nodes); i++ {
		add(nodes[i].same)
	}
	return nodes
}

// forChild lists the subschemas of some schemas for a member or an item.
func forChild(nodes []*node, tok string) (list []*node) {
	for _, n := range nodes {
		before := len(list)
		if n.members[tok] != nil {
			list = append(list, n.members[tok])
		}
		if n.each != nil || n.first != nil {
			if place, err := strconv.Atoi(tok); err == nil && n.item(place) != nil {
				list = append(list, n.item(place))
			}
		}
		for _, p := range n.patterns {
			if p.MatchString(tok) {
				list = append(list, p.node)
			}
		}
		if len(list) == before && n.rest != nil {
			list = append(list, n.rest)
		}
	}
	return list
}

// item returns the schema of the item at a place; nil for none.
func (n *node) item(place int) *node {
	if place >= 0 && place < len(n.first) {
		return n.first[place]
	}
	return n.each
}

// expects returns the phrase for a rule or for a missing member. It is made once.
func (n *node) expects(what string, say func() string) string {
	if said, known := n.expected.Load(what); known {
		return said.(string)
	}
	said := say()
	n.expected.Store(what, said)
	return said
}

// target returns the schema that a $ref or $dynamicRef leads to; nil for none.
func (n *node) target() *node { return cmp.Or(n.ref, n.dynamic) }

// asked lists the members that the condition looks at and that this schema, or one around it, requires.
func (n *node) asked() (names []string) {
	for at := n; n.cond != nil && at != nil; at = at.demandedBy() {
		for _, b := range inPlace(n.cond) {
			for _, name := range canon.Keys(b.members) {
				if m := at.members[name]; m != nil && m.required {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// demandedBy returns the schema that has this one in its allOf, and nothing else has it; nil for none.
func (n *node) demandedBy() *node {
	if n.shared || n.up == nil || !slices.Contains(n.up.all, n) {
		return nil
	}
	return n.up
}

// standsUnder returns the rule of the schema false: the keyword it is the value of, where that says enough.
func (n *node) standsUnder() string {
	switch n.under {
	case "unevaluatedProperties", "unevaluatedItems", "items", "additionalItems", "additionalProperties":
		return n.under
	}
	return "false"
}

// notRule returns the rule of "not". {"not": {}} is another way to write the schema false.
func (n *node) notRule() string {
	if n.isNever() {
		return n.standsUnder()
	}
	return "not"
}

// isNever reports whether no value fits the schema.
func (n *node) isNever() bool {
	not, isObject := n.raw["not"].(map[string]any)
	return n.never || isObject && len(not) == 0 || n.raw["not"] == true
}
