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

// value is one value of a document. Its children are its members or items, in the order of the document.
type value struct {
	kind                kind
	truth               bool   // of a boolean
	incomplete          bool   // it, or a value in it, could not be stored
	text                string // what a string says, or a number as it is written
	name                string // of a member
	parent, first, next *value
	place               int32 // its place among the children of its parent
	count               int32 // of children
	start, end          int32 // its place in the text
}

// path is the names and numbers that lead to a value.
func (v *value) path() []string {
	depth := 0
	for at := v; at.parent != nil; at = at.parent {
		depth++
	}
	path := make([]string, depth, depth+1)
	for ; depth > 0; v = v.parent {
		depth--
		path[depth] = v.name
		if v.parent.kind == kindArray {
			path[depth] = strconv.Itoa(int(v.place))
		}
	}
	return path
}

// pointerSize is about the size of the pointer.
func (v *value) pointerSize() (size int) {
	for ; v.parent != nil; v = v.parent {
		size += 1 + len(v.name)
	}
	return size
}

// unsaid are the rules for which the value that was sent says nothing: its kind or its name is wrong.
var unsaid = []string{
	"type", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items", "additionalItems", "propertyNames", "false", "$ref",
}

// sent is a number or boolean as it was written, for an issue of the rule; empty where the kind says enough.
func (v *value) sent(rule string) string {
	scalar := v.kind&(kindBoolean|kindInteger|kindNumber) != 0
	if size := v.end - v.start; !scalar || size > fault.MaxSent || slices.Contains(unsaid, rule) {
		return ""
	}
	if v.kind == kindBoolean {
		return strconv.FormatBool(v.truth)
	}
	return v.text
}

// size is the work of comparing a value.
func (v *value) size() int {
	if size := int(v.end - v.start); v.first == nil {
		return size / patternSteps
	} else {
		return size / 4 // its children are sorted and written
	}
}

// children yields the members or items.
func (v *value) children(yield func(*value) bool) {
	for child := v.first; child != nil && yield(child); {
		child = child.next
	}
}

// member is the member of a name; nil for none.
func (v *value) member(name string) *value {
	m := v.first
	for m != nil && m.name != name {
		m = m.next
	}
	return m
}

// byName is the members by their names, where so many are looked for that this is less work; else nil.
func (v *value) byName(lookups int) map[string]*value {
	if lookups*int(v.count) <= 1<<10 {
		return nil
	}
	all := make(map[string]*value, v.count)
	for m := range v.children {
		all[m.name] = m
	}
	return all
}

// at is the value at a path; nil if there is none.
func (v *value) at(path []string) *value {
	for _, step := range path {
		switch {
		case v == nil:
			return nil
		case v.kind != kindArray:
			v = v.member(step)
			continue
		}
		place, err := strconv.Atoi(step)
		for v = v.first; v != nil && (err != nil || int(v.place) != place); {
			v = v.next
		}
	}
	return v
}
