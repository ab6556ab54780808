package inbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/mail"
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
	item, err := mail.ItemOf(w)
	if err == nil {
		err = chain.Bounded(store.Put(ctx, session, item))
	}
	return err
}
