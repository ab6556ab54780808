package session

import "github.com/retake-go/retake/internal/packed"

// Rest is [Session.Replace] with a state that is not looked at for long: a driver does so before a run waits. The session then holds
// in as little memory as it can what it held: see [State.Tight]; and a few records, where it holds nothing else, as a text that is read
// when somebody looks at the session.
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

// maxResting is how many records of a kind are kept as a text: it is read as a whole.
const maxResting = 16

// isPlain reports whether there is nothing but an id, and a few attempts and feedback on them.
func (s *State) isPlain() bool {
	return len(s.slots) == 0 && s.feedback.Len() <= maxResting && s.attempts.Len() <= maxResting && s.rare().errors.Len() == 0
}
