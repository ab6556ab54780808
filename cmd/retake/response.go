package main

import (
	"bytes"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/httphint"
)

// splitResponse splits a response into its headers and the body after an empty line. A text that begins as
// JSON is a body without headers. It also returns the numbers of lines that are no headers.
func splitResponse(text []byte) (headers map[string][]string, body []byte, strange []int) {
	if begin := bytes.TrimSpace(text); len(begin) > 0 && (begin[0] == '{' || begin[0] == '[') {
		return nil, begin, nil
	}
	headers = map[string][]string{}
	if byCurl.Match(text) {
		text = received(text)
	}
	for n := 1; len(text) > 0; n++ {
		var raw []byte
		raw, text, _ = bytes.Cut(text, []byte("\n"))
		line := textproto.TrimString(string(raw))
		name, value, found := strings.Cut(line, ":")
		switch name = textproto.TrimString(name); {
		case line == "" && len(headers) > 0:
			return headers, text, strange
		case line == "" || strings.HasPrefix(line, "HTTP/"):
		case !found || name == "":
			strange = append(strange, n)
		default:
			headers[name] = append(headers[name], textproto.TrimString(value))
		}
	}
	return headers, nil, strange
}

// byCurl matches the beginning of what curl -v shows.
var byCurl = regexp.MustCompile(`^[*<>] `)

// received returns what curl -v shows of a response's headers: the lines that it marks so.
func received(text []byte) (headers []byte) {
	for line := range bytes.Lines(text) {
		if header, is := bytes.CutPrefix(line, []byte("< ")); is {
			headers = append(headers, header...)
		}
	}
	return headers
}

// responseTime returns the time of a response: as given, or else from its Date header, or else zero.
func responseTime(given time.Time, headers map[string][]string) time.Time {
	if !given.IsZero() {
		return given
	}
	for name, values := range headers {
		if strings.EqualFold(name, "date") && len(values) == 1 {
			at, _ := httphint.Date(values[0])
			return at
		}
	}
	return time.Time{}
}
