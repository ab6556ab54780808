package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"
)

// stringRule says a rule of strings in keywords: a pattern that means exactly the same, or a format that is a
// hint to the model while the validator judges.
type stringRule struct {
	tag     string
	pattern string                    // "%" stands for the parameter
	quote   func(param string) string // writes the parameter; nil where the rule has none
	negated bool                      // the pattern must not match
	format  string
	prose   bool // say it in the description too: the format alone is not precise
}

// stringRuleOf is the rule of a tag; one without a tag where there is none.
func stringRuleOf(tag string) stringRule {
	for _, sr := range stringRules {
		if sr.tag == tag {
			return sr
		}
	}
	return stringRule{}
}

// matching is the pattern of the rule with its parameter.
func (sr *stringRule) matching(param string) string {
	if sr.quote == nil {
		return sr.pattern
	}
	return strings.Replace(sr.pattern, "%", sr.quote(param), 1)
}

func charClass(chars string) string {
	var b strings.Builder
	for _, r := range chars {
		if strings.ContainsRune(`\]^-[`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return "[" + b.String() + "]"
}

var stringRules = [...]stringRule{
	{tag: "alpha", pattern: "^[a-zA-Z]+$"},
	{tag: "alphaspace", pattern: "^[a-zA-Z ]+$"},
	{tag: "alphanum", pattern: "^[a-zA-Z0-9]+$"},
	{tag: "alphanumspace", pattern: "^[a-zA-Z0-9 ]+$"},
	{tag: "numeric", pattern: `^[-+]?[0-9]+(\.[0-9]+)?$`},
	{tag: "number", pattern: "^[0-9]+$"},
	{tag: "hexadecimal", pattern: "^(0[xX])?[0-9a-fA-F]+$"},
	{tag: "e164", pattern: `^\+?[1-9][0-9]{7,14}$`},
	{tag: "uuid", pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"},
	{tag: "uuid_rfc4122", pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"},
	{tag: "uuid3", pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$"},
	{tag: "uuid4", pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"},
	{tag: "uuid5", pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"},
	{tag: "uuid7", pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"},
	{tag: "startswith", pattern: "^%", quote: regexp.QuoteMeta},
	{tag: "endswith", pattern: "%$", quote: regexp.QuoteMeta},
	{tag: "contains", pattern: "%", quote: regexp.QuoteMeta},
	{tag: "containsany", pattern: "%", quote: charClass},
	{tag: "startsnotwith", pattern: "^%", quote: regexp.QuoteMeta, negated: true},
	{tag: "endsnotwith", pattern: "%$", quote: regexp.QuoteMeta, negated: true},
	{tag: "excludes", pattern: "%", quote: regexp.QuoteMeta, negated: true},
	{tag: "excludesall", pattern: "%", quote: charClass, negated: true},
	{tag: "email", format: "email"},
	{tag: "url", format: "uri"},
	{tag: "http_url", format: "uri", prose: true},
	{tag: "https_url", format: "uri", prose: true},
	{tag: "uri", format: "uri"},
	{tag: "ipv4", format: "ipv4"},
	{tag: "ipv6", format: "ipv6"},
	{tag: "hostname", format: "hostname"},
	{tag: "hostname_rfc1123", format: "hostname"},
	{tag: "fqdn", format: "hostname", prose: true},
}

// bridge says one rule of a value of a class in JSON Schema. A nil schema without an error means there are no
// exact words for it: the validator judges, and prose tells the model.
func bridge(r rule, t reflect.Type, c class) (*jsonschema.Schema, error) {
	switch r.tag {
	case "min", "max", "len", "gt", "gte", "lt", "lte", "eq", "ne":
		return bridgeSize(r, c)
	case "oneof", "noneof":
		return bridgeOneOf(r, c)
	case "unique":
		return bridgeUnique(r, t, c)
	}
	sr := stringRuleOf(r.tag)
	if c != classString || sr.pattern == "" {
		return nil, nil
	}
	if r.param == "" && strings.Contains(r.text, "=") {
		return nil, nil
	}
	p := &jsonschema.Schema{Pattern: sr.matching(r.param)}
	if sr.negated {
		return &jsonschema.Schema{Not: p}, nil
	}
	return p, nil
}

func bridgeSize(r rule, c class) (*jsonschema.Schema, error) {
	switch {
	case c == classString && (r.tag == "eq" || r.tag == "ne"):
		return unless(r.tag == "ne", &jsonschema.Schema{Const: r.param}), nil
	case c == classBool && (r.tag == "eq" || r.tag == "ne"):
		b, err := strconv.ParseBool(r.param)
		if err != nil {
			return nil, fmt.Errorf("validate rule %q: want true or false", r.text)
		}
		return unless(r.tag == "ne", &jsonschema.Schema{Const: b}), nil
	case c.counted():
		return bridgeCount(r, c)
	case c == classInt, c == classUint:
		n, ok := new(big.Int).SetString(r.param, 0)
		if !ok {
			return nil, fmt.Errorf("validate rule %q: want a whole number", r.text)
		}
		return boundary(r.tag, json.Number(n.String())), nil
	}
	return nil, nil
}

// boundary says a comparison with a number.
func boundary(tag string, n json.Number) *jsonschema.Schema {
	switch tag {
	case "min", "gte":
		return &jsonschema.Schema{Minimum: n}
	case "gt":
		return &jsonschema.Schema{ExclusiveMinimum: n}
	case "max", "lte":
		return &jsonschema.Schema{Maximum: n}
	case "lt":
		return &jsonschema.Schema{ExclusiveMaximum: n}
	}
	return unless(tag == "ne", &jsonschema.Schema{Const: n})
}

func unless(negated bool, s *jsonschema.Schema) *jsonschema.Schema {
	if negated {
		return &jsonschema.Schema{Not: s}
	}
	return s
}

func bridgeCount(r rule, c class) (*jsonschema.Schema, error) {
	n, err := strconv.ParseInt(r.param, 0, 32)
	if err != nil {
		return nil, fmt.Errorf("validate rule %q: want a whole number", r.text)
	}
	lo, hi := int64(0), int64(math.MaxInt64)
	switch r.tag {
	case "min", "gte":
		lo = n
	case "gt":
		lo = n + 1
	case "max", "lte":
		hi = n
	case "lt":
		hi = n - 1
	default:
		lo, hi = n, n
	}
	if hi < 0 {
		return nil, fmt.Errorf("validate rule %q can never hold", r.text)
	}
	return unless(r.tag == "ne", between(c, max(lo, 0), hi)), nil
}

func between(c class, lo, hi int64) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	bounds := map[class][2]**uint64{
		classString: {&s.MinLength, &s.MaxLength}, classList: {&s.MinItems, &s.MaxItems},
		classMap: {&s.MinProperties, &s.MaxProperties},
	}[c]
	if lo > 0 {
		*bounds[0] = new(uint64(lo))
	}
	if hi < math.MaxInt64 {
		*bounds[1] = new(uint64(hi))
	}
	return s
}

var oneOfParam = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'[^']*'|\S+`) })

func bridgeOneOf(r rule, c class) (*jsonschema.Schema, error) {
	var values []any
	for _, text := range oneOfParam().FindAllString(r.param, -1) {
		text = strings.ReplaceAll(text, "'", "")
		switch c {
		case classString:
			values = append(values, text)
		case classInt, classUint:
			if n, ok := new(big.Int).SetString(text, 10); ok && n.String() == text {
				values = append(values, json.Number(text))
			}
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("validate rule %q has no value that a %s can have", r.text, c)
	}
	return unless(r.tag == "noneof", &jsonschema.Schema{Enum: values}), nil
}

// bridgeUnique has exact words where equal JSON means equal Go values and the other way round.
func bridgeUnique(r rule, t reflect.Type, c class) (*jsonschema.Schema, error) {
	if r.param != "" || c != classList {
		return nil, nil
	}
	base, _ := indirect(t.Elem())
	if !base.Comparable() || classOf(base) == classAny {
		return nil, fmt.Errorf("validate rule %q: %s cannot be compared", r.text, base)
	}
	switch classOf(base) {
	case classString, classInt, classUint, classBool:
		return &jsonschema.Schema{UniqueItems: true}, nil
	}
	return nil, nil
}
