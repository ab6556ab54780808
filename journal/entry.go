package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/retake-go/retake/loop/machine"
)

// entry is a line that was read and verified.
type entry struct {
	// kind is the kind of the record, and raw its bytes.
	kind string
	raw  []byte
	position
	// rec is the decoded record, or err why it could not be decoded. raw is nil then. compiled is the config
	// of a header, which runs share, or nil.
	rec      Record
	err      error
	compiled *machine.Compiled
}

// entry reads the next line.
func (r *Reader) entry() (entry, error) {
	raw, err := r.Raw()
	return entry{kind: kindOf(raw), raw: raw, position: r.position}, err
}

// record decodes the record, once. The config of a header is one of configs if that is known.
func (e *entry) record(configs *Configs) (Record, error) {
	switch {
	case e.raw == nil:
		return e.rec, e.err
	case e.kind == kindHeader:
		e.rec, e.compiled, e.err = configs.header(e.raw)
	default:
		e.rec, e.err = decode(e.raw)
	}
	e.raw = nil
	return e.rec, e.err
}

// position is where a line is: its number, from 1, where it begins, and where the next one does.
type position struct{ line, offset, end int64 }

// locate adds the line to an error.
func (p position) locate(err error) error {
	if d, differs := err.(*DifferenceError); differs {
		d.Line = p.line
		return d
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDiffers), errors.Is(err, ErrRedacted):
		return fmt.Errorf("journal: line %d: %w", p.line, err)
	}
	return &CorruptError{Line: p.line, Offset: p.offset, Why: err.Error()}
}

// The kinds of records.
const (
	kindHeader   = "header"
	kindEvent    = "event"
	kindDecision = "decision"
	kindNote     = "note"
	kindSnapshot = "snapshot"
)

// kindOf returns the name of a record's first member, or "" if it is not a kind.
func kindOf(raw []byte) string {
	for _, kind := range []string{kindEvent, kindDecision, kindNote, kindHeader, kindSnapshot} {
		if bytes.HasPrefix(raw, []byte(`{"`+kind+`":`)) {
			return kind
		}
	}
	return ""
}

// The limits of a batch, in lines and bytes, and of the batches that are read ahead.
const (
	batchLines  = 16
	batchBytes  = 32 << 10
	batchesRead = 8
)

// each reads and decodes lines while another goroutine passes earlier ones to take, in order, which folds
// them in f. It returns the first error of take, else that of reading; nil at the end of a whole journal. The
// goroutine has ended when it returns.
func (r *Reader) each(f *Fold, take func(*entry) error) error {
	var (
		configs = f.known()
		folding sync.WaitGroup
		failed  error
		batches = make(chan []entry, batchesRead)
		stopped = make(chan struct{})
	)
	folding.Go(func() {
		defer close(stopped)
		for batch := range batches {
			for n := range batch {
				if failed = take(&batch[n]); failed != nil {
					return
				}
			}
		}
	})
	err := r.batches(configs, batches, stopped)
	close(batches)
	folding.Wait()
	if failed != nil {
		return failed
	}
	if errors.Is(err, io.EOF) {
		return f.whole(r)
	}
	return err
}

// readLog is each for all lines of a log.
func readLog(ctx context.Context, log Log, f *Fold, take func(*entry) error) (*Reader, error) {
	in, err := log.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := NewReader(in)
	return r, r.each(f, take)
}

// walk is each in one goroutine, for those who read many journals.
func (r *Reader) walk(f *Fold) error {
	for {
		e, err := r.entry()
		if err == nil {
			err = f.take(&e)
		}
		if errors.Is(err, io.EOF) {
			return f.whole(r)
		}
		if err != nil {
			return err
		}
	}
}

// batches reads to the end, or until stopped is closed.
func (r *Reader) batches(configs *Configs, batches chan<- []entry, stopped <-chan struct{}) error {
	for {
		batch, err := r.batch(configs)
		select {
		case batches <- batch:
		case <-stopped:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// batch reads some lines. Decisions are compared by their bytes, which are copied; other records are decoded.
func (r *Reader) batch(configs *Configs) ([]entry, error) {
	batch, from := make([]entry, 0, batchLines), r.Offset()
	for len(batch) < batchLines && r.Offset()-from < batchBytes {
		e, err := r.entry()
		if err != nil {
			return batch, err
		}
		if e.kind == kindDecision {
			e.raw = bytes.Clone(e.raw)
		} else {
			_, _ = e.record(configs)
		}
		if batch = append(batch, e); r.in.in.Buffered() == 0 {
			break // do not wait for more from a slow reader
		}
	}
	return batch, nil
}
