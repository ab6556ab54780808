package schema

import (
	"errors"
	"reflect"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/retake-go/retake/fault"
)

// findings are what a walk finds when it goes on after the first fault: each value that its node refuses is handed to the
// library alone, with the schema of its place, and what the library says there is what it would say of the whole. Members that
// are missing or not allowed are told in the library's own kinds, so that all issues are made in one place.
type findings struct {
	schema *Schema
	path   []string
	room   [8]string // of most paths
	issues []fault.Issue
	read   int  // bytes that were read again
	lost   bool // the library must judge the whole: it accepts what a node refused, or there are too many issues
}

// narrow explains a document that a program refused; false where the library must.
func (s *Schema) narrow(text string, lim Limits) ([]fault.Issue, bool) {
	f := findings{schema: s, issues: make([]fault.Issue, 0, 2)}
	f.path = f.room[:0]
	if run(s.program, text, lim, reflect.Value{}, &f) != good || f.lost || len(f.issues) == 0 {
		return nil, false
	}
	return fault.SortedIssues(f.issues), true
}

// item, member and leave keep the path of the walk. They and mark do nothing for no findings.
func (f *findings) item(n int) {
	if f != nil {
		f.path = append(f.path, strconv.Itoa(n))
	}
}

func (f *findings) member(name string) {
	if f != nil {
		f.path = append(f.path, name)
	}
}

func (f *findings) leave() {
	if f != nil {
		f.path = f.path[:len(f.path)-1]
	}
}

func (f *findings) mark() int {
	if f == nil {
		return 0
	}
	return len(f.issues)
}

// add makes issues of what the library says of a value at the place of the walk.
func (f *findings) add(err *jsonschema.ValidationError, value any) {
	at := pointerOf(f.path)
	for _, i := range (explainer{schema: f.schema, value: value}).flatten(err) {
		if f.schema.echo {
			i.Value = f.schema.echoed(f.path, value, i.Pointer)
		}
		i.Pointer = at + i.Pointer
		f.issues = append(f.issues, i)
	}
	f.lost = f.lost || len(f.issues) > maxIssues
}

// missing tells which members of an object are required and not there: a bit each.
func (f *findings) missing(n *node, absent uint64) {
	for at, m := range n.object.members {
		why := misfitAbsent | misfit(at)
		if absent>>at&1 == 0 || f.recall(n, why) {
			continue
		}
		mark := f.mark()
		f.add(&jsonschema.ValidationError{SchemaURL: n.lib.Location, ErrorKind: &kind.Required{Missing: []string{m.name}}}, nil)
		f.settle(n, why, mark)
	}
}

// refuseScalar has the library explain a string, number, boolean or null, unless it did so before of one like it.
func (f *findings) refuseScalar(n *node, v *scalar) verdict {
	why, mark := n.misfit(v), f.mark()
	if f.recall(n, why) {
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
func (w *walk) refuse(n *node, text string, mark int) verdict {
	value, ok := w.part(text)
	if !ok {
		return unsure
	}
	told := w.found.refuse(n, value, mark)
	w.found.settle(n, misfitNone, mark)
	return told
}

// refuseMember tells that an object does not allow the member the walk is at.
func (w *walk) refuseMember(n *node, name, text string) verdict {
	f, why := w.found, misfitUnknown|misfit(kindIn(text))
	if f.recall(n, why) {
		return when(!f.lost).orUnsure()
	}
	value, ok := w.part(text)
	if !ok {
		return unsure
	}
	mark := f.mark()
	above := *f
	above.path = f.path[:len(f.path)-1]
	k := &kind.AdditionalProperties{Properties: []string{name}}
	above.add(&jsonschema.ValidationError{SchemaURL: n.lib.Location, ErrorKind: k}, map[string]any{name: value})
	f.issues, f.lost = above.issues, above.lost
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

// part reads a value out of the document. What is refused at many depths is read many times: where that comes to more than the
// document twice over, the library had better judge the whole.
func (w *walk) part(text string) (any, bool) {
	w.found.read += len(text)
	if w.found.read > 2*len(w.text) {
		return nil, false
	}
	value, issue := read([]byte(text), Limits{MaxBytes: len(text), MaxDepth: maxMaxDepth})
	return value, issue == nil
}
