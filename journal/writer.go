package journal

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// writer writes canonical JSON, member by member: who uses it gives the members in order of name. What writes a member appends it to b and
// returns that, as what is in strconv does. A key is all that stands before what varies: the name, the colon, and the bracket or the
// quotation mark that opens the value. Each value ends with a comma, which the bracket after the last one overwrites. It is quick and knows only
// what is common: odd is set where the library has to write the record. The zero value is ready for use.
type writer struct {
	// b is what is written of records.
	b   []byte
	odd bool
	// digests, where it is not nil, makes a digest of each piece of a message, which stands in its place.
	digests *digester
	days    days
	// text is the last string that was written with escapes, issues the last list of them: what a model calls a tool with stands in a step
	// three times, and so does what is wrong with it, and is written once. textAt, issuesAt and rawAt are where they and the JSON value last
	// written stand in b.
	text                    string
	issues                  []fault.Issue
	textAt, issuesAt, rawAt span
}

// span is a part of what is written.
type span struct{ from, to int }

// again writes it once more.
func (s span) again(b []byte) []byte { return append(append(b, b[s.from:s.to]...), ',') }

// reset empties the writer. What a very long record needed is let go.
func (w *writer) reset() {
	if w.b = w.b[:0]; cap(w.b) > keptRoom {
		w.b = nil
	}
	w.forget()
}

// forget has everything quoted anew.
func (w *writer) forget() { w.text, w.issues, w.rawAt = "", nil, span{} }

// optional writes a member that is left out where it is nil.
func optional[T any](w *writer, b []byte, key string, v *T, write func(*writer, []byte, *T) []byte) []byte {
	if v == nil {
		return b
	}
	return write(w, append(b, key...), v)
}

// list writes a list, which is left out where it is empty.
func list[T any](w *writer, b []byte, key string, all []T, write func(*writer, []byte, *T) []byte) []byte {
	if len(all) == 0 {
		return b
	}
	return entries(w, append(b, key...), all, write)
}

// entries writes the entries of a list, and ends it.
func entries[T any](w *writer, b []byte, all []T, write func(*writer, []byte, *T) []byte) []byte {
	for n := range all {
		b = write(w, b, &all[n])
	}
	return closed(b, ']')
}

// closed writes the bracket that closes a list or an object.
func closed(b []byte, bracket byte) []byte {
	if last := len(b) - 1; b[last] == ',' {
		b[last] = bracket
		return append(b, ',')
	}
	return append(b, bracket, ',')
}

func (w *writer) str(b []byte, key, s string) []byte { return w.quoted(append(b, key...), s) }

// quoted writes what stands after the first quotation mark of a string.
func (w *writer) quoted(b []byte, s string) []byte {
	if canon.IsPlain(s) {
		return append(append(b, s...), '"', ',')
	}
	return w.escaped(b[:len(b)-1], s)
}

// escaped writes a string that does not stand for itself.
func (w *writer) escaped(b []byte, s string) []byte {
	if s == w.text {
		return w.textAt.again(b)
	}
	to, ok := canon.AppendString(b, s)
	w.odd = w.odd || !ok
	w.text, w.textAt = s, span{len(b), len(to)}
	return append(to, ',')
}

func (w *writer) num(b []byte, key string, n int64) []byte { return appendNum(append(b, key...), n) }

func appendNum(b []byte, n int64) []byte {
	if uint64(n) < 10 {
		return append(b, '0'+byte(n), ',')
	}
	return append(strconv.AppendInt(b, n, 10), ',')
}

func (w *writer) flag(b []byte, key string, f bool) []byte {
	return append(strconv.AppendBool(append(b, key...), f), ',')
}

func (w *writer) null(b []byte, key string) []byte { return append(append(b, key...), "null,"...) }

func (w *writer) time(b []byte, key string, at time.Time) []byte {
	b = append(b, key...)
	from := len(b)
	b = append(w.days.append(b, at), '"', ',')
	// A year of other than four digits has no hyphen after them, or begins with one.
	w.odd = w.odd || at.Location() != time.UTC || b[from+len("0000")] != '-' || b[from] == '-'
	return b
}

func (w *writer) raw(b []byte, key string, raw json.RawMessage) []byte {
	if raw == nil {
		return w.null(b, key)
	}
	b = append(b, key...)
	if last := w.rawAt; len(raw) > 0 && bytes.Equal(b[last.from:last.to], raw) {
		return last.again(b)
	}
	to, ok := canon.AppendJSON(b, raw)
	w.odd, w.rawAt = w.odd || !ok, span{len(b), len(to)}
	return append(to, ',')
}

// The members that are left out where they are empty.

func (w *writer) strIf(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return w.str(b, key, s)
}

func (w *writer) numIf(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	return w.num(b, key, n)
}

func (w *writer) flagIf(b []byte, key string, f bool) []byte {
	if !f {
		return b
	}
	return w.flag(b, key, f)
}

func (w *writer) rawIf(b []byte, key string, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return b
	}
	return w.raw(b, key, raw)
}

// piece writes a piece of a message, or its digest.
func (w *writer) piece(b []byte, key, text string) []byte {
	if w.digests != nil {
		return append(w.digests.appendPiece(append(b, key...), text), '"', ',')
	}
	return w.str(b, key, text)
}

func (w *writer) pieceIf(b []byte, key, text string) []byte {
	if text == "" {
		return b
	}
	return w.piece(b, key, text)
}
