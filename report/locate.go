package report

import (
	"strconv"
	"strings"
)

// span is a part of a text, in bytes. An empty one is a place between two bytes.
type span struct{ begin, end int }

// maxHits bounds the members of one name that are found.
const maxHits = 20

// locate finds the values that a JSON Pointer names below a value: more than one where a name stands twice.
// Where it stands twice, and where it is the name that is wrong, the span holds the name too. Where there is
// no such value, it gives the place where it could stand, and missing is set.
func locate(root *value, pointer string, named bool) (found []span, missing bool) {
	if pointer == "" {
		return []span{{root.begin, root.end}}, false
	}
	if pointer[0] != '/' {
		return nil, true
	}
	at := root
	tokens := strings.Split(pointer[1:], "/")
	for n, token := range tokens {
		hits := at.hits(unescape(token))
		switch {
		case len(hits) == 0:
			return []span{at.gap()}, true
		case n < len(tokens)-1:
			// The last of the same name is the one that most readers take.
			at = &hits[len(hits)-1].value
		case len(hits) > 1 || named:
			for _, m := range hits[:min(len(hits), maxHits)] {
				found = append(found, span{m.begin, m.value.end})
			}
			return found, false
		default:
			return []span{{hits[0].value.begin, hits[0].value.end}}, false
		}
	}
	return found, false
}

// hits are the members of that name, or the item of that number.
func (v *value) hits(token string) []member {
	if v.kind == '[' {
		n, err := strconv.Atoi(token)
		if err != nil || n < 0 || n >= len(v.members) || strconv.Itoa(n) != token {
			return nil
		}
		return v.members[n : n+1]
	}
	var hits []member
	for _, m := range v.members {
		if m.name == token && v.kind == '{' {
			hits = append(hits, m)
		}
	}
	return hits
}

// gap is where one more member would stand: after the last one, or after the opening bracket. Of what can
// hold none it is all.
func (v *value) gap() span {
	switch {
	case v.kind == 0:
		return span{v.begin, v.end}
	case len(v.members) == 0:
		return span{v.begin + 1, v.begin + 1}
	}
	end := v.members[len(v.members)-1].value.end
	return span{end, end}
}

// unescape reads one token of a JSON Pointer.
func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
