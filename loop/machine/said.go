package machine

import (
	"slices"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Said is a user's message to a run that is under way.
type Said struct {
	Words session.Words `json:"words"`
	// Late reports that a model call was under way, so that the model has not seen the message.
	Late bool `json:"late,omitempty"`
}

// said takes a user's message. It joins the conversation before the next model call.
func (s *step) said() error {
	w, late := &s.ev.Said.Words, s.ev.Said.Late
	if s.Config.Single {
		return s.eventError("a single action hears no user")
	}
	if slices.Contains(s.Spoken, w.ID) {
		return s.eventError("it was said before")
	}
	s.Spoken, s.inner.Words = append(slices.Clip(s.Spoken), w.ID), append(slices.Clip(s.inner.Words), *w)
	if w.Reset {
		s.Actions, s.Failed, s.inner.Nudge = nil, failedCounts{}, nil
		s.startOver()
		if b := s.Batch; b != nil {
			for _, tool := range b.tools() {
				if !b.failed(tool) {
					s.open(tool).Attempt = 1 // it is under way
				}
			}
		}
	}
	switch {
	case s.Phase == Calling && !late:
		s.useLeft()
		return s.callModel()
	case w.Stop && s.Phase == Asking && s.inner.Questions[0].Kind != AskExhausted:
		return s.withdraw()
	}
	return nil
}

// withdraw takes the open questions about calls back: the calls are not made.
func (s *step) withdraw() error {
	for _, a := range s.inner.Questions {
		if c := s.call(a.Index); c.Lost != nil {
			s.leaveLost(c)
		} else {
			s.forbid(c, userSpokeFirst, "")
		}
	}
	return s.askOn(func(Ask) bool { return true })
}

func (s *step) addUserMessages() {
	for _, w := range s.inner.Words {
		s.say(message.Message{Role: message.User, Text: w.Text})
	}
	s.inner.Words = nil
}

// hasUserMessages reports whether there are messages of the user that the model can still be told.
func (s *step) hasUserMessages() bool {
	limit := s.Policy.MaxTurns
	return len(s.inner.Words) > 0 && (limit == policy.Unlimited || s.Turn < limit)
}
