package result

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/httphint"
)

// scrub removes secrets from JSON: members with the name of a secret at any depth, and secret headers. name
// is the member whose value is v. It returns nil if nothing may be kept.
func scrub(name string, v json.RawMessage) json.RawMessage {
	if clean, ok := scrubbed(name, parsed(v)); ok {
		return rendered(clean)
	}
	return nil
}

// scrubbed is scrub for parsed JSON. ok is false if nothing may be kept.
func scrubbed(name string, value any) (clean any, ok bool) {
	folded := httphint.Squash(name)
	switch {
	case slices.Contains(secretMembers, folded):
		return nil, false
	case slices.Contains(headerMembers, folded):
		return openHeaders(value)
	}
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i], _ = scrubbed("", v[i])
		}
	case map[string]any:
		for _, member := range canon.Keys(v) {
			if v[member], ok = scrubbed(member, v[member]); !ok {
				delete(v, member)
			}
		}
	}
	return value, true
}

// openHeaders removes secret headers. Headers are an object, a list of pairs, or a flat list of names and
// values; any other value is not kept.
func openHeaders(value any) (open any, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range canon.Keys(v) {
			if _, deep := v[name].(map[string]any); deep || secretHeader(strings.ToLower(name)) {
				delete(v, name)
			}
		}
		return v, true
	case []any:
		return openPairs(v), true
	}
	return nil, value == nil
}

func openPairs(list []any) []any {
	kept := []any{}
	for i := 0; i < len(list); i++ {
		switch item := list[i].(type) {
		case []any:
			if len(item) == 2 && openName(item[0]) {
				kept = append(kept, item)
			}
		case string:
			if i+1 < len(list) && openName(item) {
				kept = append(kept, item, list[i+1])
			}
			i++
		}
	}
	return kept
}

// openName reports whether a value is the name of a header that is not secret.
func openName(value any) bool {
	name, ok := value.(string)
	return ok && !secretHeader(strings.ToLower(name))
}
