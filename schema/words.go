package schema

import (
	"reflect"
	"strings"
	"sync"
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

// ruleName is the name of a rule in an issue: the JSON Schema keyword where there is one, so that the same
// fault has the same name whoever found it; else the validation tag.
func ruleName(r rule, c class) string {
	switch sr := stringRuleOf(r.tag); {
	case len(r.alts) > 0:
		return "anyOf"
	case r.tag == "required" && c == classStruct:
		return "minProperties"
	case r.tag == "required": // what is there is not missing
		return "not"
	case r.tag == "unique" && c == classList:
		return "uniqueItems"
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
	if p, ok := currentValidators().phrases[r.tag]; ok {
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
	noun, counted := countedNoun.of(c.String())
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

// wording says something of tags, one on each line, as in "email: an email address".
type wording string

func (w wording) of(tag string) (said string, known bool) {
	_, rest, known := strings.Cut(string(w), "\n"+tag+": ")
	said, _, _ = strings.Cut(rest, "\n")
	return said, known
}

// tagPhrases say what a rule of one value expects; % is the rule's parameter. Tags that are not here are
// named as they are.
const tagPhrases wording = `
required: a value that is not empty
isdefault: no value
unique: items that all differ
email: an email address
uuid: a UUID
uuid3: a UUID of version 3
uuid4: a UUID of version 4
uuid5: a UUID of version 5
uuid7: a UUID of version 7
uuid_rfc4122: a UUID
ulid: a ULID
url: a URL with its scheme
http_url: a URL that begins with http:// or https://
https_url: a URL that begins with https://
uri: a URI, or an absolute path
ipv4: an IPv4 address
ipv6: an IPv6 address
ip: an IP address
cidr: an IP network such as 10.0.0.0/8
hostname: a host name
hostname_rfc1123: a host name
fqdn: a full domain name
port: a port number
e164: a phone number such as +14155552671
hostname_port: a host and port such as example.com:80
mac: a MAC address
datetime: a date or time written as %
timezone: a time zone name such as Europe/Lisbon
duration: a duration such as 1h30m
oneof: one of %
oneofci: one of % (in any case)
noneof: none of %
noneofci: none of % (in any case)
eq_ignore_case: % (in any case)
ne_ignore_case: anything but % (in any case)
lowercase: a string in lower case
uppercase: a string in upper case
boolean: a string that says true or false
alpha: a string of the letters a-z
alphanum: a string of letters a-z and digits
numeric: a string that holds a number
number: a string of digits
hexadecimal: a hexadecimal string
startswith: a string that begins with %
endswith: a string that ends with %
contains: a string that contains %
excludes: a string without %
startsnotwith: a string that does not begin with %
endsnotwith: a string that does not end with %
alphaunicode: a string of letters
alphanumunicode: a string of letters and digits
containsany: a string with any of the characters %
excludesall: a string without the characters %
base64: a base64 string
base64url: a base64url string
json: a string that holds JSON
jwt: a JSON Web Token
iso3166_1_alpha2: a country code of two letters
iso3166_1_alpha3: a country code of three letters
iso4217: a currency code such as EUR
bcp47_language_tag: a language tag such as pt-BR
semver: a version such as 1.2.3
credit_card: a credit card number
cron: a cron expression
latitude: a latitude
longitude: a longitude
isbn: an ISBN
datauri: a data URI
iscolor: a CSS color
`

// relationPhrases say what a rule expects of a value in view of other fields; % is the list of their names.
const relationPhrases wording = `
eqfield: equal to the field %
nefield: different from the field %
gtfield: more than the field %
gtefield: at least the field %
ltfield: less than the field %
ltefield: at most the field %
eqcsfield: equal to the field %
necsfield: different from the field %
gtcsfield: more than the field %
gtecsfield: at least the field %
ltcsfield: less than the field %
ltecsfield: at most the field %
fieldcontains: a string that contains the field %
fieldexcludes: a string that does not contain the field %
postcode_iso3166_alpha2_field: a postal code of the country in the field %
required_with: to be given when any of % is given
required_with_all: to be given when all of % are given
required_without: to be given when any of % is not given
required_without_all: to be given when none of % is given
excluded_with: to be left out when any of % is given
excluded_with_all: to be left out when all of % are given
excluded_without: to be left out when any of % is not given
excluded_without_all: to be left out when none of % is given
`

// conditionPhrases say rules that depend on the values of other fields; % is the list of conditions.
const conditionPhrases wording = `
required_if: to be given when %
required_unless: to be given unless %
excluded_if: to be left out when %
excluded_unless: to be left out unless %
skip_unless: as its other rules say when %
`

func relationPhrase(r rule, names map[string]string) (string, bool) {
	words := strings.Fields(r.param)
	tag, one := r.tag, len(words) == 1
	if one {
		tag = strings.TrimSuffix(tag, "_all")
	}
	if p, ok := relationPhrases.of(tag); ok {
		for n, w := range words {
			words[n] = jsonPath(w, names)
		}
		if one {
			p = strings.Replace(p, "any of ", "", 1)
		}
		return strings.ReplaceAll(p, "%", strings.Join(words, ", ")), true
	}
	p, ok := conditionPhrases.of(r.tag)
	if !ok {
		return "", false
	}
	var conditions []string
	for n := 0; n+1 < len(words); n += 2 {
		conditions = append(conditions, jsonPath(words[n], names)+" is "+words[n+1])
	}
	return strings.ReplaceAll(p, "%", strings.Join(conditions, " and ")), true
}

// layoutWords spells Go's reference time as people do.
var layoutWords = strings.NewReplacer("2006", "YYYY", "01", "MM", "02", "DD", "15", "hh", "04", "mm", "05",
	"ss")

// patternPhrases name the patterns that stand for a rule with a name.
var patternPhrases = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, sr := range stringRules {
		phrase, known := tagPhrases.of(sr.tag)
		if known && sr.pattern != "" && !sr.negated && !strings.Contains(phrase, "%") {
			names[sr.matching("")] = phrase
		}
	}
	return names
})

// patternPhrase says what a pattern expects: by name where it has one, and always the pattern itself.
func patternPhrase(pattern string) string {
	if name, ok := patternPhrases()[pattern]; ok {
		return name + ", matching " + pattern
	}
	return "a string matching " + pattern
}

// jsonPath writes a Go field, or a path of them, by the names of JSON where they are known.
func jsonPath(goPath string, names map[string]string) string {
	parts := strings.Split(goPath, ".")
	for n, p := range parts {
		if name, ok := names[p]; ok {
			parts[n] = name
		}
	}
	return strings.Join(parts, ".")
}
