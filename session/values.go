package session

import (
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/reducer"
)

// View returns the values of a slice in a state: View(s.State(), slice) are the current ones of a session.
// Nothing is copied; values are decoded when they are read. View panics if the state has no such slice. A
// state does not check Go types: reading a value that does not fit T panics. Only a handle of another type,
// or a state from another program, can lead to that.
func View[T any](s State, slice Slice[T]) reducer.View[T] {
	at, ok := s.find(slice.name)
	if !ok || s.slots[at].kind != slice.kind {
		panic(fmt.Sprintf("session: the state has no slice %q of this kind: declare it in Config.Slices", slice.name))
	}
	return reducer.NewView[T]((*typed[T])(&s.slots[at]))
}

// values are the contents of a slice: canonical JSON, oldest first.
type values = seq.Log[json.RawMessage]

// decode decodes a value returned by [State.Values] into a new T. The text of its error is the same in every
// run.
func decode[T any](raw json.RawMessage) (v T, err error) {
	err = canon.Unmarshal(raw, &v)
	return v, err
}

// verify returns the first value, from index from on, that does not fit T, and why. The error is nil if all
// fit.
func verify[T any](held values, from int) (int, error) {
	for i, raw := range held.From(from) {
		if _, err := decode[T](raw); err != nil {
			return from + i, err
		}
	}
	return 0, nil
}

// known returns how many of the values were there before, and so are verified.
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
	v, err := decode[T](t.held.At(i))
	if err != nil {
		panic(badValue(t.name, i, err))
	}
	return v
}
