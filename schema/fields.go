package schema

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// field is one JSON member of a struct.
type field struct {
	name    string // in JSON
	goName  string
	typ     reflect.Type
	rules   *ruleSet
	checked bool     // false under `validate:"-"`
	omits   bool     // a tag says that the member may be left out
	marks   []string // the keywords of the retake tag
	index   []int
}

// fieldsOf lists the JSON members of a struct in declared order, those of embedded structs in their place.
// What the decoder and the schema could understand differently is refused by name.
func fieldsOf(t reflect.Type, path string) ([]field, error) {
	fields, faults := appendFields(nil, t, path, nil, true)
	if hidesAll(t) {
		faults = append(faults, fmt.Errorf("schema: %s: no field is exported, so that nothing is read from JSON: "+
			"begin their names with a capital letter, or leave it out by json:\"-\"", path))
	}
	for n, f := range fields {
		if slices.ContainsFunc(fields[:n], func(g field) bool { return g.name == f.name }) {
			faults = append(faults, fmt.Errorf("schema: %s: two fields are named %q in JSON: rename one", path, f.name))
		}
	}
	return fields, errors.Join(faults...)
}

// hidesAll reports whether a struct has fields, and all of them are hidden by their names alone.
func hidesAll(t reflect.Type) bool {
	for n := range t.NumField() {
		if f := t.Field(n); f.IsExported() || f.Anonymous || f.Name == "_" || f.Tag.Get("json") != "" {
			return false
		}
	}
	return t.NumField() > 0
}

func appendFields(fields []field, t reflect.Type, path string, index []int, checked bool) (_ []field, faults []error) {
	for n := range t.NumField() {
		sf := t.Field(n)
		at := path + "." + sf.Name
		tag, hasTag := sf.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		here := append(slices.Clone(index), n)
		var err error
		switch isHidden := !sf.IsExported() && !sf.Anonymous; {
		case tag == "-":
		case isHidden && hasTag:
			err = errors.New("an unexported field cannot have a json tag")
		case isHidden:
		case sf.Anonymous && name == "":
			if err = embeddable(sf); err == nil {
				var within []error
				fields, within = appendFields(fields, sf.Type, at, here, checked && rulesOf(sf) != "-")
				faults = append(faults, within...)
			}
		default:
			var f field
			if f, err = fieldOfStruct(sf, here, checked, name, options); err == nil {
				fields = append(fields, f)
			}
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("schema: %s: %w", at, err))
		}
	}
	return fields, faults
}

// embeddable returns an error for a type whose members cannot be those of the struct around it.
func embeddable(sf reflect.StructField) error {
	if classOf(sf.Type) != classStruct {
		cure := "give the field a json name"
		if base, _ := indirect(sf.Type); classOf(base) == classStruct {
			cure = fmt.Sprintf("embed %s itself, or %s", base, cure)
		}
		return fmt.Errorf("only plain structs can be embedded, not %s: %s", sf.Type, cure)
	}
	if rules := rulesOf(sf); rules != "" && rules != "-" {
		return fmt.Errorf("an embedded struct has no place of its own for the rules %q: leave them out, or give the field a json name", rules)
	}
	return nil
}

func fieldOfStruct(sf reflect.StructField, index []int, checked bool, name, options string) (f field, err error) {
	if !sf.IsExported() {
		return f, errors.New("an unexported field cannot be read from JSON")
	}
	for option := range strings.SplitSeq(options, ",") {
		if option != "" && option != "omitempty" && option != "omitzero" {
			cure := "leave it out"
			if option == "string" {
				cure = "give the field the type string, or " + cure
			}
			return f, fmt.Errorf("json option %q is not supported: %s", option, cure)
		}
	}
	if strings.ContainsAny(name, "\\'\"`") {
		return f, fmt.Errorf("json name %q has a quote or backslash: choose a plain one", name)
	}
	if strings.HasPrefix(sf.Tag.Get("jsonschema"), "-") {
		return f, errors.New(`jsonschema:"-" hides a member the decoder accepts: use json:"-"`)
	}
	tag := rulesOf(sf)
	f = field{name: cmp.Or(name, sf.Name), goName: sf.Name, typ: sf.Type, index: index, rules: &ruleSet{}}
	f.checked = checked && tag != "-"
	f.omits = options != "" || slices.ContainsFunc(tagParts(sf.Tag.Get("jsonschema")), saysWhenGiven)
	if f.checked {
		if f.rules, err = parseRules(tag); err != nil {
			return f, err
		}
	}
	f.marks, err = retakeTag(sf)
	return f, err
}

