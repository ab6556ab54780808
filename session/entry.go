package session

import (
	"encoding/json"
	"reflect"
	"sync/atomic"

	"github.com/retake-go/retake/internal/flat"
	"github.com/retake-go/retake/reducer"
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
	// value points to the decoded value where its copies share nothing with it; else it is nil. Nobody writes to it.
	value any
	// sound is the type that this value and all before it are known to fit.
	sound reflect.Type
}

func newEntry(canonical []byte) Entry { return Entry{cell: &cell{raw: canonical}} }

func newEntries(canonical []json.RawMessage) []Entry {
	all := make([]Entry, len(canonical))
	for i, raw := range canonical {
		all[i] = newEntry(raw)
	}
	return all
}

// entries are those of the values that a valid operation writes to a slice. Where their type is flat, they are known to read back as they are.
func (s Slice[T]) entries(held entries, op reducer.Op, values []T) []Entry {
	if s.written == nil || len(values) == 0 {
		return newEntries(op.Values)
	}
	all := make([]Entry, len(values))
	for i, raw := range op.Values {
		all[i] = knownEntry(raw, values[i])
	}
	goType := reflect.TypeFor[T]()
	if before, ok := held.Last(); !ok || !op.Kind.Keeps() || before.soundFor(goType) {
		all[len(all)-1].cell.memo.Load().sound = goType
	}
	return all
}

// knownEntry is an entry that remembers its value, all in one piece of memory.
func knownEntry[T any](canonical []byte, v T) Entry {
	e := &struct {
		cell
		memo  memo
		value T
	}{cell: cell{raw: canonical}, value: v}
	e.memo.value = &e.value
	e.cell.memo.Store(&e.memo)
	return Entry{cell: &e.cell}
}

// JSON is the value as canonical JSON. It is not copied: read it, never write to it.
func (e Entry) JSON() json.RawMessage {
	if e.cell == nil {
		return json.RawMessage("null")
	}
	return e.cell.raw
}

// Decode reads the value into a fresh T. The error says what does not fit, in words that are the same in every run.
func Decode[T any](e Entry) (T, error) {
	return flat.Unmarshal[T](flat.Of[T](), e.JSON())
}

// decode is Decode with a memory: a value whose copies share nothing is decoded once.
func (s Slice[T]) decode(e Entry) (T, error) {
	if !s.apart || e.cell == nil {
		return Decode[T](e)
	}
	if m := e.cell.memo.Load(); m != nil {
		if v, ok := m.value.(*T); ok {
			return *v, nil
		}
	}
	v, err := flat.Unmarshal[T](s.written, e.JSON())
	if err == nil {
		e.cell.memo.CompareAndSwap(nil, &memo{value: &v})
	}
	return v, err
}

// verify decodes what was added since it was last asked, and remembers at the newest value that all is sound.
func (s Slice[T]) verify(held entries) (int, error) {
	goType := reflect.TypeFor[T]()
	last, ok := held.Last()
	if !ok || last.soundFor(goType) {
		return 0, nil
	}
	for i := held.Len() - 1; i >= 0 && !held.At(i).soundFor(goType); i-- {
		if _, err := s.decode(held.At(i)); err != nil {
			return i, err
		}
	}
	found := memo{sound: goType}
	if m := last.cell.memo.Load(); m != nil {
		found.value = m.value
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
