package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/canon"
)

// Words are a user's message to a run that is under way. The zero value is not valid.
type Words struct {
	// ID is unique among the messages of a run: at most 256 bytes of printable text. [Session.Say] makes one
	// if it is empty.
	ID string `json:"id" redact:"keep"`
	// Text is the message, of 1 byte to 256 KiB.
	Text string `json:"text" redact:"text"`
	// By names the author, within the bounds of ID; it may be empty. At is when it was said.
	By string    `json:"by,omitempty" redact:"keep"`
	At time.Time `json:"at,omitzero"`
	// Stop abandons a model call that is under way, and asks again with the message. Calls that wait for a
	// person are not made; a question about an exhaustion stays open. Calls of tools that have begun are
	// finished.
	Stop bool `json:"stop,omitempty"`
	// Reset begins the attempts of all actions and the budgets of failed attempts anew. Turns, spending,
	// caps, waits of the transport and the deadline stay.
	Reset bool `json:"reset,omitempty"`
}

// maxText is the most bytes of a message.
const maxText = 256 << 10

// Validate returns what is wrong with the message.
func (w *Words) Validate() error {
	wrong := func(field, want string) error { return fmt.Errorf("user's message: %s: %s", field, want) }
	printable := fmt.Sprintf("give at most %d bytes of printable text", canon.MaxID)
	switch {
	case strings.TrimSpace(w.Text) == "":
		return wrong("text", "must not be empty")
	case len(w.Text) > maxText:
		return wrong("text", fmt.Sprintf("has %d bytes, and %d are allowed", len(w.Text), maxText))
	case canon.CheckID("id", w.ID) != nil:
		return wrong("id", printable)
	case canon.CheckID("by", w.By) != nil:
		return wrong("by", printable)
	}
	return nil
}

// Say says something to the run that holds the session: see [Words]. The message joins the conversation
// before the next model call, after earlier ones, and is recorded. If the model answers in between, the run
// goes on, unless it has no turn left. If the run ends first, its result has a warning. Where the journal's
// store has an inbox and nothing is left out of the journal, the message is kept there until it is recorded.
// The error is [ErrNotHeld] if no run holds the session, or that of an invalid message or of the inbox. It
// waits for no reducer, so that a reducer may call it.
func (s *Session) Say(w Words) error {
	if err := w.Validate(); err != nil {
		return err
	}
	if toRun := s.toRun.Load(); toRun != nil {
		return (*toRun)(w)
	}
	return ErrNotHeld
}

// Hearing passes the messages of [Session.Say] to hear, until [Driver.Release]. Only the run that acquired
// the session may call it.
func (d Driver) Hearing(hear func(Words) error) {
	d.s.toRun.Store(&hear)
}
