package journal

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/retake-go/retake/internal/canon"
)

// writer writes canonical JSON, member by member: who uses it gives the members in order of name. A key is a name as it is written, its
// quotation marks and the colon with it; an entry of a list has none. Each value ends with a comma, which the bracket after the last one
// overwrites. It is quick and knows only what is common: odd is set where the library has to write the record. The zero value is ready
// for use.
type writer struct {
	b   []byte
	odd bool
	// digests, where it is not nil, makes a digest of each piece of a message, which stands in its place.
	digests *digester
	// text is the last string that was written with escapes: what a model calls a tool with stands in a step three times, and is quoted
	// once. textAt and rawAt are where it and the JSON value last written stand in b.
	text          string
	textAt, rawAt span
}

// span is a part of what is written.
type span struct{ from, to int }

// reset empties the writer. What a very long record needed is let go.
func (w *writer) reset() {
	if w.b = w.b[:0]; cap(w.b) > keptRoom {
		w.b = nil
	}
	w.forget()
}

// forget has everything quoted anew.
func (w *writer) forget() { w.text, w.textAt, w.rawAt = "", span{}, span{} }

func (w *writer) open(key string)     { w.b = append(append(w.b, key...), '{') }
func (w *writer) openList(key string) { w.b = append(append(w.b, key...), '[') }
func (w *writer) close()              { w.end('}') }
func (w *writer) closeList()          { w.end(']') }

// end writes a closing bracket.
func (w *writer) end(bracket byte) {
	b := w.b
	if last := len(b) - 1; b[last] == ',' {
		b = b[:last]
	}
	w.b = append(b, bracket, ',')
}

func (w *writer) str(key, s string) {
	b := append(w.b, key...)
	if s == w.text && s != "" {
		w.b = append(append(b, b[w.textAt.from:w.textAt.to]...), ',')
		return
	}
	to, ok := canon.AppendString(b, s)
	if len(to) > len(b)+len(s)+len(`""`) {
		w.text, w.textAt = s, span{len(b), len(to)}
	}
	if w.b = append(to, ','); !ok {
		w.odd = true
	}
}

func (w *writer) num(key string, n int64) {
	w.b = append(strconv.AppendInt(append(w.b, key...), n, 10), ',')
}

func (w *writer) flag(key string, f bool) {
	w.b = append(strconv.AppendBool(append(w.b, key...), f), ',')
}

func (w *writer) null(key string) { w.b = append(append(w.b, key...), "null,"...) }

func (w *writer) time(key string, at time.Time) {
	from := len(w.b) + len(key) + len(`"0000`)
	w.b = append(at.AppendFormat(append(append(w.b, key...), '"'), time.RFC3339Nano), `",`...)
	// A year of other than four digits has no hyphen there.
	w.odd = w.odd || at.Location() != time.UTC || w.b[from] != '-'
}

func (w *writer) raw(key string, raw json.RawMessage) {
	if raw == nil {
		w.null(key)
		return
	}
	b := append(w.b, key...)
	if last := b[w.rawAt.from:w.rawAt.to]; len(raw) > 0 && bytes.Equal(last, raw) {
		w.b = append(append(b, last...), ',')
		return
	}
	to, ok := canon.AppendJSON(b, raw)
	w.b, w.odd, w.rawAt = append(to, ','), w.odd || !ok, span{len(b), len(to)}
}

// The members that are left out where they are empty.

func (w *writer) strIf(key, s string) {
	if s != "" {
		w.str(key, s)
	}
}

func (w *writer) numIf(key string, n int64) {
	if n != 0 {
		w.num(key, n)
	}
}

func (w *writer) flagIf(key string, f bool) {
	if f {
		w.flag(key, f)
	}
}

func (w *writer) rawIf(key string, raw json.RawMessage) {
	if len(raw) > 0 {
		w.raw(key, raw)
	}
}

// listIf begins a list, where it has entries.
func (w *writer) listIf(key string, entries int) bool {
	if entries > 0 {
		w.openList(key)
	}
	return entries > 0
}

// piece writes a piece of a message, or its digest.
func (w *writer) piece(key, text string) {
	if w.digests != nil {
		w.b = append(append(w.b, key...), '"')
		w.b = append(w.digests.appendPiece(w.b, text), `",`...)
		return
	}
	w.str(key, text)
}

func (w *writer) pieceIf(key, text string) {
	if text != "" {
		w.piece(key, text)
	}
}
