package syntax

import (
	"slices"
	"strings"
)

// Wanted says what would be right at the offset of the first byte of a text that does not fit: one of the
// phrases. An offset at or beyond the end means that the text ends too soon. It is empty where a value begins
// well at the offset: then nothing is wrong with its writing.
func Wanted(text string, offset int) string {
	at := placeOf(text, offset)
	for n := range slips {
		if slips[n].fits(&at) {
			return slips[n].wanted
		}
	}
	return Separators
}

// place is what stands around the first byte that does not fit.
type place struct {
	before string // what stands before, without the space at its end
	joined bool   // no space stood there
	rest   string // what follows, that byte first
	word   string // the letters that rest begins with
	after  string // what follows the word or byte, without the space at its start
}

const space = " \t\r\n"

func placeOf(text string, offset int) place {
	offset = min(max(offset, 0), len(text))
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

func isWordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// follows reports whether the byte before is one of set; at the beginning of the text none is.
func (p *place) follows(set string) bool {
	return p.before != "" && anyOf(set, p.before[len(p.before)-1:])
}

func (p *place) starts(with string) bool { return strings.HasPrefix(p.rest, with) }

// anyOf reports whether a text begins with one of the bytes of set.
func anyOf(set, text string) bool { return text != "" && strings.IndexByte(set, text[0]) >= 0 }

const (
	openers   = "{[(:=,"
	closers   = "]})"
	quotes    = `"'`
	values    = closers + quotes + digits + letters // what a value may end in
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	digits    = "0123456789"
	operators = "+-*/%&|<>.(["
)

// slip is a mistake, and what stands around the byte that does not fit where it was made: all that is set
// must fit.
type slip struct {
	wanted string
	// joined asks for no space before the byte; after and notAfter say one of which bytes stands before, or
	// none of which.
	joined          bool
	after, notAfter string
	// begins and notBegins say the byte itself, then one of which follows it or its word.
	begins, notBegins, then string
	// starts are texts of which one begins there, words the words that stand there.
	starts, words []string
	is            func(p *place) bool
}

// slips are the common mistakes; the first that fits names the phrase.
var slips = [...]slip{
	{wanted: Complete, is: nothingLeft},
	{wanted: BareQuotes, starts: []string{`\"`}},
	{wanted: CodePoints, starts: []string{`\u`}},
	{wanted: Escapes, begins: `\`},
	{wanted: Lines, begins: "\r\n"},
	{wanted: Controls, is: control},
	{wanted: Object, after: ":", begins: `"`},
	{wanted: Numbers, joined: true, is: endsInNumber},
	{wanted: "", after: openers, begins: `"`},
	{wanted: "", notAfter: values + "{,", begins: "{["},
	{wanted: Alone, notBegins: "'(", is: first},
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

var pythonWords = []string{"True", "False", "None"}

// fits reports whether all that is set of a slip is so.
func (s *slip) fits(p *place) bool {
	switch {
	case s.joined && !p.joined,
		s.after != "" && !p.follows(s.after), s.notAfter != "" && p.follows(s.notAfter),
		s.begins != "" && !anyOf(s.begins, p.rest), anyOf(s.notBegins, p.rest), s.then != "" && !anyOf(s.then, p.after),
		s.starts != nil && !slices.ContainsFunc(s.starts, p.starts), s.words != nil && !slices.Contains(s.words, p.word):
		return false
	}
	return s.is == nil || s.is(p)
}

func tag(p *place) bool { return len(p.rest) > 1 && anyOf(letters+"/", p.rest[1:]) }

func nothingLeft(p *place) bool { return strings.Trim(p.rest, space) == "" || p.rest == `\` }

func control(p *place) bool { return p.rest[0] < ' ' }

func first(p *place) bool { return p.before == "" && !slices.Contains(pythonWords, p.word) }

func digitNext(p *place) bool { return anyOf(digits, p.rest[1:]) }

// endsInNumber reports whether a number stands before that lacks its last digits: "1.", "-", "2e+".
func endsInNumber(p *place) bool {
	run := p.before[len(strings.TrimRight(p.before, digits+"+-.eE")):]
	return run != "" && anyOf(digits+"-", run) && !anyOf(digits, run[len(run)-1:])
}
