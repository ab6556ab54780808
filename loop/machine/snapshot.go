package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/seq"
	"github.com/retake-go/retake/session"
)

// SnapshotFormat names the form of a state's snapshot and its version.
const SnapshotFormat = "retake.machine/1"

// MaxSnapshotBytes bounds the snapshots that [Restore] reads: 128 MiB.
const MaxSnapshotBytes = 128 << 20

// plain is a State without its methods.
type plain State

// snapshot is the wire form of a State: its fields, with the session as the snapshot that package session
// makes.
type snapshot struct {
	Format string `json:"format"`
	plain
	Session    json.RawMessage   `json:"session"`
	Transcript []message.Message `json:"transcript"`
}

// Snapshot is the state as canonical JSON: the same state is always the same bytes, and [Restore] gives it
// back. The error says what has no JSON form; only foreign data in an event can be such.
func (st State) Snapshot() ([]byte, error) {
	held, err := st.Session.Snapshot()
	if err != nil {
		return nil, prefix("session", err)
	}
	st.Batch = st.Batch.clone()
	return canon.Marshal(snapshot{
		Format: SnapshotFormat, plain: plain(st), Session: held, Transcript: st.Transcript.Slice(0, st.Transcript.Len()),
	})
}

// Restore reads a snapshot. It refuses what is not strict JSON of this format and version, unknown members,
// what [New] refuses of a config and [session.ParseState] of a session, an unknown phase, and more than
// [MaxSnapshotBytes]. A state that is read can be stepped; that it can be reached is not proved: keep a
// snapshot as safe as a journal.
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
		return State{}, errors.New("snapshot: config and policy: must be there")
	}
	fresh, err := New(*w.Config, held)
	if err = errors.Join(prefix("config", err), prefix("policy", w.Policy.Validate())); err != nil {
		return State{}, prefix("snapshot", err)
	}
	st := State(w.plain)
	st.Session, st.Transcript = held, seq.Of(w.Transcript...)
	if err := st.consistent(); err != nil {
		return State{}, prefix("snapshot", err)
	}
	st.words, st.policies = fresh.words, policiesOf(st.Policy)
	st.utc()
	return st, nil
}

// consistent says what a step would fall over.
func (st *State) consistent() error {
	byName := func(a, b Action) int { return strings.Compare(a.Name, b.Name) }
	byTool := func(a, b ToolSpent) int { return strings.Compare(a.Tool, b.Tool) }
	for _, c := range []struct {
		ok   bool
		path string
		want string
	}{
		{st.Phase.row().phase != "", "phase", fmt.Sprintf("%q is no phase", st.Phase)},
		{slices.Contains([]Next{"", NextTurn, NextCall, NextTools, NextTry}, st.Next), "next", fmt.Sprintf("%q follows nothing", st.Next)},
		{st.Batch != nil || (st.Phase != Running && st.Next != NextTools), "batch", "missing, and calls are to be run"},
		{st.Batch == nil || st.Phase != Running || st.Batch.open(st.Batch.Cursor), "batch.cursor", "names no call without an answer"},
		{st.Exhausted != nil || len(st.Consults) > 0 || st.Phase != Planning, "exhausted", "missing, and the planner is asked"},
		{!slices.ContainsFunc(st.Consults, st.strays), "consults", "one names no call without an answer"},
		{st.First >= 0 && st.First <= st.Session.Attempts().Len(), "first", "more attempts than the session holds"},
		{st.Began >= 0 && st.Began <= st.Transcript.Len(), "began", "more messages than the transcript holds"},
		{len(st.Notices) > 0 || st.Phase != Reducing, "notices", "missing, and the reducers are asked"},
		{slices.IsSortedFunc(st.Actions, byName), "actions", "not in order of name"},
		{slices.IsSortedFunc(st.Spent.Tools, byTool), "spent.tools", "not in order of name"},
	} {
		if !c.ok {
			return fmt.Errorf("%s: %s", c.path, c.want)
		}
	}
	return nil
}

// strays reports whether a consultation is of a call that is not there.
func (st *State) strays(c Consultation) bool {
	return c.Tool != "" && (st.Batch == nil || !st.Batch.open(c.Index))
}

// open reports whether the call of that index is there and has no answer yet.
func (b *Batch) open(n int) bool { return n >= 0 && n < len(b.Calls) && !b.Calls[n].Done }

// utc gives the times the one form in which equal times are equal values.
func (st *State) utc() {
	for _, at := range []*time.Time{&st.At, &st.Config.Deadline} {
		*at = at.UTC()
	}
}
