package tool

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/policy"
)

// unquotes reports whether quoted objects and arrays may be unquoted.
func (s Settings) unquotes(mode policy.Repairs) bool {
	return allowed(mode) && !slices.Contains(s.Off, extract.QuotedObject)
}

// unquote replaces strings that hold an object or array as JSON by that value, if the schema refuses the
// string and accepts the value. It returns false if there are none.
func unquote(
	doc []byte, issues []fault.Issue, check func([]byte) []fault.Issue,
) (mended []byte, left []fault.Issue, ok bool) {
	mended, places := takeOut(doc, stringsRefused(issues))
	if len(places) == 0 {
		return doc, issues, false
	}
	left = check(mended)
	count := len(places)
	for _, i := range left {
		if isOfKind(i) {
			delete(places, i.Pointer) // it stays a string
		}
	}
	if len(places) < count {
		mended, places = takeOut(doc, places)
		left = check(mended)
	}
	return mended, left, len(places) > 0
}

// stringsRefused are the places where a string is refused for its kind.
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

// takeOut replaces the strings at some places by the objects or arrays they hold, and returns those places.
func takeOut(doc []byte, places map[string]bool) (mended []byte, done map[string]bool) {
	if len(places) == 0 {
		return doc, nil
	}
	t := taker{Decoder: jsontext.NewDecoder(bytes.NewBuffer(doc)), doc: doc, done: map[string]bool{}}
	_ = t.value(treeOf(places)) // what cannot be read stays as it is
	return append(t.mended, doc[t.copied:]...), t.done
}

// place is a place in a document that is looked for, or one around such places.
type place struct {
	pointer string // of a place that is looked for
	wanted  bool
	within  map[string]*place
}

// treeOf is the places by their steps, so that a reader needs no pointer of what it passes.
func treeOf(pointers map[string]bool) *place {
	root := &place{}
	for pointer := range pointers {
		at := root
		for step := range jsontext.Pointer(pointer).Tokens() {
			if at.within == nil {
				at.within = map[string]*place{}
			}
			if at.within[step] == nil {
				at.within[step] = &place{}
			}
			at = at.within[step]
		}
		at.pointer, at.wanted = pointer, true
	}
	return root
}

// taker reads a canonical document and copies it, with other values at some places.
type taker struct {
	*jsontext.Decoder
	doc, mended []byte
	copied      int // doc[:copied] is in mended
	done        map[string]bool
}

// value reads the next value; at is nil if no place in it is looked for.
func (t *taker) value(at *place) error {
	switch kind := t.PeekKind(); {
	case at == nil || kind != '"' && at.within == nil:
		return t.SkipValue()
	case kind == '"':
		return t.text(at)
	case kind == '{' || kind == '[':
		return t.within(at, kind)
	}
	return t.SkipValue()
}

// within reads an object or array.
func (t *taker) within(at *place, kind jsontext.Kind) error {
	_, err := t.ReadToken()
	var step []byte
	// In ASCII, the closing bracket comes two after the opening one.
	for n := 0; err == nil && t.PeekKind() != kind+2; n++ {
		step = strconv.AppendInt(step[:0], int64(n), 10)
		if kind == '{' {
			var quoted jsontext.Value
			if quoted, err = t.ReadValue(); err != nil {
				return err
			}
			step, _ = jsontext.AppendUnquote(step[:0], quoted)
		}
		err = t.value(at.within[string(step)])
	}
	if err == nil {
		_, err = t.ReadToken()
	}
	return err
}

// text reads a string.
func (t *taker) text(at *place) error {
	quoted, err := t.ReadValue()
	if err != nil || !at.wanted {
		return err
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	if value := held(text); value != nil {
		start := int(t.InputOffset()) - len(quoted)
		t.mended = append(append(t.mended, t.doc[t.copied:start]...), value...)
		t.copied, t.done[at.pointer] = int(t.InputOffset()), true
	}
	return nil
}

// held is the object or array that a text holds as JSON; nil for none.
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
