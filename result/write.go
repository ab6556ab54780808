package result

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// write makes a document: the form's own members, then the extension with what they would not bring back,
// then the members that were kept from the original document.
func (s spec) write(c *core) document {
	doc, _ := s.own(c)
	s.extend(doc, c)
	kept, known := c.Extra[s.form], s.layout().known
	for _, pointer := range canon.Keys(kept) {
		leaf, own := known[pointer]
		stale := c.Status != StatusError && strings.HasPrefix(pointer, failurePtr+"/")
		// An object of the form's own is kept only while it is empty.
		foreign := !own || !leaf && string(kept[pointer]) == "{}"
		if !stale && foreign && doc.get(pointer) == nil {
			doc.put(pointer, kept[pointer])
		}
	}
	return doc
}

// own returns the document of the form's own members. A kept spelling is used while it means the same.
func (s spec) own(c *core) (document, []field) {
	doc, kept, fields := document{}, c.Extra[s.form], s.fields(c)
	for i, f := range fields {
		v, spelled := f.write(), kept[f.ptr]
		switch {
		case f.unless != "" && kept[f.unless] != nil && spelled == nil:
		case spelled != nil && s.agrees(c, i, spelled):
			doc.put(f.ptr, spelled)
		case v != nil && (spelled != nil || !f.echo):
			doc.put(f.ptr, v)
		}
	}
	doc.complete(fields)
	return doc, fields
}

// complete adds the required members of the objects in the document.
func (m document) complete(fields []field) {
	for _, f := range fields {
		parent := path.Dir(f.ptr)
		if f.required && m.get(f.ptr) == nil && (parent == "/" || m.get(parent) != nil) {
			m.put(f.ptr, rendered(f.at))
		}
	}
}

// stages are the fields that others depend on, in order. How a document is read depends on its status and its
// data. Then follow all fields, and once more those that depend on them: a total on its parts, and whether
// another try may help on the class.
var stages = [...]string{extensionPtr + "/status", extensionPtr + "/data", "", ""}

// extend reads the document back and adds the fields that differ to the extension.
func (s spec) extend(doc document, c *core) {
	c = c.clone()
	delete(c.Extra, s.form)
	if role := c.role(); role != "" && s.form == AgentResult {
		doc.put(contentRolePtr, rendered(role))
	}
	_, back := s.read(doc)
	for _, stage := range stages {
		if doc.tell(stage, c.extension(), back.extension()) {
			_, back = s.read(doc)
		}
	}
}

// tell adds the fields of a stage that differ to the extension, and reports whether there were any.
func (m document) tell(stage string, want, got []field) (more bool) {
	for i, f := range want {
		w, g := f.write(), got[i].write()
		switch {
		case stage != "" && f.ptr != stage, same(w, g):
			continue
		case w != nil:
			m.put(f.ptr, w)
		case f.ptr == unsaidPtr:
			m.put(f.ptr, json.RawMessage("null"))
		default:
			continue
		}
		more = true
	}
	return more
}

// role returns what the content is if it is not the data alone; empty if the data tells it.
func (c *core) role() string {
	switch {
	case c.Status != StatusSuccess || c.Content == "":
		return ""
	case c.Data == nil:
		return textOnly
	case same(c.Data, rendered(c.Content)):
		return textAndData
	}
	return ""
}
