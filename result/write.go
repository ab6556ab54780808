package result

import (
	"encoding/json"
	"path"
	"strings"
)

// write makes a document: the form's own members, then the extension with what they would not bring back,
// then the members that were kept from the original document.
func (s spec) write(c *core) document {
	doc, _ := s.own(c)
	s.extend(doc, c)
	kept, known := c.Extra[s.form], s.layout().known
	for _, pointer := range sortedNames(kept) {
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

// extend reads the document back and adds the fields that differ to the extension. It repeats this, because
// an added field may change how others are read.
func (s spec) extend(doc document, c *core) {
	c = c.clone()
	delete(c.Extra, s.form)
	if role := c.role(); role != "" && s.form == AgentResult {
		doc.put(contentRolePtr, rendered(role))
	}
	for range 5 {
		_, back := s.read(doc)
		if !doc.tell(c.extension(), back.extension()) {
			return
		}
	}
}

// tell adds the fields that differ to the extension, and reports whether there were any.
func (m document) tell(want, got []field) (more bool) {
	for i, f := range want {
		w, g := f.write(), got[i].write()
		switch {
		case w != nil && !same(w, g):
			m.put(f.ptr, w)
			if more = true; f.ptr == extensionPtr+"/status" || f.ptr == extensionPtr+"/data" {
				return more // other fields depend on it
			}
		case w == nil && g != nil && f.ptr == unsaidPtr:
			m.put(f.ptr, json.RawMessage("null"))
			more = true
		}
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
