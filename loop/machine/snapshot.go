package machine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// snapshotFormat is the name and version of the snapshot format.
const snapshotFormat = "retake.machine/1"

// maxSnapshotBytes is the largest snapshot that [Restore] reads: 128 MiB.
const maxSnapshotBytes = 128 << 20

// plain is a State without methods.
type plain State

// snapshot is the JSON form of a State. It contains the snapshot of the session.
type snapshot struct {
	Format string `json:"format"`
	plain
	kept
	Session    json.RawMessage   `json:"session"`
	Transcript []message.Message `json:"transcript"`
	Turns      []projection.Turn `json:"turns,omitempty"`
	Failures   []ToolFailure     `json:"tool_failures,omitempty"`
	Recent     []finishedCall    `json:"recent,omitempty"`
	Lately     []CycleCall       `json:"lately,omitempty"`
}

// Snapshot returns the state as canonical JSON, for [Restore]. Equal states give equal bytes. The error names
// what has no JSON form; only data from other programs can have none.
func (st State) Snapshot() ([]byte, error) {
	held, err := st.Session.Snapshot()
	if err != nil {
		return nil, prefix("session", err)
	}
	return canon.Marshal(snapshot{
		Format: snapshotFormat, plain: plain(st), kept: st.kept, Session: held,
		Transcript: st.Transcript(), Turns: st.turns.From(0), Failures: st.ToolFailures(),
		Recent: st.recent.Values(), Lately: st.lately.Values(),
	})
}

// Restore reads a snapshot. It refuses anything but strict JSON of this format and version, unknown members,
// an invalid config or session (see [New] and [session.ParseState]), values that no run has, by field (an
// unknown phase or status, a missing call, a count below 0), and more than 128 MiB. A restored state can be
// stepped, but Restore does not prove that a run can reach it: protect snapshots like journals.
func Restore(data []byte) (State, error) {
	if len(data) > maxSnapshotBytes {
		return State{}, fmt.Errorf("snapshot: must have at most %d bytes, has %d", maxSnapshotBytes, len(data))
	}
	var w snapshot
	if err := canon.UnmarshalKnown(data, &w); err != nil {
		return State{}, fmt.Errorf("snapshot: %w", err)
	}
	if w.Format != snapshotFormat {
		return State{}, fmt.Errorf("snapshot: format: must be %q, is %q", snapshotFormat, w.Format)
	}
	held, err := session.ParseState(w.Session)
	if err != nil {
		return State{}, prefix("snapshot: session", err)
	}
	if w.Config == nil || w.Policy == nil {
		return State{}, errors.New("snapshot: config and policy are required")
	}
	fresh, err := New(*w.Config, held)
	if err = errors.Join(prefix("config", err), prefix("policy", w.Policy.Validate())); err != nil {
		return State{}, prefix("snapshot", err)
	}
	st := State(w.plain)
	st.kept, st.Session, st.transcript = w.kept, held, seq.Of(w.Transcript...)
	st.failures, st.turns = seq.Of(w.Failures...), seq.Of(w.Turns...)
	st.recent, st.lately = seq.WindowOf(w.Recent...), seq.WindowOf(w.Lately...)
	if err := st.consistent(); err != nil {
		return State{}, prefix("snapshot", err)
	}
	st.words, st.policies = fresh.words, policiesOf(st.Policy)
	st.digestRequest()
	st.utc()
	return st, nil
}

