package schema

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-playground/validator/v10"
	"github.com/invopop/jsonschema"

	"github.com/retake-go/retake/internal/canon"
)

// validators is the validator with the rules that users registered. It never changes: a new rule makes
// another one.
type validators struct {
	*validator.Validate
	own map[string]ownRule
}

type ownRule struct {
	expected string
	holds    validator.Func
}

var (
	registering sync.Mutex // held while registered is replaced
	registered  atomic.Pointer[validators]
)

// unregistered has no rules of users. It is made when it is first needed: making it takes time that a program
// without Go types would lose at its start.
var unregistered = sync.OnceValue(func() *validators {
	return &validators{Validate: validator.New(validator.WithRequiredStructEnabled())}
})

// currentValidators returns the validators with all rules that are registered.
func currentValidators() *validators {
	if v := registered.Load(); v != nil {
		return v
	}
	return unregistered()
}

// RegisterRule adds a rule of the program's own for `validate` tags: register it before the types that name
// it are used, in an init function for example. expected says what is right, as a phrase that reads after
// "expected" and "must be", such as "an IBAN"; "%" in it stands for the parameter. holds is a validator of
// go-playground/validator; it gets the field and, by FieldLevel.Parent, the struct around it. It must depend
// on nothing else.
//
// The error names what is wrong: a tag that is empty, no plain word or taken, a phrase or function that is
// missing. Safe for concurrent use.
func RegisterRule(tag, expected string, holds validator.Func) error {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' }
	switch {
	case tag == "" || strings.ContainsFunc(tag, odd):
		return fmt.Errorf("schema: rule %q: a rule is named by a-z, 0-9 and _", tag)
	case expected == "":
		return fmt.Errorf("schema: rule %q: the phrase that says what is expected is empty", tag)
	case holds == nil:
		return fmt.Errorf("schema: rule %q: the function is nil", tag)
	case slices.Contains(words, tag) || parseRule(tag).isKnown():
		return fmt.Errorf("schema: rule %q is there already", tag)
	}
	registering.Lock()
	defer registering.Unlock()
	before := currentValidators()
	next := &validators{validator.New(validator.WithRequiredStructEnabled()), map[string]ownRule{tag: {expected, holds}}}
	maps.Copy(next.own, before.own)
	for _, tag := range canon.Keys(next.own) {
		if err := next.RegisterValidation(tag, next.own[tag].holds); err != nil {
			return fmt.Errorf("schema: rule %q: %w", tag, err)
		}
	}
	registered.Store(next)
	return nil
}

// words are the words of `validate` tags that are no rules.
var words = []string{"dive", "keys", "endkeys", "omitempty", "omitzero", "omitnil", "structonly",
	"nostructlevel"}

// rule is one rule of a validate tag, or a group of which one must hold.
type rule struct {
	row          // of its tag
	tag   string // it may have no row
	param string
	text  string  // as written, groups included
	alts  []*rule // two or more where written "a|b"

	// What is set where the place of the rule in a type is known.
	exact      *jsonschema.Schema // says the rule exactly; nil where JSON Schema cannot
	name, said string             // in issues: its name, and what is expected
}

// ruleSet is a parsed validate tag: the rules of a value, and where it dives, those of its keys and elements.
type ruleSet struct {
	rules []*rule
	dives bool
	keys  *ruleSet
	elems *ruleSet
}

// relational reports whether the rule, or one of a group, looks at other fields.
func (r *rule) relational() bool {
	return r.row.relational() || slices.ContainsFunc(r.alts, (*rule).relational)
}

// omits reports whether the rule ends the checking of an empty value.
func (r *rule) omits() bool { return r.tag == "omitempty" || r.tag == "omitzero" || r.tag == "omitnil" }

var paramUnescaper = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// parseRules reads a validate tag as the validator does.
func parseRules(tag string) (*ruleSet, error) {
	if tag == "" {
		return &ruleSet{}, nil
	}
	return parseTokens(strings.Split(tag, ","))
}

