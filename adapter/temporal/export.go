package temporal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// Export makes journals from histories. The zero value is usable.
type Export struct {
	// DataConverter is that of the client of the run; nil means Temporal's own.
	DataConverter converter.DataConverter
}

// Journal writes the journal of a run. It replays the workflow from its histories and calls no user code.
// For a run that continued in new histories, pass all of them, oldest first. The journal of an unfinished
// run ends with the history.
//
// Its canonical trace ([journal.Trace]) is that of the same run in process. Notes mark calls that may have
// been paid for twice. Progress, and results that arrived before their turn, are left out. The errors are
// those of [Export.Replay].
func (x Export) Journal(ctx context.Context, histories []*historypb.History, to io.Writer) error {
	t := &journalWriter{ctx: ctx}
	if err := x.replay(histories, t.hooks()); err != nil {
		return err
	}
	if err := t.close(); err != nil {
		return err
	}
	_, err := to.Write(t.store.text)
	return err
}

// Replay replays a run from its histories, as Temporal's own replayer does. It compares the decisions of
// today's code with those in the histories. If they differ, the error has both decisions and the behaviours
// of the run.
func (x Export) Replay(histories []*historypb.History) error { return x.replay(histories, hooks{}) }

func (x Export) replay(histories []*historypb.History, h hooks) error {
	if len(histories) == 0 {
		return errors.New("temporal: there is no history; pass the histories of the run, oldest first")
	}
	for n, history := range histories {
		beyond := false
		h.pastEnd = func() { beyond = true; panic("retake: the history ends here") }
		err := x.replayOne(history, h)
		if err != nil && !beyond {
			return fmt.Errorf("temporal: history %d: %w", n+1, err)
		}
	}
	return nil
}

// firstTask is the number of events of a history before the first worker does anything.
const firstTask = 3

func (x Export) replayOne(history *historypb.History, h hooks) error {
	if len(history.GetEvents()) == 0 ||
		history.Events[0].GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED {
		return errors.New("its first event is not the start of a workflow")
	}
	if len(history.Events) < firstTask {
		return nil
	}
	name := history.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()
	own := worker.WorkflowReplayerOptions{DataConverter: x.DataConverter}
	r, err := worker.NewWorkflowReplayerWithOptions(own)
	if err != nil {
		return err
	}
	a := &agent{Worker: Worker{Agent: name, hooks: h}.withDefaults()}
	r.RegisterWorkflowWithOptions(a.run, workflow.RegisterOptions{Name: name})
	silent := log.NewStructuredLogger(slog.New(slog.DiscardHandler)) // the errors say everything
	return r.ReplayWorkflowHistory(silent, history)
}

// Histories reads all histories of a run from the server, oldest first.
func Histories(ctx context.Context, c client.Client, id string) ([]*historypb.History, error) {
	var all []*historypb.History
	for run := ""; ; {
		var one historypb.History
		events := c.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return nil, fmt.Errorf("temporal: %w", err)
			}
			one.Events = append(one.Events, e)
		}
		if len(one.Events) == 0 {
			return nil, fmt.Errorf("temporal: run %q of %s has no history", run, id)
		}
		all = append([]*historypb.History{&one}, all...)
		started := one.Events[0].GetWorkflowExecutionStartedEventAttributes()
		if run = started.GetContinuedExecutionRunId(); run == "" {
			return all, nil
		}
	}
}

var errNoBeginning = errors.New("temporal: the histories lack the beginning of the run; " +
	"pass all of them, oldest first")

// journalWriter writes a journal from the hooks of a replay.
type journalWriter struct {
	ctx   context.Context
	store oneJournal
	j     *journal.Journal
	err   error
}

func (t *journalWriter) hooks() hooks {
	return hooks{
		opened: func(in order, b begun, st machine.State) { t.do(func() error { return t.open(in, b, st) }) },
		step: func(ev machine.Event, effects []machine.Effect, st machine.State) {
			t.do(func() error {
				if t.j == nil {
					return errNoBeginning
				}
				return t.j.Step(ev, effects, st)
			})
		},
		note: func(n journal.Note) { t.do(func() error { return t.j.Note(n) }) },
	}
}

// do calls a function unless an earlier one failed.
func (t *journalWriter) do(one func() error) {
	if t.err == nil {
		t.err = one()
	}
}

func (t *journalWriter) open(in order, b begun, st machine.State) (err error) {
	if t.j != nil {
		return errors.New("temporal: the histories are of two runs; pass those of one")
	}
	if t.j, err = journal.Open(t.ctx, &t.store, in.Session,
		journal.Settings{Sync: journal.SyncNever}); err != nil {
		return err
	}
	h := engine.Header(*st.Config, engine.Offer{})
	h.Tools = b.Tools
	if in.Output != nil {
		h.Output = in.Output.SchemaDigest
	}
	return t.j.Begin(h, st)
}

func (t *journalWriter) close() error {
	if t.err == nil && t.j == nil {
		t.err = errNoBeginning
	}
	if t.j != nil {
		return errors.Join(t.err, t.j.Close())
	}
	return t.err
}

// oneJournal is a [journal.Store] of one journal in memory.
type oneJournal struct{ text []byte }

func (o *oneJournal) List(context.Context) ([]string, error) { return nil, nil }

func (o *oneJournal) Open(context.Context, string) (journal.Log, error) { return o, nil }

func (o *oneJournal) Read(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(o.text)), nil
}

func (o *oneJournal) Append(_ context.Context, _ int64, lines []byte, _ bool) error {
	o.text = append(o.text, lines...)
	return nil
}

func (o *oneJournal) Replace(_ context.Context, _ int64, lines []byte) error {
	o.text = bytes.Clone(lines)
	return nil
}

func (o *oneJournal) Close() error { return nil }
