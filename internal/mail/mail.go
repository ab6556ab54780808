// Package mail writes what people say to runs as items of an inbox, and reads it there.
package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// PutAnswer puts an answer with an At into an inbox as it is, and returns the item. The error is a
// [*machine.AnswerError] of [machine.ErrAnswered] if another answer waits there. Only the run that asks calls
// it itself, for an answer that it takes at once: others give theirs by Answer of package inbox.
func PutAnswer(
	ctx context.Context, in journal.Inbox, session string, answer machine.Response,
) (journal.Item, error) {
	item := journal.Item{Kind: journal.AnswerItem, Key: answer.Question, By: answer.By, At: answer.At}
	if in == nil {
		return item, errors.New("inbox: the store is nil: give one, such as a Dir")
	}
	var err error
	if item.Body, err = json.Marshal(answer); err != nil {
		return item, &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit,
			Why: "it is not JSON: " + err.Error()}
	}
	err = chain.Bounded(in.Put(ctx, session, item))
	if first, there := errors.AsType[*journal.AnsweredError](err); there {
		return item, &machine.AnswerError{Question: answer.Question, Err: machine.ErrAnswered, Why: waits(first.First)}
	}
	return item, err
}

// waits says who gave an answer that no run has taken.
func waits(i journal.Item) string {
	by := ""
	if i.By != "" {
		by = " by " + i.By
	}
	return fmt.Sprintf("it was given%s at %s, and the run has not taken it yet", by, i.At.Format(time.RFC3339))
}

// ResponseIn returns the answer in an item of an inbox. Its question is that of the item, its time and its
// person too.
func ResponseIn(i journal.Item) (*machine.Response, error) {
	var r machine.Response
	if err := bodyOf(i, &r); err != nil {
		return nil, fmt.Errorf("the answer to %.80q cannot be read: %w", i.Key, err)
	}
	r.Question, r.By, r.At = i.Key, i.By, i.At
	return &r, nil
}

// bodyOf reads what is said in an item of an inbox.
func bodyOf(i journal.Item, said any) error {
	body, err := canon.JSON(i.Body)
	if err == nil {
		err = canon.Unmarshal(body, said)
	}
	return err
}

// ItemOf returns a message with an ID as an item of an inbox.
func ItemOf(w session.Words) (journal.Item, error) {
	item := journal.Item{Kind: journal.MessageItem, Key: w.ID, By: w.By, At: w.At.UTC().Round(0)}
	var err error
	item.Body, err = json.Marshal(w)
	return item, err
}

// WordsIn returns the message in an item of an inbox. Its ID is the key of the item.
func WordsIn(i journal.Item) (*session.Words, error) {
	var w session.Words
	err := bodyOf(i, &w)
	w.ID, w.By, w.At = i.Key, i.By, i.At
	if err == nil {
		err = w.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("the message %.80q cannot be read: %w", i.Key, err)
	}
	return &w, nil
}

// Stops reports whether an item is a message that stops a model call.
func Stops(i journal.Item) bool {
	if i.Kind != journal.MessageItem {
		return false
	}
	w, err := WordsIn(i)
	return err == nil && w.Stop
}
