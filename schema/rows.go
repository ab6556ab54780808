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
//	text      the validator judges strings; of other values it says nothing that is true
//	= < …     the value, or how many characters, items or members it has, compares so with the parameter
//	in        the value is one of those of the parameter
//	unique    the items differ
//	field     the validator compares the value with a field, whose name is the parameter
//	given     it is to be there, or not, depending on the fields that are given
//	when      the same, depending on the values of fields
//
// The words of formats stand under "@" and their names, those of comparisons of times under "time" and how.
// What is compared with a field in another way than numbers has words under its kind and the tag.
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
alphaspace           | /  | ^[a-zA-Z ]+$             | a string of letters a-z and spaces
alphanum             | /  | ^[a-zA-Z0-9]+$           | a string of letters a-z and digits
alphanumspace        | /  | ^[a-zA-Z0-9 ]+$          | a string of letters a-z, digits and spaces
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

containsrune         | text | | a string that contains %
excludesrune         | text | | a string without %
uuid3_rfc4122        | text | | a UUID of version 3
uuid4_rfc4122        | text | | a UUID of version 4
uuid5_rfc4122        | text | | a UUID of version 5
ulid                 | text | | a ULID such as 01ARZ3NDEKTSV4RRFFQ69G5FAV
md4                  | text | | 32 hexadecimal digits in lower case
md5                  | text | | 32 hexadecimal digits in lower case
ripemd128            | text | | 32 hexadecimal digits in lower case
tiger128             | text | | 32 hexadecimal digits in lower case
ripemd160            | text | | 40 hexadecimal digits in lower case
tiger160             | text | | 40 hexadecimal digits in lower case
tiger192             | text | | 48 hexadecimal digits in lower case
sha256               | text | | 64 hexadecimal digits in lower case
sha384               | text | | 96 hexadecimal digits in lower case
sha512               | text | | 128 hexadecimal digits in lower case
ip                   | text | | an IP address
ip_addr              | text | | an IP address
ip4_addr             | text | | an IPv4 address
ip6_addr             | text | | an IPv6 address
cidr                 | text | | an IP network such as 10.0.0.0/8
cidrv4               | text | | an IPv4 network such as 10.0.0.0/8
cidrv6               | text | | an IPv6 network such as 2001:db8::/32
tcp_addr             | text | | an IP address and port such as 10.0.0.1:80
tcp4_addr            | text | | an IPv4 address and port such as 10.0.0.1:80
tcp6_addr            | text | | an IPv6 address and port such as [2001:db8::1]:80
udp_addr             | text | | an IP address and port such as 10.0.0.1:80
udp4_addr            | text | | an IPv4 address and port such as 10.0.0.1:80
udp6_addr            | text | | an IPv6 address and port such as [2001:db8::1]:80
unix_addr            | text | | the path of a socket
uds_exists           | text | | the path of a socket that exists
hostname_port        | text | | a host and port such as example.com:80
hostname_label       | text | | a part of a host name such as www
dns_rfc1035_label    | text | | a part of a domain name such as www
mac                  | text | | a MAC address such as 01:23:45:67:89:ab
origin               | text | | a scheme and host such as https://example.com
urn_rfc2141          | text | | a URN such as urn:isbn:0306406152
urn_rfc8141          | text | | a URN such as urn:isbn:0306406152
datauri              | text | | a data URI such as data:text/plain;base64,YWJj
url_encoded          | text | | a string with URL encoding such as a%20b
html                 | text | | a string with HTML such as <b>text</b>
html_encoded         | text | | a string with HTML characters such as &lt;
file                 | text | | the path of a file that exists
filepath             | text | | the path of a file
dir                  | text | | the path of a directory that exists
dirpath              | text | | the path of a directory, with a slash at its end if it does not exist
image                | text | | the path of an image that exists
mimetype             | text | | the path of a file of the media type %
datetime             | text | | a date or time %
timezone             | text | | a time zone name such as Europe/Lisbon
duration             | text | | a duration such as 1h30m
cron                 | text | | a cron expression such as 0 9 * * 1
oneofci              | text | | one of % (in any case)
noneofci             | text | | none of % (in any case)
eq_ignore_case       | text | | % (in any case)
ne_ignore_case       | text | | anything but % (in any case)
lowercase            | text | | a string in lower case
uppercase            | text | | a string in upper case
alphaunicode         | text | | a string of letters
alphanumunicode      | text | | a string of letters and digits
ascii                | text | | a string of ASCII characters
printascii           | text | | a string of printable ASCII characters
multibyte            | text | | a string with a character that is not ASCII
base32               | text | | a base32 string
base64               | text | | a base64 string
base64url            | text | | a base64url string
base64rawurl         | text | | a base64url string without padding
jwt                  | text | | a JSON Web Token
semver               | text | | a version such as 1.2.3
iso3166_1_alpha2     | text | | a country code of two letters such as DE
iso3166_1_alpha2_eu  | text | | the code of two letters of a country of the EU such as DE
iso3166_1_alpha3     | text | | a country code of three letters such as DEU
iso3166_1_alpha3_eu  | text | | the code of three letters of a country of the EU such as DEU
iso3166_2            | text | | the code of a part of a country such as DE-BY
iso4217              | text | | a currency code such as EUR
bcp47_language_tag   | text | | a language tag such as pt-BR
bcp47_strict_language_tag | text | | a language tag such as pt-BR
postcode_iso3166_alpha2   | text | | a postal code of the country %
bic                  | text | | a bank code (BIC) such as DEUTDEFF
bic_iso_9362_2014    | text | | a bank code (BIC) such as DEUTDEFF
credit_card          | text | | a credit card number such as 4111111111111111
ssn                  | text | | a social security number of the US such as 123-45-6789
ein                  | text | | an employer number of the US such as 12-3456789
cve                  | text | | a CVE number such as CVE-2024-12345
isbn                 | text | | an ISBN such as 9780306406157
isbn10               | text | | an ISBN of 10 digits such as 0306406152
isbn13               | text | | an ISBN of 13 digits such as 9780306406157
issn                 | text | | an ISSN such as 0317-8471
mongodb              | text | | an ID of 24 hexadecimal digits such as 507f1f77bcf86cd799439011
mongodb_connection_string | text | | a connection string such as mongodb://localhost:27017
spicedb              | text | | a SpiceDB name
eth_addr             | text | | an Ethereum address of 0x and 40 hexadecimal digits
eth_addr_checksum    | text | | an Ethereum address with a checksum in the case of its letters
btc_addr             | text | | a Bitcoin address
btc_addr_bech32      | text | | a Bitcoin address in Bech32
hexcolor             | text | | a color such as #1e90ff
rgb                  | text | | a color such as rgb(30, 144, 255)
rgba                 | text | | a color such as rgba(30, 144, 255, 0.5)
hsl                  | text | | a color such as hsl(210, 100%, 56%)
hsla                 | text | | a color such as hsla(210, 100%, 56%, 0.5)
cmyk                 | text | | a color such as cmyk(88%, 44%, 0%, 0%)
iscolor              | text | | a color such as #1e90ff or rgb(30, 144, 255)

