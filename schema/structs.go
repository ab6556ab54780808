package schema

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"
)

// structNode makes the schema of a struct: its members, which of them must be there, and no others. l becomes
// how it is read.
func (b *builder) structNode(path string, v variant, l *layout) (*jsonschema.Schema, error) {
	fields, err := fieldsOf(v.typ, path)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	notes, err := readNotes(v.typ)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", path, err)
	}
	n := &jsonschema.Schema{
		Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema,
	}
	l.byName, l.names = map[string]int{}, namesOf(fields)
	for _, f := range fields {
		checked := v.rules && f.checked
		node, at, err := b.value(path+"."+f.goName, f.typ, f.rules, checked, l.names)
		if err != nil {
			return nil, err
		}
		for _, r := range at.related {
			if err := r.checkOthers(v.typ, f.typ); err != nil && r.relational() {
				return nil, fmt.Errorf("schema: %s: %w", path+"."+f.goName, err)
			}
		}
		annotate(node, notes.members[f.name])
		for _, mark := range f.marks {
			setExtra(node, mark, true)
		}
		n.Properties.Set(f.name, node)
		if slices.Contains(notes.required, f.name) || !f.mayBeAbsent(notes.members[f.name]) {
			n.Required = append(n.Required, f.name)
		}
		l.add(f, at)
	}
	annotate(n, notes.whole)
	if own, ok := reflect.New(v.typ).Interface().(interface{ JSONSchemaExtend(*jsonschema.Schema) }); ok {
		own.JSONSchemaExtend(n)
	}
	return n, nil
}

// namesOf are the names of fields in JSON, by those in Go.
func namesOf(fields []field) map[string]string {
	names := make(map[string]string, len(fields))
	for _, f := range fields {
		names[f.goName] = f.name
	}
	return names
}

// note is what tags of the schema library say about a member: what is only told, and what is demanded.
type note struct {
	told     *jsonschema.Schema
	demanded *jsonschema.Schema
}

type notes struct {
	whole    note
	members  map[string]note
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
	first := true
	r := &jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		Mapper: func(inner reflect.Type) *jsonschema.Schema {
			if first && inner == t {
				first = false
				return nil
			}
			return stub(inner)
		},
	}
	s := r.ReflectFromType(t)
	all.members = map[string]note{}
	all.required = s.Required
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		all.members[p.Key] = splitNote(p.Value)
	}
	all.whole = note{
		told:     &jsonschema.Schema{Title: s.Title, Description: s.Description},
		demanded: &jsonschema.Schema{OneOf: s.OneOf, AnyOf: s.AnyOf},
	}
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

// annotations are the fields of a schema that demand nothing.
var annotations = []string{
	"Title", "Description", "Default", "Examples", "Format", "Deprecated", "ReadOnly", "WriteOnly",
}

// splitNote takes apart what was read into a stub.
func splitNote(s *jsonschema.Schema) note {
	told, rest := &jsonschema.Schema{}, *s
	to, from := reflect.ValueOf(told).Elem(), reflect.ValueOf(&rest).Elem()
	for _, name := range annotations {
		to.FieldByName(name).Set(from.FieldByName(name))
		from.FieldByName(name).SetZero()
	}
	rest.Type = ""
	if rest.Items != nil {
		items := *rest.Items
		items.Type, items.Format = "", ""
		rest.Items = &items
		if reflect.DeepEqual(&items, &jsonschema.Schema{}) {
			rest.Items = nil
		}
	}
	return note{told: told, demanded: &rest}
}

// annotate adds what tags told and demanded. What they told comes before the prose of the rules.
func annotate(n *jsonschema.Schema, add note) {
	if add.told == nil {
		return
	}
	told := *add.told
	n.Description = addSentence(told.Description, n.Description)
	told.Description = ""
	if n.Format != "" {
		told.Format = "" // the rules chose one
	}
	tellInto(n, &told)
	if !reflect.DeepEqual(add.demanded, &jsonschema.Schema{}) {
		demand := *add.demanded
		mergeInto(n, &demand)
	}
}

// tellInto adds annotations, which may stand beside a reference.
func tellInto(n, told *jsonschema.Schema) {
	to, from := reflect.ValueOf(n).Elem(), reflect.ValueOf(told).Elem()
	for i := range from.NumField() {
		if from.Type().Field(i).IsExported() && !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
}
