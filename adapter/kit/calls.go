package kit

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
)

// RawArguments is the single member of the object that replaces arguments which are not a strict JSON
// object. Its value is the text that the model wrote.
const RawArguments = "raw_arguments"

// Arguments returns the arguments of a call as an object: unchanged if they are one in strict JSON, {} if
// there are none, else an object with the member [RawArguments].
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

// ArgumentText returns the arguments of a call as text: some servers send the text of the object, some the
// object.
func ArgumentText(raw json.RawMessage) string {
	if s, isText := ReadText(raw); isText {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// Once returns the arguments of a call from their pieces. Some servers stream an empty object before them, or
// send them again whole after their pieces.
func Once(written string) string {
	if !strings.Contains(written, "}{") {
		return written
	}
	var all []string
	for d := json.NewDecoder(strings.NewReader(written)); ; {
		var value json.RawMessage
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return written
		}
		all = append(all, string(value))
	}
	last := all[len(all)-1]
	if slices.ContainsFunc(all, func(v string) bool { return v != "{}" && v != last }) {
		return written
	}
	return last
}

// IsStrict reports whether raw is one strict JSON value: unique names, nothing after it, valid UTF-8,
// within bounds.
func IsStrict(raw []byte) bool { return schema.Strict(raw, schema.DefaultLimits()) == nil }

// NameCalls gives an id to the calls of a reply without one, or with that of another call: "call-1",
// "call-2", … by place, or the next free one. It changes and returns the list.
func NameCalls(calls []message.Call) []message.Call {
	taken := map[string]bool{}
	for _, c := range calls {
		taken[c.ID] = true
	}
	seen := map[string]bool{"": true}
	place := 0 // no id up to it is free
	for n := range calls {
		id := calls[n].ID
		for place = max(place, n); seen[id]; {
			place++
			if next := derived(place); !taken[next] {
				id = next
			}
		}
		calls[n].ID, seen[id], taken[id] = id, true, true
	}
	return calls
}

func derived(n int) string { return "call-" + strconv.Itoa(n) }
