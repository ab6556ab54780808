// Package masked leaves values out of JSON by their places, and puts others in their place.
package masked

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

// Mark stands for a value that is left out.
const Mark = "[secret]"

// JSON returns a document with [Mark] in the place of each value at places: JSON Pointers, in which "*" is
// any member or item, and a name is that of a member in any case. What else is in the document stays in its
// order, without white space. A document that is no valid JSON is left out as a whole, because the values may
// be anywhere in it.
func JSON(document []byte, places []string) []byte {
	if len(places) == 0 {
		return document
	}
	paths := make([][]string, len(places))
	for n, place := range places {
		paths[n] = canon.Path(place)
	}
	mark := []byte(strconv.Quote(Mark))
	leavesOut := Rewriter{Value: func(at []string, _ jsontext.Value, _ string) ([]byte, error) {
		if slices.ContainsFunc(paths, func(path []string) bool { return slices.EqualFunc(path, at, fits) }) {
			return mark, nil
		}
		return nil, nil
	}}
	if jsontext.Value(document).IsValid() {
		if out, err := leavesOut.Rewrite(bytes.TrimSpace(document)); err == nil {
			return out
		}
	}
	return mark
}

// fits reports whether a part of a place is that of a value.
func fits(place, part string) bool { return place == "*" || strings.EqualFold(place, part) }
