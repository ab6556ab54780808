package journal

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner reads what a [writer] wrote. It proves nothing: who uses it writes what was read once more, and compares. lost is set where
// something else stands than what is looked for.
type scanner struct {
	b    []byte
	i    int
	lost bool
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

// key takes the name of a member where that is next.
func (s *scanner) key(name string) bool {
	i := s.i
	if i < len(s.b) && s.b[i] == ',' {
		i++
	}
	end := i + len(name) + 3
	if end > len(s.b) || s.b[i] != '"' || string(s.b[i+1:end-2]) != name || s.b[end-2] != '"' || s.b[end-1] != ':' {
		return false
	}
	s.i = end
	return true
}

// quoted takes a string, and returns what stands between its quotation marks; plain is set where nothing is escaped in it.
func (s *scanner) quoted() (text []byte, plain bool) {
	if !s.is('"') {
		s.lost = true
		return nil, true
	}
	from := s.i
	if n := bytes.IndexByte(s.b[from:], '"'); n >= 0 && bytes.IndexByte(s.b[from:from+n], '\\') < 0 {
		s.i += n + 1
		return s.b[from : from+n], true
	}
	for s.i < len(s.b) && s.b[s.i] != '"' {
		if s.b[s.i] == '\\' {
			s.i++
		}
		s.i++
	}
	end := min(s.i, len(s.b))
	s.want('"')
	return s.b[from:end], false
}

func (s *scanner) text() string {
	from := s.i
	text, plain := s.quoted()
	if plain {
		return known(text)
	}
	if s.lost {
		return ""
	}
	unquoted, err := jsontext.AppendUnquote(nil, s.b[from:s.i])
	s.lost = s.lost || err != nil
	return string(unquoted)
}

func (s *scanner) str(name string) string {
	if !s.key(name) {
		return ""
	}
	return s.text()
}

func (s *scanner) num(name string) int64 {
	if !s.key(name) {
		return 0
	}
	from := s.i
	for s.i < len(s.b) && (s.b[s.i] == '-' || '0' <= s.b[s.i] && s.b[s.i] <= '9') {
		s.i++
	}
	n, err := strconv.ParseInt(string(s.b[from:s.i]), 10, 64)
	s.lost = s.lost || err != nil
	return n
}

// flag is for members that are left out where they are false.
func (s *scanner) flag(name string) bool {
	if !s.key(name) {
		return false
	}
	if len(s.b)-s.i < len("true") {
		s.lost = true
		return false
	}
	s.i += len("true")
	return true
}

func (s *scanner) time(name string) (at time.Time) {
	if !s.key(name) {
		s.lost = true
		return at
	}
	text, _ := s.quoted()
	at, err := time.Parse(time.RFC3339Nano, string(text))
	s.lost = s.lost || err != nil
	return at.UTC()
}

// raw takes a value as it stands, copied.
func (s *scanner) raw(name string) json.RawMessage {
	if !s.key(name) {
		return nil
	}
	return s.value()
}

func (s *scanner) value() json.RawMessage {
	from, depth := s.i, 0
	for s.i < len(s.b) && !s.lost {
		switch s.b[s.i] {
		case '"':
			s.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return bytes.Clone(s.b[from:s.i])
			}
		case ',':
			if depth == 0 {
				return bytes.Clone(s.b[from:s.i])
			}
		}
		s.i++
	}
	s.lost = true
	return nil
}

// scanList reads a list that is left out where it is empty.
func scanList[T any](s *scanner, name string, one func(*scanner, *T)) (all []T) {
	if !s.key(name) {
		return nil
	}
	s.want('[')
	for !s.lost {
		var v T
		one(s, &v)
		all = append(all, v)
		if !s.is(',') {
			break
		}
	}
	s.want(']')
	return all
}

// scanMember reads a value where there is one.
func scanMember[T any](s *scanner, name string, one func(*scanner, *T)) *T {
	if s.lost || !s.key(name) {
		return nil
	}
	v := new(T)
	one(s, v)
	return v
}

// known is the text, without a copy where it is one of those that records are full of.
func known(text []byte) string {
	if word, ok := words[string(text)]; ok {
		return word
	}
	return string(text)
}
