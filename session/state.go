package session

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/policy"
)

// State is an immutable snapshot of a session. Methods that change something return a new State and leave the
// old one unchanged; two States made from one never see each other's changes. It is cheap to copy and safe
// for concurrent use. The zero value has no id, no slices and empty logs, and is ready to use.
type State struct {
	id            string
	slots         []slot // sorted by name; read-only once part of a State
	feedback      seq.Log[feedback.RetryFeedback]
	attempts      seq.Log[Attempt]
	reducerErrors seq.Log[fault.ReducerError]
	charged       policy.Charge
	runs          int
	successes     Counts           // read-only once part of a State
	approved      []string         // sorted; read-only once part of a State
	maxReplies    map[string]int64 // read-only once part of a State
}

// slot is a declared slice and its values.
type slot struct {
	name string
	kind Kind
	held values
}

// Info describes one declared slice of a [State].
type Info struct {
	Name string
	Kind Kind
	// Len is the number of values.
	Len int
}

// NewState returns an empty state with the declared slices. The error joins one for each fault.
func NewState(id string, declared ...Declared) (State, error) {
	cfg := Config{ID: id, Slices: declared}
	if err := cfg.Validate(); err != nil {
		return State{}, err
	}
	return State{id: id, slots: emptySlots(declared)}, nil
}

func emptySlots(declared []Declared) []slot {
	slots := make([]slot, len(declared))
	for n, d := range declared {
		slots[n] = slot{name: d.Name(), kind: d.Kind()}
	}
	slices.SortFunc(slots, func(a, b slot) int { return strings.Compare(a.name, b.name) })
	return slots
}

// Same reports whether two states share their contents. It compares no values, so it is fast; states with
// equal but separate contents are not the same.
func (s State) Same(o State) bool {
	return s.id == o.id && s.feedback.Same(o.feedback) && s.attempts.Same(o.attempts) &&
		s.reducerErrors.Same(o.reducerErrors) && s.charged == o.charged && s.runs == o.runs &&
		slices.Equal(s.successes, o.successes) && slices.Equal(s.approved, o.approved) &&
		maps.Equal(s.maxReplies, o.maxReplies) &&
		slices.EqualFunc(s.slots, o.slots,
			func(a, b slot) bool { return a.name == b.name && a.kind == b.kind && a.held.Same(b.held) })
}

// empty reports that the state has no records, counts and values.
func (s State) empty() bool {
	return s.charged == (policy.Charge{}) && s.runs == 0 && s.feedback.Len() == 0 && s.attempts.Len() == 0 &&
		s.reducerErrors.Len() == 0 &&
		len(s.successes) == 0 && len(s.approved) == 0 && len(s.maxReplies) == 0 &&
		!slices.ContainsFunc(s.slots, func(in slot) bool { return in.held.Len() > 0 })
}

// ID returns the session's correlation id, or "" if it has none yet.
func (s State) ID() string { return s.id }

// Slices describes the declared slices, sorted by name, without the built-in logs.
func (s State) Slices() []Info {
	infos := make([]Info, len(s.slots))
	for i, slot := range s.slots {
		infos[i] = Info{Name: slot.name, Kind: slot.kind, Len: slot.held.Len()}
	}
	return infos
}

// Values returns the values of the named slice as canonical JSON, oldest first; ok is false if there is no
// such slice. The values of a declared slice are read-only. Those of a built-in log are encoded on each call,
// so prefer the log's own method; a record without a JSON form, such as a zero [feedback.RetryFeedback], is
// null.
func (s State) Values(slice string) (held []json.RawMessage, ok bool) {
	switch slice {
	case nameFeedback:
		return encoded(s.feedback), true
	case nameAttempts:
		return encoded(s.attempts), true
	case nameReducerErrors:
		return encoded(s.reducerErrors), true
	}
	at, ok := s.find(slice)
	if !ok {
		return nil, false
	}
	return s.slots[at].held.From(0), true
}

func encoded[T any](log seq.Log[T]) []json.RawMessage {
	all := make([]json.RawMessage, 0, log.Len())
	for _, v := range log.All() {
		raw, err := canon.Marshal(v)
		if err != nil {
			raw = []byte("null")
		}
		all = append(all, raw)
	}
	return all
}

// find returns the index of a slice, or where it would be inserted.
func (s State) find(slice string) (int, bool) {
	return slices.BinarySearchFunc(s.slots, slice,
		func(s slot, name string) int { return strings.Compare(s.name, name) })
}

// Feedback returns the built-in log of feedback, oldest first. The slice is read-only.
func (s State) Feedback() []feedback.RetryFeedback { return s.feedback.From(0) }

// NewestFeedback yields the built-in log of feedback, newest first. It copies nothing.
func (s State) NewestFeedback() iter.Seq[feedback.RetryFeedback] {
	return func(yield func(feedback.RetryFeedback) bool) {
		for _, f := range s.feedback.Backward() {
			if !yield(f) {
				return
			}
		}
	}
}

// Attempts returns the built-in log of attempts, oldest first. The slice is read-only.
func (s State) Attempts() []Attempt { return s.attempts.From(0) }

// AttemptsFrom returns what follows the first n of [State.Attempts]. It panics where there are fewer, as
// slicing does. The slice is read-only.
func (s State) AttemptsFrom(n int) []Attempt { return s.attempts.From(n) }

// AttemptCount returns the length of [State.Attempts].
func (s State) AttemptCount() int { return s.attempts.Len() }

// ReducerErrors returns the built-in log of reducer errors, oldest first. Their Cause is nil: a state holds
// values only. The slice is read-only.
func (s State) ReducerErrors() []fault.ReducerError { return s.reducerErrors.From(0) }

// Forget returns s without its attempts and errors of reducers, and without its feedback unless prompts may
// show it, but with their numbers. A snapshot of it does not have them.
func (s State) Forget(shows bool) State {
	if !shows {
		s.feedback = s.feedback.Forget(s.feedback.Len())
	}
	s.attempts = s.attempts.Forget(s.attempts.Len())
	s.reducerErrors = s.reducerErrors.Forget(s.reducerErrors.Len())
	return s
}

// Runs returns how many runs of the session have begun.
func (s State) Runs() int { return s.runs }

// AddRun counts a run that begins.
func (s State) AddRun() State {
	s.runs++
	return s
}

// Charged returns what the model calls of the session cost, as far as runs have prices or bound spending.
func (s State) Charged() policy.Charge { return s.charged }

// AddCharge returns s with the charge added.
func (s State) AddCharge(c policy.Charge) State {
	s.charged = s.charged.Plus(c)
	return s
}

// AddFeedback returns s with the feedback added to its log, in amortised constant time. As in a snapshot,
// invalid UTF-8 is replaced and times are in UTC. Issues is shared.
func (s State) AddFeedback(f feedback.RetryFeedback) State {
	cleanFeedback(&f)
	s.feedback = s.feedback.Append(f)
	return s
}

// AddAttempt returns s with the attempt added to its log, in amortised constant time. As in a snapshot,
// invalid UTF-8 is replaced, and the time is in UTC or left out beyond the years 0 to 9999. Issues is shared.
func (s State) AddAttempt(a Attempt) State {
	cleanAttempt(&a)
	s.attempts = s.attempts.Append(a)
	return s
}

// AddReducerError returns s with the error added to its log, in amortised constant time, without its Cause
// and scrubbed of keys.
func (s State) AddReducerError(e fault.ReducerError) State {
	s.reducerErrors = s.reducerErrors.Append(cleanReducerError(e))
	return s
}
