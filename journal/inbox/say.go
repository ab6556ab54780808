package inbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// ErrEnded is the error of a message to a session whose run has ended: no model would hear it.
var ErrEnded = errors.New("inbox: the run has ended: nobody hears a message")

// Say puts a user's message into the inbox of a session whose run has not ended: see [session.Words]. Its At
// is when it was said, and must be set; an ID is made if it has none. Other errors are those of the message,
// of the store, and [journal.ErrNoRun] if there is no such session. It is safe for concurrent use.
func Say(ctx context.Context, store Store, session string, w session.Words) error {
	if w.At.IsZero() {
		return errors.New("inbox: at: set when it was said")
	}
	if w.ID == "" {
		w.ID = rand.Text()
	}
	if err := w.Validate(); err != nil {
		return err
	}
	f, err := journal.Last(ctx, store, session)
	if err != nil {
		return err
	}
	if f.State.Phase == machine.Stopped {
		return fmt.Errorf("session %q: %w", session, ErrEnded)
	}
	item, err := ItemOf(w)
	if err == nil {
		err = chain.Bounded(store.Put(ctx, session, item))
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
