package session

import (
	"encoding/json"
	"reflect"
	"sync/atomic"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/seq"
)

// entries is what a slice holds.
type entries = seq.Log[Entry]

// Entry is one value of a slice. It is cheap to copy and safe for concurrent use. The zero value holds null.
type Entry struct {
	cell *cell
}

// cell is shared by all states whose slices hold the value at this place, and never changes but for its memo. Since a slice's
// log is persistent, a cell also stands for all the values before it.
type cell struct {
	raw  json.RawMessage
	memo atomic.Pointer[memo]
}

// memo remembers what was found out about a cell; losing it costs time and nothing else.
type memo struct {
	// value points to the decoded value where its type is flat; else it is nil. Nobody writes to it.
	value any
	// sound is the type that this value and all before it are known to fit.
	sound reflect.Type
}

func newEntry(canonical []byte) Entry { return Entry{cell: &cell{raw: canonical}} }

// JSON is the value as canonical JSON. It is not copied: read it, never write to it.
func (e Entry) JSON() json.RawMessage {
	if e.cell == nil {
		return json.RawMessage("null")
	}
	return e.cell.raw
}

// Decode reads the value into a fresh T. The error says what does not fit, in words that are the same in every run.
func Decode[T any](e Entry) (T, error) {
	var v T
	err := canon.Unmarshal(e.JSON(), &v)
	return v, err
}

// decode is Decode with a memory: a flat value is decoded once.
func (s Slice[T]) decode(e Entry) (T, error) {
	if !s.flat || e.cell == nil {
		return Decode[T](e)
	}
	if m := e.cell.memo.Load(); m != nil {
		if v, ok := m.value.(*T); ok {
			return *v, nil
		}
	}
	v := new(T)
	err := canon.Unmarshal(e.JSON(), v)
	if err == nil {
		e.cell.memo.CompareAndSwap(nil, &memo{value: v})
	}
	return *v, err
}

// verify decodes what was added since it was last asked, and remembers at the newest value that all is sound.
func (s Slice[T]) verify(held entries) (int, error) {
	last, ok := held.Last()
	goType := reflect.TypeFor[T]()
	if !ok || last.soundFor(goType) {
		return 0, nil
	}
	v := new(T)
	if err := canon.Unmarshal(last.JSON(), v); err != nil {
		return held.Len() - 1, err
	}
	for i := held.Len() - 2; i >= 0 && !held.At(i).soundFor(goType); i-- {
		if _, err := s.decode(held.At(i)); err != nil {
			return i, err
		}
	}
	found := memo{sound: goType}
	if s.flat {
		found.value = v
	}
	last.cell.memo.Store(&found)
	return 0, nil
}

// soundFor reports whether this value and all before it are known to fit a type.
func (e Entry) soundFor(goType reflect.Type) bool {
	m := e.cell.memo.Load()
	return m != nil && m.sound == goType
}

// typed is a slice's values as a reducer.Source.
type typed[T any] struct {
	slice Slice[T]
	held  entries
}

func (t typed[T]) Len() int { return t.held.Len() }

// At panics where the value does not fit T: whoever lets foreign values into a session verifies them first.
func (t typed[T]) At(i int) T {
	v, err := t.slice.decode(t.held.At(i))
	if err != nil {
		panic(&ValueError{Slice: t.slice.name, Index: i, Cause: err})
	}
	return v
}
