package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"
)

// book is the one validator of the package, made for the first Go type. It is never configured after that.
var book struct {
	once sync.Once
	*validator.Validate
}

// rulebook is the validator. It is a function, and not a variable made by sync.OnceValue, for what makes a variable is linked into
// every program: this links all the validator's rules.
func rulebook() *validator.Validate {
	book.once.Do(func() { book.Validate = validator.New(validator.WithRequiredStructEnabled()) })
	return book.Validate
}

// rule is one rule of a validate tag, or a group of which one must hold.
type rule struct {
	tag   string
	param string
	text  string // as written, groups included
	alts  []rule // two or more where written "a|b"
}

// ruleSet is a parsed validate tag: the rules of a value, and where it dives, those of its keys and elements.
type ruleSet struct {
	rules []rule
	dives bool
	keys  *ruleSet
	elems *ruleSet
	text  string // without rules that compare fields: those need the struct around
}

// relational are the rules that look at other fields; no JSON Schema can say them.
var relational = []string{
	"eqfield", "nefield", "gtfield", "gtefield", "ltfield", "ltefield", "eqcsfield", "necsfield", "gtcsfield", "gtecsfield",
	"ltcsfield", "ltecsfield", "fieldcontains", "fieldexcludes", "required_if", "required_unless", "required_with",
	"required_with_all", "required_without", "required_without_all", "excluded_if", "excluded_unless", "excluded_with",
	"excluded_with_all", "excluded_without", "excluded_without_all", "skip_unless", "postcode_iso3166_alpha2_field",
}

func (r rule) relational() bool {
	if slices.Contains(relational, r.tag) {
		return true
	}
	return slices.ContainsFunc(r.alts, rule.relational)
}

// omits reports whether the rule ends the checking of an empty value.
func (r rule) omits() bool { return r.tag == "omitempty" || r.tag == "omitzero" || r.tag == "omitnil" }

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
	var kept []string
	for n, tok := range tokens {
		switch tok {
		case "":
			return nil, fmt.Errorf("validate tag has an empty rule: write no comma at its start or end")
		case "dive":
			rest, err := set.parseDive(tokens[n+1:])
			if err != nil {
				return nil, err
			}
			set.text = strings.Join(append(kept, rest), ",")
			return set, nil
		case "keys", "endkeys":
			return nil, fmt.Errorf("validate tag has %q without dive before it", tok)
		}
		r := parseRule(tok)
		set.rules = append(set.rules, r)
		if !r.relational() {
			kept = append(kept, tok)
		}
	}
	set.text = strings.Join(kept, ",")
	return set, nil
}

func (s *ruleSet) parseDive(tokens []string) (text string, err error) {
	s.dives = true
	text = "dive"
	if len(tokens) > 0 && tokens[0] == "keys" {
		end := slices.Index(tokens, "endkeys")
		if end < 0 {
			return "", fmt.Errorf("validate tag has keys without endkeys")
		}
		if s.keys, err = parseTokens(tokens[1:end]); err != nil {
			return "", err
		}
		text += ",keys," + s.keys.text + ",endkeys"
		tokens = tokens[end+1:]
	}
	if s.elems, err = parseTokens(tokens); err != nil {
		return "", err
	}
	if s.elems.text != "" {
		text += "," + s.elems.text
	}
	return text, nil
}

func parseRule(tok string) rule {
	if parts := strings.Split(tok, "|"); len(parts) > 1 {
		group := rule{text: tok}
		for _, p := range parts {
			group.alts = append(group.alts, parseRule(p))
		}
		return group
	}
	tag, param, _ := strings.Cut(tok, "=")
	return rule{tag: tag, param: paramUnescaper.Replace(param), text: tok}
}

// holds reports whether a value keeps to rules, as the validator itself judges; the fields of a struct are not looked at.
// A tag the validator does not know or cannot apply to the type is an error.
func holds(v any, tag string) (bool, error) {
	if tag == "" {
		return true, nil
	}
	if v != nil && classOf(reflect.TypeOf(v)) == classStruct {
		return holdsIn(reflect.ValueOf(v), tag+",structonly")
	}
	return asked(tag, func() error { return rulebook().Var(v, tag) })
}

// holdsIn judges a struct as the field of another: asked about it alone, the validator passes over the rules of the whole.
func holdsIn(v reflect.Value, tag string) (bool, error) {
	field := reflect.StructField{Name: "Value", Type: v.Type(), Tag: reflect.StructTag("validate:" + strconv.Quote(tag))}
	around := reflect.New(reflect.StructOf([]reflect.StructField{field})).Elem()
	around.Field(0).Set(v)
	return asked(tag, func() error { return rulebook().Struct(around.Interface()) })
}

// asked turns the validator's panics into errors.
func asked(tag string, ask func() error) (ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("validate tag %q: %v", tag, p)
		}
	}()
	return ask() == nil, nil
}

// holdsEmpty reports whether the zero value of a type, as an absent member leaves it, keeps to the rules of its field and,
// where they are checked, to those inside it.
func holdsEmpty(t reflect.Type, set *ruleSet, checked bool) (bool, error) {
	if !checked {
		return true, nil
	}
	zero := reflect.New(t).Elem()
	if classOf(t) == classStruct {
		return holdsIn(zero, set.text)
	}
	return holds(zero.Interface(), set.text)
}

// skipsMembers reports whether the rules keep the validator out of a struct's own fields.
func (s *ruleSet) skipsMembers() bool {
	return slices.ContainsFunc(s.rules, func(r rule) bool { return r.tag == "structonly" || r.tag == "nostructlevel" })
}
