package result

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// reading is one document being read into a result.
type reading struct {
	spec   spec
	doc    document
	known  map[string]bool
	into   *core
	kept   int
	issues []fault.Issue
}

// read reads a document: the extension first, then the form's own members, which win.
func (s spec) read(doc document) (*reading, *core) {
	c := &core{}
	r := &reading{spec: s, doc: doc, known: s.layout().known, into: c}
	for _, f := range c.extension() {
		r.take(f)
	}
	delete(c.Extra, s.form)
	r.walk(r.doc, "")
	r.status()
	for _, f := range s.fields(c) { // without a status, those that all have
		r.take(f)
	}
	if len(r.issues) == 0 {
		r.finish()
		r.spellings()
	}
	if len(c.Extra) == 0 {
		c.Extra = nil
	}
	return r, c
}

// walk keeps unknown members and empty objects.
func (r *reading) walk(m map[string]any, at string) {
	for _, name := range canon.Keys(m) {
		pointer := at + canon.Pointer(name)
		leaf, known := r.known[pointer]
		inner, isObject := m[name].(map[string]any)
		switch {
		case leaf:
		case !known && r.kept == maxKept:
			most := fmt.Sprintf("at most %d members besides the known ones", maxKept)
			r.fail(ruled(at, "maxProperties", most))
			return
		case !known:
			r.kept++
			r.into.Extra.keep(r.spec.form, pointer, rendered(m[name]))
		case len(inner) > 0:
			r.walk(inner, pointer)
		case isObject:
			r.into.Extra.keep(r.spec.form, pointer, json.RawMessage("{}"))
		case m[name] != nil:
			r.fail(wrong(pointer, rendered(m[name]), "type", "object"))
		}
	}
}

// status sets the status, on which the other members depend.
func (r *reading) status() {
	c, s := r.into, r.spec
	switch {
	case s.status != "" && isNull(r.doc.get(s.status)):
		r.fail(ruled(s.status, "required", ""))
	case s.status != "":
		r.take(s.fields(c)[0])
	case r.present(failurePtr):
		c.Status = StatusError
	case c.Status != StatusInProgress:
		c.Status = StatusSuccess
	}
	own := func(name string) bool { _, known := r.known["/"+name]; return known }
	if s.status == "" && len(r.doc) > 0 && !slices.ContainsFunc(canon.Keys(r.doc), own) {
		r.fail(ruled("", "required", "at least one member of an agent result (output, content, error, …)"))
	}
}

func isNull(v json.RawMessage) bool { return v == nil || kindOf(v) == fault.Null }

// present reports whether there is a value at a pointer other than null and {}.
func (r *reading) present(pointer string) bool {
	v := r.doc.get(pointer)
	return !isNull(v) && string(v) != "{}"
}

func (r *reading) fail(bad fault.Issue) { r.issues = append(r.issues, bad) }

// take reads one field, unless the result has the same value already.
func (r *reading) take(f field) {
	v := r.doc.get(f.ptr)
	if v == nil || kindOf(v) == fault.Null && !f.nullable {
		return
	}
	if w := f.said(); w != nil && same(w, v) {
		return
	}
	if bad := f.read(v); bad != nil {
		r.fail(*bad)
	}
}

// finish refuses contradictions, and sets what follows from the members.
func (r *reading) finish() {
	if r.contradictions(); len(r.issues) > 0 {
		return
	}
	c := r.into
	switch c.Status {
	case StatusError:
		r.finishError()
		c.Data, c.Message = nil, ""
	case StatusSuccess:
		c.Error = Error{}
		if r.spec.form == AgentResult && c.Data == nil && c.Content != "" {
			r.finishText()
		}
	default:
		c.Error, c.Data = Error{}, nil
	}
}

// finishText makes the content of an agent result the data, unless the document says that it is not.
func (r *reading) finishText() {
	c, role := r.into, text(r.doc.get(contentRolePtr))
	if role != textOnly {
		c.Data = rendered(c.Content)
	}
	if role == "" {
		c.Content = ""
	}
}

func (r *reading) finishError() {
	e := &r.into.Error
	if e.Class == "" && r.spec.status == "" {
		e.Class = fault.Unknown
	}
	if e.Class == "" {
		r.fail(ruled(failurePtr, "required", "error code"))
	}
	// A form that cannot say whether another try may help implies it by the code.
	_, says := r.known[failurePtr+"/retryable"]
	if !says && e.Retryable == nil && r.doc.get(unsaidPtr) == nil {
		e.Retryable = new(e.Class.Transient())
	}
}

// contradictions refuses an error without the status of one, and data without a success.
func (r *reading) contradictions() {
	status := r.into.Status
	if r.present(failurePtr) && status != StatusError {
		r.fail(r.misplaced(failurePtr, StatusError))
	}
	data := r.doc.get(r.spec.data)
	empty := r.spec.status == "" && string(data) == "{}"
	if !isNull(data) && !empty && status != StatusSuccess {
		r.fail(r.misplaced(r.spec.data, StatusSuccess))
	}
}

// misplaced returns the issue of a member that is only allowed with a status. It names what the form has in
// the place of a status.
func (r *reading) misplaced(pointer string, with Status) fault.Issue {
	nothing := "nothing here unless success is " + strconv.FormatBool(with == StatusSuccess)
	switch {
	case r.spec.status == "/status":
		return misplaced(pointer, string(with))
	case r.into.Status == StatusInProgress:
		nothing = "nothing here while the result is in progress"
	case r.spec.status == "":
		nothing = "nothing here beside an error"
	}
	return ruled(pointer, "dependentRequired", nothing)
}

// spellings keeps members that are spelled differently from what the field would write ("429" for 429, 0 for
// none). If a form has two members for one field, it also keeps which of them the document had.
func (r *reading) spellings() {
	written, fields := r.spec.own(r.into)
	for i, f := range fields {
		v := r.doc.get(f.ptr)
		if isNull(v) || f.private {
			continue
		}
		w := f.write()
		if w == nil {
			w = written.get(f.ptr) // where it is required
		}
		twice := f.echo || f.unless != "" && !isNull(r.doc.get(f.unless))
		if !twice && same(w, v) {
			continue
		}
		bare := rendered(withoutNulls(parsed(v)))
		switch {
		case !twice && same(w, scrub("", bare)):
		case r.spec.agrees(r.into, i, v):
			r.into.Extra.keep(r.spec.form, f.ptr, bare)
		case twice && w != nil:
			r.into.Extra.keep(r.spec.form, f.ptr, w) // the other member wins
		}
	}
}

// agrees reports whether a value means the same as a field of the form.
func (s spec) agrees(c *core, field int, v json.RawMessage) bool {
	probe := c.clone()
	f := s.fields(probe)[field]
	return f.read(v) == nil && same(f.write(), s.fields(c)[field].write())
}
