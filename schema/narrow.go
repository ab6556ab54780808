package schema

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// findings are what a walk finds that goes on after the first fault. Each value that its node refuses is handed to the
// library alone, with the schema of its place, and what the library says there is what it would say of the whole. Members that
// are missing or not allowed are told in the library's own kinds, so that all issues are made in one place.
type findings struct {
	schema *Schema // nil for a walk that only decides
	issues []fault.Issue
	bytes  int    // how many more may be read again
	looks  int    // how many more the library may take at what is refused
	short  bool   // they did not suffice: the library is not to be asked about the whole
	lost   bool   // the library must judge the whole: it accepts what a node refused
	bare   bool   // what is found is compared only: that something may be left out is not said
	around extent // what was read last of all that the library was not asked about
	text   string
	depth  int
	path   [shortPath]leg // to where the walk is: little is noted of it, for most documents have no fault
	beyond []leg          // what is left of a longer path
}

// shortPath is how deep most documents are.
const shortPath = 12

// maxReread is how many bytes may be read again where one value is looked at in several ways.
const maxReread = 8 << 20

// extent is a part of the document, its value, and how deep it lies.
type extent struct {
	value             any
	start, end, depth int
}

// leg leads from a container to a value in it: the offset of a member's name in the text, or the place of an item, with all its bits
// turned over.
type leg int

func (l leg) token(text string) string {
	if l < 0 {
		return strconv.Itoa(int(^l))
	}
	name := cursor{text: text, at: int(l)}
	s, _, _ := name.str()
	return s
}

// find holds a document to a program, and puts its value into a variable where the program is bound to its type. Of a bad one it
// finds everything that is wrong. It is false where the library must judge.
func (s *Schema) find(n *node, text string, lim Limits, to reflect.Value, form *canon.Form) (issues []fault.Issue, sure bool) {
	w := walk{cursor: cursor{text: text, form: form}, maxDepth: lim.MaxDepth}
	w.found.schema, w.found.text, w.found.bytes, w.found.looks = s, text, 2*len(text), freeWork
	if s.forks {
		w.found.bytes = maxReread
	}
	if w.run(n, to) != good || w.found.lost {
		return nil, false
	}
	issues = fault.SortedIssues(w.found.issues)
	return issues[:min(len(issues), maxIssues)], true
}

// asked reports whether a walk goes on after the first fault, any whether there was one.
func (f *findings) asked() bool { return f.schema != nil }
func (f *findings) any() bool   { return len(f.issues) > 0 }

// full reports whether as much was found as is told: what begins then is looked at no more.
func (f *findings) full() bool { return len(f.issues) >= maxIssues }

// enter and leave keep the path of the walk.
func (f *findings) enter(l leg) {
	if f.depth < shortPath {
		f.path[f.depth] = l
	} else if f.asked() {
		f.beyond = append(f.beyond[:f.depth-shortPath], l)
	}
	f.depth++
}

func (f *findings) leave() { f.depth-- }

// legs are the path to where the walk is.
func (f *findings) legs() []leg {
	if f.depth <= shortPath {
		return f.path[:f.depth]
	}
	return slices.Concat(f.path[:], f.beyond[:f.depth-shortPath])
}

// place is where the walk is.
func (f *findings) place() []string {
	legs := f.legs()
	path := make([]string, len(legs))
	for n := range legs {
		path[n] = legs[n].token(f.text)
	}
	return path
}

// tell adds an issue. Most documents have few.
func (f *findings) tell(i fault.Issue) {
	if f.issues == nil {
		f.issues = make([]fault.Issue, 0, 2)
	}
	f.issues = append(f.issues, i)
}

// add makes issues of what the library says of a value at the place of the walk.
func (f *findings) add(err *jsonschema.ValidationError, value any) {
	path := f.place()
	at := pointerOf(path)
	all := explainer{schema: f.schema, value: value}.flatten(err)
	if len(all) > maxIssues {
		all = fault.SortIssues(all)[:maxIssues]
	}
	for _, i := range all {
		if f.schema.echo {
			i.Value = f.schema.echoed(path, value, i.Pointer)
		}
		i.Pointer = at + i.Pointer
		f.tell(i)
	}
}

// missing tells which members of an object are required and not there: a bit each.
func (f *findings) missing(n *node, absent uint64) {
	for at, m := range n.object.members {
		why := misfitAbsent | misfit(at)
		if absent>>at&1 == 0 || f.recall(n, why) {
			continue
		}
		mark := len(f.issues)
		f.add(&jsonschema.ValidationError{SchemaURL: n.lib.Location, ErrorKind: &kind.Required{Missing: []string{m.name}}}, nil)
		f.settle(n, why, mark)
	}
}

// needed tells which members of an object one of its members requires and are not there.
func (f *findings) needed(n *node, by need, absent uint64) {
	var names []string
	for at, m := range n.object.members {
		if absent>>at&1 != 0 {
			names = append(names, m.name)
		}
	}
	var k jsonschema.ErrorKind = &kind.DependentRequired{Prop: n.object.members[by.member].name, Missing: names}
	if by.old {
		k = &kind.Dependency{Prop: n.object.members[by.member].name, Missing: names}
	}
	mark := len(f.issues)
	f.add(&jsonschema.ValidationError{SchemaURL: n.lib.Location, ErrorKind: k}, nil)
	f.settle(n, misfitNone, mark)
}

