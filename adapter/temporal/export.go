package temporal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// Export says how histories are made journals. The zero value is ready for use.
type Export struct {
	// DataConverter is that of the client that the run was made with; nil for the engine's own.
	DataConverter converter.DataConverter
}

// Journal writes the journal of a run: what its workflow did is done again by its history, and no code of the
// user is called. A run that went on in new histories is given with all of them, the oldest first. A run that
// goes on is written as far as it came.
//
// Its canonical trace ([journal.Trace]) is that of the same run in process. Notes say where a call may have
// been paid for twice; progress, and results that came before their turn, are not in it. The errors are those
// of [Export.Replay].
func (x Export) Journal(ctx context.Context, histories []*historypb.History, to io.Writer) error {
	t := &tape{ctx: ctx}
	if err := x.replay(histories, t.hooks()); err != nil {
		return err
	}
	if err := t.close(); err != nil {
		return err
	}
	_, err := to.Write(t.store.text)
	return err
}

// Replay does again what the workflow of a run did, by its histories, as the engine's own replayer does, and
// holds what this code decides to what the histories say was decided. Where that differs, the error says what
// was decided then and now, and which behaviours the run has.
func (x Export) Replay(histories []*historypb.History) error { return x.replay(histories, hooks{}) }

func (x Export) replay(histories []*historypb.History, h hooks) error {
	if len(histories) == 0 {
		return errors.New("temporal: there is no history: give those of the run, the oldest first")
	}
	for n, history := range histories {
		beyond := false
		h.beyond = func() { beyond = true; panic("retake: the history ends here") }
		err := x.replayOne(history, h)
		if err != nil && !beyond {
			return fmt.Errorf("temporal: history %d: %w", n+1, err)
		}
	}
	return nil
}

// firstTask is how many events a history has before any worker has done anything.
const firstTask = 3

func (x Export) replayOne(history *historypb.History, h hooks) error {
	if len(history.GetEvents()) == 0 ||
		history.Events[0].GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED {
		return errors.New("it does not begin with the beginning of a workflow")
	}
	if len(history.Events) < firstTask {
		return nil
	}
	name := history.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: x.DataConverter})
	if err != nil {
		return err
	}
	a := &agent{Worker: Worker{Agent: name, hooks: h}.withDefaults()}
	r.RegisterWorkflowWithOptions(a.run, workflow.RegisterOptions{Name: name})
	return r.ReplayWorkflowHistory(silent{}, history)
}

// silent is a logger for replays: what there is to say is in their error.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

// Histories are those of a run, the oldest first, as the server has them.
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
		if run = one.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			return all, nil
		}
	}
}

var errNoBeginning = errors.New("temporal: no run begins in the histories: give all of them, the oldest first")

// tape writes a journal of what it is told.
type tape struct {
	ctx   context.Context
	store oneJournal
	j     *journal.Journal
	err   error
}

func (t *tape) hooks() hooks {
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

// do does one thing after the other, up to the first that fails.
func (t *tape) do(one func() error) {
	if t.err == nil {
		t.err = one()
	}
}

func (t *tape) open(in order, b begun, st machine.State) (err error) {
	if t.j != nil {
		return errors.New("temporal: a second run begins in the histories: give those of one run")
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

func (t *tape) close() error {
	if t.err == nil && t.j == nil {
		t.err = errNoBeginning
	}
	if t.j != nil {
		return errors.Join(t.err, t.j.Close())
	}
	return t.err
}

// oneJournal is a [journal.Store] of one journal, in memory.
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
