package journal

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
)

// decoder reads records. It is for one goroutine; the zero value is ready for use.
type decoder struct{ scan scanner }

// record reads a record: exactly one member, of a kind that is known.
func (d *decoder) record(raw []byte) (Record, error) {
	if rec, ok := d.quickly(raw); ok {
		return rec, rec.checkEffects()
	}
	var rec Record
	if err := canon.UnmarshalKnown(raw, &rec); err != nil {
		return Record{}, fmt.Errorf("its record cannot be read: %w", err)
	}
	n := 0
	for _, there := range []bool{rec.Header != nil, rec.Event != nil, rec.Decision != nil, rec.Note != nil, rec.Snapshot != nil} {
		if there {
			n++
		}
	}
	if n != 1 {
		return Record{}, errors.New("its record must have one of header, event, decision, note, snapshot")
	}
	if h := rec.Header; h != nil && h.Format != Format {
		return Record{}, fmt.Errorf("its format is %.64q: only %q can be read", h.Format, Format)
	}
	return rec, rec.checkEffects()
}

// quickly reads the record of an event or a decision as it was written here; where ok is false the record is for the library.
func (d *decoder) quickly(raw []byte) (rec Record, ok bool) {
	s := &d.scan
	if s.start(raw); s.is('{') {
		if rec.Event = scanEvent(s, keyEvent); rec.Event == nil {
			rec.Decision = scanDecision(s, keyDecision)
		}
		s.ends()
		s.want('}')
	}
	if !s.end() || (rec.Event == nil && rec.Decision == nil) {
		return Record{}, false
	}
	return rec, true
}
