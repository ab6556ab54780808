package work

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Fault is a fault at one place of a document, as found by hand.
type Fault struct{ Where, Want string }

// scan reads JSON in one pass for the checks by hand. Strings without escapes are parts of the document.
type scan struct {
	s      string
	i      int
	faults []Fault
	// broken is set if the text is not JSON. Nothing after that is read.
	broken bool
}

func (p *scan) fault(where, want string) { p.faults = append(p.faults, Fault{where, want}) }

func (p *scan) fail() {
	if !p.broken {
		p.broken, p.i = true, len(p.s)
		p.fault("", "expected JSON")
	}
}

func (p *scan) peek() byte {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return c
		}
	}
	return 0
}

func (p *scan) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

// open enters an object or a list. A value of another kind is a fault, and skipped.
func (p *scan) open(c byte, where, want string) bool {
	if p.take(c) {
		return true
	}
	p.wrong(where, want)
	return false
}

func (p *scan) wrong(where, want string) {
	p.skip()
	p.fault(where, want)
}

// key reads the next key of an object; false at its end.
func (p *scan) key(first bool) (string, bool) {
	if p.take('}') || p.broken {
		return "", false
	}
	if !first && !p.take(',') || p.peek() != '"' {
		p.fail()
		return "", false
	}
	key := p.str()
	if !p.take(':') {
		p.fail()
	}
	return key, !p.broken
}

// more reports whether a list continues.
func (p *scan) more(first bool) bool {
	if p.take(']') || p.broken {
		return false
	}
	if !first && !p.take(',') {
		p.fail()
	}
	return !p.broken
}

func (p *scan) str() string {
	start := p.i
	escaped := false
	for p.i++; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return p.unquote(p.s[start:p.i], escaped)
		case c == '\\':
			escaped = true
			p.i++
		case c < ' ':
			p.fail()
			return ""
		}
	}
	p.fail()
	return ""
}

func (p *scan) unquote(quoted string, escaped bool) string {
	if !escaped {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if json.Unmarshal([]byte(quoted), &s) != nil {
		p.fail()
	}
	return s
}

// word reads a number or a literal unchanged.
func (p *scan) word() string {
	p.peek()
	start := p.i
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return p.s[start:p.i]
		}
		p.i++
	}
	return p.s[start:]
}

// skip skips a value of any kind.
func (p *scan) skip() {
	switch p.peek() {
	case '"':
		p.str()
	case '{':
		p.i++
		for _, ok := p.key(true); ok; _, ok = p.key(false) {
			p.skip()
		}
	case '[':
		p.i++
		for first := true; p.more(first); first = false {
			p.skip()
		}
	default:
		if !json.Valid([]byte(p.word())) {
			p.fail()
		}
	}
}

func (p *scan) text(where string, least, most int) string {
	if p.peek() != '"' {
		p.wrong(where, "expected a string")
		return ""
	}
	s := p.str()
	if n := utf8.RuneCountInString(s); n < least || n > most {
		p.fault(where, fmt.Sprintf("expected %d to %d characters", least, most))
	}
	return s
}

func (p *scan) integer(where string, least, most int) int {
	if c := p.peek(); c != '-' && (c < '0' || c > '9') {
		p.wrong(where, "expected an integer")
		return 0
	}
	n, err := strconv.Atoi(p.word())
	if err != nil || n < least || n > most {
		p.fault(where, fmt.Sprintf("expected an integer from %d to %d", least, most))
	}
	return n
}

func (p *scan) amount(where string) float64 {
	if c := p.peek(); c != '-' && (c < '0' || c > '9') {
		p.wrong(where, "expected a number")
		return 0
	}
	n, err := strconv.ParseFloat(p.word(), 64)
	if err != nil || n < 0 {
		p.fault(where, "expected a number of at least 0")
	}
	return n
}

// once refuses a duplicate key; seen has a bit for each key.
func (p *scan) once(seen *int, bit int, where string) {
	if *seen&bit != 0 {
		p.fault(where, "expected once")
	}
	*seen |= bit
}

func (p *scan) needs(seen int, where string, names ...string) {
	for i, name := range names {
		if seen&(1<<i) == 0 && !p.broken {
			p.fault(where+"/"+name, "required")
		}
	}
}

func (p *scan) unknown(where, key string) {
	p.wrong(where+"/"+key, "unknown")
}

func (p *scan) end() {
	if p.peek() != 0 || p.i < len(p.s) {
		p.fail()
	}
}
