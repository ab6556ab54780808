package journal

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

// quoted takes a string, and returns what stands between its quotation marks; plain is set where nothing is escaped in it.
func (s *scanner) quoted() (text []byte, plain bool) {
	s.want('"')
	from := s.i
	end := from + canon.PlainRun(s.b[from:])
	for plain = true; end < len(s.b) && s.b[end] == '\\'; plain = false {
		end = min(end+2, len(s.b))
		end += canon.PlainRun(s.b[end:])
	}
	s.i = end
	s.want('"')
	return s.b[from:end], plain
}

// mostEscaped is how long a text or a value may be that is kept for the next time.
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
	if len(text) <= mostEscaped && !s.lost {
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
