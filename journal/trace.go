package journal

import (
	"bufio"
	"errors"
	"io"

	"github.com/retake-go/retake/loop/machine"
)

// step is a header, or an event of a journal with the decision on it.
type step struct {
	// line is that of the header or the event.
	line     int64
	header   *Header
	event    *machine.Event
	decision *Decision
}

// trace returns the event and the decision as one line of canonical JSON: see [machine.Trace].
func (s *step) trace() ([]byte, error) {
	return machine.Trace(*s.event, s.decision.Effects, s.decision.Said)
}

// steps reads the recorded steps of a journal without folding it. It skips notes and snapshots.
type steps struct {
	r     *Reader
	begun bool
}

// next returns the next step; the zero step at the end, also if the decision on the last event is missing.
// Errors are those of [Reader.Next], and a [CorruptError] for records in an impossible order.
func (s *steps) next() (step, error) {
	rec, err := s.record()
	of := step{line: s.r.Line(), header: rec.Header, event: rec.Event}
	s.begun = s.begun || of.header != nil
	if err == nil && of.header == nil {
		if !s.begun || of.event == nil {
			return of, s.r.locate(errors.New("expected a header or an event here"))
		}
		if rec, err = s.record(); err == nil && rec.Decision == nil {
			err = s.r.locate(errors.New("expected the decision on the previous event here"))
		}
		of.decision = rec.Decision
	}
	if errors.Is(err, io.EOF) {
		return step{}, nil
	}
	return of, err
}

// record reads the next header, event or decision.
func (s *steps) record() (Record, error) {
	for {
		rec, err := s.r.Next()
		if err != nil || (rec.Note == nil && rec.Snapshot == nil) {
			return rec, err
		}
	}
}

// Trace writes the steps of a journal, one line of canonical JSON each: see [machine.Trace]. They have no
// observed times, so two runs of the same script and seed give the same bytes, whatever crashes they
// survived. Errors are those of [Reader.Next], a [CorruptError] for records in an impossible order, and those
// of to.
func Trace(in io.Reader, to io.Writer) error {
	out, all := bufio.NewWriter(to), steps{r: NewReader(in)}
	for {
		of, err := all.next()
		if err != nil || of.line == 0 {
			return errors.Join(err, out.Flush())
		}
		if of.header != nil {
			continue
		}
		line, err := of.trace()
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
}
