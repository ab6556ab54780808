package session

import (
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/seq"
)

// values is what a slice holds: canonical JSON, oldest first.
type values = seq.Log[json.RawMessage]

// Decode reads a value that [State.Values] returned into a fresh T. The error says what does not fit, in
// words that are the same in every run.
func Decode[T any](raw json.RawMessage) (v T, err error) {
	err = canon.Unmarshal(raw, &v)
	return v, err
}

// verify returns the first value from index from that does not fit T, and why; a nil error where all do.
func verify[T any](held values, from int) (int, error) {
	for i, raw := range held.Slice(from, held.Len()) {
		if _, err := Decode[T](raw); err != nil {
			return from + i, err
		}
	}
	return 0, nil
}

// known is how many of the values that a slice holds now stand in what it held before, which was verified.
func known(now, before values) int {
	n := before.Len()
	if n > 0 && n <= now.Len() && shared(now.At(n-1), before.At(n-1)) {
		return n
	}
	return 0
}

// shared reports whether two values lie at one place. A value lies where it was applied: then so do those
// before it.
func shared(a, b json.RawMessage) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// typed is a slot as a reducer.Source.
type typed[T any] slot

func (t *typed[T]) Len() int { return t.held.Len() }

// At panics where the value does not fit T: whoever lets foreign values into a session verifies them first.
func (t *typed[T]) At(i int) T {
	v, err := Decode[T](t.held.At(i))
	if err != nil {
		panic(&ValueError{Slice: t.name, Index: i, Cause: err})
	}
	return v
}

// payload is the event's payload in canonical form. Of one that is no JSON, its beginning comes back as a
// JSON string, beside the error that says so.
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
		quoted = []byte(`""`) // cannot happen: it is UTF-8
	}
	return quoted, fmt.Errorf("the payload is unusable: %w", err)
}
