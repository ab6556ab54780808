package tool

import (
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/canon"
)

// wrappers are the names that models give to the arguments as a whole.
var wrappers = []string{"arguments", "parameters", "params", "args", "kwargs", "input"}

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
	c.Repairs = kept(lenient, insert(found.Repairs, own))
	in.check(c, t, string(inner))
}

// unwrapped returns the value of the single member of args if it holds all arguments, else nil.
func unwrapped(t *Tool, args []byte) []byte {
	var around, within members
	if canon.Unmarshal(args, &around) != nil || len(around) != 1 {
		return nil
	}
	name := canon.Keys(around)[0]
	if !slices.Contains(wrappers, name) || t.schema.HasMember(name) ||
		canon.Unmarshal(around[name], &within) != nil || len(within) == 0 {
		return nil
	}
	for name := range within {
		if !t.schema.HasMember(name) {
			return nil
		}
	}
	return around[name]
}

// json returns the object as JSON, its members in order.
func (m members) json() []byte {
	text, _ := json.Marshal(m) // cannot fail: all values are JSON
	return text
}
