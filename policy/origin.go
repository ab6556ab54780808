package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/fields"
)

// Source is a place in a file. The zero value means "unknown".
type Source struct {
	// File is the name of the file. It may also be the name of a Go function, without a line.
	File string
	// Line and Column count from 1; Column counts characters.
	Line, Column int
}

// String returns the place as compilers write it: "policy.yaml:3:1". It is empty if the place is unknown.
func (s Source) String() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column)
}

// parseSource reads what [Source.String] writes.
func parseSource(text string) Source {
	rest, column, placed := cutLast(text)
	if file, line, ok := cutLast(rest); placed && ok && line > 0 {
		return Source{file, line, column}
	}
	return Source{File: text}
}

// cutLast cuts a number after the last colon.
func cutLast(text string) (before string, n int, ok bool) {
	at := strings.LastIndexByte(text, ':')
	n, _ = strconv.Atoi(text[at+1:])
	return text[:max(at, 0)], n, at >= 0 && n >= 0 && text[at+1:] == strconv.Itoa(n)
}

// noteOrigin notes where a field of the layer was written.
func (l *Layer) noteOrigin(field string, s Source) {
	if l.Origins == nil {
		l.Origins = map[string]Source{}
	}
	l.Origins[field] = s
}

// originsJSON returns the member of a layer's JSON with the origins of its fields, or nil.
func (l *Layer) originsJSON() []byte {
	var b []byte
	for _, field := range l.Sets() {
		if source := l.Origins[field].String(); source != "" {
			text, _ := json.Marshal(source) // a string has a JSON form
			b = append(fmt.Appendf(b, ",%q:", field), text...)
		}
	}
	if b == nil {
		return nil
	}
	b[0] = '{'
	return append(fmt.Appendf(nil, ",%q:", originsKey), append(b, '}')...)
}

func (l *Layer) readOrigins(v jsontext.Value, f fields.Faults) {
	fields.Members(v, f, func(name string, v jsontext.Value, f fields.Faults) {
		switch text, is := fields.Text(v); {
		case !slices.Contains(fields.Names(layerFields), name):
			f.Add("this is no field of a policy; leave it out")
		case !is:
			fields.Wrong(f, "a place, such as policy.yaml:3:1", v)
		default:
			l.noteOrigin(name, parseSource(text))
		}
	})
}
