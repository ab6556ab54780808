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
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// SnapshotFormat is the name and version of the snapshot format.
const SnapshotFormat = "retake.machine/1"

// MaxSnapshotBytes is the largest snapshot that [Restore] reads: 128 MiB.
const MaxSnapshotBytes = 128 << 20

// plain is a State without methods.
type plain State

// snapshot is the JSON form of a State. It contains the snapshot of the session.
type snapshot struct {
	Format string `json:"format"`
	plain
	Session    json.RawMessage   `json:"session"`
	Transcript []message.Message `json:"transcript"`
	Failures   []ToolFailure     `json:"tool_failures,omitempty"`
}

// Snapshot returns the state as canonical JSON, for [Restore]. Equal states give equal bytes. The error names
// what has no JSON form; only data from other programs can have none.
func (st State) Snapshot() ([]byte, error) {
	held, err := st.Session.Snapshot()
	if err != nil {
		return nil, prefix("session", err)
	}
	return canon.Marshal(snapshot{
		Format: SnapshotFormat, plain: plain(st), Session: held, Transcript: st.Transcript(), Failures: st.ToolFailures(),
	})
}

// Restore reads a snapshot. It refuses anything but strict JSON of this format and version, unknown members,
// an invalid config or session (see [New] and [session.ParseState]), an unknown phase, and more than
// [MaxSnapshotBytes]. A restored state can be stepped, but Restore does not prove that a run can reach it:
// protect snapshots like journals.
func Restore(data []byte) (State, error) {
	if len(data) > MaxSnapshotBytes {
		return State{}, fmt.Errorf("snapshot: must have at most %d bytes, has %d", MaxSnapshotBytes, len(data))
	}
	var w snapshot
	if err := canon.UnmarshalKnown(data, &w); err != nil {
		return State{}, fmt.Errorf("snapshot: %w", err)
	}
	if w.Format != SnapshotFormat {
		return State{}, fmt.Errorf("snapshot: format: must be %q, is %q", SnapshotFormat, w.Format)
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
	st.Session, st.transcript = held, seq.Of(w.Transcript...)
	st.failures = seq.Of(w.Failures...)
	if err := st.consistent(); err != nil {
		return State{}, prefix("snapshot", err)
	}
	st.words, st.policies = fresh.words, policiesOf(st.Policy)
	st.digestRequest()
	st.utc()
	return st, nil
}

// consistent reports what would make a step fail.
func (st *State) consistent() error {
	byNumber := func(a, b Action) int { return cmp.Compare(a.Number, b.Number) }
	byTool := func(a, b ToolSpent) int { return strings.Compare(a.Tool, b.Tool) }
	for _, c := range []struct {
		ok   bool
		path string
		want string
	}{
		{st.Phase.row().phase != "", "phase", fmt.Sprintf("%q is not a phase", st.Phase)},
		{slices.Contains([]Next{"", NextTurn, NextCall, NextTools, NextTry}, st.Next), "next", fmt.Sprintf("%q is not a next step", st.Next)},
		{st.Batch != nil || (st.Phase != Running && st.Next != NextTools), "batch", "missing, and calls are to be run"},
		{st.Batch == nil || st.Phase != Running || st.Batch.open(st.Batch.Cursor), "batch.cursor", "names no call without an answer"},
		{st.Exhausted != nil || len(st.Consults) > 0 || st.Phase != Planning, "exhausted", "missing, and the planner is asked"},
		{!slices.ContainsFunc(st.Consults, st.strays), "consults", "one names no call without an answer"},
		{st.First >= 0 && st.First <= st.Session.AttemptCount(), "first", "more attempts than the session holds"},
		{st.Began >= 0 && st.Began <= st.transcript.Len(), "began", "more messages than the transcript holds"},
		{len(st.Notices) > 0 || st.Phase != Reducing, "notices", "missing, and the reducers are asked"},
		{slices.IsSortedFunc(st.Actions, byNumber), "actions", "not in order of number"},
		{slices.IsSortedFunc(st.Spent.Tools, byTool), "spent.tools", "not in order of name"},
	} {
		if !c.ok {
			return fmt.Errorf("%s: %s", c.path, c.want)
		}
	}
	return nil
}

// strays reports whether the call of a consultation does not exist.
func (st *State) strays(c Consultation) bool {
	return c.Tool != "" && (st.Batch == nil || !st.Batch.open(c.Index))
}

// open reports whether the call at the index exists and has no answer yet.
func (b *Batch) open(n int) bool { return n >= 0 && n < len(b.Calls) && !b.Calls[n].Ended() }

// utc converts times to UTC, so that equal times are equal values.
func (st *State) utc() {
	for _, at := range []*time.Time{&st.At, &st.Config.Deadline} {
		*at = at.UTC()
	}
}
