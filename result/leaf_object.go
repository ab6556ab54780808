package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/ratelimit"
)

// opaque is any JSON, or any object. With clean set, secrets are taken out of it.
type opaque struct {
	at         *json.RawMessage
	objectOnly bool
	clean      bool
}

func (l opaque) read(v json.RawMessage) *fault.Issue {
	if l.objectOnly && kindOf(v) != fault.Object {
		return wrong(v, "type", "object")
	}
	*l.at = v
	if l.clean {
		*l.at = scrub("", v)
	}
	return nil
}

func (l opaque) write() json.RawMessage {
	switch {
	case l.objectOnly && kindOf(*l.at) != fault.Object:
		return nil
	case l.clean && *l.at != nil:
		return scrub("", *l.at)
	}
	return *l.at
}

func (l opaque) schema() string {
	if l.objectOnly {
		return `{"type":"object"}`
	}
	return `{}`
}

// notes is a list of texts.
type notes struct{ at *[]string }

func (l notes) read(v json.RawMessage) *fault.Issue {
	var list []string
	if kindOf(v) != fault.Array || canon.Unmarshal(v, &list) != nil {
		return wrong(v, "type", "list of strings")
	}
	*l.at = list
	return nil
}

func (l notes) write() json.RawMessage {
	if *l.at == nil {
		return nil
	}
	items := make([]json.RawMessage, len(*l.at))
	for i, note := range *l.at {
		items[i] = quote(note)
	}
	return renderList(items)
}

func (l notes) schema() string { return `{"type":"array","items":{"type":"string"}}` }

// money is a cost: a number, or its parts. A plain one is written as a number whatever is known.
type money struct {
	at    *Cost
	plain bool
}

func (c *Cost) parts() []field {
	return []field{
		{ptr: "/input", leaf: amount{&c.Input}}, {ptr: "/output", leaf: amount{&c.Output}},
		{ptr: "/cache_read", leaf: amount{&c.CacheRead}}, {ptr: "/cache_write", leaf: amount{&c.CacheWrite}},
		{ptr: "/total", leaf: amount{&c.Total}},
	}
}

func (l money) read(v json.RawMessage) *fault.Issue {
	var c Cost
	n := &node{raw: v}
	if !n.open() {
		if bad := (amount{&c.Total}).read(v); bad != nil {
			return bad
		}
		*l.at = c
		return nil
	}
	for _, f := range c.parts() {
		part := n.get(f.ptr)
		if part == nil || kindOf(part) == fault.Null {
			continue
		}
		if bad := f.leaf.read(part); bad != nil {
			bad.Pointer = f.ptr
			return bad
		}
	}
	*l.at = c
	return nil
}

func (l money) write() json.RawMessage {
	if l.plain || !l.at.HasParts() {
		total := l.at.Amount()
		return amount{&total}.write()
	}
	n := &node{kids: map[string]*node{}}
	for _, f := range l.at.parts() {
		if v := f.leaf.write(); v != nil {
			n.put(f.ptr, v)
		}
	}
	return n.render(nil)
}

func (l money) schema() string {
	if l.plain {
		return amount{}.schema()
	}
	part := `":` + amount{}.schema()
	return `{"oneOf":[` + amount{}.schema() + `,{"type":"object","properties":{"input` + part + `,"output` + part +
		`,"cache_read` + part + `,"cache_write` + part + `,"total` + part + `}}]}`
}

// amount is dollars; 0 is absent.
type amount struct{ at *float64 }

func (l amount) read(v json.RawMessage) *fault.Issue {
	f, ok := float(v)
	if !ok || f < 0 {
		return wrong(v, "minimum", "amount in US dollars, 0 or more")
	}
	*l.at = f
	return nil
}

func (l amount) write() json.RawMessage {
	if *l.at == 0 {
		return nil
	}
	return number(*l.at)
}

func (l amount) schema() string { return `{"type":"number","minimum":0}` }

// rawHeaders are headers; their values may be texts, other scalars, or lists of them.
type rawHeaders struct{ at *Headers }

