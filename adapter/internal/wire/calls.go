package wire

import (
	"encoding/json"
	"strconv"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
)

// RawArguments is the one member of the object that stands for a call's arguments where what the model wrote
// is no strict JSON object. Its value is the text as it was written.
const RawArguments = "raw_arguments"

// Arguments are a call's arguments as an object: as the model wrote them where they are one, in strict JSON;
// {} where it wrote nothing; else an object of [RawArguments] alone.
func Arguments(written string) json.RawMessage {
	if Blank(written) {
		return json.RawMessage("{}")
	}
	if raw := json.RawMessage(written); IsStrict(raw) {
		if _, isObject := ReadObject(raw); isObject {
			return raw
		}
	}
	return Object{{RawArguments, Quote(written)}}.JSON()
}

// IsStrict reports whether raw is one JSON value in strict form: names given once, nothing after it, valid
// UTF-8, within bounds.
func IsStrict(raw []byte) bool { return schema.Strict(raw, schema.DefaultLimits()) == nil }

// NameCalls gives an id to calls of a reply that have none or another's: "call-1", "call-2", … by their
// place, or the next that is free. It changes and returns the list.
func NameCalls(calls []message.Call) []message.Call {
	taken := map[string]bool{}
	for _, c := range calls {
		taken[c.ID] = true
	}
	seen := map[string]bool{"": true}
	for n := range calls {
		id := calls[n].ID
		for place := n + 1; seen[id]; place++ {
			if next := derived(place); !taken[next] {
				id = next
			}
		}
		calls[n].ID, seen[id], taken[id] = id, true, true
	}
	return calls
}

func derived(n int) string { return "call-" + strconv.Itoa(n) }
