package session

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/packed"
	"github.com/retake-go/retake/policy"
)

// Rest is [Session.Replace] with a state that is not looked at for long: a driver does so before a run waits. The session then holds
// in as little memory as it can what it held: see [State.Tight]; and attempts without issues, where it holds nothing else, as a text
// that is read when somebody looks at the session.
func (s *Session) Rest(state State) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.replace(&state); err != nil {
		return err
	}
	if !state.isPlain() {
		state = state.Tight()
		s.set(&state)
		return nil
	}
	var room packed.Room
	state.lay(&room)
	s.rest = room.String()
	s.frame.Store(nil)
	return nil
}

// risen is what the session holds, which was at rest a moment ago.
func (s *Session) risen() *frame {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.now()
}

// now is what the session holds, which rests no more. s.changing is held.
func (s *Session) now() *frame {
	if s.frame.Load() == nil {
		st, room := State{slots: emptySlots(nil)}, packed.From(s.rest)
		st.lay(&room)
		s.rest = ""
		s.set(&st)
	}
	return s.frame.Load()
}

// maxResting is how many attempts are kept as a text: it is read as a whole.
const maxResting = 16

// isPlain reports whether there is nothing but an id and a few attempts without issues.
func (s *State) isPlain() bool {
	if len(s.slots) > 0 || s.feedback.Len() > 0 || s.attempts.Len() > maxResting || s.rare().errors.Len() > 0 {
		return false
	}
	for _, a := range s.attempts.All() {
		if a.Issues != nil {
			return false
		}
	}
	return true
}

// lay lays what a plain state holds, or takes it.
func (s *State) lay(r *packed.Room) {
	b, n := s.rare(), s.attempts.Len()
	packed.Text(r, &b.id)
	packed.Int(r, &n)
	if r.Takes() {
		*s = s.with(b)
		for range n {
			var a *Attempt
			s.attempts, a = s.attempts.Next(max(n, firstAttempts))
			a.lay(r)
		}
		return
	}
	for _, a := range s.attempts.All() {
		a.lay(r)
	}
}

// lay lays an attempt without issues, or takes it.
func (a *Attempt) lay(r *packed.Room) {
	packed.Text(r, &a.Action)
	packed.Int(r, &a.Attempt)
	packed.Int(r, &a.MaxAttempts)
	packed.Word(r, &a.Plane, fault.Correction, fault.Transport)
	packed.Word(r, &a.Class, "", fault.RateLimit, fault.Overloaded, fault.Unavailable, fault.Timeout, fault.Network)
	packed.Word(r, &a.Reason, policy.Accepted, policy.Backoff, policy.ServerAsked, policy.Immediate)
	packed.Flag(r, &a.Retry)
	packed.Int(r, &a.Delay)
	for _, n := range []*int64{
		&a.Usage.InputTokens, &a.Usage.OutputTokens, &a.Usage.CacheReadTokens, &a.Usage.CacheWriteTokens, &a.Usage.APICalls,
	} {
		packed.Int(r, n)
	}
	packed.Time(r, &a.At)
}
