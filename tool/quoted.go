package tool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
)

// unquotes reports whether objects and arrays are to be taken out of strings.
func (s Settings) unquotes(mode policy.Repairs) bool {
	return allowed(mode) && !slices.Contains(s.Off, extract.Form(extract.QuotedObject))
}

// unquote takes objects and arrays out of the strings that hold them as JSON, where the schema refuses a
// string and takes what it holds. It is false where there are none.
func unquote(
	doc []byte, issues []fault.Issue, check func([]byte) []fault.Issue,
) (mended []byte, left []fault.Issue, ok bool) {
	mended = doc
	var places []string
	for _, i := range issues {
		if !refusesString(i) {
			continue
		}
		if next, changed := replaceAt(mended, steps(i.Pointer), unquoted); changed {
			mended, places = next, append(places, i.Pointer)
		}
	}
	if places == nil {
		return doc, issues, false
	}
	left = check(mended)
	refused := func(at string) bool {
		return slices.ContainsFunc(left, func(i fault.Issue) bool { return i.Pointer == at && isOfKind(i) })
	}
	if kept := slices.DeleteFunc(slices.Clone(places), refused); len(kept) < len(places) {
		mended = doc
		for _, at := range kept {
			mended, _ = replaceAt(mended, steps(at), unquoted)
		}
		return mended, check(mended), len(kept) > 0
	}
	return mended, left, true
}

// isOfKind reports whether an issue may be about the kind of a value.
func isOfKind(i fault.Issue) bool { return i.Rule == "type" || i.Rule == "anyOf" || i.Rule == "oneOf" }

func refusesString(i fault.Issue) bool { return i.Got == fault.String && isOfKind(i) }

// unquoted is the object or array that a JSON string holds; false where it holds none.
func unquoted(raw []byte) ([]byte, bool) {
	var text string
	if canon.Unmarshal(raw, &text) != nil {
		return nil, false
	}
	if text = strings.TrimSpace(text); text == "" || text[0] != '{' && text[0] != '[' {
		return nil, false
	}
	value, err := canon.Text(text)
	return value, err == nil
}

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// steps are the steps of a JSON Pointer.
func steps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	all := strings.Split(pointer[1:], "/")
	for n, step := range all {
		all[n] = pointerUnescaper.Replace(step)
	}
	return all
}

// replaceAt replaces the value at a place of a document; false where there is none, or it is to stay.
func replaceAt(doc []byte, path []string, by func([]byte) ([]byte, bool)) ([]byte, bool) {
	if len(path) == 0 {
		return by(doc)
	}
	var object members
	var list []json.RawMessage
	switch n, err := strconv.Atoi(path[0]); {
	case canon.Unmarshal(doc, &object) == nil && object.has(path[0]):
		value, changed := replaceAt(object[path[0]], path[1:], by)
		if changed {
			object[path[0]] = value
			return object.json(), true
		}
	case err == nil && canon.Unmarshal(doc, &list) == nil && n >= 0 && n < len(list):
		value, changed := replaceAt(list[n], path[1:], by)
		if changed {
			list[n] = value
			text, err := json.Marshal(list)
			return text, err == nil
		}
	}
	return doc, false
}
