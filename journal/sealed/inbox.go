package sealed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/sealedline"
	"github.com/retake-go/retake/journal"
)

// inbox seals the bodies of items. An item that is not sealed is refused: only who has the key may put one.
type inbox struct {
	in   journal.Inbox
	keys keys
}

// itemPlace returns what is authenticated with a body.
func itemPlace(session string, i journal.Item) []byte {
	text, err := json.Marshal([]any{session, i.Kind, i.Key, i.By, i.At.UnixNano()})
	if err != nil {
		panic(err) // texts and numbers do not fail
	}
	return append([]byte("item"), text...)
}

// Put implements [journal.Inbox].
func (b inbox) Put(ctx context.Context, session string, item journal.Item) error {
	if err := item.Check(session); err != nil {
		return err
	}
	s := b.keys[0]
	sealed, err := s.Seal(item.Body, itemPlace(session, item))
	if err == nil {
		l := sealedline.Line{Key: s.KeyID(), Sealed: sealed}
		item.Body, err = l.Append(nil)
	}
	if err != nil {
		return fmt.Errorf("sealed: the key whose id is %q: %w", s.KeyID(), err)
	}
	err = chain.Bounded(b.in.Put(ctx, session, item))
	if answered, late := errors.AsType[*journal.AnsweredError](err); late {
		if answered.First, err = b.open(session, answered.First); err == nil {
			return answered
		}
	}
	return err
}

// open opens an item.
func (b inbox) open(session string, i journal.Item) (journal.Item, error) {
	bad := func(format string, args ...any) (journal.Item, error) {
		return i, fmt.Errorf("journal: session %q: %s %q: %w", session, i.Kind, i.Key, fmt.Errorf(format, args...))
	}
	l, err := sealedline.Parse(i.Body)
	if err != nil || l.Hash != "" {
		return bad("it is not sealed: put it with the key")
	}
	key, err := b.keys.find(l.Key)
	if err != nil {
		return bad("%w", err)
	}
	if i.Body, err = key.Open(l.Sealed, itemPlace(session, i)); err != nil {
		return bad("it does not open with the key whose id is %q: it was changed, or it is another item", l.Key)
	}
	return i, i.Check(session)
}

// Items implements [journal.Inbox].
func (b inbox) Items(ctx context.Context, session string) ([]journal.Item, error) {
	all, err := b.in.Items(ctx, session)
	var open []journal.Item
	for _, i := range all {
		i, bad := b.open(session, i)
		if err = errors.Join(err, bad); bad == nil {
			open = append(open, i)
		}
	}
	return open, err
}

// Remove implements [journal.Inbox].
func (b inbox) Remove(ctx context.Context, session string, item journal.Item) error {
	return b.in.Remove(ctx, session, item)
}

// WithItems implements [journal.Inbox].
func (b inbox) WithItems(ctx context.Context) ([]string, error) { return b.in.WithItems(ctx) }