// refuseScalar has the library explain a string, number, boolean or null, unless it did so before of one like it.
func (f *findings) refuseScalar(n *node, v *scalar) verdict {
	why, mark := n.misfit(v), len(f.issues)
	if f.full() || f.recall(n, why) {
		return when(!f.lost).orUnsure()
	}
	told := f.refuse(n, v.value(), mark)
	if told == good {
		f.settle(n, why, mark)
	}
	return told
}

// refuse has the library explain a value that its node refuses. All that was found in it so far, from mark on, the library says
// again.
func (f *findings) refuse(n *node, value any, mark int) verdict {
	f.issues = f.issues[:mark]
	var cause *jsonschema.ValidationError
	if !errors.As(n.whole.Validate(value), &cause) {
		f.lost = true
		return unsure
	}
	f.add(cause, value)
	return when(!f.lost).orUnsure()
}

// refuse is the same for an object or an array, as it is written.
func (w *walk) refuse(n *node, start, mark int) verdict {
	f := &w.found
	value, spent, ok := w.part(start)
	switch {
	case spent && f.short:
		return w.giveUp(start, mark)
	case !ok:
		return unsure
	}
	if f.schema.forks && !n.never && !f.affords(n.whole, value) {
		f.short, f.around = true, extent{value, start, w.at, f.depth}
		return w.refuseNearest(n, start, mark)
	}
	told := f.refuse(n, value, mark)
	f.settle(n, misfitNone, mark)
	return told
}

// giveUp says no more of a container that is refused than what was found in it from mark on.
func (w *walk) giveUp(start, mark int) verdict {
	if f := &w.found; len(f.issues) == mark {
		f.tell(w.containerIssue(start, fault.RuleDepth, tooManyWays))
	}
	return when(!w.found.lost).orUnsure()
}

// affords reports whether the library may be asked about a value, by what it was asked before: what it is not asked costs nothing.
func (f *findings) affords(s *jsonschema.Schema, value any) bool {
	looks := looksAt(f.looks, s, value)
	if looks > f.looks {
		return false
	}
	f.looks -= looks
	return true
}

// refuseCount tells that an array or an object has too few or too many values, or some twice. What is wrong in it was found from mark
// on: where that is nothing and it might have been null, what is to be said is one phrase of both, and the library's.
func (f *findings) refuseCount(n *node, value any, mark int, all []jsonschema.ErrorKind) verdict {
	if f.schema.echo || n.orNull && len(f.issues) == mark {
		return bad
	}
	for _, k := range all {
		mark = len(f.issues)
		f.add(&jsonschema.ValidationError{SchemaURL: n.lib.Location, ErrorKind: k}, value)
		f.settle(n, misfitNone, mark)
	}
	return when(!f.lost).orUnsure()
}

// refuseMember tells that an object does not allow the member the walk is at.
func (w *walk) refuseMember(n *node, name, text string) verdict {
	f, why := &w.found, misfitUnknown|misfit(kindIn(text))
	if f.full() || f.recall(n, why) {
		return when(!f.lost).orUnsure()
	}
	value, issue := read([]byte(text), Limits{MaxBytes: len(text), MaxDepth: maxMaxDepth})
	if issue != nil {
		return unsure
	}
	mark := len(f.issues)
	f.depth-- // the object is what the library would tell of
	k := &kind.AdditionalProperties{Properties: []string{name}}
	f.add(&jsonschema.ValidationError{SchemaURL: n.lib.Location, ErrorKind: k}, map[string]any{name: value})
	f.depth++
	f.settle(n, why, mark)
	return when(!f.lost).orUnsure()
}

// kindIn is the kind of a value by its text, which is JSON.
func kindIn(text string) kinds {
	w := walk{cursor: cursor{text: text}}
	switch w.peek() {
	case '{':
		return kindObject
	case '[':
		return kindArray
	}
	var v scalar
	w.scalar(&v)
	return v.kind
}

// part reads the container that begins at start and ends here. What is refused at many depths is read many times: where that comes to
// too much it is spent, and the library had better judge the whole.
func (w *walk) part(start int) (value any, spent, ok bool) {
	f := &w.found
	if in := f.around; in.start <= start && w.at <= in.end {
		value, ok = lookup(in.value, f.place()[in.depth:])
		return value, false, ok
	}
	text := w.text[start:w.at]
	if !f.affordsBytes(len(text)) {
		return nil, true, false
	}
	value, issue := read([]byte(text), Limits{MaxBytes: len(text), MaxDepth: maxMaxDepth})
	return value, false, issue == nil
}

// affordsBytes reports whether so many bytes may be read again.
func (f *findings) affordsBytes(n int) bool {
	f.bytes -= n
	return f.bytes >= 0
}