func parseTokens(tokens []string) (*ruleSet, error) {
	set := &ruleSet{}
	for n, tok := range tokens {
		switch tok {
		case "":
			return nil, fmt.Errorf("validate tag has an empty rule: write no comma at its start or end")
		case "dive":
			return set, set.parseDive(tokens[n+1:])
		case "keys", "endkeys":
			return nil, fmt.Errorf("validate tag has %q without dive before it", tok)
		case "-":
			return nil, fmt.Errorf("validate tag has %q beside other rules: it stands alone, and switches all off", tok)
		}
		set.rules = append(set.rules, parseRule(tok))
	}
	return set, nil
}

func (s *ruleSet) parseDive(tokens []string) (err error) {
	s.dives = true
	if len(tokens) > 0 && tokens[0] == "keys" {
		end := slices.Index(tokens, "endkeys")
		if end < 0 {
			return fmt.Errorf("validate tag has keys without endkeys")
		}
		if s.keys, err = parseTokens(tokens[1:end]); err != nil {
			return err
		}
		tokens = tokens[end+1:]
	}
	s.elems, err = parseTokens(tokens)
	return err
}

func parseRule(tok string) *rule {
	if parts := strings.Split(tok, "|"); len(parts) > 1 {
		group := &rule{text: tok}
		for _, p := range parts {
			group.alts = append(group.alts, parseRule(p))
		}
		return group
	}
	tag, param, _ := strings.Cut(tok, "=")
	return &rule{row: rowOf(tag), tag: tag, param: paramUnescaper.Replace(param), text: tok}
}

// skipsMembers reports whether the rule keeps the validator out of a struct's own fields.
func (r *rule) skipsMembers() bool { return r.tag == "structonly" || r.tag == "nostructlevel" }

// requires reports whether the value must be there and not be empty.
func (s *ruleSet) requires() bool {
	return slices.ContainsFunc(s.rules, func(r *rule) bool { return r.tag == "required" })
}

func (s *ruleSet) skipsMembers() bool { return slices.ContainsFunc(s.rules, (*rule).skipsMembers) }

// isMet reports whether a rule that says when a value must be there, or must not, holds for this one whatever
// the others are.
func (r *rule) isMet(v reflect.Value) bool {
	return r.conditional() && v.IsZero() == strings.HasPrefix(r.tag, "excluded")
}

// others returns the fields that a rule, or a group, looks at.
func (r *rule) others() (fields []string) {
	for _, alt := range r.alts {
		fields = append(fields, alt.others()...)
	}
	switch {
	case r.how == "when":
		for pair := range slices.Chunk(r.params(), 2) {
			fields = append(fields, pair[0])
		}
	case r.row.relational():
		return r.params()
	}
	return fields
}

var quotedOrWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'[^']*'|\S+`) })

// params returns the words of the parameter, as the validator reads them: quoted ones may have spaces.
func (r *rule) params() []string {
	params := quotedOrWord().FindAllString(r.param, -1)
	for n := range params {
		params[n] = strings.ReplaceAll(params[n], "'", "")
	}
	return params
}

// checkOthers finds fields that a rule names and that are not there, or are never equal to a value for their
// kind: the validator would refuse every document. It also tries the rule, and each of its conditions, on the
// fields of an empty struct.
func (r *rule) checkOthers(in reflect.Type, at *spot) error {
	for _, alt := range r.alts {
		if err := alt.checkOthers(in, at); err != nil {
			return err
		}
	}
	if words := quotedOrWord().FindAllString(r.param, -1); r.how == "when" && len(words)%2 != 0 {
		return fmt.Errorf("validate rule %q needs pairs of a field and its value: write %s=%s value",
			r.text, r.tag, strings.Join(words, " "))
	}
	if r.how == "field" && at.isNested() {
		return fmt.Errorf("validate rule %q cannot compare structs: compare their fields", r.text)
	}
	around, empty := reflect.New(in), reflect.New(at.typ).Elem()
	for _, name := range r.others() {
		other, known := reached(around, name)
		switch {
		case !known:
			return fmt.Errorf("validate rule %q names no field of %s: %q", r.text, in, name)
		case r.how == "field" && at.typ.Kind() != other.Kind():
			return fmt.Errorf("validate rule %q compares %s with %s: give both one kind",
				r.text, at.typ, other.Type())
		case r.how == "when" && other.Kind() == reflect.Interface:
			return fmt.Errorf("validate rule %q looks at the field %s, which may have a value of any kind: "+
				"give it a type", r.text, name)
		}
	}
	if r.how == "when" {
		for condition := range slices.Chunk(quotedOrWord().FindAllString(r.param, -1), 2) {
			one := *r
			one.text = r.tag + "=" + strings.Join(condition, " ")
			if _, err := one.tried(empty, at, around.Interface()); err != nil {
				other, _ := reached(around, condition[0])
				return fmt.Errorf("validate rule %q compares the field %s, of type %s, with %q: write a value of that type",
					r.text, condition[0], other.Type(), condition[1])
			}
		}
		return nil
	}
	for _, others := range []reflect.Value{reflect.New(in), around} { // without what pointers lead to, and with it
		if _, err := r.tried(empty, at, others.Interface()); err != nil {
			return err
		}
	}
	return nil
}