func (l rawHeaders) read(v json.RawMessage) *fault.Issue {
	if kindOf(v) != fault.Object {
		return wrong(v, "type", "object of headers")
	}
	members, h := membersOf(v), Headers{}
	if len(members) > maxHeaders {
		return wrong(v, "maxProperties", fmt.Sprintf("at most %d headers", maxHeaders))
	}
	for _, name := range sortedNames(members) {
		values, ok := headerValues(members[name])
		if !ok {
			bad := wrong(members[name], "type", "string or list of strings")
			bad.Pointer = "/" + pointerEscape.Replace(name)
			return bad
		}
		if values != nil {
			h.add(name, values)
		}
	}
	*l.at = h
	return nil
}

// headerValues reads one header. Null is no header.
func headerValues(v json.RawMessage) (values []string, ok bool) {
	switch kindOf(v) {
	case fault.String:
		var s string
		err := canon.Unmarshal(v, &s)
		return []string{s}, err == nil
	case fault.Number, fault.Boolean:
		return []string{string(v)}, true
	case fault.Null:
		return nil, true
	case fault.Array:
		values = []string{}
		for _, item := range itemsOf(v) {
			if kindOf(item) == fault.Array {
				return nil, false
			}
			more, ok := headerValues(item)
			if !ok {
				return nil, false
			}
			values = append(values, more...)
		}
		return values, true
	}
	return nil, false
}

func (l rawHeaders) write() json.RawMessage {
	if *l.at == nil {
		return nil
	}
	clean := Headers{}
	for _, name := range sortedNames(*l.at) {
		clean.add(name, []string{(*l.at)[name]})
	}
	n := &node{kids: map[string]*node{}}
	for _, name := range sortedNames(clean) {
		n.kids[name] = &node{raw: quote(clean[name])}
	}
	return n.render(nil)
}

func (l rawHeaders) schema() string {
	return `{"type":"object","additionalProperties":{"type":"string"}}`
}

// limited says whether a window is exhausted; absent where nothing is known of limits.
type limited struct{ of *ratelimit.State }

func (l limited) read(v json.RawMessage) *fault.Issue {
	var said Opt[bool]
	bad := flag{&said}.read(v)
	l.of.Limited = said.Value
	return bad
}

func (l limited) write() json.RawMessage {
	s := l.of
	known := s.Limited || s.RetryAfter.Known || s.Wait.Known || s.Windows != nil || len(s.Ignored) > 0
	return flag{&Opt[bool]{Value: s.Limited, Known: known}}.write()
}

func (l limited) schema() string { return `{"type":"boolean"}` }

// table is a list of flat records: windows, or what was ignored of the headers.
type table[R any] struct {
	at    *[]R
	shape string
	empty bool // an empty list is written
}

// cell says what would be right in a record, by the type that a value does not fit.
func cell(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[ratelimit.Count]():
		return "whole number, 0 or more"
	case reflect.TypeFor[ratelimit.Span]():
		return "number of seconds, 0 or more and at most 366 days"
	case reflect.TypeFor[ratelimit.Date]():
		return "seconds since the epoch"
	case reflect.TypeFor[string]():
		return "string"
	}
	return "object"
}

func (l table[R]) read(v json.RawMessage) *fault.Issue {
	rows := []R{}
	if kindOf(v) != fault.Array {
		return wrong(v, "type", "list of objects")
	}
	if len(itemsOf(v)) > maxRows {
		return wrong(v, "maxItems", fmt.Sprintf("at most %d objects", maxRows))
	}
	if err := canon.Unmarshal(v, &rows); err != nil {
		var at *canon.Error
		_ = errors.As(err, &at)
		bad := wrong(valueAt(v, at.Pointer), "type", cell(at.GoType))
		bad.Pointer = at.Pointer
		return bad
	}
	*l.at = rows
	return nil
}

// valueAt is the value at a pointer into a list of objects; nil where there is none.
func valueAt(v json.RawMessage, pointer string) json.RawMessage {
	if pointer == "" {
		return v
	}
	index, member, deeper := strings.Cut(pointer[1:], "/")
	n, err := strconv.Atoi(index)
	items := itemsOf(v)
	switch {
	case err != nil || n < 0 || n >= len(items):
		return nil
	case deeper:
		return (&node{raw: items[n]}).get("/" + member)
	}
	return items[n]
}

func (l table[R]) write() json.RawMessage {
	if *l.at == nil || len(*l.at) == 0 && !l.empty {
		return nil
	}
	b, err := canon.Marshal(*l.at)
	if err != nil {
		return quote("no JSON") // no reader takes it for a list
	}
	return b
}

func (l table[R]) schema() string { return `{"type":"array","items":` + l.shape + `}` }
