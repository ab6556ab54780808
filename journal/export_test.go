package journal

import (
	"bytes"
	"time"
)

// Chain makes a journal from the bytes of records, also of invalid ones.
func Chain(records ...[]byte) []byte {
	var out []byte
	head := newHash()
	for _, raw := range records {
		h := head.next(raw)
		out = append(append(append(append(out, beforeHash...), h[:]...), afterHash...), raw...)
		out = append(out, afterLine...)
		if !isNote(raw) {
			head = h
		}
	}
	return out
}

// KeptAttempts replays a journal and returns how many attempts of the last run it still has, and how many
// there were.
func KeptAttempts(text []byte) (kept, made int, err error) {
	p := newPlayer(bytes.NewReader(text), nil)
	p.forgets = true
	err = p.r.each(p.Fold, p.take)
	return len(p.State.Session.Attempts()), p.State.Session.AttemptCount(), err
}

// Drops reports whether a retention drops the end of a request or an action.
func (r Retention) Drops(e *Ended, now time.Time) bool { return r.drops(e, now) }

// Headers decodes a header with shared configs, and without.
func (c *Configs) Headers(raw []byte) (shared, alone *Header, isShared bool, err, want error) {
	is, compiled, err := c.header(raw)
	was, want := decode(raw)
	return is.Header, was.Header, compiled != nil, err, want
}
