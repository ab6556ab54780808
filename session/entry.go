package session

import (
	"encoding/json"
	"sync/atomic"

	"github.com/retake-go/retake/internal/flat"
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
	// raw is canonical JSON. It is nil where the memo has a value of a flat type that can be written whenever somebody asks.
	raw  json.RawMessage
	memo atomic.Pointer[memo]
}

// memo remembers what was found out about a cell. Nobody writes to it, and but for the value of a cell without raw JSON, losing it costs
// time and nothing else.
type memo struct {
	// value points to the decoded value where its copies share nothing with it; else it is nil. Nobody writes to it.
	value any
	// sound is the form that this value and all before it are known to fit.
	sound *form
	// text is how the value was written, where the cell does not say; nil for not yet.
	text *json.RawMessage
}

func newEntry(canonical []byte) Entry { return Entry{cell: &cell{raw: canonical}} }

func newEntries(canonical []json.RawMessage) []Entry {
	all := make([]Entry, len(canonical))
	for i, raw := range canonical {
		all[i] = newEntry(raw)
	}
	return all
}

// knownEntry is an entry that remembers its value, all in one piece of memory. canonical may be nil where the value is written surely.
func knownEntry[T any](canonical []byte, v *T, sound *form) Entry {
	e := &struct {
		cell
		memo  memo
		value T
	}{cell: cell{raw: canonical}, memo: memo{sound: sound}, value: *v}
	e.memo.value = &e.value
	e.cell.memo.Store(&e.memo)
	return Entry{cell: &e.cell}
}

// JSON is the value as canonical JSON. It is not copied: read it, never write to it.
func (e Entry) JSON() json.RawMessage {
	if e.cell == nil {
		return json.RawMessage("null")
	}
	if e.cell.raw != nil {
		return e.cell.raw
	}
	return e.cell.written()
}

// written is the value as it is written when somebody asks for the first time.
func (c *cell) written() json.RawMessage {
	m := c.memo.Load()
	if m == nil {
		return nil
	}
	if m.text == nil {
		more := *m
		more.text = new(json.RawMessage(flat.Written(m.value)))
		c.memo.CompareAndSwap(m, &more)
		m = &more
	}
	return *m.text
}

// Decode reads the value into a fresh T. The error says what does not fit, in words that are the same in every run.
func Decode[T any](e Entry) (T, error) {
	return flat.Unmarshal[T](flat.Of[T](), e.JSON())
}

// decode is Decode with a memory: a value whose copies share nothing is decoded once.
func decode[T any](e Entry) (T, error) {
	if e.cell == nil {
		return Decode[T](e)
	}
	if m := e.cell.memo.Load(); m != nil {
		if v, ok := m.value.(*T); ok {
			return *v, nil
		}
	}
	of := formOf[T]()
	v, err := flat.Unmarshal[T](of.written, e.JSON())
	if err == nil && of.apart {
		e.cell.memo.CompareAndSwap(nil, &memo{value: new(v)})
	}
	return v, err
}

// verify decodes what was added since it was last asked, and remembers at the newest value that all is sound.
func (s Slice[T]) verify(held entries) (int, error) {
	last, ok := held.Last()
	if !ok || last.soundFor(s.form) {
		return 0, nil
	}
	for i := held.Len() - 1; i >= 0 && !held.At(i).soundFor(s.form); i-- {
		if _, err := decode[T](held.At(i)); err != nil {
			return i, err
		}
	}
	found := memo{sound: s.form}
	if m := last.cell.memo.Load(); m != nil {
		found.value, found.text = m.value, m.text
	}
	last.cell.memo.Store(&found)
	return 0, nil
}

// soundFor reports whether this value and all before it are known to be of a form.
func (e Entry) soundFor(of *form) bool {
	m := e.cell.memo.Load()
	return m != nil && m.sound == of
}

// typed is a slot as a reducer.Source.
type typed[T any] slot

func (t *typed[T]) Len() int { return t.held.Len() }

// At panics where the value does not fit T: whoever lets foreign values into a session verifies them first.
func (t *typed[T]) At(i int) T {
	v, err := decode[T](t.held.At(i))
	if err != nil {
		panic(&ValueError{Slice: t.name, Index: i, Cause: err})
	}
	return v
}
