package schema

import (
	"regexp"
	"strings"
	"sync"
)

// row is a rule of `validate` tags.
type row struct {
	tag     string
	negated bool   // how begins with "!": the rule is that it is not so
	how     string // what a schema says of it
	what    string // the pattern or the format
	words   string // what it expects; "%" stands for its parameter
	counts  string // the same of a count, where that is said otherwise
}

// rowTable has the rules that have words. What a schema says of a rule:
//
//	/         strings match a pattern; "%" in it is the parameter, "[%]" any of its characters
//	@ or @+   strings have a format, which the validator judges; + tells the words, too, for it is not precise
//	= < …     the value, or how many characters, items or members it has, compares so with the parameter
//	in        the value is one of those of the parameter
//	unique    the items differ
//	field     the validator compares the value with a field, whose name is the parameter
//	given     it is to be there, or not, depending on the fields that are given
//	when      the same, depending on the values of fields
//
// The words of formats stand under "@" and their names.
const rowTable = `
min                  | >=     | | at least %
gte                  | >=     | | at least %
gt                   | >      | | more than %
max                  | <=     | | at most %
lte                  | <=     | | at most %
lt                   | <      | | less than %    | fewer than %
len                  | =      | | %              | exactly %
eq                   | =      | | %              | exactly %
ne                   | !=     | | anything but % | any number but %
oneof                | in     | | one of %
noneof               | !in    | | none of %
unique               | unique | | items that all differ

alpha                | /  | ^[a-zA-Z]+$              | a string of the letters a-z
alphaspace           | /  | ^[a-zA-Z ]+$
alphanum             | /  | ^[a-zA-Z0-9]+$           | a string of letters a-z and digits
alphanumspace        | /  | ^[a-zA-Z0-9 ]+$
numeric              | /  | ^[-+]?[0-9]+(\.[0-9]+)?$ | a string that holds a number
number               | /  | ^[0-9]+$                 | a string of digits
hexadecimal          | /  | ^(0[xX])?[0-9a-fA-F]+$   | a hexadecimal string
e164                 | /  | ^\+?[1-9][0-9]{7,14}$    | a phone number such as +14155552671
uuid                 | /  | ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$ | a UUID
uuid_rfc4122         | /  | ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$ | a UUID
uuid3                | /  | ^[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$ | a UUID of version 3
uuid4                | /  | ^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ | a UUID of version 4
uuid5                | /  | ^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ | a UUID of version 5
uuid7                | /  | ^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ | a UUID of version 7
startswith           | /  | ^%                       | a string that begins with %
endswith             | /  | %$                       | a string that ends with %
contains             | /  | %                        | a string that contains %
containsany          | /  | [%]                      | a string with any of the characters %
startsnotwith        | !/ | ^%                       | a string that does not begin with %
endsnotwith          | !/ | %$                       | a string that does not end with %
excludes             | !/ | %                        | a string without %
excludesall          | !/ | [%]                      | a string without the characters %

email                | @  | email    | an email address
url                  | @  | uri      | a URL with its scheme
http_url             | @+ | uri      | a URL that begins with http:// or https://
https_url            | @+ | uri      | a URL that begins with https://
uri                  | @  | uri      | a URI, or an absolute path
ipv4                 | @  | ipv4     | an IPv4 address
ipv6                 | @  | ipv6     | an IPv6 address
hostname             | @  | hostname | a host name
hostname_rfc1123     | @  | hostname | a host name
fqdn                 | @+ | hostname | a full domain name

required             | | | a value that is not empty
isdefault            | | | no value
ulid                 | | | a ULID
ip                   | | | an IP address
cidr                 | | | an IP network such as 10.0.0.0/8
port                 | | | a port number
hostname_port        | | | a host and port such as example.com:80
mac                  | | | a MAC address
datetime             | | | a date or time written as %
timezone             | | | a time zone name such as Europe/Lisbon
duration             | | | a duration such as 1h30m
oneofci              | | | one of % (in any case)
noneofci             | | | none of % (in any case)
eq_ignore_case       | | | % (in any case)
ne_ignore_case       | | | anything but % (in any case)
lowercase            | | | a string in lower case
uppercase            | | | a string in upper case
boolean              | | | a string that says true or false
alphaunicode         | | | a string of letters
alphanumunicode      | | | a string of letters and digits
base64               | | | a base64 string
base64url            | | | a base64url string
json                 | | | a string that holds JSON
jwt                  | | | a JSON Web Token
iso3166_1_alpha2     | | | a country code of two letters
iso3166_1_alpha3     | | | a country code of three letters
iso4217              | | | a currency code such as EUR
bcp47_language_tag   | | | a language tag such as pt-BR
semver               | | | a version such as 1.2.3
credit_card          | | | a credit card number
cron                 | | | a cron expression
latitude             | | | a latitude
longitude            | | | a longitude
isbn                 | | | an ISBN
datauri              | | | a data URI
iscolor              | | | a CSS color

eqfield              | field | | equal to the field %
nefield              | field | | different from the field %
gtfield              | field | | more than the field %
gtefield             | field | | at least the field %
ltfield              | field | | less than the field %
ltefield             | field | | at most the field %
eqcsfield            | field | | equal to the field %
necsfield            | field | | different from the field %
gtcsfield            | field | | more than the field %
gtecsfield           | field | | at least the field %
ltcsfield            | field | | less than the field %
ltecsfield           | field | | at most the field %
fieldcontains        | field | | a string that contains the field %
fieldexcludes        | field | | a string that does not contain the field %
postcode_iso3166_alpha2_field | field | | a postal code of the country in the field %
required_with        | given | | to be given when any of % is given
required_with_all    | given | | to be given when all of % are given
required_without     | given | | to be given when any of % is not given
required_without_all | given | | to be given when none of % is given
excluded_with        | given | | to be left out when any of % is given
excluded_with_all    | given | | to be left out when all of % are given
excluded_without     | given | | to be left out when any of % is not given
excluded_without_all | given | | to be left out when none of % is given
required_if          | when  | | to be given when %
required_unless      | when  | | to be given unless %
excluded_if          | when  | | to be left out when %
excluded_unless      | when  | | to be left out unless %
skip_unless          | when  | | as its other rules say when %

@date-time           | | | a date and time as in 2006-01-02T15:04:05Z
@email               | | | an email address
@uri                 | | | a URI
@hostname            | | | a host name
@ipv4                | | | an IPv4 address
@ipv6                | | | an IPv6 address
@uuid                | | | a UUID
`

