package session

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/seq"
)

// State is what a session holds at one moment, as an immutable value: every method that changes something returns a new State
// and leaves its receiver as it was, and two States made from one never see each other's changes. It is cheap to copy and
// safe for concurrent use. The zero value has no id, no declared slices and empty logs, and is ready for use.
type State struct {
	base     *base  // never written to; nil for a zero one
	slots    []slot // by name, in ascending order; never written to once it is part of a State
	feedback seq.Log[feedback.RetryFeedback]
	attempts seq.Log[Attempt]
}

// base is what few changes concern: a State is made for each step of a run.
type base struct {
	id     string
	errors seq.Log[fault.ReducerError]
}

func (s State) rare() base {
	if s.base == nil {
		return base{}
	}
	return *s.base
}

// with is s with that base.
func (s State) with(b base) State {
	if s.base = nil; b != (base{}) {
		s.base = new(b)
	}
	return s
}

// slot is one declared slice with its values.
type slot struct {
	*label
	held entries
}

// label is what never changes of a slot: all states share it.
type label struct {
	name string
	kind Kind
}

// Info describes one declared slice of a [State].
type Info struct {
	Name string
	Kind Kind
	// Len is the number of values.
	Len int
}

// named is s with that id.
func (s State) named(id string) State {
	b := s.rare()
	b.id = id
	return s.with(b)
}

// NewState returns an empty state with the slices, as [Config] would declare them. The error joins a [*ConfigError] per fault.
func NewState(id string, declared ...Declared) (State, error) {
	cfg := Config{ID: id, Slices: declared}
	if err := cfg.Validate(); err != nil {
		return State{}, err
	}
	return State{slots: emptySlots(declared)}.with(base{id: id}), nil
}

func emptySlots(declared []Declared) []slot {
	slots := make([]slot, len(declared))
	for n, d := range declared {
		at, _ := find(slots[:n], d.Name())
		copy(slots[at+1:], slots[at:n])
		slots[at] = slot{label: &label{d.Name(), d.Kind()}}
	}
	return slots
}

// ID is the session's correlation id; empty where it has none yet.
func (s State) ID() string {
	if s.base == nil {
		return ""
	}
	return s.base.id
}

// Slices describes the declared slices, sorted by name. The built-in logs are not among them.
func (s State) Slices() []Info {
	infos := make([]Info, len(s.slots))
	for i, slot := range s.slots {
		infos[i] = Info{Name: slot.name, Kind: slot.kind, Len: slot.held.Len()}
	}
	return infos
}

// Values returns what the named slice holds; ok is false where there is no such slice. Nothing is copied for a declared
// slice; the values of a built-in log are encoded anew on each call, so prefer its own method. A record that has no JSON
// form, such as a zero [feedback.RetryFeedback], reads as null.
func (s State) Values(slice string) (held seq.Log[Entry], ok bool) {
	switch slice {
	case NameFeedback:
		return encoded(s.feedback.Slice(0, s.feedback.Len())), true
	case NameAttempts:
		return encoded(s.attempts.Slice(0, s.attempts.Len())), true
	case NameReducerErrors:
		failed := s.ReducerErrors()
		return encoded(failed.Slice(0, failed.Len())), true
	}
	if i, ok := s.find(slice); ok {
		return s.slots[i].held, true
	}
	return held, false
}

func encoded[T any](values []T) entries {
	all := make([]Entry, 0, len(values))
	for _, v := range values {
		raw, err := canon.Marshal(v)
		if err != nil {
			raw = []byte("null")
		}
		all = append(all, newEntry(raw))
	}
	return seq.Of(all...)
}

// sameSlots reports whether slots are those of another state, as they are. It looks at what they share, and not at values.
func sameSlots(a, b []slot) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (s State) find(slice string) (int, bool) { return find(s.slots, slice) }

// find is where a slice stands, or would stand.
func find(slots []slot, slice string) (int, bool) {
	from, to := 0, len(slots)
	for from < to {
		if at := int(uint(from+to) / 2); slots[at].name < slice {
			from = at + 1
		} else {
			to = at
		}
	}
	return from, from < len(slots) && slots[from].name == slice
}

// Feedback is the built-in log of feedback, oldest first.
func (s State) Feedback() seq.Log[feedback.RetryFeedback] { return s.feedback }

// Attempts is the built-in log of attempts, oldest first.
func (s State) Attempts() seq.Log[Attempt] { return s.attempts }

// ReducerErrors is the built-in log of reducer errors, oldest first. Their Cause is nil: a state holds values only.
func (s State) ReducerErrors() seq.Log[fault.ReducerError] { return s.rare().errors }

// LatestFeedback returns the newest feedback for calls of the named tool, or for the final answer where action is empty
// (seed 002: prompts query the latest feedback). It looks back until it finds one.
func (s State) LatestFeedback(action string) (found feedback.RetryFeedback, ok bool) {
	for _, f := range s.feedback.Backward() {
		if f.ToolName == action && (f.Source == feedback.Tool) == (action != "") {
			return f, true
		}
	}
	return found, false
}

// AddFeedback returns s with the feedback added to its log, in amortised constant time. Text that is not UTF-8 is mended
// and times are brought to UTC, as in a snapshot; Issues is shared.
func (s State) AddFeedback(f feedback.RetryFeedback) State {
	cleanFeedback(&f)
	s.feedback = s.feedback.Append(f)
	return s
}

// AddAttempt returns s with the attempt added to its log, in amortised constant time. Text that is not UTF-8 is mended, the
// time is brought to UTC (and left out beyond the years 0 to 9999), as in a snapshot; Issues is shared.
func (s State) AddAttempt(a Attempt) State {
	cleanAttempt(&a, nil)
	s.attempts = s.attempts.Append(a)
	return s
}

// What there is room for at first: most sessions have few records, and fewer failures.
const (
	firstAttempts = 3
	firstFeedback = 2
)

// Draft is [State.AddAttempt], and [State.AddFeedback] where fed is set, of records that are made where the logs hold them, and are zero
// yet. Whoever asked for them fills them, the feedback by package feedback, which makes none that would have to be mended, and then
// calls [Seal], before others have next. Afterwards they are read-only; f is nil where fed is not set.
func (s State) Draft(fed bool) (next State, a *Attempt, f *feedback.RetryFeedback) {
	if fed {
		s.feedback, f = s.feedback.Next(firstFeedback)
	}
	s.attempts, a = s.attempts.Next(firstAttempts)
	return s, a, f
}

// AddReducerError returns s with the error added to its log, in amortised constant time, without its Cause.
func (s State) AddReducerError(e fault.ReducerError) State {
	b := s.rare()
	b.errors = b.errors.Append(cleanReducerError(e))
	return s.with(b)
}

// Tight returns the same state with short logs in as little memory as they need: see [seq.Log.Tight].
func (s State) Tight() State {
	s.feedback, s.attempts = s.feedback.Tight(), s.attempts.Tight()
	b := s.rare()
	if tight := b.errors.Tight(); tight != b.errors {
		b.errors = tight
		return s.with(b)
	}
	return s
}
