package session

import (
	"sync/atomic"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/seq"
)

// frame is a state but for how many records it has. A run adds a record with each attempt and mostly changes nothing else: the states that
// a session holds one after the other then share a frame, and none of them is made anew.
type frame struct {
	base     *base
	slots    []slot
	feedback seq.Memory[feedback.RetryFeedback]
	attempts seq.Memory[Attempt]
	// records is how many there are, of feedback in its upper half and of attempts in its lower: read and written at once, so that
	// nobody sees the one without the other.
	records atomic.Uint64
}

// fits reports whether a state is this frame but for how many records there are.
func (f *frame) fits(s *State) bool {
	return f.base == s.base && f.feedback == s.feedback.Memory() && f.attempts == s.attempts.Memory() && sameSlots(f.slots, s.slots)
}

// with is the frame of the same records with other slots.
func (f *frame) with(slots []slot) *frame {
	next := &frame{base: f.base, slots: slots, feedback: f.feedback, attempts: f.attempts}
	next.records.Store(f.records.Load())
	return next
}

func (f *frame) id() string {
	if f.base == nil {
		return ""
	}
	return f.base.id
}

// State is what the session holds now. It stays as it is whatever happens to the session.
func (s *Session) State() State { return s.seen().state() }

func (f *frame) state() State {
	n := f.records.Load()
	return State{
		base: f.base, slots: f.slots, feedback: f.feedback.Log(int(n >> 32)), attempts: f.attempts.Log(int(uint32(n))),
	}
}

// seen is the frame of what the session holds.
func (s *Session) seen() *frame {
	if f := s.frame.Load(); f != nil {
		return f
	}
	return s.risen()
}

// set makes a state the one that the session holds. Whoever calls it holds changing, or is alone with the session.
func (s *Session) set(next *State) {
	f := &frame{base: next.base, slots: next.slots, feedback: next.feedback.Memory(), attempts: next.attempts.Memory()}
	f.records.Store(next.records())
	s.frame.Store(f)
}

func (s *State) records() uint64 { return uint64(s.feedback.Len())<<32 | uint64(s.attempts.Len()) }
