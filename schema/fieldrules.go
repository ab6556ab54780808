package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/invopop/jsonschema"
)

// compile finds what says each rule of a place: keywords and words. around is the struct around it, or nil.
func (at *spot) compile(rules []*rule, around reflect.Type) ([]*rule, error) {
	if err := at.usable(rules); err != nil {
		return nil, err
	}
	rules = at.withoutIdle(rules)
	for n, of := range rules {
		r := new(rule)
		*r, rules[n] = *of, r
		var err error
		if r.exact, err = at.keywords(r); err != nil {
			return nil, err
		}
		r.name, r.said = r.nameIn(at.class), r.phrase(at, around)
	}
	return rules, nil
}

// withoutIdle returns the rules without those, such as omitempty, that have nothing to let pass: the rule
// `required` before them has refused the empty value.
func (at *spot) withoutIdle(rules []*rule) []*rule {
	rules = slices.Clone(rules)
	after := slices.IndexFunc(rules, func(r *rule) bool { return r.tag == "required" }) + 1
	if after == 0 || at.pointer || at.class == classList || at.class == classMap {
		return rules
	}
	return append(rules[:after], slices.DeleteFunc(rules[after:], (*rule).omits)...)
}

// keywords says a rule exactly, where JSON Schema can. Of a group it must say each; one of values is a list
// of them.
func (at *spot) keywords(r *rule) (*jsonschema.Schema, error) {
	if len(r.alts) == 0 {
		s, err := bridge(r, at.typ, at.class)
		if s != nil && r.negated {
			s = &jsonschema.Schema{Not: s}
		}
		return s, err
	}
	either, isList := &jsonschema.Schema{}, true
	for _, alt := range r.alts {
		s, err := at.keywords(alt)
		if s == nil || err != nil {
			return nil, err
		}
		either.AnyOf = append(either.AnyOf, s)
		either.Enum = append(either.Enum, s.Const)
		isList = isList && reflect.DeepEqual(s, &jsonschema.Schema{Const: s.Const})
	}
	if isList {
		return &jsonschema.Schema{Enum: either.Enum}, nil
	}
	return &jsonschema.Schema{AnyOf: either.AnyOf}, nil
}

// apply adds rules to the schema of a value, in their order.
func (at *spot) apply(n *jsonschema.Schema, rules []*rule) error {
	for place, r := range rules {
		rest := rules[place+1:]
		switch {
		case r.omits():
			return at.optional(n, r, rest)
		case r.skipsMembers(), at.alwaysHolds(r):
		case r.tag == "required":
			if err := at.required(n, r, rest); err != nil {
				return err
			}
			if at.mayBeZero() {
				describe(n, r)
			}
		case r.exact != nil:
			mergeInto(n, r.exact)
		default:
			at.say(n, r)
		}
	}
	return nil
}

// sample returns the value that rules are tried on: an empty one, but with an element that they can look
// into.
func (at *spot) sample() reflect.Value {
	v := reflect.New(at.typ).Elem()
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(at.typ, 1, 1))
	}
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && v.Len() > 0 && v.Index(0).Kind() == reflect.Pointer {
		v.Index(0).Set(reflect.New(at.typ.Elem().Elem()))
	}
	return v
}

// usable tries each rule on a sample. A rule that the validator does not know or cannot apply is a
// mistake in the type, to be found now and not with a model's reply.
func (at *spot) usable(rules []*rule) error {
	sample := at.sample()
	needsType := func(r *rule) bool { return at.class == classAny && !r.relational() }
	for _, r := range rules {
		switch {
		case r.relational() && !slices.ContainsFunc(r.alts, needsType):
			if err := at.suits(r); err != nil {
				return err
			}
			continue
		case r.omits() || at.class != classAny && r.skipsMembers():
			continue
		case at.class == classAny && r.tag == "required":
			continue
		case at.class == classAny:
			return fmt.Errorf("validate rule %q needs a type, and any value may stand here", r.text)
		}
		if err := at.suits(r); err != nil {
			return err
		}
		switch holds, err := r.tried(sample, at, nil); {
		case err != nil:
			return err
		case !holds && r.compares() && at.typ.Kind() == reflect.Array:
			return fmt.Errorf("validate rule %q can never hold: a %s has one length", r.text, at.typ)
		}
	}
	return nil
}

// suits refuses rules for strings on other types, to which the validator would give a wrong answer, and rules
// that say nothing without a parameter.
func (at *spot) suits(r *rule) error {
	for _, alt := range r.alts {
		if err := at.suits(alt); err != nil {
			return err
		}
	}
	if r.row.forStrings() && !at.alwaysHolds(r) && at.typ.Kind() != reflect.String && !at.isSpelled(r) {
		return fmt.Errorf("validate rule %q needs a string, not %s", r.text, at.typ)
	}
	if r.how == "in" && !r.negated && at.class == classFloat {
		return fmt.Errorf("validate rule %q is for strings and whole numbers: write eq=%s", r.text,
			strings.Join(r.params(), "|eq="))
	}
	isSaid := r.param != "" || r.compares() && (strings.Contains(r.text, "=") || at.typ.ConvertibleTo(timeType))
	if !isSaid && r.needsParam() {
		return fmt.Errorf("validate rule %q needs a parameter: write %s=…", r.text, r.tag)
	}
	return nil
}

