package syntax

import (
	"cmp"
	"slices"
	"strings"
)

// strictly has the phrases for the other rules of strict JSON, by their names in package fault.
var strictly = map[string]string{
	"duplicate_key": "each member name once",
	"invalid_utf8":  "text in UTF-8",
	"trailing_data": "one JSON value and nothing after it",
}

// Expected returns the phrase for a rule of strict JSON that a text breaks at an offset.
func Expected(rule, text string, offset int) string {
	return cmp.Or(strictly[rule], Wanted(text, offset))
}

// Wanted returns the phrase for the first invalid byte of a text, at offset. An offset at or beyond the end
// means that the text ends too soon. It returns "" if a valid value begins at the offset.
func Wanted(text string, offset int) string {
	at := placeOf(text, offset)
	for n := range mistakes {
		if mistakes[n].fits(&at) {
			return mistakes[n].wanted
		}
	}
	return Separators
}

// place is the text around the first invalid byte.
type place struct {
	before string // the text before, without trailing space
	joined bool   // no space after before
	rest   string // the text from the byte on
	word   string // the letters at the start of rest
	after  string // the text after the word or byte, without leading space
}

const space = " \t\r\n"

func placeOf(text string, offset int) place {
	offset = wordStart(text, min(max(offset, 0), len(text)))
	p := place{before: strings.TrimRight(text[:offset], space), rest: text[offset:]}
	p.joined = len(p.before) == offset
	n := 0
	for n < len(p.rest) && isWordByte(p.rest[n]) {
		n++
	}
	p.word = p.rest[:n]
	p.after = strings.TrimLeft(p.rest[min(max(n, 1), len(p.rest)):], space)
	return p
}

// wordStart returns where a word begins whose first letters a decoder took for true, false or null. For any
// other text it returns the offset itself.
func wordStart(text string, offset int) int {
	start := offset
	for start > 0 && 'a' <= text[start-1] && text[start-1] <= 'z' {
		start--
	}
	taken := text[start:offset]
	if taken == "" || offset == len(text) {
		return offset
	}
	if c := text[offset]; c <= ' ' || c == '\\' || c >= 0x7f {
		return offset // it may be the fault of a string
	}
	begins := func(literal string) bool {
		return strings.HasPrefix(literal, taken) && (taken != literal || isWordByte(text[offset]))
	}
	if slices.ContainsFunc([]string{"true", "false", "null"}, begins) {
		return start
	}
	return offset
}

func isWordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// follows reports whether the byte before is in set. It is false at the start of the text.
func (p *place) follows(set string) bool {
	return p.before != "" && anyOf(set, p.before[len(p.before)-1:])
}

func (p *place) starts(with string) bool { return strings.HasPrefix(p.rest, with) }

// anyOf reports whether text begins with a byte of set.
func anyOf(set, text string) bool { return text != "" && strings.IndexByte(set, text[0]) >= 0 }

const (
	openers   = "{[(:=,"
	closers   = "]})"
	quotes    = `"'`
	values    = closers + quotes + digits + letters // the possible last bytes of a value
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	digits    = "0123456789"
	operators = "+-*/%&|<>.(["
)

// mistake is a common mistake and the conditions for it. All conditions that are set must hold.
type mistake struct {
	wanted string
	// joined requires that no space precedes the byte. after and notAfter are sets of bytes, one of which
	// must or must not precede it.
	joined          bool
	after, notAfter string
	// begins and notBegins are sets for the byte itself; then is the set of the byte after it or its word.
	begins, notBegins, then string
	// starts are texts, one of which must begin there; words are words, one of which must be there.
	starts, words []string
	is            func(p *place) bool
}

// mistakes are the common mistakes; the first that fits gives the phrase.
var mistakes = [...]mistake{
	{wanted: Complete, is: nothingLeft},
	{wanted: BareQuotes, starts: []string{`\"`}},
	{wanted: CodePoints, starts: []string{`\u`}},
	{wanted: Spaces, starts: []string{`\n`, `\r`, `\t`}}, // within a string, these are no mistake
	{wanted: Escapes, begins: `\`},
	{wanted: Lines, begins: "\r\n"},
	{wanted: Controls, is: control},
	{wanted: Object, after: ":", begins: `"`},
	{wanted: Numbers, joined: true, is: endsInNumber},
	{wanted: "", after: openers, begins: `"`},
	{wanted: "", notAfter: values + "{,", begins: "{["},
	{wanted: Alone, notBegins: "'(", is: first},
	{wanted: Spaces, starts: spaces},
	{wanted: Tags, begins: "<", is: tag},
	{wanted: InnerQuotes, joined: true, after: quotes, begins: letters + "'"},
	{wanted: Quotes, begins: "'`"},
	{wanted: Quotes, starts: []string{"“", "”", "„", "‘", "’", "«", "»"}},
	{wanted: PythonWords, words: pythonWords},
	{wanted: NoNumber, words: []string{"NaN", "Infinity", "undefined", "nan", "inf"}},
	{wanted: Dots, starts: []string{"...", "…"}},
	{wanted: Comments, starts: []string{"#", "//", "/*"}},
	{wanted: Numbers, joined: true, after: digits, begins: digits + letters + "."},
	{wanted: Numbers, joined: true, after: "-+.eE", notBegins: quotes},
	{wanted: Numbers, joined: true, after: "."},
	{wanted: Numbers, after: openers, begins: "+.", is: digitNext},
	{wanted: LastComma, begins: ",", then: closers},
	{wanted: LastComma, after: ",", begins: closers},
	{wanted: Values, begins: ","},
	{wanted: Values, after: ":=", begins: closers},
	{wanted: Brackets, begins: closers},
	{wanted: Names, after: "{,", begins: "{[" + digits + `-"`},
	{wanted: Lists, after: openers, begins: "("},
	{wanted: Arguments, after: "("},
	{wanted: Literals, after: "=", begins: letters},
	{wanted: Literals, begins: letters, then: operators},
	{wanted: Literals, notAfter: openers, begins: operators, notBegins: "["},
	{wanted: Quotes, after: openers, notBegins: ":="},
}

// spaces are white space of JavaScript.
var spaces = strings.Split("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"+
	"\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff", "")

var pythonWords = []string{"True", "False", "None"}

// fits reports whether all conditions of the mistake hold.
func (s *mistake) fits(p *place) bool {
	switch {
	case s.joined && !p.joined,
		s.after != "" && !p.follows(s.after), s.notAfter != "" && p.follows(s.notAfter),
		s.begins != "" && !anyOf(s.begins, p.rest), anyOf(s.notBegins, p.rest),
		s.then != "" && !anyOf(s.then, p.after),
		s.starts != nil && !slices.ContainsFunc(s.starts, p.starts),
		s.words != nil && !slices.Contains(s.words, p.word):
		return false
	}
	return s.is == nil || s.is(p)
}

func tag(p *place) bool { return len(p.rest) > 1 && anyOf(letters+"/", p.rest[1:]) }

func nothingLeft(p *place) bool { return strings.Trim(p.rest, space) == "" || p.rest == `\` }

func control(p *place) bool { return p.rest[0] < ' ' }

func first(p *place) bool { return p.before == "" && !slices.Contains(pythonWords, p.word) }

func digitNext(p *place) bool { return anyOf(digits, p.rest[1:]) }

// endsInNumber reports whether an incomplete number precedes: "1.", "-", "2e+".
func endsInNumber(p *place) bool {
	run := p.before[len(strings.TrimRight(p.before, digits+"+-.eE")):]
	return run != "" && anyOf(digits+"-", run) && !anyOf(digits, run[len(run)-1:])
}