required             | | | a value that is not empty
isdefault            | | | no value
boolean              | text | | a string that says true or false
json                 | | | a string that holds JSON
port                 | | | a port number from 1 to 65535
latitude             | | | a latitude from -90 to 90
longitude            | | | a longitude from -180 to 180
luhn_checksum        | | | a number with a Luhn check digit such as 79927398713
iso3166_1_alpha_numeric    | | | a country code of three digits such as 276
iso3166_1_alpha_numeric_eu | | | the code of three digits of a country of the EU such as 276
iso4217_numeric      | | | a currency code of three digits such as 978
country_code         | | | a country code such as DE, DEU or 276
eu_country_code      | | | the code of a country of the EU such as DE, DEU or 276
validateFn           | | | a value that the rules of its type allow

time >               | | | a time after now
time >=              | | | a time that is not before now
time <               | | | a time before now
time <=              | | | a time that is not after now

time gtfield         | | | a time after the field %
time gtefield        | | | a time that is not before the field %
time ltfield         | | | a time before the field %
time ltefield        | | | a time that is not after the field %
time gtcsfield       | | | a time after the field %
time gtecsfield      | | | a time that is not before the field %
time ltcsfield       | | | a time before the field %
time ltecsfield      | | | a time that is not after the field %
string gtfield       | | | a longer text than the field %
string gtefield      | | | a text at least as long as the field %
string ltfield       | | | a shorter text than the field %
string ltefield      | | | a text at most as long as the field %
string gtcsfield     | | | a text that sorts after the field %
string gtecsfield    | | | a text that does not sort before the field %
string ltcsfield     | | | a text that sorts before the field %
string ltecsfield    | | | a text that does not sort after the field %
list eqfield         | | | as many items as the field %
list nefield         | | | another number of items than the field %
list eqcsfield       | | | as many items as the field %
list necsfield       | | | another number of items than the field %

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
skip_unless          | when  | | to be given when %

@date-time           | | | a date and time as in 2006-01-02T15:04:05Z
@date                | | | a date as in 2006-01-02
@time                | | | a time as in 15:04:05Z
@duration            | | | a duration as in PT1H30M
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

// rowOf returns the row of a tag; an empty one where there is none.
func rowOf(tag string) row {
	for _, r := range rows() {
		if r.tag == tag {
			return r
		}
	}
	return row{}
}

// pattern returns what strings must match, or must not; empty where the rule is no pattern.
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
func (r row) forStrings() bool { return r.hasFormat() || r.how == "/" || r.how == "text" }

// needsParam reports whether a rule says nothing without a parameter.
func (r row) needsParam() bool {
	return strings.Contains(r.words, "%") && !strings.Contains(r.words, " such as ") && !strings.HasSuffix(r.tag, "_ignore_case")
}

// conditional reports whether the rule says when a value must be there, or must not.
func (r row) conditional() bool { return r.how == "given" || r.how == "when" }

// relational reports whether the rule looks at other fields; no JSON Schema can say that.
func (r row) relational() bool { return r.how == "field" || r.conditional() }
