package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/seq"
)

// SnapshotFormat names the form of a snapshot and its version.
const SnapshotFormat = "retake.session/1"

// MaxSnapshotBytes bounds the snapshots that are read: 64 MiB.
const MaxSnapshotBytes = 64 << 20

// snapshot is the wire form of a state.
type snapshot struct {
	Format        string                   `json:"format"`
	ID            string                   `json:"id"`
	Slices        []sliceSnapshot          `json:"slices"`
	Feedback      []feedback.RetryFeedback `json:"feedback"`
	Attempts      []Attempt                `json:"attempts"`
	ReducerErrors []fault.ReducerError     `json:"reducer_errors"`
	// Conversation is in the snapshot of a [Session] alone.
	Conversation []message.Message `json:"conversation,omitempty"`
}

type sliceSnapshot struct {
	Name   string            `json:"name"`
	Kind   Kind              `json:"kind"`
	Values []json.RawMessage `json:"values"`
}

// Snapshot is the session's state, with its conversation, as canonical JSON: see [State.Snapshot]. [Restore]
// reads it.
func (s *Session) Snapshot() ([]byte, error) {
	w := s.State().wire()
	said := s.Conversation()
	w.Conversation = said.Slice(0, said.Len())
	return canon.Marshal(w)
}

// Snapshot is the state as canonical JSON: the same state is always the same bytes, and [ParseState] gives it
// back. The error says which record has no JSON form; only one added to the built-in logs by hand can be
// such.
func (s State) Snapshot() ([]byte, error) { return canon.Marshal(s.wire()) }

func (s State) wire() snapshot {
	w := snapshot{
		Format: SnapshotFormat, ID: s.ID(), Slices: []sliceSnapshot{},
		Feedback: collect(s.feedback), Attempts: collect(s.attempts), ReducerErrors: collect(s.ReducerErrors()),
	}
	for _, slot := range s.slots {
		values := make([]json.RawMessage, 0, slot.held.Len())
		for _, v := range slot.held.All() {
			values = append(values, v)
		}
		w.Slices = append(w.Slices, sliceSnapshot{Name: slot.name, Kind: slot.kind, Values: values})
	}
	return w
}

func collect[T any](log seq.Log[T]) []T { return append([]T{}, log.Slice(0, log.Len())...) }

// ParseState reads a snapshot. It refuses, with a [*SnapshotError] that names the field, what is not strict
// JSON of this format and version, unknown members, slices that are named twice or have no valid name or
// kind, and more than [MaxSnapshotBytes]. Whether slices and values are those of a session is for [Resume] to
// say. The conversation of a session's snapshot is for [Restore].
func ParseState(data []byte) (State, error) {
	w, err := parse(data)
	if err != nil {
		return State{}, err
	}
	return w.state()
}

func parse(data []byte) (w snapshot, err error) {
	if len(data) > MaxSnapshotBytes {
		return w, &SnapshotError{Want: fmt.Sprintf("must have at most %d bytes, has %d", MaxSnapshotBytes, len(data))}
	}
	raw, err := canon.JSON(data)
	if err != nil {
		return w, &SnapshotError{Want: "must be one strict JSON text", Cause: err}
	}
	if err := checkFormat(raw); err != nil {
		return w, err
	}
	if err := canon.UnmarshalKnown(raw, &w); err != nil {
		return w, &SnapshotError{Want: "must have the members of " + SnapshotFormat + " only", Cause: err}
	}
	return w, nil
}

// header is what every format of a snapshot has.
type header struct {
	Format string `json:"format"`
}

// checkFormat looks at the format alone, so that a newer one is not blamed for its members.
func checkFormat(raw []byte) error {
	var head header
	if err := canon.Unmarshal(raw, &head); err != nil {
		return &SnapshotError{Want: "must be an object with a format", Cause: err}
	}
	if head.Format != SnapshotFormat {
		return &SnapshotError{Field: "format", Want: fmt.Sprintf("must be %q, is %.64q", SnapshotFormat, head.Format)}
	}
	return nil
}

func (w snapshot) state() (State, error) {
	if err := checkID(w.ID); err != nil {
		return State{}, &SnapshotError{Field: "id", Want: "must be a session's id", Cause: err}
	}
	s := State{id: w.ID}
	for i, from := range w.Slices {
		at, twice := s.find(from.Name)
		if want := from.check(twice); want != "" {
			return State{}, &SnapshotError{Field: fmt.Sprintf("slices[%d]", i), Want: want}
		}
		s.slots = slices.Insert(s.slots, at, from.slot())
	}
	for _, f := range w.Feedback {
		s = s.AddFeedback(f)
	}
	for _, a := range w.Attempts {
		s = s.AddAttempt(a)
	}
	for _, e := range w.ReducerErrors {
		s = s.AddReducerError(e)
	}
	return s, nil
}

// check says what would be right about a slice, if anything is wrong.
func (s sliceSnapshot) check(twice bool) string {
	switch {
	case !isName(s.Name):
		return fmt.Sprintf("name %.64q must match %s", s.Name, NamePattern)
	case reserved(s.Name):
		return fmt.Sprintf("name %q is that of a built-in log", s.Name)
	case twice:
		return fmt.Sprintf("name %q stands here twice", s.Name)
	case s.Kind != KindState && s.Kind != KindLog:
		return fmt.Sprintf("kind must be %q or %q, is %.64q", KindState, KindLog, string(s.Kind))
	}
	return ""
}

func (s sliceSnapshot) slot() slot {
	for i, v := range s.Values {
		if v == nil {
			s.Values[i] = json.RawMessage("null")
		}
	}
	return slot{s.Name, s.Kind, seq.Of(s.Values...)}
}
