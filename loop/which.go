package loop

import (
	"errors"

	"github.com/retake-go/retake/journal"
)

// standing is what a journal has of a run or an action that is to be made.
type standing string

const (
	// fresh: nothing, so it begins.
	fresh standing = "fresh"
	// continued: its last run, ended or not.
	continued standing = "continued"
	// answered: its end, from an earlier run.
	answered standing = "answered"
)

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

// which returns what the journal has of what is wanted. If that is an answer, it sets recorded.
func (p *process) which(wants func() wanted) (standing, error) {
	j := p.journal
	if j == nil {
		return fresh, nil
	}
	w := wants()
	var unread error
	if w.ended || j.Unfinished() {
		past, err := j.Past()
		if err == nil {
			is, err := w.is(past)
			if is || err != nil {
				return continued, err
			}
		}
		unread = err
	}
	if w.id == "" {
		return fresh, unread
	}
	end, err := w.end(w.id)
	switch {
	case err != nil:
		return fresh, err
	case end != nil:
		p.recorded = end
		return answered, nil
	case errors.Is(unread, journal.ErrRedacted) && !j.Unfinished():
		return fresh, nil // the texts are gone, the ids are not
	}
	return fresh, unread
}
