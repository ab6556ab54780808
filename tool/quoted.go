package tool

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
)

// unquotes reports whether quoted objects and arrays may be unquoted.
func (s Settings) unquotes(mode policy.Repairs) bool {
	return allowed(mode) && !slices.Contains(s.Off, extract.QuotedObject)
}

// unquote replaces strings that hold an object or array as JSON by that value, if the schema refuses the
// string and accepts the value. It returns false if there are none.
func unquote(
	doc []byte, issues []fault.Issue, check func([]byte) schema.Reading,
) (read schema.Reading, ok bool) {
	mended, places := takeOut(doc, stringsRefused(issues))
	if len(places) == 0 {
		return read, false
	}
	read = check(mended)
	count := len(places)
	for _, i := range read.Issues {
		if isOfKind(i) {
			delete(places, i.Pointer) // it stays a string
		}
	}
	if len(places) < count {
		mended, places = takeOut(doc, places)
		read = check(mended)
	}
	return read, len(places) > 0
}

// stringsRefused returns the places where a string is refused for its kind.
func stringsRefused(issues []fault.Issue) map[string]bool {
	places := map[string]bool{}
	for _, i := range issues {
		if i.Got == fault.String && isOfKind(i) {
			places[i.Pointer] = true
		}
	}
	return places
}

// isOfKind reports whether an issue may be about the kind of a value.
func isOfKind(i fault.Issue) bool { return i.Rule == "type" || i.Rule == "anyOf" || i.Rule == "oneOf" }

// takeOut replaces the strings at some places of a canonical document by the objects or arrays they hold, and
// returns those places.
func takeOut(doc []byte, places map[string]bool) (mended []byte, done map[string]bool) {
	if len(places) == 0 {
		return doc, nil
	}
	done = map[string]bool{}
	copied := 0 // doc[:copied] is in mended
	in := jsontext.NewDecoder(bytes.NewBuffer(doc))
	for {
		around, n := in.StackIndex(in.StackDepth())
		isText := in.PeekKind() == '"' && !(around == '{' && n%2 == 0)
		var quoted jsontext.Value
		var err error
		if isText {
			quoted, err = in.ReadValue()
		} else {
			_, err = in.ReadToken()
		}
		if err != nil {
			return append(mended, doc[copied:]...), done // what cannot be read stays as it is
		}
		if !bytes.ContainsAny(quoted, "{[") || !places[string(in.StackPointer())] {
			continue
		}
		text, _ := jsontext.AppendUnquote(nil, quoted)
		if value := held(text); value != nil {
			end := int(in.InputOffset())
			mended = append(append(mended, doc[copied:end-len(quoted)]...), value...)
			copied, done[string(in.StackPointer())] = end, true
		}
	}
}

// held returns the object or array that a text holds as JSON; nil for none.
func held(text []byte) []byte {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil
	}
	value, err := canon.JSON(text)
	if err != nil {
		return nil
	}
	return value
}