// isSpelled reports whether the validator asks a rule about the String of a value: those of UUIDs and ULIDs.
func (at *spot) isSpelled(r *rule) bool {
	isID := strings.HasPrefix(r.tag, "uuid") || r.tag == "ulid"
	return isID && at.typ.Implements(reflect.TypeFor[fmt.Stringer]())
}

// alwaysHolds reports whether a rule, or one of a group, is that a value is of the kind that it has.
func (at *spot) alwaysHolds(r *rule) bool {
	isNumber := (r.tag == "numeric" || r.tag == "number") && at.class.numeric()
	return isNumber || r.tag == "boolean" && at.class == classBool || slices.ContainsFunc(r.alts, at.alwaysHolds)
}

// optional says rules that hold only if the value is not empty. Nil pointers are handled where the pointer
// is; the value of a pointer can be empty for omitzero alone.
func (at *spot) optional(n *jsonschema.Schema, omit *rule, rest []*rule) error {
	empty := at.empty(omit)
	switch free, err := at.holdsRules(rest); {
	case free || empty == nil:
		return at.apply(n, rest)
	case err != nil:
		return err
	}
	full := &jsonschema.Schema{}
	if err := at.apply(full, rest); err != nil {
		return err
	}
	said := full.Description
	full.Description = ""
	switch either := []*jsonschema.Schema{empty, full}; {
	case reflect.DeepEqual(full, &jsonschema.Schema{}): // all is said in prose
	case n.AnyOf != nil:
		n.AllOf = append(n.AllOf, &jsonschema.Schema{AnyOf: either})
	default:
		n.AnyOf = either
	}
	n.Description = addSentence(n.Description, said)
	return nil
}

// empty returns the schema of the value that a rule such as omitempty lets pass; nil if JSON has none.
func (at *spot) empty(omit *rule) *jsonschema.Schema {
	isSlice := at.typ.Kind() == reflect.Slice
	switch {
	case omit.tag == "omitnil", at.pointer && omit.tag == "omitempty", at.class == classAny, at.class == classStruct:
		return nil
	case omit.tag == "omitzero" && (at.class == classList && isSlice || at.class == classMap):
		return fragment(`{"max` + classes[at.class].bounds + `":0}`)
	case at.class == classMap, isSlice:
		return nil
	}
	return fragment(classes[at.class].zero)
}

