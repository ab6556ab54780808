package httphint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// MaxBody is the longest body that is parsed as JSON, and MaxText how much of any other body is read as text,
// in bytes.
const (
	MaxBody = 1 << 20
	MaxText = 4 << 10
)

// Node is a value of a JSON body, or nothing. All methods work on every node. The zero value is nothing.
type Node struct{ v any }

// ParseJSON parses the first JSON value of a body and ignores the rest, because some bodies have several
// lines.
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

// Events parses a body of server-sent events or JSON lines. It returns the values of all lines with an
// object.
func Events(body []byte) []Node {
	if len(body) > MaxBody {
		return nil
	}
	var out []Node
	for line := range bytes.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
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

// At returns the member at a path of names.
func (n Node) At(names ...string) Node {
	for _, name := range names {
		object, _ := n.v.(map[string]any)
		n = Node{object[name]}
	}
	return n
}

// Is reports whether the node is a value other than null.
func (n Node) Is() bool { return n.v != nil }

// IsFalse reports whether the node is the value false.
func (n Node) IsFalse() bool { no, ok := n.v.(bool); return ok && !no }

// IsObject reports whether the node is an object.
func (n Node) IsObject() bool { _, ok := n.v.(map[string]any); return ok }

// Names returns the member names of an object, sorted.
func (n Node) Names() []string {
	object, _ := n.v.(map[string]any)
	return slices.Sorted(maps.Keys(object))
}

// Items returns the values of an array.
func (n Node) Items() []Node {
	array, _ := n.v.([]any)
	out := make([]Node, len(array))
	for i, v := range array {
		out[i] = Node{v}
	}
	return out
}

// Text returns a string, or a number as written; otherwise "".
func (n Node) Text() string {
	switch v := n.v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// Str returns a string; otherwise "".
func (n Node) Str() string {
	s, _ := n.v.(string)
	return s
}

// Strings returns a string, or the strings of an array, with numbers as written.
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

// ErrorObject returns the part of a body that describes an error: the member "error", also in the first value
// of an array or in "response" of a stream's event, or else the body itself.
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

// googleType returns the last part of the type of a google.rpc message.
func googleType(n Node) string {
	name := n.At("@type").Str()
	return name[strings.LastIndexAny(name, "./")+1:]
}

// Detail returns the first google.rpc message with a type ("RetryInfo").
func Detail(n Node, name string) Node {
	for _, d := range Details(n) {
		if googleType(d) == name {
			return d
		}
	}
	return Node{}
}

// BodyWait returns the wait that a body asks for: google.rpc.RetryInfo, a member with a wait, or its
// sentence. For the body of a gateway it also reads the body that the gateway passes on (OpenRouter:
// error.metadata.raw).
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

// waitMembers are the members with a wait, finer units first.
var waitMembers = [...]struct {
	path []string
	read func(string) (time.Duration, error)
}{
	{[]string{"retry_after_ms"}, Millis}, {[]string{"retryAfterMs"}, Millis},
	{[]string{"retry_after"}, seconds}, {[]string{"metadata", "retry_after"}, seconds},
	{[]string{"retry_after_seconds"}, seconds},
	{[]string{"retryAfter"}, seconds}, {[]string{"metadata", "retryAfter"}, seconds},
}

// seconds parses a number of seconds, or a duration with units.
func seconds(s string) (time.Duration, error) { return Delay(s, time.Time{}) }

// passedOn are the members of a body with headers: those that a gateway (OpenRouter) passes on from its
// provider, and the response in an error that a client encoded as JSON.
var passedOn = [...][]string{{"metadata", "headers"}, {"response", "headers"}, {"headers"}}

// PassedOn returns the headers in a body, or nil.
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

// MessageOf returns the sentence of an error body. It never returns text of the model.
func MessageOf(n Node) string {
	e := ErrorObject(n)
	return cmp.Or(e.Str(), e.At("message").Str(), n.At("message").Str(), e.At("Message").Str(),
		e.At("msg").Str(), detailed(e.At("message")), e.At("message", "error").Str(), detailed(n))
}

// detailed returns the sentence in the details of an error: a text, or an object or a list of them.
func detailed(n Node) string {
	d := n.At("detail")
	if items := d.Items(); len(items) > 0 {
		d = items[0]
	}
	return cmp.Or(d.Str(), d.At("message").Str(), d.At("msg").Str())
}
