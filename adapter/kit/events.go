package kit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// Events reads server-sent events to the one that take calls the last, to the mark [DONE], or to their end.
// take gets the data of each event as its own; its error ends the reading. marked reports whether there was
// the mark. Comments and fields other than data are ignored. The error is [ErrEnded] if an event is cut off,
// and an [UnreadableError] if the body has no events at all.
func Events(body io.Reader, take func(data []byte) (last bool, err error)) (marked bool, err error) {
	e := events{take: take}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxReply+2) // the body ends before a line is too long
	lines.Split(splitter())
	for !e.last && lines.Scan() {
		if err := e.line(lines.Bytes()); err != nil {
			return false, err
		}
	}
	if err := lines.Err(); err != nil {
		return false, err
	}
	switch left := bytes.TrimSpace(e.data); {
	case len(left) == 0 || bytes.HasPrefix(left, []byte(doneMark)):
	case bytes.HasPrefix([]byte(doneMark), left):
		e.data = nil // the mark is cut off, and all came before it
	case cut(left):
		return false, ErrEnded
	}
	if err := e.end(); err != nil {
		return false, err
	}
	if err := e.endBare(); err != nil {
		return false, err
	}
	if e.strange && e.count == 0 {
		return false, &UnreadableError{"no JSON of a reply"}
	}
	return e.marked, nil
}

// splitter splits lines that end with CR, LF or both. It does not wait for what follows a CR: a server may
// send that much later.
func splitter() bufio.SplitFunc {
	returned := false // the line before ended with CR
	searched := 0     // this much of the line came before, and has no end
	return func(data []byte, atEOF bool) (int, []byte, error) {
		skip := 0
		if returned && len(data) > 0 {
			returned = false
			if data[0] == '\n' {
				skip, data = 1, data[1:]
			}
		}
		from := searched
		at := bytes.IndexAny(data[from:], "\r\n")
		searched = 0
		switch {
		case at >= 0:
			at += from
			returned = data[at] == '\r'
			return skip + at + 1, data[:at], nil
		case atEOF && len(data) > 0:
			return skip + len(data), data, nil
		}
		searched = len(data)
		return skip, nil, nil
	}
}

const doneMark = "[DONE]"

// errorName is the name of an event that is an error, whatever its data.
const errorName = "error"

// pings are the names of events that keep a connection alive.
var pings = []string{"ping", "keepalive", "heartbeat"}

// events is a stream that is read.
type events struct {
	take func([]byte) (bool, error)
	// name and data are those of the event that has begun.
	name string
	data []byte
	// bare are the lines of no event, from one with the beginning of an object on.
	bare []byte
	// count are the events so far.
	count int
	// strange is set by a line that is of no event.
	strange, last, marked bool
}

func (e *events) line(line []byte) error {
	name, more, _ := bytes.Cut(line, []byte(":"))
	begins := bytes.TrimSpace(more)
	isObject := bytes.HasPrefix(begins, []byte("{"))
	isData := bytes.HasPrefix(line, []byte("data:"))
	isError := string(name) == errorName && isObject // llama.cpp
	isName := bytes.HasPrefix(line, []byte("event:"))
	if !isData && !isError && !isField(line) {
		e.strange = true
		if len(e.bare) > 0 || bytes.HasPrefix(line, []byte("{")) {
			e.bare = append(append(e.bare, line...), '\n')
		}
	}
	// Some servers omit the empty line between events.
	follows := bytes.HasSuffix(e.data, []byte("}")) && (isName || isError || isData &&
		(isObject || bytes.HasPrefix(begins, []byte(doneMark))))
	if len(line) == 0 || follows {
		if err := e.end(); err != nil {
			return err
		}
	}
	switch {
	case isName:
		e.name = string(begins)
	case isError:
		e.name, e.data = errorName, bytes.Clone(begins)
	case isData:
		e.data = append(e.data, bytes.TrimRight(more, " \t")...)
	}
	return nil
}

// end ends an event.
func (e *events) end() (err error) {
	data, name := bytes.TrimSpace(e.data), e.name
	e.data, e.name = nil, ""
	switch {
	case len(data) == 0 || e.last || data[0] == ':': // Vertex AI puts comments into data
	case slices.Contains(pings, name):
	case name == errorName:
		return &ReportedError{Body: data, Say: "an error within the stream"}
	case bytes.HasPrefix(data, []byte(doneMark)):
		e.last, e.marked = true, true
	default:
		err = e.give(data)
	}
	return err
}

// endBare takes the object that stands in no event.
func (e *events) endBare() (err error) {
	switch {
	case len(e.bare) == 0 || e.last:
	case cut(e.bare):
		return ErrEnded
	case json.Valid(e.bare):
		err = e.give(bytes.TrimSpace(e.bare))
	}
	return err
}

// give gives the data of an event away.
func (e *events) give(data []byte) (err error) {
	if e.count++; e.count > MaxEvents {
		return ErrTooMany
	}
	e.last, err = e.take(data)
	return err
}

// fields are those of an event.
var fields = []string{"data", "event", "id", "retry"}

// isField reports whether a line is empty, a comment, a field of an event, or the beginning of one.
func isField(line []byte) bool {
	name, _, found := strings.Cut(string(line), ":")
	return name == "" || found && slices.Contains(fields, name) ||
		!found && slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, name) })
}
