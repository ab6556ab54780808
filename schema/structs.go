package schema

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"
)

// structNode makes the schema of a struct: its members, which of them must be there, and no others. l becomes
// how it is read. The error has a line for each field that is wrong.
func (b *builder) structNode(path string, v variant, l *layout) (*jsonschema.Schema, error) {
	fields, fault := fieldsOf(v.typ, path)
	notes, err := readNotes(v.typ)
	if err != nil {
		return nil, errors.Join(fault, fmt.Errorf("schema: %s: %w", path, err))
	}
	faults := []error{fault}
	n := &jsonschema.Schema{
		Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema,
	}
	l.byName = map[string]int{}
	for _, f := range fields {
		node, at, err := b.member(path+"."+f.goName, v, f, notes.members[f.name])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		n.Properties.Set(f.name, node)
		if slices.Contains(notes.required, f.name) || !f.mayBeAbsent(notes.members[f.name]) {
			n.Required = append(n.Required, f.name)
		}
		if l.byName[f.name] = len(l.members); len(at.related) > 0 {
			l.compared = append(l.compared, len(l.members))
		}
		l.members = append(l.members, member{name: f.name, index: f.index, spot: at})
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	annotate(n, notes.whole)
	extend(n, v.typ)
	return n, nil
}

// member makes the schema of a member of a struct. said is what the schema library read of its tag; nil for
// nothing.
func (b *builder) member(path string, v variant, f field, said *jsonschema.Schema) (*jsonschema.Schema, *spot, error) {
	around, checked := v.typ, v.rules && f.checked
	for _, n := range f.index[:len(f.index)-1] {
		around = around.Field(n).Type
	}
	node, at, err := b.value(path, f.typ, f.rules, checked, around)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range at.related {
		if err := r.checkOthers(around, at); err != nil {
			return nil, nil, fmt.Errorf("schema: %s: %w", path, err)
		}
	}
	tag, err := readTag(v.typ.FieldByIndex(f.index).Tag.Get("jsonschema"), f.typ)
	if err != nil {
		return nil, nil, fmt.Errorf("schema: %s: %w", path, err)
	}
	mayBeNull := (tag.nullable || at.pointer) && !(checked && f.rules.requires())
	if said != nil {
		if tag.nullable && len(said.OneOf) > 0 {
			said = saidOver(said.OneOf[0]) // the library tells null as the other alternative
		}
		if mayBeNull && len(said.Enum) > 0 {
			said.Enum = append(said.Enum, nil)
		}
		said.Title, said.Description = tag.title, cmp.Or(tag.description, said.Description)
		annotate(node, said)
	}
	switch {
	case tag.typ != "" && at.null:
		setExtra(node, "type", []string{tag.typ, "null"})
	case tag.typ != "":
		node.Type = tag.typ
	}
	if tag.nullable && mayBeNull {
		node, at.null = nullable(node), true
	}
	if err := contradiction(node); err != nil {
		return nil, nil, fmt.Errorf("schema: %s: %w", path, err)
	}
	for _, mark := range f.marks {
		setExtra(node, mark, true)
	}
	return node, at, nil
}

// notes are what tags of the schema library say about a struct and its members.
type notes struct {
	whole    *jsonschema.Schema
	members  map[string]*jsonschema.Schema
	required []string
}

// readNotes lets the schema library read the `jsonschema` tags of one struct. Types within are stubs here:
// they are built apart.
func readNotes(t reflect.Type) (all notes, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("jsonschema tags: %v", p)
		}
	}()
	for n := range t.NumField() {
		if err := hasNoEnd(t.Field(n).Type); err != nil {
			return all, fmt.Errorf("%s: %w", t.Field(n).Name, err)
		}
	}
	first := true
	r := &jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, RequiredFromJSONSchemaTags: true,
		Mapper: func(inner reflect.Type) *jsonschema.Schema {
			if first && inner == t {
				first = false
				return nil
			}
			return stub(inner)
		},
	}
	s := r.ReflectFromType(t)
	all.members, all.required = map[string]*jsonschema.Schema{}, s.Required
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		all.members[p.Key] = saidOver(p.Value)
	}
	all.whole = &jsonschema.Schema{Title: s.Title, Description: s.Description, OneOf: s.OneOf, AnyOf: s.AnyOf}
	return all, nil
}

func stub(t reflect.Type) *jsonschema.Schema {
	base, _ := indirect(t)
	s := &jsonschema.Schema{Type: classOf(base).jsonType()}
	if s.Type == "array" {
		elem, _ := indirect(base.Elem())
		s.Items = &jsonschema.Schema{Type: classOf(elem).jsonType()}
	}
	return s
}

// saidOver returns what tags say over a stub.
func saidOver(stub *jsonschema.Schema) *jsonschema.Schema {
	said := *stub
	if said.Type = ""; stub.Items != nil {
		items := *stub.Items
		items.Type, items.Format = "", ""
		if said.Items = &items; reflect.DeepEqual(items, jsonschema.Schema{}) {
			said.Items = nil
		}
	}
	return &said
}

// annotate adds what tags say, and to the items what they say of these. Their prose comes before that of the
// rules, which may have chosen a format.
func annotate(n, said *jsonschema.Schema) {
	n.Description, n.Format = addSentence(said.Description, n.Description), cmp.Or(n.Format, said.Format)
	others := *said
	others.Description, others.Format = "", ""
	if n.Items != nil && said.Items != nil {
		others.Items = nil
		mergeInto(n.Items, said.Items)
	}
	mergeInto(n, &others)
}