// saysWhenGiven reports whether a part of a `jsonschema` tag says that a member need not be there: in
// general, or where another of a group is.
func saysWhenGiven(part string) bool {
	return part == "optional" || strings.HasPrefix(part, "oneof_required=") || strings.HasPrefix(part, "anyof_required=")
}

// rulesOf returns the rules of a field. Where it has no validate tag, its binding tag counts: gin gives
// that to the same validator.
func rulesOf(sf reflect.StructField) string {
	rules, isThere := sf.Tag.Lookup("validate")
	if !isThere {
		rules = sf.Tag.Get("binding")
	}
	return rules
}

// marks are the keywords of what the retake tag may say.
var marks = map[string]string{"echo": echoKeyword, "noecho": noEchoKeyword, "secret": secretKeyword}

func retakeTag(sf reflect.StructField) (keywords []string, err error) {
	tag, ok := sf.Tag.Lookup("retake")
	if !ok {
		return nil, nil
	}
	for word := range strings.SplitSeq(tag, ",") {
		keyword, known := marks[word]
		if !known {
			return nil, fmt.Errorf(`retake tag %q is unknown: only "echo", "noecho" and "secret" are`, word)
		}
		keywords = append(keywords, keyword)
	}
	return keywords, nil
}

// mayBeAbsent reports whether a member may be left out: a tag says so, or it is a pointer, or a rule says
// when it is to be there. The rule `required` overrules all of these.
func (f *field) mayBeAbsent(said *jsonschema.Schema) bool {
	mayOmit := func(r *rule) bool { return r.omits() || r.conditional() || r.tag == "isdefault" }
	if f.checked && f.rules.requires() {
		return false
	}
	_, pointer := indirect(f.typ)
	hasDefault := said != nil && said.Default != nil
	return f.omits || pointer || hasDefault || slices.ContainsFunc(f.rules.rules, mayOmit)
}

// spot is a place in a Go type, and how it is read: a field, an element or a key, or the whole.
type spot struct {
	typ     reflect.Type // without pointers
	class   class
	pointer bool
	null    bool    // null may stand, and stores nothing
	issues  bool    // it has a method Issues
	rules   []*rule // those of the value that the schema does not judge
	rounded []*rule // these, and those that a number may break when it is rounded
	related []*rule // those that compare it with fields beside it
	members *layout // of a struct
	each    *spot   // the elements of a list or a map
	key     *spot   // the keys of a map that have rules
}

// isNested reports whether the validator takes a value for a struct of its own, and not for one value.
func (at *spot) isNested() bool {
	return at.typ.Kind() == reflect.Struct && !at.typ.ConvertibleTo(timeType)
}

// layout is the members of a struct.
type layout struct {
	members  []member
	byName   map[string]int
	compared []int // the members with rules that compare them with others
}

// maxSkipped is how many members that a document leaves out are passed over before names are looked up.
const maxSkipped = 4

// named returns the number of the member of a name; -1 for none. As a rule documents have members in the
// declared order, so that it is one of the next.
func (l *layout) named(name string, next int) int {
	for n := next; n < min(next+maxSkipped, len(l.members)); n++ {
		if l.members[n].name == name {
			return n
		}
	}
	if n, known := l.byName[name]; known {
		return n
	}
	return -1
}

type member struct {
	name  string
	index []int
	*spot
	schema *node // the schema of the member; nil where there is none
}

// isEmpty reports whether a rule such as omitempty lets a value pass. What a pointer leads to is empty for
// omitzero alone.
func (at *spot) isEmpty(v reflect.Value, omit *rule) bool {
	switch {
	case omit.tag == "omitnil" || at.pointer && omit.tag == "omitempty":
		return v.Kind() == reflect.Pointer && v.IsNil()
	case omit.tag == "omitzero" && (v.Kind() == reflect.Slice || v.Kind() == reflect.Map):
		return v.Len() == 0
	}
	return v.IsZero()
}
