package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// scanner reads what a [writer] wrote, with the same keys. It proves nothing: who uses it writes what was read once more, and compares.
// lost is set where something else stands than what is looked for.
type scanner struct {
	b    []byte
	i    int
	lost bool
	// names are short strings that were read before; escaped is the last text with escapes, and unescaped what it says: a model's
	// arguments stand in a step three times.
	names     *names
	escaped   []byte
	unescaped string
	room      []byte
	// issues and effects are where lists are read to, before their lengths are known.
	issues  []fault.Issue
	effects []machine.Effect
}

// taken is a list of what was read to a room; nil where that is nothing.
func taken[T any](room []T) []T {
	if len(room) == 0 {
		return nil
	}
	all := slices.Clone(room)
	clear(room)
	return all
}

// start begins with another text. What a very long one needed is let go.
func (s *scanner) start(text []byte) {
	if s.b, s.i, s.lost = text, 0, false; cap(s.room) > keptRoom {
		s.room = nil
	}
}

// is takes a byte where it stands next.
func (s *scanner) is(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) want(c byte) {
	if !s.is(c) {
		s.lost = true
	}
}

// word takes a word where it stands next.
func (s *scanner) word(word string) bool {
	if rest := s.b[s.i:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		return false
	}
	s.i += len(word)
	return true
}

// key takes a key where it stands next. That the first letter is another is what is mostly met.
func (s *scanner) key(key string) bool {
	return s.i+1 < len(s.b) && s.b[s.i+1] == key[1] && s.word(key)
}

// open begins an object where its key stands next, and close ends it; so do openList and more. Each value is read with the comma after it.
func (s *scanner) open(key string) bool {
	if !s.key(key) {
		return false
	}
	s.want('{')
	return true
}

func (s *scanner) close() {
	s.want('}')
	s.is(',')
}

func (s *scanner) openList(key string) bool {
	if !s.key(key) {
		return false
	}
	s.want('[')
	return true
}

// more reports whether another entry of a list follows.
func (s *scanner) more() bool {
	if s.lost {
		return false
	}
	if s.is(']') {
		s.is(',')
		return false
	}
	return true
}

// null takes a member that is null.
func (s *scanner) null(key string) bool {
	from := s.i
	if s.key(key) && s.word("null") {
		s.is(',')
		return true
	}
	s.i = from
	return false
}

// quoted takes a string, and returns what stands between its quotation marks; plain is set where nothing is escaped in it.
func (s *scanner) quoted() (text []byte, plain bool) {
	s.want('"')
	from := s.i
	end := from + canon.PlainRun(s.b[from:])
	for plain = true; end < len(s.b) && s.b[end] != '"'; plain = false {
		end = min(end+2, len(s.b))
		end += canon.PlainRun(s.b[end:])
	}
	s.i = end
	s.want('"')
	return s.b[from:end], plain
}

// mostEscaped is how long the text may be that is kept for the next time.
const mostEscaped = 4 << 10

func (s *scanner) text() string {
	text, plain := s.quoted()
	s.is(',')
	switch {
	case plain && len(text) > longestName:
		return string(text)
	case plain:
		if s.names == nil {
			s.names = new(names)
		}
		return s.names.of(text)
	case s.lost:
		return ""
	case bytes.Equal(text, s.escaped):
		return s.unescaped
	}
	said := s.unescape(text)
	if len(text) <= mostEscaped {
		s.escaped, s.unescaped = append(s.escaped[:0], text...), said
	}
	return said
}

// unescape is what a text with escapes says.
func (s *scanner) unescape(text []byte) string {
	s.room = s.room[:0]
	for rest := text; ; rest = rest[2:] {
		n := canon.PlainRun(rest)
		s.room = append(s.room, rest[:n]...)
		if rest = rest[n:]; len(rest) == 0 {
			return string(s.room)
		}
		said, short := byte(0), false
		if len(rest) > 1 {
			said, short = shortEscape(rest[1])
		}
		if !short {
			break
		}
		s.room = append(s.room, said)
	}
	said, err := jsontext.AppendUnquote(s.room[:0], append(append([]byte{'"'}, text...), '"'))
	s.lost = s.lost || err != nil
	return string(said)
}

// shortEscape is what a backslash and a letter say.
func shortEscape(letter byte) (said byte, ok bool) {
	switch letter {
	case '"', '\\':
		return letter, true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

func (s *scanner) str(key string) string {
	if !s.key(key) {
		return ""
	}
	return s.text()
}

// once is str for what is new each time.
func (s *scanner) once(key string) string {
	if !s.key(key) {
		return ""
	}
	text, plain := s.quoted()
	s.is(',')
	if !plain {
		return s.unescape(text)
	}
	return string(text)
}

func (s *scanner) num(key string) (n int64) {
	if !s.key(key) {
		return 0
	}
	negative := s.is('-')
	for ; s.i < len(s.b) && s.b[s.i]-'0' <= 9; s.i++ {
		n = 10*n + int64(s.b[s.i]-'0')
	}
	s.is(',')
	if negative {
		return -n
	}
	return n
}

func (s *scanner) flag(key string) (f bool) {
	if !s.key(key) {
		return false
	}
	if f = s.word("true"); !f && !s.word("false") {
		s.lost = true
	}
	s.is(',')
	return f
}

func (s *scanner) time(key string) (at time.Time) {
	if !s.key(key) {
		s.lost = true
		return at
	}
	text, _ := s.quoted()
	s.is(',')
	at, err := time.Parse(time.RFC3339Nano, string(text))
	s.lost = s.lost || err != nil
	return at.UTC()
}

// seconds takes a decimal of seconds, exact to the nanosecond.
func (s *scanner) seconds() (d time.Duration) {
	fraction, unit := false, time.Second
	for ; s.i < len(s.b); s.i++ {
		digit := s.b[s.i] - '0'
		switch {
		case digit <= 9 && fraction:
			unit /= 10
			d += time.Duration(digit) * unit
		case digit <= 9:
			d = 10*d + time.Duration(digit)*time.Second
		case s.b[s.i] == '.':
			fraction = true
		default:
			s.is(',')
			return d
		}
	}
	return d
}

// raw takes a value as it stands, copied.
func (s *scanner) raw(key string) json.RawMessage {
	if !s.key(key) {
		return nil
	}
	return s.value()
}

func (s *scanner) value() json.RawMessage {
	from := s.i
	for depth := 0; s.i < len(s.b) && !s.lost; {
		switch s.b[s.i] {
		case '"':
			s.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth < 0 || depth == 0 && s.b[s.i] == ',' {
			break
		}
		s.i++
	}
	s.lost = s.lost || s.i == from
	value := bytes.Clone(s.b[from:s.i])
	s.is(',')
	return value
}

// names keeps short strings, for the next time that they are read: records are full of the same. Each has two places where it may be.
type names [256]string

// longestName is how long they may be.
const longestName = 40

func (n *names) of(text []byte) string {
	at := slot(text)
	first, second := &n[at], &n[at^1]
	switch {
	case *first == string(text):
		return *first
	case *second == string(text):
		return *second
	}
	*first, *second = string(text), *first
	return *first
}

// slot is a place among names, by the ends of a text.
func slot(text []byte) byte {
	const mix = 0x9e3779b97f4a7c15
	sum := uint64(len(text))
	if n := len(text) - 8; n >= 0 {
		sum = (sum ^ binary.LittleEndian.Uint64(text)) * mix
		sum ^= binary.LittleEndian.Uint64(text[n:])
	} else {
		for _, b := range text {
			sum = sum<<8 | uint64(b)
		}
	}
	return byte(sum * mix >> 56)
}