// consistent reports what would make a step fail or go wrong, by field.
func (st *State) consistent() error {
	byTool := func(a, b toolSpent) int { return strings.Compare(a.Tool, b.Tool) }
	byName := func(a, b session.Count) int { return strings.Compare(a.Tool, b.Tool) }
	model, next, x := []Phase{Prompting, Calling, Running}, st.kept.Next, st.kept.Exhausted
	for _, c := range []struct {
		ok   bool
		path string
		want string
	}{
		{waits[st.Phase] != nil, "phase", fmt.Sprintf("%q is not a phase", st.Phase)},
		{slices.Contains([]following{"", nextTurn, nextCall, nextTools, nextTry}, next), "next",
			fmt.Sprintf("%q is not a next step", next)},
		{st.Config.Single || st.Phase != Trying && next != nextTry, "phase", "a try, and the run is not single"},
		{!st.Config.Single || !slices.Contains(model, st.Phase) && (next == "" || next == nextTry), "phase",
			"not that of a single action"},
		{st.Batch != nil || (st.Phase != Running && next != nextTools), "batch",
			"missing, and calls are to be run"},
		{x != nil || len(st.kept.Consults) > 0 || st.Phase != Planning, "exhausted",
			"missing, and the planner is asked"},
		{x == nil || x.Exhausted || x.Cycle != nil && len(x.Cycle.Calls) > 0, "exhausted.cycle",
			"missing or without calls, and nothing has ended"},
		{st.Phase != Waiting || st.waitBefore(next) != nil, "correction_wait and transport_wait",
			"missing, and the run waits"},
		{st.Outcome != nil || st.Phase != Stopped, "outcome", "missing, and the run is over"},
		{st.Outcome == nil || st.Phase == Stopped || st.Phase == Reducing, "outcome", "set, and the run is not over"},
		{st.First >= 0 && st.First <= st.Session.AttemptCount(), "first", "more attempts than the session holds"},
		{st.kept.Summary != nil && st.kept.Summary.within(st.transcript.Len()) || st.Phase != Summarising,
			"summary", "missing or not of the transcript, and the run waits for it"},
		{st.kept.Shorten != nil || st.Phase != Shortening, "shorten", "missing, and the run waits for it"},
		{st.cutsFit(), "cuts", "not in order, or not within the transcript"},
		{st.Began >= 0 && st.Began <= st.transcript.Len(), "began", "more messages than the transcript holds"},
		{len(st.Notices) > 0 || st.Phase != Reducing, "notices", "missing, and the reducers are asked"},
		{slices.IsSortedFunc(st.Spent.Tools, byTool), "spent.tools", "not in order of name"},
		{slices.IsSortedFunc(st.kept.Places, byName), "places", "not in order of name"},
		{st.lately.Len() <= min(maxPeriod, st.recent.Len()), "lately", "more calls than recent"},
	} {
		if !c.ok {
			return fmt.Errorf("%s: %s", c.path, c.want)
		}
	}
	return cmp.Or(st.countFault(), st.actionFault(), st.batchFault(), st.asksFault())
}

// countFault reports a count below 0.
func (st *State) countFault() error {
	counts := []count{
		{"run", int64(st.Run)}, {"turn", int64(st.Turn)}, {"opened", int64(st.Opened)},
		{"transport", int64(st.kept.Transport)},
		{"transport_waited_ns", int64(st.kept.TransportWaited)}, {"waited_ns", int64(st.Waited)},
		{"spent.run", int64(st.Spent.Run)}, {"spent.unknown_tools", int64(st.Spent.Unknown)},
	}
	for n, t := range st.Spent.Tools {
		counts = append(counts, count{fmt.Sprintf("spent.tools[%d].failed", n), int64(t.Failed)})
	}
	for n, c := range st.kept.Places {
		counts = append(counts, count{fmt.Sprintf("places[%d].n", n), int64(c.N)})
	}
	for n, in := range st.kept.InStep {
		counts = append(counts, count{fmt.Sprintf("in_step[%d]", n), int64(in)})
	}
	for n := range st.Actions {
		a, at := &st.Actions[n], fmt.Sprintf("actions[%d].", n)
		counts = append(counts, count{at + "attempt", int64(a.Attempt)}, count{at + "waited_ns", int64(a.Waited)},
			count{at + "repeats", int64(a.Repeats)})
	}
	return below(counts)
}

// count is a number of a snapshot that counts something.
type count struct {
	path string
	n    int64
}

// below reports the first count below 0.
func below(counts []count) error {
	for _, c := range counts {
		if c.n < 0 {
			return fmt.Errorf("%s: %d; must be 0 or more", c.path, c.n)
		}
	}
	return nil
}

