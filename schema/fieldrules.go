package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

func number(s string) json.Number { return json.Number(s) }

// fieldRules says the rules of a value in JSON Schema.
type fieldRules struct {
	*builder
	*spot
	names map[string]string // the fields around it: Go name to JSON name
}

// apply adds rules to the schema of a value, in their order.
func (v fieldRules) apply(n *jsonschema.Schema, rules []rule) (*jsonschema.Schema, error) {
	if err := v.usable(rules); err != nil {
		return nil, err
	}
	for at, r := range rules {
		if r.omits() {
			return v.optional(n, r, rules[at+1:])
		}
		if err := v.rule(n, r, rules[at+1:]); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// usable tries each rule on an empty value. A rule that the validator does not know or cannot apply is a
// mistake in the type, to be found now and not with a model's reply.
func (v fieldRules) usable(rules []rule) error {
	empty := reflect.New(v.typ).Elem()
	if v.class == classList && v.typ.Kind() == reflect.Slice {
		empty = reflect.MakeSlice(v.typ, 1, 1)
	}
	for _, r := range rules {
		switch {
		case r.relational() || r.omits() || v.class != classAny && r.skipsMembers():
			continue
		case v.class == classAny && r.tag == "required":
			continue
		case v.class == classAny:
			return fmt.Errorf("validate rule %q needs a type, and any value may stand here", r.text)
		}
		if err := v.forStrings(r); err != nil {
			return err
		}
		if _, err := r.tried(empty, v.class); err != nil {
			return err
		}
	}
	return nil
}

// forStrings refuses rules for strings on other types: the validator would give them a wrong answer.
func (v fieldRules) forStrings(r rule) error {
	for _, alt := range r.alts {
		if err := v.forStrings(alt); err != nil {
			return err
		}
	}
	textual := stringRuleOf(r.tag).tag != ""
	number := (r.tag == "numeric" || r.tag == "number") && v.class.numeric()
	if textual && !number && !slices.Contains([]class{classString, classText, classOpaque, classBytes},
		v.class) {
		return fmt.Errorf("validate rule %q needs a string, not %s", r.text, v.typ)
	}
	return nil
}

// optional says rules that hold only if the value is not empty. Nil pointers are handled where the pointer
// is; the value of a pointer can be empty for omitzero alone.
func (v fieldRules) optional(n *jsonschema.Schema, omit rule, rest []rule) (*jsonschema.Schema, error) {
	empty, hasEmpty := v.empty(omit)
	if !hasEmpty {
		return v.apply(n, rest)
	}
	free, err := v.holdsRules(rest)
	if err != nil {
		return nil, err
	}
	if free {
		return v.apply(n, rest)
	}
	full, err := v.apply(&jsonschema.Schema{}, rest)
	if err != nil {
		return nil, err
	}
	if n.AnyOf != nil {
		n.AllOf = append(n.AllOf, &jsonschema.Schema{AnyOf: []*jsonschema.Schema{empty, full}})
		return n, nil
	}
	n.Description = addSentence(n.Description, full.Description)
	full.Description = ""
	n.AnyOf = []*jsonschema.Schema{empty, full}
	return n, nil
}

// empty is the schema of the value that a rule such as omitempty lets pass; false if JSON has none.
func (v fieldRules) empty(omit rule) (*jsonschema.Schema, bool) {
	zero := uint64(0)
	switch {
	case omit.tag == "omitnil", v.pointer && omit.tag == "omitempty", v.class == classAny, v.class == classStruct:
		return nil, false
	case v.class == classList && omit.tag == "omitzero" && v.typ.Kind() == reflect.Slice:
		return &jsonschema.Schema{MaxItems: &zero}, true
	case v.class == classMap && omit.tag == "omitzero":
		return &jsonschema.Schema{MaxProperties: &zero}, true
	case v.class == classMap, v.typ.Kind() == reflect.Slice:
		return nil, false
	}
	switch v.class {
	case classString:
		return &jsonschema.Schema{Const: ""}, true
	case classBool:
		return &jsonschema.Schema{Const: false}, true
	case classInt, classUint, classFloat:
		return &jsonschema.Schema{Const: 0}, true
	case classText, classOpaque:
		return &jsonschema.Schema{}, true
	}
	return &jsonschema.Schema{Not: &jsonschema.Schema{}}, true
}

// holdsRules reports whether the empty value keeps to the rules that one can judge alone.
func (v fieldRules) holdsRules(rules []rule) (bool, error) {
	empty := reflect.New(v.typ).Elem()
	for _, r := range rules {
		if r.omits() {
			return true, nil
		}
		if r.relational() || r.skipsMembers() {
			continue
		}
		if holds, err := r.tried(empty, v.class); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// left are the rules that the validator must judge, since the schema cannot: those of the value, and those
// that compare it with others. The rules that let an empty value pass stay before them.
func (v fieldRules) left(rules []rule) (own, related []rule) {
	for _, r := range rules {
		switch {
		case r.omits():
			own, related = append(own, r), append(related, r)
		case r.relational():
			related = append(related, r)
		case !v.judges(r):
			own = append(own, r)
		}
	}
	return needed(own), needed(related)
}

// needed drops rules such as omitempty at the end, where no rule follows.
func needed(rules []rule) []rule {
	for len(rules) > 0 && rules[len(rules)-1].omits() {
		rules = rules[:len(rules)-1]
	}
	return rules
}

// judges reports whether the schema judges a rule exactly.
func (v fieldRules) judges(r rule) bool {
	if r.skipsMembers() {
		return true
	}
	if r.tag == "required" {
		opaque := slices.Contains([]class{classStruct, classText, classOpaque}, v.class)
		return v.pointer || !opaque && v.typ.Kind() != reflect.Array
	}
	s, err := v.keywords(r)
	return s != nil && err == nil
}

// rule adds one rule. rest are those that follow it.
func (v fieldRules) rule(n *jsonschema.Schema, r rule, rest []rule) error {
	switch {
	case r.skipsMembers():
		return nil
	case r.relational():
		v.describe(n, r)
		return nil
	case r.tag == "required":
		return v.required(n, rest)
	}
	s, err := v.keywords(r)
	if err != nil {
		return err
	}
	if s != nil {
		mergeInto(n, s)
		return nil
	}
	v.say(n, r)
	return nil
}

// keywords says a rule exactly, where JSON Schema can.
func (v fieldRules) keywords(r rule) (*jsonschema.Schema, error) {
	if len(r.alts) > 0 {
		return v.either(r)
	}
	if _, compares := valueWords.of(r.tag); compares && v.class == classFloat {
		f, err := strconv.ParseFloat(r.param, 64)
		if err != nil || f-f != 0 {
			return nil, fmt.Errorf("validate rule %q: want a finite number", r.text)
		}
		return boundary(r.tag, number(strconv.FormatFloat(f, 'f', -1, 64))), nil
	}
	return bridge(r, v.typ, v.class)
}

// either says a group of rules of which one must hold, where it can say each of them.
func (v fieldRules) either(r rule) (*jsonschema.Schema, error) {
	either := &jsonschema.Schema{}
	for _, alt := range r.alts {
		s, err := v.keywords(alt)
		if s == nil || err != nil {
			return nil, err
		}
		either.AnyOf = append(either.AnyOf, s)
	}
	return either, nil
}

// say tells the model a rule that the validator judges: a format where one fits, and prose where that is not
// enough.
func (v fieldRules) say(n *jsonschema.Schema, r rule) {
	sr := stringRuleOf(r.tag)
	if v.class == classString && sr.format != "" {
		mergeInto(n, &jsonschema.Schema{Format: sr.format})
	}
	if layout := r.tag == "datetime" && r.param == "2006-01-02"; layout {
		mergeInto(n, &jsonschema.Schema{Format: "date"})
	}
	if sr.format == "" || sr.prose {
		v.describe(n, r)
	}
}

// describe tells the model a rule in prose.
func (v fieldRules) describe(n *jsonschema.Schema, r rule) {
	must, ok := strings.CutPrefix(rulePhrase(r, v.class, v.names), "to ")
	if !ok {
		must = "be " + must
	}
	n.Description = addSentence(n.Description, "Must "+must+".")
}

// required says that a value is not empty. That it must be there, and not null, is said by the schema of its
// struct and pointer.
func (v fieldRules) required(n *jsonschema.Schema, rest []rule) error {
	one := uint64(1)
	switch v.class {
	case classAny:
		mergeInto(n, &jsonschema.Schema{Not: &jsonschema.Schema{Type: "null"}})
		return nil
	case classList, classMap:
		if v.typ.Kind() != reflect.Array {
			return nil
		}
	}
	if v.pointer {
		return nil
	}
	if free, err := v.holdsRules(rest); err != nil || !free {
		return err // the other rules refuse the empty value already
	}
	switch {
	case v.class == classString:
		mergeInto(n, &jsonschema.Schema{MinLength: &one})
	case v.class == classBool:
		mergeInto(n, &jsonschema.Schema{Const: true})
	case v.class.numeric():
		mergeInto(n, &jsonschema.Schema{Not: &jsonschema.Schema{Const: 0}})
	case v.class == classStruct && n.Ref == "":
		mergeInto(n, &jsonschema.Schema{MinProperties: &one})
	}
	return nil
}

func addSentence(text, sentence string) string {
	if text == "" || sentence == "" {
		return text + sentence
	}
	return text + " " + sentence
}

// mergeInto adds a fragment's keywords to a schema. Of two bounds the tighter one counts. Keywords that the
// schema has already go under allOf.
func mergeInto(n, add *jsonschema.Schema) {
	tightenCount(&n.MinLength, &add.MinLength, 1)
	tightenCount(&n.MinItems, &add.MinItems, 1)
	tightenCount(&n.MinProperties, &add.MinProperties, 1)
	tightenCount(&n.MaxLength, &add.MaxLength, -1)
	tightenCount(&n.MaxItems, &add.MaxItems, -1)
	tightenCount(&n.MaxProperties, &add.MaxProperties, -1)
	tightenNumber(&n.Minimum, &add.Minimum, 1)
	tightenNumber(&n.Maximum, &add.Maximum, -1)
	to, from := reflect.ValueOf(n).Elem(), reflect.ValueOf(add).Elem()
	for i := range from.NumField() {
		if !from.Type().Field(i).IsExported() || from.Field(i).IsZero() {
			continue
		}
		if !to.Field(i).IsZero() && jsonText(to.Field(i).Interface()) == jsonText(from.Field(i).Interface()) {
			from.Field(i).SetZero() // it is said already
			continue
		}
		if !to.Field(i).IsZero() || n.Ref != "" {
			n.AllOf = append(slices.Clone(n.AllOf), add)
			return
		}
	}
	tellInto(n, add)
}

// tightenCount keeps the tighter of two bounds; sign 1 keeps the larger.
func tightenCount(have, add **uint64, sign int) {
	if *have == nil || *add == nil {
		return
	}
	if (**add > **have) == (sign > 0) {
		*have = *add
	}
	*add = nil
}

func tightenNumber(have, add *json.Number, sign int) {
	if *have == "" || *add == "" {
		return
	}
	if decimalOf(string(*add)).compare(decimalOf(string(*have)))*sign > 0 {
		*have = *add
	}
	*add = ""
}
