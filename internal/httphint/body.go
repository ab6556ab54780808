package httphint

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// MaxBody is the longest body that is read as JSON, in bytes. MaxText is how much of any other body is read,
// as words.
const (
	MaxBody = 1 << 20
	MaxText = 4 << 10
)

// Node is one value of a JSON body, or nothing at all: every question may be asked of every node. The zero
// value is nothing.
type Node struct{ v any }

// ParseJSON reads the first JSON value of a body. What follows it is left alone: bodies come as lines, too.
func ParseJSON(body []byte) (Node, bool) {
	if len(body) > MaxBody {
		return Node{}, false
	}
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff"))
	if len(body) == 0 || !bytes.ContainsRune([]byte(`{["`), rune(body[0])) {
		return Node{}, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var n Node
	if d.Decode(&n.v) != nil {
		return Node{}, false
	}
	return n, true
}

// Events reads a body of server-sent events or JSON lines: the values of all lines that hold an object.
func Events(body []byte) []Node {
	if len(body) > MaxBody {
		return nil
	}
	var out []Node
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:")))
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		if n, ok := ParseJSON(line); ok {
			out = append(out, n)
		}
	}
	return out
}

// At goes down by member names.
func (n Node) At(names ...string) Node {
	for _, name := range names {
		object, _ := n.v.(map[string]any)
		n = Node{object[name]}
	}
	return n
}

// Is reports whether there is anything but null.
func (n Node) Is() bool { return n.v != nil }

// IsObject reports whether the node is an object.
func (n Node) IsObject() bool { _, ok := n.v.(map[string]any); return ok }

// Names returns an object's member names, sorted.
func (n Node) Names() []string {
	object, _ := n.v.(map[string]any)
	return slices.Sorted(maps.Keys(object))
}

// Items returns an array's values.
func (n Node) Items() []Node {
	array, _ := n.v.([]any)
	out := make([]Node, len(array))
	for i, v := range array {
		out[i] = Node{v}
	}
	return out
}

// Text returns a string, or a number as it was written; empty for all else.
func (n Node) Text() string {
	switch v := n.v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// Str returns a string; empty for all else.
func (n Node) Str() string {
	s, _ := n.v.(string)
	return s
}

// Strings returns a string or the strings of an array, numbers as written.
func (n Node) Strings() []string {
	if s := n.Text(); s != "" {
		return []string{s}
	}
	var out []string
	for _, item := range n.Items() {
		out = append(out, item.Text())
	}
	return out
}

// ErrorObject finds the part of a body that tells of an error, wherever its provider puts it: the member
// "error", the same within the first value of an array, within "response" of a stream's event, or the body
// itself.
func ErrorObject(n Node) Node {
	if items := n.Items(); len(items) > 0 {
		n = items[0]
	}
	for _, path := range [...][]string{{"error"}, {"response", "error"}, {"errors"}, {"err"}} {
		if e := n.At(path...); e.Is() {
			if items := e.Items(); len(items) > 0 {
				e = items[0]
			}
			return e
		}
	}
	return n
}

// Details returns the values of error.details: google.rpc messages.
func Details(n Node) []Node { return ErrorObject(n).At("details").Items() }

// googleType is the last part of a google.rpc message's type.
func googleType(n Node) string {
	name := n.At("@type").Str()
	return name[strings.LastIndexAny(name, "./")+1:]
}

// Detail returns the first google.rpc message of a type ("RetryInfo").
func Detail(n Node, name string) Node {
	for _, d := range Details(n) {
		if googleType(d) == name {
			return d
		}
	}
	return Node{}
}

// BodyWait returns the wait that a body asks for outright: google.rpc.RetryInfo, a member that names one,
// else its sentence; of a gateway's body also that of the body it passes on (OpenRouter: error.metadata.raw).
func BodyWait(n Node) (time.Duration, bool) {
	if d, ok := ownWait(n); ok {
		return d, true
	}
	passedOn, _ := ParseJSON([]byte(ErrorObject(n).At("metadata", "raw").Str()))
	return ownWait(passedOn)
}

func ownWait(n Node) (time.Duration, bool) {
	if d, err := Span(Detail(n, "RetryInfo").At("retryDelay").Str()); err == nil {
		return d, true
	}
	for _, from := range [...]Node{ErrorObject(n), n} {
		if d, ok := memberWait(from); ok {
			return d, true
		}
	}
	return TextWait(MessageOf(n))
}

// waitMembers are the members that name a wait, the finer unit first.
var waitMembers = [...]struct {
	path []string
	read func(string) (time.Duration, error)
}{
	{[]string{"retry_after_ms"}, Millis}, {[]string{"retryAfterMs"}, Millis},
	{[]string{"retry_after"}, seconds}, {[]string{"metadata", "retry_after"}, seconds},
	{[]string{"retry_after_seconds"}, seconds},
	{[]string{"retryAfter"}, seconds}, {[]string{"metadata", "retryAfter"}, seconds},
}

// seconds reads a number of seconds, or a duration with units.
func seconds(s string) (time.Duration, error) { return Delay(s, time.Time{}) }

// passedOn are the places of headers in a body: what a gateway passes on of its provider's response
// (OpenRouter), and the response within an error that a client made a JSON object of.
var passedOn = [...][]string{{"metadata", "headers"}, {"response", "headers"}, {"headers"}}

// PassedOn returns the headers that a body holds; nil where it holds none.
func PassedOn(body Node) map[string][]string {
	for _, from := range [...]Node{ErrorObject(body), body} {
		for _, path := range passedOn {
			passed := from.At(path...)
			headers := map[string][]string{}
			for _, name := range passed.Names() {
				headers[name] = passed.At(name).Strings()
			}
			if len(headers) > 0 {
				return headers
			}
		}
	}
	return nil
}

func memberWait(n Node) (time.Duration, bool) {
	for _, m := range waitMembers {
		if d, err := m.read(n.At(m.path...).Text()); err == nil {
			return d, true
		}
	}
	return 0, false
}

// MessageOf returns the sentence of an error body; never anything the model wrote.
func MessageOf(n Node) string {
	e := ErrorObject(n)
	for _, text := range [...]string{e.Str(), e.At("message").Str(), n.At("message").Str(),
		e.At("Message").Str(), n.At("detail").Str(), e.At("msg").Str()} {
		if text != "" {
			return text
		}
	}
	return n.At("detail").At("message").Str()
}
