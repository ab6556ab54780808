package loop

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// enter takes the session, for a fresh run or for the run that the journal has. If neither has a RequestID,
// an ended run with the same history and prompt is an earlier turn of the conversation; for a pool it is the
// same run, because runs are added again after a crash. In a pool an empty message is the last run: it
// continues, or its end is told again.
func (p *process) enter(m *machine.Compiled, pooled bool) (begins bool, err error) {
	isLast, err := p.find(func() wanted { return p.wanted(pooled) })
	switch {
	case err != nil:
		return false, err
	case p.recorded != nil:
		return false, p.adopt()
	case isLast:
		return false, p.resumeRun()
	}
	return true, p.beginRun(m)
}

// wanted returns the run of the input.
func (p *process) wanted(pooled bool) wanted {
	j, id := p.journal, p.in.RequestID
	return wanted{id: id, ended: id != "" || pooled, is: func(past *journal.Fold) (bool, error) {
		cfg := &past.Header.Config
		switch {
		case past.Header.Format == "" || cfg.Single:
			return false, nil
		case pooled && p.in.Prompt == "" && len(p.in.Attach) == 0 && (j.Unfinished() || id == "" && p.silent()):
			return true, nil
		case id != "" && cfg.RequestID == id:
			return true, p.sameRequest(past)
		}
		return id == "" && cfg.RequestID == "" && p.saidThen(past, j.Unfinished()), nil
	}, end: func(id string) (*journal.Ended, error) {
		end, err := j.Answered(id)
		if err == nil && end != nil && !j.Asked(end, p.message()[0]) {
			err = p.otherPrompt()
		}
		return end, err
	}}
}

// silent reports whether an input without a prompt and media has nothing else for a model to answer.
func (p *process) silent() bool {
	return len(p.in.History) == 0 && !p.in.NewConversation && !talk.Waits(p.s.Conversation())
}

// message returns the user's message as it is recorded.
func (p *process) message() []message.Message {
	return talk.Printable([]message.Message{p.in.Message()})
}

// otherPrompt returns the error of a request whose id belongs to another.
func (p *process) otherPrompt() error {
	return fmt.Errorf("loop: input: request_id: %q belongs to another prompt in the journal: give each "+
		"request its own id",
		p.in.RequestID)
}

// sameRequest returns an error if the last run of the journal had another prompt.
func (p *process) sameRequest(past *journal.Fold) error {
	then := past.State.Transcript()[:past.State.Began]
	if len(then) > 0 && !talk.Equal(then[len(then)-1:], p.message()) {
		return p.otherPrompt()
	}
	return nil
}

// saidThen reports whether the last run of the journal began with the same conversation. If no history is
// given, an unfinished run is compared by its prompt.
func (p *process) saidThen(past *journal.Fold, unfinished bool) bool {
	then, now := past.State.Transcript()[:past.State.Began], []message.Message{p.in.Message()}
	if given := p.in.History; len(given) > 0 || p.in.NewConversation {
		now = slices.Concat(given, now)
	} else if unfinished && len(then) > 0 {
		then = then[len(then)-1:]
	}
	return talk.Equal(then, talk.Printable(now))
}

// adopt takes the session and gives it what the journal has.
func (p *process) adopt() error {
	err := session.DriverOf(p.s).Acquire()
	if err != nil {
		return err
	}
	held, err := p.journal.Contents()
	if p.in.NewConversation || len(p.in.History) > 0 {
		held = session.Contents{State: held.State}
	}
	if err == nil {
		_ = session.DriverOf(p.s).Inherit(held) // what does not fit is an error of the next run that begins
	}
	return nil
}

// wanted is a run or an action as a journal may have it.
type wanted struct {
	// id is the ID of the request or the action; may be empty.
	id string
	// ended reports that the last run of the journal counts also if it has ended.
	ended bool
	// is reports whether the last run of the journal is the wanted one. It returns an error if only the ID
	// is.
	is func(*journal.Fold) (bool, error)
	// end returns the recorded end for the ID, or nil.
	end func(id string) (*journal.Ended, error)
}

// find looks for what is wanted in the journal. It reports whether that is its last run, ended or not. If it
// is the end of an earlier one, it sets recorded. Otherwise the run or the action is to begin.
func (p *process) find(wants func() wanted) (isLast bool, err error) {
	j := p.journal
	if j == nil {
		return false, nil
	}
	w := wants()
	var unread error
	if w.ended || j.Unfinished() {
		past, err := j.Past()
		if err == nil {
			if is, err := w.is(past); is || err != nil {
				return is, err
			}
		}
		unread = err
	}
	if w.id == "" {
		return false, unread
	}
	end, err := w.end(w.id)
	switch {
	case err != nil:
		return false, err
	case end == nil && errors.Is(unread, journal.ErrRedacted) && !j.Unfinished():
		return false, nil // the texts are gone, the ids are not
	case end == nil:
		return false, unread
	}
	p.recorded = end
	return false, nil
}
