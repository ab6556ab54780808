package journal

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/retake-go/retake/internal/canon"
)

// writer writes canonical JSON, member by member: who uses it gives the members in order of name. It is quick and knows only what
// is common: odd is set where the library has to write the record.
type writer struct {
	b   []byte
	odd bool
}

// key begins a member.
func (w *writer) key(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), name...), `":`...)
}

func (w *writer) open()  { w.b = append(w.b, '{') }
func (w *writer) close() { w.b = append(w.b, '}') }

func (w *writer) text(s string) {
	to, ok := canon.AppendString(w.b, s)
	if ok {
		w.b = to
	}
	w.odd = w.odd || !ok
}

func (w *writer) str(name, s string) {
	w.key(name)
	w.text(s)
}

func (w *writer) num(name string, n int64) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) flag(name string, f bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, f)
}

func (w *writer) time(name string, at time.Time) {
	if y := at.Year(); at.Location() != time.UTC || y < 0 || y > 9999 {
		w.odd = true
	}
	w.key(name)
	w.b = append(at.AppendFormat(append(w.b, '"'), time.RFC3339Nano), '"')
}

func (w *writer) raw(name string, raw json.RawMessage) {
	if w.key(name); raw == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.value(raw)
}

func (w *writer) value(raw json.RawMessage) {
	to, ok := canon.AppendJSON(w.b, raw)
	w.b, w.odd = to, w.odd || !ok
}

// The members that are left out where they are empty.

func (w *writer) strIf(name, s string) {
	if s != "" {
		w.str(name, s)
	}
}

func (w *writer) numIf(name string, n int64) {
	if n != 0 {
		w.num(name, n)
	}
}

func (w *writer) flagIf(name string, f bool) {
	if f {
		w.flag(name, f)
	}
}

func (w *writer) rawIf(name string, raw json.RawMessage) {
	if len(raw) > 0 {
		w.raw(name, raw)
	}
}

// list writes a list that is left out where it is empty.
func list[T any](w *writer, name string, all []T, one func(*writer, *T)) {
	if len(all) > 0 {
		w.key(name)
		entries(w, all, one)
	}
}

func entries[T any](w *writer, all []T, one func(*writer, *T)) {
	w.b = append(w.b, '[')
	for n := range all {
		if n > 0 {
			w.b = append(w.b, ',')
		}
		one(w, &all[n])
	}
	w.b = append(w.b, ']')
}

// part writes what there is of a value.
func part[T any](w *writer, name string, v *T, one func(*writer, *T)) {
	if v != nil {
		w.key(name)
		one(w, v)
	}
}
