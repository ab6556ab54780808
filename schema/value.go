package schema

import (
	"slices"
	"strconv"

	"github.com/retake-go/retake/fault"
)

// kind is the kind of a JSON value; a set of kinds is their sum.
type kind uint8

const (
	kindNull kind = 1 << iota
	kindBoolean
	kindInteger
	kindNumber // one that is not whole
	kindString
	kindArray
	kindObject
)

// kindsOf are the kinds that each type of JSON Schema takes.
var kindsOf = map[string]kind{
	"null": kindNull, "boolean": kindBoolean, "integer": kindInteger, "number": kindInteger | kindNumber, "string": kindString,
	"array": kindArray, "object": kindObject,
}

// kindNames are the kinds as issues report them.
var kindNames = map[kind]fault.Kind{
	kindNull: fault.Null, kindBoolean: fault.Boolean, kindInteger: fault.Integer, kindNumber: fault.Number,
	kindString: fault.String, kindArray: fault.Array, kindObject: fault.Object,
}

func (k kind) name() fault.Kind { return kindNames[k] }

// tree is a document that was read.
type tree struct {
	text    string           // as far as it is right
	values  []datum          // in the order of their first bytes
	said    map[int32]string // what strings and names with escapes say, by where they begin
	isWhole bool             // the document is strict JSON within the limits, and all of it is here
	nearest float64          // the double that is nearest to a number
	nearTo  *datum           // that number
}

// datum is a value as its tree keeps it. It has no pointers, which the garbage collector would follow.
type datum struct {
	kind           kind
	incomplete     bool  // it, or a value in it, could not be stored
	escaped        bool  // of a string
	at, up, next   int32 // its number, that of the value around it, and of the one after it; -1 for none
	place          int32 // its place among the children of the value around it
	depth          int32 // how many values it is in
	count          int32 // of children; the number of the first one follows its own
	start, end     int32 // its place in the text
	named, nameEnd int32 // the place of a member's name, without the end where it has escapes
}

// value is one value of a document. Its children are its members or items, in the order of the document. The
// zero value is none.
type value struct {
	*datum
	in *tree
}

// numbered returns the value of a number; none for -1.
func (t *tree) numbered(n int32) value {
	if n < 0 {
		return value{}
	}
	return value{&t.values[n], t}
}

func (v value) isThere() bool  { return v.datum != nil }
func (v value) parent() value  { return v.in.numbered(v.up) }
func (v value) sibling() value { return v.in.numbered(v.next) }

// first returns the first child; none where there are no children.
func (v value) first() value {
	if v.count == 0 {
		return value{}
	}
	return v.in.numbered(v.at + 1)
}

// text returns what a string says, or another value as it is written.
func (v value) text() string {
	switch {
	case v.escaped:
		return v.in.said[v.start]
	case v.kind == kindString:
		return v.in.text[v.start+1 : v.end-1]
	}
	return v.in.text[v.start:v.end]
}

// name returns that of a member; an item has none.
func (v value) name() string {
	switch {
	case v.nameEnd == 0:
		return ""
	case v.nameEnd < 0:
		return v.in.said[v.named]
	}
	return v.in.text[v.named+1 : v.nameEnd-1]
}

// nameIn returns the name of a member as a value of its own, in memory that is free; nil for new memory.
func (v value) nameIn(memory *datum) value {
	if memory == nil {
		memory = new(datum)
	}
	*memory = datum{kind: kindString, at: -1, up: -1, next: -1, start: v.named, end: v.nameEnd}
	if v.nameEnd < 0 {
		memory.end, memory.escaped = v.named, true
	}
	return value{memory, v.in}
}

// path returns the names and numbers that lead to a value.
func (v value) path() []string {
	path := make([]string, v.depth, v.depth+1)
	for ; v.depth > 0; v = v.parent() {
		path[v.depth-1] = v.name()
		if v.parent().kind == kindArray {
			path[v.depth-1] = strconv.Itoa(int(v.place))
		}
	}
	return path
}

// unsaid are the rules for which the value that was sent says nothing: its kind or its name is wrong.
var unsaid = []string{
	"type", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items", "additionalItems", "propertyNames", "false", "$ref",
}

// sent returns a number or boolean as it was written, for an issue of the rule; empty where the kind says
// enough.
func (v value) sent(rule string) string {
	scalar := v.kind&(kindBoolean|kindInteger|kindNumber) != 0
	if size := v.end - v.start; !scalar || size > fault.MaxSent || slices.Contains(unsaid, rule) {
		return ""
	}
	return v.text()
}

// size returns the work of comparing a value.
func (v value) size() int {
	size := int(v.end - v.start)
	if v.count == 0 {
		return size / patternSteps
	}
	return size / 4 // its children are sorted and written
}

// children yields the members or items.
func (v value) children(yield func(value) bool) {
	for child := v.first(); child.isThere() && yield(child); {
		child = child.sibling()
	}
}

// member returns the member of a name; none where there is no such member.
func (v value) member(name string) value {
	m := v.first()
	for m.isThere() && m.name() != name {
		m = m.sibling()
	}
	return m
}

// finder says which members there are. Where very many are looked for, it remembers their names.
func (v value) finder(lookups int) (has func(name string) bool) {
	if lookups*int(v.count) <= 1<<10 {
		return func(name string) bool { return v.member(name).isThere() }
	}
	names := make(map[string]bool, v.count)
	for m := range v.children {
		names[m.name()] = true
	}
	return func(name string) bool { return names[name] }
}

// under returns the value that a path leads to; none where there is none.
func (v value) under(path []string) value {
	for _, step := range path {
		switch {
		case !v.isThere():
			return v
		case v.kind != kindArray:
			v = v.member(step)
			continue
		}
		place, err := strconv.Atoi(step)
		for v = v.first(); v.isThere() && (err != nil || int(v.place) != place); {
			v = v.sibling()
		}
	}
	return v
}