// holdsRules reports whether the empty value keeps to the rules that one can judge alone.
func (at *spot) holdsRules(rules []*rule) (bool, error) {
	empty := reflect.New(at.typ).Elem()
	for _, r := range rules {
		if r.omits() {
			return true, nil
		}
		if r.relational() || r.skipsMembers() {
			continue
		}
		if holds, err := r.tried(empty, at, nil); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// left returns the rules that the validator must judge, since the schema cannot: those of the value, and
// those that compare it with others. The rules that let an empty value pass stay before them.
func (at *spot) left(rules []*rule) (own, rounded, related []*rule) {
	for _, r := range rules {
		switch {
		case r.omits():
			own, rounded, related = append(own, r), append(rounded, r), append(related, r)
		case r.relational():
			related = append(related, r)
		case !at.isTold(r):
			own, rounded = append(own, r), append(rounded, r)
		case at.class == classFloat:
			rounded = append(rounded, r)
		}
	}
	return needed(own), needed(rounded), needed(related)
}

// needed drops rules such as omitempty at the end, where no rule follows.
func needed(rules []*rule) []*rule {
	for len(rules) > 0 && rules[len(rules)-1].omits() {
		rules = rules[:len(rules)-1]
	}
	return rules
}

// isTold reports whether the schema says a rule exactly.
func (at *spot) isTold(r *rule) bool {
	if r.tag == "required" {
		opaque := slices.Contains([]class{classStruct, classText, classOpaque}, at.class)
		return at.pointer || r.exact != nil || !opaque && at.typ.Kind() != reflect.Array
	}
	return r.exact != nil || r.skipsMembers() || at.alwaysHolds(r)
}

// say tells the model a rule that the validator judges: a format where one fits, and prose where that is not
// enough.
func (at *spot) say(n *jsonschema.Schema, r *rule) {
	if at.class == classString && r.hasFormat() {
		mergeInto(n, &jsonschema.Schema{Format: r.what})
	}
	if r.tag == "datetime" && r.param == "2006-01-02" {
		mergeInto(n, &jsonschema.Schema{Format: "date"})
	}
	if r.how != "@" {
		describe(n, r)
	}
}

// describe tells the model a rule in prose.
func describe(n *jsonschema.Schema, r *rule) {
	must, ok := strings.CutPrefix(r.said, "to ")
	if !ok {
		must = "be " + r.said
	}
	n.Description = addSentence(n.Description, "Must "+must+".")
}

// required says that a value is not empty. That it must be there, and not null, is said by the schema of its
// struct and pointer.
func (at *spot) required(n *jsonschema.Schema, r *rule, rest []*rule) error {
	if err := at.offer(n, r); err != nil {
		return err
	}
	isRef := at.class == classStruct && n.Ref != ""
	if at.class == classAny || at.class == classOpaque && at.pointer && n.Type == "" {
		mergeInto(n, fragment(`{"not":{"type":"null"}}`))
	} else if other := classes[at.class].other; other != "" && !isRef && !at.pointer {
		free, err := at.holdsRules(rest)
		if err != nil {
			return err
		}
		if free { // else the other rules refuse the empty value already
			mergeInto(n, fragment(other))
		}
	}
	return nil
}

// isWhole reports whether the value has parts, whose zero values are its own.
func (at *spot) isWhole() bool { return at.class == classStruct || at.typ.Kind() == reflect.Array }

// mayBeZero reports whether a whole value is zero where nothing but the rule `required` of its own place
// forbids it. JSON Schema has no keyword for that.
func (at *spot) mayBeZero() (may bool) {
	if at.pointer || !at.isWhole() {
		return false
	}
	defer func() { may = recover() == nil && may }() // a rule that cannot be applied is reported elsewhere
	zero := reflect.New(at.typ).Elem().Interface()
	return at.class != classStruct || currentValidators().StructExcept(zero, leftOut(at.typ, "")...) == nil
}

// leftOut names the fields of a struct that a document may leave out, as the validator does.
func leftOut(t reflect.Type, path string) (names []string) {
	fields, _ := fieldsOf(t, "") // a wrong field is reported elsewhere
	for _, f := range fields {
		name := path
		for in, steps := t, f.index; len(steps) > 0; in, steps = in.Field(steps[0]).Type, steps[1:] {
			name += in.Field(steps[0]).Name + "."
		}
		if f.mayBeAbsent(nil) {
			names = append(names, strings.TrimSuffix(name, "."))
		} else if classOf(f.typ) == classStruct {
			names = append(names, leftOut(f.typ, name)...)
		}
	}
	return names
}

// offer takes from the listed values of a place with a decoder those that the rule `required` takes for an
// empty one: an enumeration may begin with it. What is left keeps to the rule.
func (at *spot) offer(n *jsonschema.Schema, required *rule) error {
	if at.pointer || n.Enum == nil || at.class != classText && at.class != classOpaque {
		return nil
	}
	n.Enum = slices.DeleteFunc(slices.Clone(n.Enum), at.readsAsZero)
	if required.exact = n; len(n.Enum) == 0 {
		return fmt.Errorf("validate rule %q takes all values that %s lists for empty ones", required.text, at.typ)
	}
	return nil
}

func (at *spot) readsAsZero(listed any) bool {
	defer func() { _ = recover() }() // a decoder that cannot read its own values is found by its users
	text, _ := marshalPlain(listed)
	to := reflect.New(at.typ)
	return json.Unmarshal(text, to.Interface()) == nil && to.Elem().IsZero()
}

// addSentence adds a sentence to a text, which may end without a full stop.
func addSentence(text, sentence string) string {
	text = strings.TrimRight(text, " \n")
	switch last, _ := utf8.DecodeLastRuneInString(text); {
	case text == "" || sentence == "":
		return text + sentence
	case unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune("\"')]}`", last):
		text += "."
	}
	return text + " " + sentence
}

// annotations are the fields that demand nothing, so they may stand beside a reference.
var annotations = []string{"Title", "Description", "Default", "Examples", "Deprecated", "ReadOnly", "WriteOnly"}

// mergeInto adds a fragment's keywords to a schema. Its annotations win. Other keywords that the schema has
// already go under allOf.
func mergeInto(n, add *jsonschema.Schema) {
	other := &jsonschema.Schema{}
	to, from, rest := reflect.ValueOf(n).Elem(), reflect.ValueOf(add).Elem(), reflect.ValueOf(other).Elem()
	for i := range from.NumField() {
		field, have, more := from.Type().Field(i), to.Field(i), from.Field(i)
		switch isFree := slices.Contains(annotations, field.Name); {
		case !field.IsExported() || more.IsZero():
		case isFree || n.Ref == "" && have.IsZero():
			have.Set(more)
		case !reflect.DeepEqual(have.Interface(), more.Interface()):
			rest.Field(i).Set(more)
		}
	}
	if !rest.IsZero() {
		n.AllOf = append(slices.Clone(n.AllOf), other)
	}
}
