package random

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// records keeps what was read from the journals of a case. Its runs write the same records again, and most of
// those after a crash are the ones that were written without it.
type records struct {
	mu sync.Mutex
	// known are the records, and lines the traces of steps, by their text in the journal.
	known map[string]journal.Record
	lines map[stepText]string
	// replayed are the hashes of journals that replay, without their notes.
	replayed map[string]bool
}

// stepText is a step as it stands in a journal.
type stepText struct{ event, decision string }

func newRecords() *records {
	return &records{known: map[string]journal.Record{}, lines: map[stepText]string{}, replayed: map[string]bool{}}
}

// record decodes a record, once.
func (r *records) record(raw string) (rec journal.Record, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec, ok := r.known[raw]
	if ok {
		return rec, nil
	}
	if err = canon.UnmarshalKnown([]byte(raw), &rec); err == nil {
		r.known[raw] = rec
	}
	return rec, err
}

// line makes the line of a step, once.
func (r *records) line(of stepText, ev *machine.Event, d *journal.Decision) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if line, ok := r.lines[of]; ok {
		return line, nil
	}
	line, err := machine.Trace(*ev, d.Effects, d.Said)
	if err == nil {
		r.lines[of] = timeless(line)
	}
	return r.lines[of], err
}

// replays replays a journal, unless one with the same events and decisions was.
func (r *records) replays(text, key []byte) error {
	in := journal.NewReader(bytes.NewReader(text))
	for {
		if _, err := in.Raw(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	r.mu.Lock()
	done := r.replayed[in.Hash()]
	r.mu.Unlock()
	if done {
		return nil
	}
	if _, err := journal.Replay(bytes.NewReader(text), key); err != nil {
		return fmt.Errorf("the journal does not replay: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replayed[in.Hash()] = true
	return nil
}
