package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// JournalEverywhere records the story in a journal. After every single event the journal is replayed, its
// trace compared with what the run did, and the run taken up again from the journal alone. A scenario must
// come out the same.
func JournalEverywhere() Option { return way(func(sc *story) { sc.journals = true }) }

// memory is a [journal.Store] of one journal that outlives its writers.
type memory struct{ text []byte }

func (m *memory) List(context.Context) ([]string, error) {
	return nil, errors.New("a story has one journal, and knows its name")
}

func (m *memory) Open(context.Context, string) (journal.Log, error) { return m, nil }

func (m *memory) Read(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(bytes.Clone(m.text))), nil
}

func (m *memory) Append(_ context.Context, at int64, lines []byte, _ bool) error {
	if at != int64(len(m.text)) {
		return fmt.Errorf("the journal has %d bytes, and not %d", len(m.text), at)
	}
	m.text = append(m.text, lines...)
	return nil
}

func (m *memory) Replace(_ context.Context, _ int64, lines []byte) error {
	m.text = bytes.Clone(lines)
	return nil
}

func (m *memory) Close() error { return nil }

// recorded is what a story keeps of its journal.
type recorded struct {
	store   *memory
	journal *journal.Journal
	// trace has the lines of what the run did, said is how much of the transcript it holds.
	trace []byte
	said  int
}

// openJournal opens the journal, and returns the options of a run that is recorded in it.
func (sc *story) openJournal() ([]loop.Option, error) {
	if !sc.journals {
		return sc.options, nil
	}
	var err error
	sc.journal, err = journal.Open(context.Background(), sc.store, sc.id, journal.Settings{})
	return append(slices.Clip(sc.options), loop.WithJournal(sc.journal), loop.WithClock(looptest.NewClock())), err
}

// take takes down the trace of a step.
func (sc *story) take(ev machine.Event, effects []machine.Effect, st machine.State) error {
	line, err := machine.Trace(ev, effects, st, sc.said)
	sc.trace = append(append(sc.trace, line...), '\n')
	sc.said = st.Transcript.Len()
	return err
}

// rejournal holds the journal to what the run did, and takes the run up again from it.
func (sc *story) rejournal() error {
	if err := sc.journal.Close(); err != nil {
		return err
	}
	report, err := journal.Replay(bytes.NewReader(sc.store.text), journal.Replaying{})
	if err != nil {
		return fmt.Errorf("replaying: %w", err)
	}
	if int(report.Events) != len(sc.history) || report.Session != sc.id {
		return fmt.Errorf("the journal of %s holds %d events, and there were %d", report.Session, report.Events, len(sc.history))
	}
	var trace bytes.Buffer
	if err := journal.Trace(bytes.NewReader(sc.store.text), &trace); err != nil {
		return err
	}
	if err := same("trace", sc.trace, trace.Bytes()); err != nil {
		return err
	}
	was, err := sc.runner.State().Snapshot()
	if err != nil {
		return err
	}
	if err := sc.takeUp(); err != nil {
		return err
	}
	is, err := sc.runner.State().Snapshot()
	if err != nil {
		return err
	}
	return same("state", was, is)
}

// takeUp goes on from the journal, as another process would.
func (sc *story) takeUp() error {
	sc.runner.Close()
	s, err := session.New(sc.sessionConfig(sc.id))
	if err != nil {
		return err
	}
	options, err := sc.openJournal()
	if err != nil {
		return err
	}
	cfg := sc.cfg
	if sc.single != nil {
		cfg = loop.Config{}
	}
	sc.session = s
	sc.runner, _, err = loop.ResumeRunner(s, cfg, sc.record, options...)
	return err
}
