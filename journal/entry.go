package journal

import (
	"bytes"
	"sync"
)

// entry is a line that was read and verified.
type entry struct {
	// kind is that of the record, raw its bytes, good until the next line is read.
	kind string
	raw  []byte
	// line counts from 1; offset is where the line begins, end where the next one does.
	line, offset, end int64
	// rec is what was decoded, err why it could not be; where decoded is set.
	rec     Record
	err     error
	decoded bool
}

// entry reads the next line to e, which is empty.
func (r *Reader) entry(e *entry) error {
	raw, err := r.Raw()
	if err != nil {
		return err
	}
	e.kind, e.raw, e.line, e.offset, e.end = kindOf(raw), raw, r.line, r.offset, r.end
	return nil
}

// decode decodes the record.
func (e *entry) decode() {
	e.rec, e.err = decode(e.raw)
	e.decoded = true
}

// record is the decoded record.
func (e *entry) record() (Record, error) {
	if !e.decoded {
		e.decode()
	}
	return e.rec, e.err
}

// locate says on which line an error was met.
func (e *entry) locate(err error) error {
	switch d := err.(type) {
	case nil:
		return nil
	case *DifferenceError:
		d.Line = e.line
		return d
	case *MisfitError:
		d.Line = e.line
		return d
	}
	return &CorruptError{Line: e.line, Offset: e.offset, Why: err.Error()}
}

// locate is [entry.locate] for the line read last.
func (r *Reader) locate(err error) error {
	e := entry{line: r.line, offset: r.offset}
	return e.locate(err)
}

// The kinds of records.
const (
	kindHeader   = "header"
	kindEvent    = "event"
	kindDecision = "decision"
	kindNote     = "note"
	kindSnapshot = "snapshot"
)

var kinds = []string{kindEvent, kindDecision, kindNote, kindHeader, kindSnapshot}

// kindOf is the name of a record's first member; empty where it is none of the known.
func kindOf(raw []byte) string {
	for _, kind := range kinds {
		if len(raw) > len(kind)+4 && string(raw[2:2+len(kind)]) == kind && bytes.HasPrefix(raw[2+len(kind):], []byte(`":`)) {
			return kind
		}
	}
	return ""
}

// The bounds of what is read ahead: batches of so many lines, or of one line more than so many bytes. There are so many of them that
// reading goes on while the other goroutine is woken, which takes longer than filling a few.
const (
	batchLines  = 16
	batchBytes  = 32 << 10
	batchAhead  = 8
	batchesMade = batchAhead + 2
	// firstBatch is the room that a batch has at first.
	firstBatch = 4 << 10
)

// batch is some lines with memory of their own. A zero one has none yet.
type batch struct {
	entries []entry
	room    []byte
}

// begin gives a batch its memory, at the first time that it is filled.
func (b *batch) begin() {
	if b.entries == nil {
		b.entries, b.room = make([]entry, 0, batchLines), make([]byte, 0, firstBatch)
	}
}

// add reads a line. Decisions are compared as bytes; all else is decoded here, beside the folding.
func (b *batch) add(p *player) error {
	n := len(b.entries)
	e := &b.entries[:n+1][n]
	if err := p.read(e); err != nil {
		return err
	}
	if e.kind == kindDecision {
		from := len(b.room)
		b.room = append(b.room, e.raw...)
		e.raw = b.room[from:len(b.room):len(b.room)]
	} else {
		e.decode()
		e.raw = nil
	}
	b.entries = b.entries[:n+1]
	return nil
}

func (b *batch) full() bool { return len(b.entries) == batchLines || len(b.room) > batchBytes }

// reset empties the batch. What one long line needed is let go.
func (b *batch) reset() {
	clear(b.entries)
	b.entries, b.room = b.entries[:0], b.room[:0]
	if cap(b.room) > 4*batchBytes {
		b.room = nil
	}
}

// readAhead reads and decodes lines, while another goroutine hands those before them to take, in order. It returns the first
// error of take, else that of reading; then nothing runs any more.
func (p *player) readAhead(take func(*entry) error) error {
	var (
		folding sync.WaitGroup
		failed  error
		full    = make(chan *batch, batchAhead)
		free    = make(chan *batch, batchesMade)
		stopped = make(chan struct{})
	)
	for range batchesMade {
		free <- new(batch)
	}
	folding.Go(func() {
		defer close(stopped)
		for b := range full {
			for n := range b.entries {
				if failed = take(&b.entries[n]); failed != nil {
					return
				}
			}
			b.reset()
			free <- b
		}
	})
	err := p.fill(free, full, stopped)
	close(full)
	folding.Wait()
	if failed != nil {
		return failed
	}
	return err
}

// fill fills batches until there is no more to read, or nobody who takes them.
func (p *player) fill(free <-chan *batch, full chan<- *batch, stopped <-chan struct{}) error {
	for {
		var b *batch
		select {
		case b = <-free:
		case <-stopped:
			return nil
		}
		b.begin()
		var err error
		for err == nil && !b.full() {
			err = b.add(p)
			if p.r.in.buffered() == 0 {
				break
			}
		}
		select {
		case full <- b:
		case <-stopped:
			return nil
		}
		if err != nil {
			return err
		}
	}
}
