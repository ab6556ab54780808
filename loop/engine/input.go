package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// Input is what one run is given, as data. What all runs of a loop share is its config. The zero value adds
// nothing to a conversation that ends with the user or the result of a call; there must be one. A run does
// not change it.
type Input struct {
	// Prompt is the user's message. It follows History or the conversation in the session.
	Prompt string
	// Attach are media after the text of the prompt.
	Attach []message.Part
	// History is the conversation before this run, such as an earlier loop.Result.Transcript. If it is empty,
	// the run continues the conversation in the session or, if there is none, in its journal. It is an error
	// if the session has a conversation.
	History []message.Message
	// NewConversation begins a new conversation, with History if set, whatever the session holds.
	NewConversation bool
	// RequestID identifies the request in the idempotency keys of its calls. Give each request of a
	// conversation its own id, and a repeated request the same id: at most 256 bytes of printable
	// text. If it is empty, the session's id, the number of messages when the run begins, and the last eight
	// of them identify the request.
	RequestID string
	// Deadline is the end of the run's time by its clock: no wait may outlast it, and when it comes, all
	// contexts of the run end and so does the run. Zero means the deadline of the context, if any. The
	// earlier one counts. A run that is resumed keeps it.
	Deadline time.Time
}

// Validate reports everything that is wrong with the input, each fault with its field.
func (in *Input) Validate() error {
	return errors.Join(
		canon.CheckID("request_id", in.RequestID),
		talk.ValidateParts("attach", in.Attach), talk.Validate("history", in.History),
		chain.At("history", session.Unanswered(in.History)),
	)
}

// Message returns the user's message: the prompt with its media.
func (in *Input) Message() message.Message {
	return message.Message{Role: message.User, Text: in.Prompt, Parts: in.Attach}
}

// anew reports whether the conversation before the run is not that of the session.
func (in *Input) anew() bool { return in != nil && (in.NewConversation || len(in.History) > 0) }

// Before returns the conversation that a run continues, and what is known of it or nil: the History of its
// input, or what its session holds. It is an error if there are both, unless the input begins a new one, and
// if there is nothing to answer.
func Before(in *Input, held session.Contents) ([]message.Message, *projection.Kept, error) {
	said, known := held.Conversation, held.Known()
	if in.anew() {
		if n := len(said); n > 0 && !in.NewConversation {
			return nil, nil, fmt.Errorf("history: the session holds a conversation of %d messages: leave History "+
				"out to continue it, or set NewConversation to begin another", n)
		}
		said, known = in.History, nil
	}
	if in.Prompt == "" && len(in.Attach) == 0 && !talk.Waits(said) {
		return nil, nil, errors.New("prompt: is empty, and there is nothing else to answer: give a prompt, media, " +
			"or a History that ends with a message of the user or the result of a call")
	}
	return said, known, nil
}
