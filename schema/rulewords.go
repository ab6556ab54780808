package schema

import (
	"reflect"
	"strings"
)

// decoderPhrase says what a type's own decoder reads, as far as that is known here.
func decoderPhrase(t reflect.Type) string {
	switch {
	case t == timeType:
		return "a date and time as in 2006-01-02T15:04:05Z"
	case classOf(t) == classBytes:
		return "a base64 string"
	case classOf(t) == classFloat: // of 32 bits
		return "a number from -3.4e38 to 3.4e38"
	}
	return "a value that reads as " + t.Name()
}

// keywordOf names rules by their JSON Schema keyword, so that the same fault has the same name whoever found
// it.
var keywordOf = map[class]wording{
	classString: `
required: minLength
min: minLength
gte: minLength
gt: minLength
max: maxLength
lte: maxLength
lt: maxLength
len: length
eq: const
oneof: enum
ne: not
noneof: not
`,
	classInt: `
required: not
min: minimum
gte: minimum
gt: exclusiveMinimum
max: maximum
lte: maximum
lt: exclusiveMaximum
eq: const
len: const
oneof: enum
ne: not
noneof: not
`,
	classBool: `
required: const
eq: const
ne: not
`,
	classList: `
min: minItems
gte: minItems
gt: minItems
max: maxItems
lte: maxItems
lt: maxItems
len: length
eq: length
ne: not
unique: uniqueItems
`,
	classMap: `
min: minProperties
gte: minProperties
gt: minProperties
max: maxProperties
lte: maxProperties
lt: maxProperties
len: length
eq: length
ne: not
`,
	classStruct: "\nrequired: minProperties\n",
}

// ruleName is the name of a rule in an issue: the JSON Schema keyword where there is one, else the validation
// tag.
func ruleName(r rule, c class) string {
	if len(r.alts) > 0 {
		return "anyOf"
	}
	if c == classUint || c == classFloat {
		c = classInt
	}
	if name, ok := keywordOf[c].of(r.tag); ok {
		return name
	}
	if r.tag == "required" { // what is there is not missing
		return "not"
	}
	switch sr := stringRuleOf(r.tag); {
	case sr.format != "":
		return "format"
	case sr.pattern != "":
		return "pattern"
	}
	return r.tag
}

// rulePhrase says what a rule expects, as a phrase that reads after "expected" and after "must be". names
// gives the JSON names of the fields around, by their Go names.
func rulePhrase(r rule, c class, names map[string]string) string {
	if len(r.alts) > 0 {
		var wants []string
		for _, alt := range r.alts {
			wants = append(wants, rulePhrase(alt, c, names))
		}
		return clip(orList(wants))
	}
	if p, ok := sizePhrase(r, c); ok {
		return p
	}
	if p, ok := relationPhrase(r, names); ok {
		return clip(p)
	}
	if p, ok := rulebook().phrases[r.tag]; ok {
		return clip(strings.ReplaceAll(p, "%", r.param))
	}
	if p, ok := tagPhrases.of(r.tag); ok {
		param := r.param
		if r.tag == "datetime" {
			param = layoutWords.Replace(param)
		}
		return clip(strings.ReplaceAll(p, "%", param))
	}
	return clip("a value that keeps to the rule " + r.text)
}

// valueWords say a comparison of a value, countWords one of a count.
const (
	valueWords wording = `
min: at least %
gte: at least %
gt: more than %
max: at most %
lte: at most %
lt: less than %
len: %
eq: %
ne: anything but %
`
	countWords wording = `
min: at least %
gte: at least %
gt: more than %
max: at most %
lte: at most %
lt: fewer than %
len: exactly %
eq: exactly %
ne: any number but %
`
	countedNoun wording = `
string: character
array: item
map: member
base64 string: byte
`
)

func sizePhrase(r rule, c class) (string, bool) {
	value, compares := valueWords.of(r.tag)
	count, _ := countWords.of(r.tag)
	if !compares || r.param == "" {
		return "", false
	}
	noun, counted := countedNoun.of(string(c))
	if c == classString && (r.tag == "eq" || r.tag == "ne") {
		return strings.ReplaceAll(value, "%", literal(r.param)), true
	}
	if !counted {
		return strings.ReplaceAll(value, "%", r.param), true
	}
	if r.param != "1" {
		noun += "s"
	}
	return strings.ReplaceAll(count, "%", r.param) + " " + noun, true
}