// actionFault reports what is wrong with the open actions.
func (st *State) actionFault() error {
	last, names := st.First, map[string]bool{}
	for n := range st.Actions {
		a, at := &st.Actions[n], fmt.Sprintf("actions[%d]", n)
		switch {
		case a.Number <= last:
			return fmt.Errorf("%s.number: %d; must be above %d", at, a.Number, last)
		case a.Number > st.Opened:
			return fmt.Errorf("opened: %d, and %s has the number %d", st.Opened, at, a.Number)
		case names[a.Name]:
			return fmt.Errorf("%s.name: %q is open already", at, a.Name)
		}
		for m, progress := range a.Asked {
			if progress != "" && !json.Valid([]byte(progress)) {
				return fmt.Errorf("%s.asked[%d]: must be JSON", at, m)
			}
		}
		last, names[a.Name] = a.Number, true
	}
	return nil
}

// statuses are those of [callStatus].
var statuses = []callStatus{callOpen, callDoubtful, callAnswered, callFailed, callInvalid, callAsked,
	callRefused, callRepeated, callLost, callNotRun, callDenied}

// batchFault reports what is wrong with the calls of the reply, and with what asks about them.
func (st *State) batchFault() error {
	b := st.Batch
	if b == nil {
		b = &Batch{}
	}
	for n, c := range b.Calls {
		at := fmt.Sprintf("batch.calls[%d]", n)
		if c == nil {
			return fmt.Errorf("%s: null; must be a call", at)
		}
		if !slices.Contains(statuses, c.Status) {
			return fmt.Errorf("%s.status: %q; must be one of %q", at, c.Status, statuses)
		}
		err := below([]count{{at + ".transport", int64(c.Transport)}, {at + ".waited_ns", int64(c.Waited)},
			{at + ".twin", int64(c.Twin)}})
		switch {
		case err != nil:
			return err
		case c.Twin > n:
			return fmt.Errorf("%s.twin: %d; must be an earlier call", at, c.Twin)
		case c.Ended():
		case c.Transport == 0 || c.Key == "" || len(c.Arguments) == 0:
			return fmt.Errorf("%s: a call to run needs its arguments, key and transport attempt", at)
		case c.Index != n:
			return fmt.Errorf("%s.index: %d; must be %d", at, c.Index, n)
		case b.Rest == nil || b.Rest.Sharers < 1:
			return errors.New("batch.rest: missing, and calls are to be run")
		}
	}
	if st.Phase == Running && !b.open(b.Cursor) {
		return fmt.Errorf("batch.cursor: %d names no call without an answer", b.Cursor)
	}
	for n, c := range st.kept.Consults {
		if c.Tool != "" && (!b.open(c.Index) || b.Calls[c.Index].Tool != c.Tool) {
			return fmt.Errorf("consults[%d].index: %d names no call of %q without an answer", n, c.Index, c.Tool)
		}
	}
	if err := st.recentFault(); err != nil {
		return err
	}
	if b.Rest != nil && b.Rest.Failed < 0 {
		return fmt.Errorf("batch.rest.failed: %d; must be 0 or more", b.Rest.Failed)
	}
	return below([]count{
		{"batch.told.max_issues", int64(b.Told.MaxIssues)}, {"batch.told.max_bytes", int64(b.Told.MaxBytes)},
	})
}

// recentFault reports what is wrong with the calls that are searched for cycles.
func (st *State) recentFault() error {
	for n, f := range st.recent.Values() {
		if f.Period < 0 || f.Period > min(maxPeriod, st.lately.Len()) {
			return fmt.Errorf("recent[%d].period: %d; must be 0 to %d, and no more than there are calls", n,
				f.Period, maxPeriod)
		}
	}
	return nil
}

// utc converts times to UTC, so that equal times are equal values.
func (st *State) utc() {
	for _, at := range []*time.Time{&st.At, &st.Config.Deadline} {
		*at = at.UTC()
	}
}
