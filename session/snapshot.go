package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// snapshotFormat is the name and version of the snapshot format.
const snapshotFormat = "retake.session/1"

// MaxSnapshotBytes is the largest snapshot that is read: 64 MiB.
const MaxSnapshotBytes = 64 << 20

// snapshot is the wire form of a state.
type snapshot struct {
	Format        string                   `json:"format"`
	ID            string                   `json:"id"`
	Slices        []sliceSnapshot          `json:"slices"`
	Feedback      []feedback.RetryFeedback `json:"feedback"`
	Attempts      []Attempt                `json:"attempts"`
	ReducerErrors []fault.ReducerError     `json:"reducer_errors"`
	Charged       policy.Charge            `json:"charged,omitzero"`
	Runs          int                      `json:"runs,omitempty"`
	Successes     Counts                   `json:"successes,omitempty"`
	Approved      []string                 `json:"approved,omitempty"`
	MaxReplies    map[string]int64         `json:"max_replies,omitempty"`
	// Conversation and Kept are only in the snapshot of a [Session]. Kept is absent if nothing is known.
	Conversation []message.Message `json:"conversation,omitempty"`
	Kept         projection.Kept   `json:"kept,omitzero"`
}

type sliceSnapshot struct {
	Name   string            `json:"name"`
	Kind   Kind              `json:"kind"`
	Values []json.RawMessage `json:"values"`
}

// Snapshot returns the session's state and conversation of one moment as canonical JSON, for [Restore]. See
// [State.Snapshot].
func (s *Session) Snapshot() ([]byte, error) { return s.now().Snapshot() }

// Snapshot is [Session.Snapshot] for a session's contents.
func (c Contents) Snapshot() ([]byte, error) {
	w := c.State.wire()
	w.Conversation, w.Kept = c.Conversation, c.Kept
	return canon.Marshal(w)
}

// Snapshot returns the state as canonical JSON, for [ParseState]. Equal states give equal bytes. The error
// names a record without a JSON form; only a record added to a built-in log by hand can have none.
func (s State) Snapshot() ([]byte, error) { return canon.Marshal(s.wire()) }

func (s State) wire() snapshot {
	w := snapshot{
		Format: snapshotFormat, ID: s.ID(), Slices: []sliceSnapshot{},
		Feedback: collect(s.feedback), Attempts: collect(s.attempts), ReducerErrors: collect(s.reducerErrors),
		Charged:   s.charged,
		Runs:      s.runs,
		Successes: s.successes, Approved: s.approved, MaxReplies: s.maxReplies,
	}
	for _, slot := range s.slots {
		w.Slices = append(w.Slices, sliceSnapshot{slot.name, slot.kind, collect(slot.held)})
	}
	return w
}

func collect[T any](log seq.Log[T]) []T { return append([]T{}, log.From(0)...) }

// ParseState reads a snapshot. It refuses, with an error that names the field, anything but strict
// JSON of this format and version: unknown members, slices with a duplicate or invalid name or an invalid
// kind, and more than [MaxSnapshotBytes]. [Restore] checks whether slices and values fit a session, and
// reads its conversation, as [ParseContents] does.
func ParseState(data []byte) (State, error) {
	w, err := parse(data)
	if err != nil {
		return State{}, err
	}
	return w.state()
}

// ParseContents reads a snapshot with its conversation. It refuses what [ParseState] does, an invalid
// message, and what does not fit the conversation.
func ParseContents(data []byte) (c Contents, err error) {
	w, err := parse(data)
	if err != nil {
		return c, err
	}
	if err := talk.Validate("", w.Conversation); err != nil {
		return c, badSnapshot("conversation", "must be messages", err)
	}
	if !w.Kept.Fits(len(w.Conversation)) {
		return c, badSnapshot("kept", "must have turns and cuts of the conversation, in order", nil)
	}
	state, err := w.state()
	return Contents{state, w.Conversation, w.Kept}, err
}

func parse(data []byte) (w snapshot, err error) {
	if len(data) > MaxSnapshotBytes {
		return w, badSnapshot("", fmt.Sprintf("must have at most %d bytes, has %d", MaxSnapshotBytes,
			len(data)), nil)
	}
	raw, err := canon.JSON(data)
	if err != nil {
		return w, badSnapshot("", "must be one strict JSON text", err)
	}
	if err := checkFormat(raw); err != nil {
		return w, err
	}
	if err := canon.UnmarshalKnown(raw, &w); err != nil {
		return w, badSnapshot("", "must have the members of "+snapshotFormat+" only", err)
	}
	return w, nil
}

// checkFormat checks only the format, so that a newer format is not reported as unknown members.
func checkFormat(raw []byte) error {
	type header struct {
		Format string `json:"format"`
	}
	var head header
	if err := canon.Unmarshal(raw, &head); err != nil {
		return badSnapshot("", "must be an object with a format", err)
	}
	if head.Format != snapshotFormat {
		return badSnapshot("format", fmt.Sprintf("must be %q, is %.64q", snapshotFormat,
			head.Format), nil)
	}
	return nil
}

func (w snapshot) state() (State, error) {
	if err := checkID(w.ID); err != nil {
		return State{}, badSnapshot("id", "must be a session's id", err)
	}
	if w.Charged.Cost < 0 || w.Charged.Usage.InputTokens < 0 || w.Charged.Usage.OutputTokens < 0 {
		return State{}, badSnapshot("charged", "must have counts of 0 or more", nil)
	}
	if w.Runs < 0 {
		return State{}, badSnapshot("runs", "must be 0 or more", nil)
	}
	s := State{id: w.ID, charged: w.Charged, runs: w.Runs}
	for i, from := range w.Slices {
		at, twice := s.find(from.Name)
		if want := from.check(twice); want != "" {
			return State{}, badSnapshot(fmt.Sprintf("slices[%d]", i), want, nil)
		}
		s.slots = slices.Insert(s.slots, at, slot{from.Name, from.Kind, seq.Of(from.Values...)})
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
	for i, c := range w.Successes {
		if c.N < 1 || s.Successes(c.Tool) > 0 {
			return State{}, badSnapshot(fmt.Sprintf("successes[%d]", i),
				"must be the only count of its tool, 1 or more", nil)
		}
		s = s.AddSuccesses(c.Tool, c.N)
	}
	for _, tool := range w.Approved {
		s = s.AddApproved(tool)
	}
	for _, model := range canon.Keys(w.MaxReplies) {
		if w.MaxReplies[model] < 1 {
			return State{}, badSnapshot(fmt.Sprintf("max_replies[%.64q]", model), "must be 1 or more", nil)
		}
		s = s.WithMaxReply(model, w.MaxReplies[model])
	}
	return s, nil
}

// check returns what would be right about a slice, or "".
func (s sliceSnapshot) check(twice bool) string {
	switch {
	case !isName(s.Name):
		return fmt.Sprintf("name %.64q must match %s", s.Name, namePattern)
	case reserved(s.Name):
		return fmt.Sprintf("name %q is reserved for a built-in log", s.Name)
	case twice:
		return fmt.Sprintf("name %q appears twice", s.Name)
	case s.Kind != KindState && s.Kind != KindLog:
		return fmt.Sprintf("kind must be %q or %q, is %.64q", KindState, KindLog, string(s.Kind))
	}
	return ""
}
