package journal

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
)

// decode reads a record: exactly one member, of a known kind.
func decode(raw []byte) (Record, error) {
	var rec Record
	if err := canon.UnmarshalKnown(raw, &rec); err != nil {
		return Record{}, fmt.Errorf("its record cannot be read: %w", err)
	}
	members := 0
	for _, there := range []bool{rec.Header != nil, rec.Event != nil, rec.Decision != nil, rec.Note != nil, rec.Snapshot != nil} {
		if there {
			members++
		}
	}
	if members != 1 {
		return Record{}, errors.New("its record must have one of header, event, decision, note, snapshot")
	}
	if h := rec.Header; h != nil && h.Format != Format {
		return Record{}, fmt.Errorf("its format is %.64q: only %q can be read", h.Format, Format)
	}
	return rec, rec.checkEffects()
}
