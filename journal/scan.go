package journal

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// scanner reads what a [writer] wrote, with the same keys. It takes nothing that the library would refuse, or would read as anything else:
// lost is set where something else stands than what is looked for, and the library has the word.
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
	// at is the last time that was read, atText how it stands there; last is the last JSON value: a call's arguments stand in the records of
	// a step twice.
	at     time.Time
	atText []byte
	last   json.RawMessage
	// issues is where lists are read to, before their lengths are known.
	issues []fault.Issue
	// spare are the parts of the record at hand that are not read yet.
	spare spare
	// again is for what is compared with how it would be written.
	again writer
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
	if s.b, s.i, s.lost = text, 0, !utf8.Valid(text); cap(s.room) > keptRoom {
		s.room = nil
	}
}

// end lets go of the text and of what is read; it reports whether that was all of the text, and as it should be.
func (s *scanner) end() bool {
	whole := !s.lost && s.i == len(s.b)
	s.b, s.spare = nil, spare{}
	return whole
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

// ahead reports whether a key stands next. That the first letter is another is what is mostly met.
func (s *scanner) ahead(key string) bool {
	return s.i+1 < len(s.b) && s.b[s.i+1] == key[1] && len(s.b)-s.i >= len(key) && string(s.b[s.i:s.i+len(key)]) == key
}

// key takes a key where it stands next.
func (s *scanner) key(key string) bool {
	if !s.ahead(key) {
		return false
	}
	s.follows('{')
	s.i += len(key)
	return true
}

// follows wants the opening bracket or a comma before what stands next. Each value is read with the comma after it.
func (s *scanner) follows(open byte) {
	if before := s.b[s.i-1]; before != ',' && before != open {
		s.lost = true
	}
}

// ends wants no comma before what stands next.
func (s *scanner) ends() {
	if s.b[s.i-1] == ',' {
		s.lost = true
	}
}

// open begins an object where its key stands next, and close ends it; so do openList and more, for lists that are not empty.
func (s *scanner) open(key string) bool {
	if !s.key(key) {
		return false
	}
	s.want('{')
	return true
}

func (s *scanner) close() {
	s.ends()
	s.want('}')
	s.is(',')
}

func (s *scanner) openList(key string) bool {
	if !s.openAny(key) {
		return false
	}
	s.lost = s.lost || s.i < len(s.b) && s.b[s.i] == ']'
	return true
}

// openAny is openList for a list that may be empty.
func (s *scanner) openAny(key string) bool {
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
	if s.i < len(s.b) && s.b[s.i] == ']' {
		s.ends()
		s.i++
		s.is(',')
		return false
	}
	s.follows('[')
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

func (s *scanner) num(key string) (n int64) {
	if !s.key(key) {
		return 0
	}
	negative, from := s.is('-'), s.i
	for ; s.i < len(s.b) && s.b[s.i]-'0' <= 9; s.i++ {
		n = 10*n + int64(s.b[s.i]-'0')
	}
	if digits := s.i - from; digits == 0 || digits > mostDigits || s.b[from] == '0' && (digits > 1 || negative) {
		s.lost = true
	}
	s.is(',')
	if negative {
		return -n
	}
	return n
}

// mostDigits is how many digits a number may have that is read here.
const mostDigits = 18

func (s *scanner) int(key string) int {
	n := s.num(key)
	s.lost = s.lost || int64(int(n)) != n
	return int(n)
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
	if bytes.Equal(text, s.atText) {
		return s.at
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	at = at.UTC()
	var room [len(time.RFC3339Nano)]byte
	if err != nil || !bytes.Equal(at.AppendFormat(room[:0], time.RFC3339Nano), text) {
		s.lost = true
		return at
	}
	s.at, s.atText = at, append(s.atText[:0], text...)
	return at
}

// seconds takes a decimal of seconds, exact to the nanosecond. Who uses it looks whether it is written so.
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
			s.lost = s.lost || depth > mostDepth
		case '}', ']':
			depth--
		}
		if depth < 0 || depth == 0 && s.b[s.i] == ',' {
			break
		}
		s.i++
	}
	s.lost = s.lost || s.i == from
	value := s.b[from:s.i]
	s.is(',')
	if bytes.Equal(value, s.last) {
		return s.last
	}
	raw := s.canonical(value)
	if len(raw) <= mostEscaped {
		s.last = raw
	}
	return raw
}

// mostDepth is how deep a value may be that is read here.
const mostDepth = 64

// canonical is a copy of a value, if it is one in canonical form.
func (s *scanner) canonical(value []byte) json.RawMessage {
	text, ok := canon.AppendJSON(make([]byte, 0, len(value)), value)
	if s.lost = s.lost || !ok || !bytes.Equal(text, value); s.lost {
		return nil
	}
	return slices.Clip(text)
}
