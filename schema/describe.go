package schema

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of what a description adds to a type. A constraint that is longer is left out; the issue of its own
// rule says it.
const (
	maxDetail  = 60  // bytes of one constraint
	maxDigits  = 9   // bytes of a number in it: the bounds of wide Go types help nobody
	maxMembers = 120 // bytes of the names of an object's members
	maxSteps   = 8   // references followed
	maxLists   = 3   // lists within lists that are named
)

// tell notes at the schemas of a type's places what the validator and decoders want there, which no keyword
// says, and the schemas at the members of structs. told are the structs that have been looked into.
func (at *spot) tell(n *node, told map[*layout]bool) {
	for inner := n; inner != nil; {
		n, inner = inner, inner.inner(&variable{spot: at})
	}
	switch {
	case n == nil || told[at.members]:
	case at.class == classOpaque && n.raw["type"] == nil:
		n.wanted = []string{at.decoderPhrase()}
	case at.class == classStruct:
		told[at.members] = true
		for i := range at.members.members {
			m := &at.members.members[i]
			m.schema = n.members[m.name]
			m.tell(m.schema, told)
		}
	default:
		if at.each != nil {
			at.each.tell(cmp.Or(n.each, n.rest), told)
		}
		if known := at.knownPhrase(); known != "" {
			n.wanted = []string{known}
		}
		n.wanted = at.appendSaid(n.wanted)
	}
}

// appendSaid appends what the rules of a place want that the schema does not say.
func (at *spot) appendSaid(list []string) []string {
	for _, r := range at.rules {
		if !r.omits() && r.tag != "required" {
			list = append(list, r.said)
		}
	}
	return list
}

// describe says in a few words what a value should be: its constant, its values, or its type with its plain
// constraints. Of a union of unions it describes the first maxNodes schemas.
func (n *node) describe() string {
	left := maxNodes
	return n.described(maxSteps, &left)
}

func (n *node) described(steps int, left *int) string {
	if *left--; n == nil || steps == 0 || *left < 0 {
		return ""
	}
	if values := n.valuesPhrase(); values != "" {
		return values
	}
	if _, ok := n.raw["type"]; ok {
		return n.describeType()
	}
	if len(n.wanted) > 0 {
		return strings.Join(n.wanted, ", ")
	}
	if target := n.target(); target != nil {
		return target.described(steps-1, left)
	}
	for _, sub := range n.all {
		if want := sub.described(steps-1, left); want != "" {
			return want
		}
	}
	for _, list := range [][]*node{n.any, n.one} {
		var wants []string
		for _, sub := range list {
			if want := sub.described(steps-1, left); want != "" {
				wants = appendNew(wants, want)
			}
		}
		if len(wants) > 0 {
			return orList(wants)
		}
	}
	return ""
}

// valuesPhrase names the values that a schema lists; empty where it lists none.
func (n *node) valuesPhrase() string {
	return cmp.Or(phrase("const", n.raw), phrase("enum", n.raw))
}

// describeType returns a type with its plain constraints: "integer (at least 1, at most 30)", "array of
// strings".
func (n *node) describeType() string {
	text := n.typesNamed("", maxLists)
	if details := n.details(stringsOf(n.raw["type"])); len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	return clip(text)
}

// ofItems names the items of an array by their type: " of strings", " of arrays of numbers".
func (n *node) ofItems(lists int) string {
	items := n.items()
	if items == nil || lists == 0 {
		return ""
	}
	if named := items.typesNamed("s", lists-1); named != "" {
		return " of " + named
	}
	return ""
}

// typesNamed names the types of a value, each with an ending.
func (n *node) typesNamed(ending string, lists int) string {
	named := stringsOf(n.raw["type"])
	for i, t := range named {
		if named[i] += ending; t == "array" {
			named[i] += n.ofItems(lists)
		}
	}
	return orList(named)
}

// items returns the schema of all items of an array, with references followed; nil where there is none.
func (n *node) items() *node {
	items := n.each
	if len(n.first) > 0 {
		return nil
	}
	for range maxSteps {
		if items == nil || items.target() == nil {
			break
		}
		items = items.target()
	}
	return items
}

// details returns the plain constraints of a node, and of what it adds in allOf, that concern its types.
func (n *node) details(types []string) []string {
	var details []string
	for _, sub := range append([]*node{n}, n.all...) {
		at := sub.raw
		for _, p := range phrases {
			said := says(at, p.keyword)
			fits := slices.ContainsFunc(types, func(t string) bool { return slices.Contains(p.types, t) })
			if said && fits && (p.types[0] == "string" || len(literal(at[p.keyword])) <= maxDigits) {
				details = appendShort(details, constraint(p.keyword, at), maxDetail)
			}
		}
	}
	for _, want := range n.wanted {
		details = appendShort(details, strings.TrimPrefix(want, "a string "), maxDetail)
	}
	var either []string
	for _, sub := range n.any {
		either = append(either, strings.Join(sub.details(types), ", "))
	}
	if !slices.Contains(either, "") {
		details = appendShort(details, orList(either), maxMembers)
	}
	if slices.Contains(types, "object") {
		details = appendShort(details, n.membersPhrase("member: ", "members: ", ""), maxMembers)
	}
	if slices.Contains(types, "array") {
		details = appendShort(details, n.eachItem(), maxMembers)
	}
	return details
}

// says reports whether a node has a constraint. A count of at least 0 is none. In draft 4 an exclusive bound
// is a plain one that is marked by true.
func says(node map[string]any, keyword string) bool {
	v, ok := node[keyword]
	exclusive := map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}[keyword]
	isNone := (keyword == "minLength" || keyword == "minItems") && literal(v) == "0"
	return ok && v != false && node[exclusive] != true && !isNone
}

func appendShort(list []string, s string, limit int) []string {
	if s == "" || len(s) > limit {
		return list
	}
	return appendNew(list, s)
}

// constraint returns the phrase of a keyword beside a type that has been named.
func constraint(keyword string, node map[string]any) string {
	said := phrase(keyword, node)
	if name, known := patternPhrases()[textOf(node[keyword])]; known && len(said) > maxDetail {
		said = name // the pattern itself is told when it is broken
	}
	return strings.TrimPrefix(said, "a string ")
}

// eachItem adds to the type of items their allowed values, or the members of objects.
func (n *node) eachItem() string {
	items := n.items()
	if items == nil {
		return ""
	}
	if values := items.valuesPhrase(); values != "" {
		return "each " + values
	}
	if !slices.Contains(stringsOf(items.raw["type"]), "object") {
		return ""
	}
	return items.membersPhrase("each with the member ", "each with the members ", "")
}

// membersPhrase names the members of an object; empty where the schema names none.
func (n *node) membersPhrase(one, many, end string) string {
	switch {
	case len(n.names) == 0 || n.raw["properties"] == nil: // of a metaschema they are not named
		return ""
	case len(n.names) == 1:
		many = one
	}
	return many + bounded(n.names, nameOf) + end
}

// Wants describes in a short phrase the value that the schema asks for: "an object with the members city,
// nights". It is for a model whose reply had no value at all. It is empty if the schema does not say.
func (s *Schema) Wants() string {
	members := s.root.membersPhrase("an object with the member ", "an object with the members ", "")
	return clip(cmp.Or(members, s.root.describe()))
}
