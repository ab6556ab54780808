package kit

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// Form is what the body of a good response is, whatever its Content-Type says: servers and gateways leave it
// out, get it wrong, and stream unasked.
type Form string

// The forms. Unknown is anything else, or nothing.
const (
	Unknown     Form = ""
	JSON        Form = "application/json"
	EventStream Form = "text/event-stream"
)

// Sniff returns the form of a body by its first bytes, and the body with them, but without a byte order mark
// and the blank space before them, with which some servers keep a connection alive. It waits for those bytes.
func Sniff(body io.ReadCloser) (Form, io.ReadCloser) {
	in := bufio.NewReader(body)
	if seen, _ := in.Peek(1); string(seen) == byteOrderMark[:1] {
		if seen, _ = in.Peek(len(byteOrderMark)); string(seen) == byteOrderMark {
			_, _ = in.Discard(len(byteOrderMark))
		}
	}
	for seen, err := in.Peek(1); err == nil && bytes.ContainsAny(seen, blank); seen, err = in.Peek(1) {
		_, _ = in.Discard(1)
	}
	for n := 1; ; n++ {
		seen, err := in.Peek(n)
		form, sure := formOf(seen)
		if sure || err != nil {
			return form, sniffed{in, body}
		}
	}
}

const byteOrderMark = "\ufeff"

type sniffed struct {
	io.Reader
	io.Closer
}

// eventFields are the beginnings of a line of a stream of events.
var eventFields = []string{"data:", "event:", "id:", "retry:", "error:", ":"} // error: of llama.cpp

// formOf returns the form that a body has by its beginning, and whether more of it could not change that.
func formOf(begins []byte) (form Form, sure bool) {
	if len(begins) == 0 {
		return Unknown, false
	}
	if begins[0] == '{' || begins[0] == '[' {
		return JSON, true
	}
	if slices.ContainsFunc(eventFields, func(f string) bool { return bytes.HasPrefix(begins, []byte(f)) }) {
		return EventStream, true
	}
	if slices.ContainsFunc(eventFields, func(f string) bool { return strings.HasPrefix(f, string(begins)) }) {
		return EventStream, false
	}
	return Unknown, true
}

// doneMarks are what some servers write after a whole reply, as if it were a stream.
var doneMarks = []string{"[DONE]", "data: [DONE]", "data:[DONE]"}