// reached returns the value that names of fields, with dots between, lead to. Pointers on the way get new
// values.
func reached(v reflect.Value, path string) (value reflect.Value, known bool) {
	names := strings.Split(path, ".")
	for n := 0; ; n++ {
		for ; v.Kind() == reflect.Pointer; v = v.Elem() {
			if v.IsNil() && !v.CanSet() {
				return v, false
			} else if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
		}
		if n == len(names) {
			return v, true
		} else if v.Kind() != reflect.Struct {
			return v, false
		}
		field, known := v.Type().FieldByName(names[n])
		if !known {
			return v, false
		}
		var err error
		if v, err = v.FieldByIndexErr(field.Index); err != nil {
			return v, false
		}
	}
}

// holds reports whether a value of a place keeps to the rule, as the validator judges it. around is the
// struct that it is a field of, or nil.
func (r *rule) holds(v reflect.Value, at *spot, around any) bool {
	switch {
	case r.tag == "required":
		return !v.IsZero()
	case r.tag == "isdefault":
		return v.IsZero() && !at.pointer
	case r.conditional() && (at.typ.Kind() == reflect.Struct || at.class == classAny):
		// Asked about the value itself, the validator would look into it, and refuse nil.
		return currentValidators().VarWithValue(!v.IsZero(), around, r.text) == nil
	case at.isNested():
		return holdsAsField(v, r.text)
	}
	return currentValidators().VarWithValue(v.Interface(), around, r.text) == nil
}

// holdsAsField judges a struct as the field of another: asked about it alone, the validator passes over the
// rules of the whole.
func holdsAsField(v reflect.Value, tag string) bool {
	tag = strconv.Quote(tag + ",structonly")
	field := reflect.StructField{Name: "Value", Type: v.Type(), Tag: reflect.StructTag("validate:" + tag)}
	around := reflect.New(reflect.StructOf([]reflect.StructField{field})).Elem()
	around.Field(0).Set(v)
	return currentValidators().Struct(around.Interface()) == nil
}

// tried is holds for a rule that has not been tried yet: the validator panics at those that it does not know,
// or cannot apply to a value. It would come to the rules of a group only as far as those before do not hold.
func (r *rule) tried(v reflect.Value, at *spot, around any) (holds bool, err error) {
	for _, alt := range r.alts {
		if _, err := alt.tried(v, at, around); err != nil {
			return false, err
		}
	}
	defer func() {
		if p := recover(); p == nil {
			return
		}
		switch {
		case !r.isKnown():
			err = fmt.Errorf("validate rule %q is not known: mend it, or register it with schema.RegisterRule", r.text)
		case r.param != "":
			err = fmt.Errorf("validate rule %q is not for values of type %s, or its parameter is wrong", r.text, v.Type())
		default:
			err = fmt.Errorf("validate rule %q is not for values of type %s", r.text, v.Type())
		}
	}()
	return r.holds(v, at, around), nil
}

// isKnown reports whether the validator knows the rule, and all those of a group.
func (r *rule) isKnown() (known bool) {
	for _, alt := range r.alts {
		if !alt.isKnown() {
			return false
		}
	}
	defer func() {
		p, _ := recover().(string)
		known = len(r.alts) > 0 || !strings.HasPrefix(p, "Undefined validation function")
	}()
	_ = currentValidators().Var("", "omitempty,"+r.text)
	return true
}
