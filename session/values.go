package session

import (
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
)

// values are the contents of a slice: canonical JSON, oldest first.
type values = seq.Log[json.RawMessage]

// Decode decodes a value returned by [State.Values] into a new T. The text of its error is the same in every
// run.
func Decode[T any](raw json.RawMessage) (v T, err error) {
	err = canon.Unmarshal(raw, &v)
	return v, err
}

// verify returns the first value, from index from on, that does not fit T, and why. The error is nil if all
// fit.
func verify[T any](held values, from int) (int, error) {
	for i, raw := range held.From(from) {
		if _, err := Decode[T](raw); err != nil {
			return from + i, err
		}
	}
	return 0, nil
}

// known returns how many of the current values were there before, and so are verified.
func known(now, before values) int {
	n := before.Len()
	if n > 0 && n <= now.Len() && shared(now.At(n-1), before.At(n-1)) {
		return n
	}
	return 0
}

// shared reports whether two values are the same memory. If so, the values before them are too.
func shared(a, b json.RawMessage) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// typed is a slot as a reducer.Source.
type typed[T any] slot

func (t *typed[T]) Len() int { return t.held.Len() }

// At panics if the value does not fit T. Values from other programs must be verified first.
func (t *typed[T]) At(i int) T {
	v, err := Decode[T](t.held.At(i))
	if err != nil {
		panic(&ValueError{Slice: t.name, Index: i, Cause: err})
	}
	return v
}

// payload returns the payload in canonical form. For an invalid payload it returns its beginning as a JSON
// string, and an error.
func (e Event) payload() ([]byte, error) {
	if len(e.Payload) == 0 {
		return []byte("null"), nil
	}
	raw, err := canon.JSON(e.Payload)
	if err == nil {
		return raw, nil
	}
	quoted, failed := canon.Marshal(canon.UTF8(string(e.Payload[:min(len(e.Payload), maxQuoted)])))
	if failed != nil {
		quoted = []byte(`""`) // cannot happen: the text is UTF-8
	}
	return quoted, fmt.Errorf("the payload is unusable: %w", err)
}
