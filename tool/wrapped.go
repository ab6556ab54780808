package tool

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/extract"
)

// wrappers are the names that models give to the arguments as a whole.
var wrappers = []string{"arguments", "parameters", "params", "args", "kwargs", "input"}

// members is a JSON object.
type members map[string]json.RawMessage

// unwrap takes the arguments out of a single member that holds them all, as in f(params={"a": 1}). The schema
// must have no member of that name, and must have all members within it.
func (in *reader) unwrap(c *Call, t *Tool, found *extract.Call) {
	lenient := in.settings.of(t.name).Text
	if !allowed(lenient) || slices.Contains(in.settings.Off, extract.WrappedArguments) {
		return
	}
	inner := unwrapped(t, c.Arguments)
	if inner == nil {
		return
	}
	own := extract.Repair{Kind: extract.WrappedArguments, Offset: found.Offset}
	c.Repairs = kept(lenient, insert(slices.Clone(found.Repairs), own))
	in.check(c, t, inner)
}

// unwrapped is the value of the single member of args if it holds all arguments, else nil.
func unwrapped(t *Tool, args []byte) []byte {
	var single []byte
	for name, value := range membersOf(args) {
		if single != nil || !slices.Contains(wrappers, name) || t.schema.HasMember(name) {
			return nil
		}
		single = value
	}
	empty := true
	for name := range membersOf(single) {
		if empty = false; !t.schema.HasMember(name) {
			return nil
		}
	}
	if empty {
		return nil
	}
	return single
}

// membersOf yields the members of an object in canonical JSON; none of another value.
func membersOf(doc []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		d := jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true))
		if d.PeekKind() != '{' {
			return
		}
		_, _ = d.ReadToken()
		for d.PeekKind() == '"' {
			token, _ := d.ReadToken()
			name := token.String()
			value, _ := d.ReadValue() // cannot fail: the text is JSON
			to := int(d.InputOffset())
			if !yield(name, doc[to-len(value):to]) {
				return
			}
		}
	}
}

// json is the object as JSON, its members in order.
func (m members) json() []byte {
	text, _ := json.Marshal(m) // cannot fail: all values are JSON
	return text
}
