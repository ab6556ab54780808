package journal

import (
	"bufio"
	"errors"
	"io"

	"github.com/retake-go/retake/loop/machine"
)

// Step is one event of a journal and the decision on it.
type Step struct {
	// Line is the line of the event, and Number its number in the journal. Both count from 1.
	Line, Number int64
	Event        machine.Event
	Decision     Decision
}

// Trace returns the step as one line of canonical JSON, without a line feed: see [machine.Trace]. It has no
// observed times, so two runs of the same script and seed have equal lines.
func (s Step) Trace() ([]byte, error) {
	return machine.Trace(s.Event, s.Decision.Effects, s.Decision.Said)
}

// Steps reads the recorded steps of a journal without folding it. It skips notes and snapshots. It is for one
// goroutine.
type Steps struct {
	r      *Reader
	number int64
	header *Header
}

// NewSteps returns a reader of the steps of a journal.
func NewSteps(in io.Reader) *Steps { return &Steps{r: NewReader(in)} }

// Next returns the next header or step; the other is nil. It returns io.EOF at the end, also if the decision
// on the last event is missing. Errors are those of [Reader.Next], and a [CorruptError] for records in an
// impossible order.
func (s *Steps) Next() (*Header, *Step, error) {
	rec, err := s.record()
	if err != nil {
		return nil, nil, err
	}
	if rec.Header != nil {
		s.header = rec.Header
		return rec.Header, nil, nil
	}
	if s.header == nil || rec.Event == nil {
		return nil, nil, s.r.locate(errors.New("expected a header or an event here"))
	}
	s.number++
	step := &Step{Line: s.r.Line(), Number: s.number, Event: *rec.Event}
	if rec, err = s.record(); err != nil {
		return nil, nil, err
	}
	if rec.Decision == nil {
		return nil, nil, s.r.locate(errors.New("expected the decision on the previous event here"))
	}
	step.Decision = *rec.Decision
	return nil, step, nil
}

// record reads the next header, event or decision.
func (s *Steps) record() (Record, error) {
	for {
		rec, err := s.r.Next()
		if err != nil || (rec.Note == nil && rec.Snapshot == nil) {
			return rec, err
		}
	}
}

// Trace writes the steps of a journal, one line each: see [Step.Trace]. Two runs of the same script and seed
// give the same bytes, whatever crashes they survived.
func Trace(in io.Reader, to io.Writer) error {
	out := bufio.NewWriter(to)
	steps := NewSteps(in)
	for {
		_, step, err := steps.Next()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if step == nil {
			continue
		}
		line, err := step.Trace()
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
}
