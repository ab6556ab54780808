package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/message"
)

// ErrNoCall: no call of the conversation waits for the result.
var ErrNoCall = errors.New("no call waits for this result")

// Answer adds the results of calls that a run left to its caller (loop.Config.CallsOnly) to the conversation.
// The next run is refused until each call has one. A result is a message of role tool with the CallID and the
// Name of its call; IsError says that it is none. If the model wrote its calls as text, the results become a
// message of the user. They are recorded with the next run; before it only a [Session.Snapshot] keeps them.
//
// The error is [ErrNoCall] for a result of another call and [ErrBusy] while a run holds the session; then
// nothing is added.
func (s *Session) Answer(results ...message.Message) error {
	results = talk.Printable(results)
	if err := talk.Validate("session: results", results); err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	defer s.changing.Unlock()
	if s.held {
		return ErrBusy
	}
	now := s.now()
	said, err := answered(now.Conversation, results)
	if err == nil {
		s.set(Contents{now.State, said, now.Kept})
	}
	return err
}

func answered(said, results []message.Message) ([]message.Message, error) {
	last := talk.LastReply(said)
	if last < 0 && len(results) > 0 {
		return nil, fmt.Errorf("session: %w: it has no conversation; one that is in a journal it gets with its "+
			"next run, or from Loop.Resume", ErrNoCall)
	}
	for n, r := range results {
		if r.Role != message.Tool {
			return nil, fmt.Errorf("session: results[%d].role: must be tool, is %s", n, r.Role)
		}
	}
	switch {
	case len(results) == 0:
		return said, nil
	case len(said[last].Calls) == 0:
		return append(slices.Clip(said), inText(results)), nil
	}
	next, open := slices.Concat(said, results), len(talk.Unanswered(said))
	if len(talk.Unanswered(next)) == open-len(results) {
		return next, nil
	}
	at := sort.Search(len(results), func(n int) bool {
		return len(talk.Unanswered(next[:len(said)+n+1])) > open-n-1
	})
	return nil, fmt.Errorf("session: results[%d]: %w: call_id %.64q, name %.64q", at, ErrNoCall,
		results[at].CallID, results[at].Name)
}

// inText returns the message with the results of calls that were written as text. Such calls have no ids.
func inText(results []message.Message) message.Message {
	said, texts := message.Message{Role: message.User}, make([]string, len(results))
	for n, r := range results {
		title, text := "Result of ", r.Text
		if r.IsError {
			title, said.IsError = "No result of ", true
		}
		if raw, err := canon.Marshal(r.Text); err == nil && !json.Valid([]byte(r.Text)) {
			text = string(raw)
		}
		texts[n] = title + feedback.Name(r.Name) + ": " + feedback.QuoteJSON(text)
		said.Parts = append(said.Parts, r.Parts...)
	}
	said.Text = strings.Join(texts, "\n\n")
	return said
}

// ErrUnanswered is the error of a run whose conversation has calls without a result, such as those that a run
// with loop.Config.CallsOnly left to its caller. [Session.Answer] takes the results, and without a session
// loop.Input.History ends with them. The error names the calls. Without their results the model would take
// them for calls that were not made, and call again.
var ErrUnanswered = errors.New("session: calls of the conversation have no result")

// maxNamed is the most calls that an error names.
const maxNamed = 10

// Unanswered returns an error of [ErrUnanswered] that names the calls without a result.
func Unanswered(said []message.Message) error {
	open := talk.Unanswered(said)
	if len(open) == 0 {
		return nil
	}
	var names []string
	for _, c := range open[:min(len(open), maxNamed)] {
		names = append(names, fmt.Sprintf("%.64q (%.64s)", c.Name, c.ID))
	}
	if more := len(open) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: %s: hand them over with Session.Answer or at the end of Input.History, or set "+
		"NewConversation",
		ErrUnanswered, strings.Join(names, ", "))
}
