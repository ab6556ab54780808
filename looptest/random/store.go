package random

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/looptest"
)

// clockedStore is the store as the run sees it. What is in its inbox comes by the clock of the run: when a
// run looks is up to the clock of the machine.
type clockedStore struct {
	*looptest.Store
	w *World
}

// Items returns what has come.
func (b *clockedStore) Items(ctx context.Context, session string) ([]journal.Item, error) {
	all, err := b.Store.Items(ctx, session)
	now := b.w.Clock.Now()
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return slices.DeleteFunc(all, func(i journal.Item) bool {
		return slices.ContainsFunc(b.w.items, func(o itemPut) bool {
			return o.Kind == i.Kind && o.Key == i.Key && o.due.After(now)
		})
	}), err
}

// written is the length of a journal after a write.
type written struct {
	session string
	length  int
}

// Open opens a journal whose writes are noted, in the order in which they were made.
func (b *clockedStore) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := b.Store.Open(ctx, session)
	return notingLog{log, b.w, session}, err
}

type notingLog struct {
	journal.Log
	w       *World
	session string
}

func (l notingLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.written = append(l.w.written, written{l.session, int(at) + len(lines)})
	return l.Log.Append(ctx, at, lines, durable)
}

// transcripts is a store of what was left out of a journal.
type transcripts struct {
	mu   sync.Mutex
	held map[string][]byte
}

// Keep implements [journal.Transcripts].
func (k *transcripts) Keep(_ context.Context, _, digest string, text []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == nil {
		k.held = map[string][]byte{}
	}
	k.held[digest] = bytes.Clone(text)
	return nil
}

// Lookup implements [journal.Transcripts].
func (k *transcripts) Lookup(_ context.Context, _, digest string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, ok := k.held[digest]
	if !ok {
		return nil, fmt.Errorf("nothing is kept as %s", digest)
	}
	return text, nil
}