var rows = sync.OnceValue(func() (rows []row) {
	for line := range strings.Lines(rowTable) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) > 1 {
			for n := range cells {
				cells[n] = strings.TrimSpace(cells[n])
			}
			cells = append(cells, "", "", "")
			how, negated := strings.CutPrefix(cells[1], "!")
			rows = append(rows, row{cells[0], negated, how, cells[2], cells[3], cells[4]})
		}
	}
	return rows
})

// rowOf is the row of a tag; an empty one where there is none.
func rowOf(tag string) row {
	for _, r := range rows() {
		if r.tag == tag {
			return r
		}
	}
	return row{}
}

// pattern is what strings must match, or must not; empty where the rule is no pattern.
func (r row) pattern(param string) string {
	quote := regexp.QuoteMeta
	switch {
	case r.how != "/":
		return ""
	case strings.Contains(r.what, "[%]"):
		quote = inClass
	}
	return strings.Replace(r.what, "%", quote(param), 1)
}

// inClass writes characters as they stand in a class of characters.
func inClass(chars string) string {
	var b strings.Builder
	for _, r := range chars {
		if strings.ContainsRune(`\]^-[`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// compares reports whether the rule compares a value, or a count, with its parameter.
func (r row) compares() bool { return r.how != "" && strings.Trim(r.how, "<>=") == "" }

// hasFormat reports whether the rule is that strings have a format.
func (r row) hasFormat() bool { return r.how == "@" || r.how == "@+" }

// forStrings reports whether the rule is for strings alone.
func (r row) forStrings() bool { return r.hasFormat() || r.how == "/" }

// conditional reports whether the rule says when a value must be there, or must not.
func (r row) conditional() bool { return r.how == "given" || r.how == "when" }

// relational reports whether the rule looks at other fields; no JSON Schema can say that.
func (r row) relational() bool { return r.how == "field" || r.conditional() }
