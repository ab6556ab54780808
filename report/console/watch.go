package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/loop"
)

// Named is a store with the name that people know it by.
type Named struct {
	Name  string
	Store Store
}

// refreshed is how long what was read of the stores counts as new.
const refreshed = 200 * time.Millisecond

// watcher knows the sessions of stores. It reads only what is new, and only when asked.
type watcher struct {
	stores []Named
	clock  loop.Clock

	// reading is held while the stores are read.
	reading sync.Mutex
	buf     *bufio.Reader

	mu       sync.Mutex
	sessions map[key]*watched
	// total and read count the journals of the first reading; it is over once first is closed.
	total, read int
	first       chan struct{}
	at          time.Time
	err         error
}

// key names a journal.
type key struct {
	store int
	name  string
}

// watched is a session that is watched.
type watched struct {
	key
	summary
	journal Journal
	err     error
}

func newWatcher(stores []Named, clock loop.Clock) *watcher {
	return &watcher{
		stores: stores, clock: clock, buf: bufio.NewReaderSize(nil, 256<<10), sessions: map[key]*watched{},
		first: make(chan struct{}),
	}
}

// patience is how long a page waits for the first reading of the stores.
const patience = 500 * time.Millisecond

// refresh reads what is new. The first reading goes on in the background if it takes longer than patience.
func (w *watcher) refresh(ctx context.Context) error {
	select {
	case <-w.first:
		return w.readAll(ctx)
	default:
	}
	if w.reading.TryLock() {
		w.reading.Unlock()
		go func() { _ = w.readAll(context.WithoutCancel(ctx)) }()
	}
	select {
	case <-w.first:
	case <-w.clock.After(patience):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// readAll reads what is new of all stores.
func (w *watcher) readAll(ctx context.Context) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	w.mu.Lock()
	fresh, err := !w.at.IsZero() && w.clock.Now().Sub(w.at) < refreshed, w.err
	w.mu.Unlock()
	if fresh {
		return err
	}
	err = nil
	there := map[key]bool{}
	for n, s := range w.stores {
		all, listing := s.Store.Journals(ctx)
		err = errors.Join(err, listing)
		w.mu.Lock()
		w.total, w.read = len(there)+len(all), len(there)
		w.mu.Unlock()
		for _, j := range all {
			k := key{n, j.Name}
			there[k] = true
			w.one(ctx, k, j)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.sessions {
		if !there[k] && err == nil {
			delete(w.sessions, k)
		}
	}
	w.at, w.err = w.clock.Now(), err
	select {
	case <-w.first:
	default:
		close(w.first)
	}
	return err
}

// one reads what is new of a journal.
func (w *watcher) one(ctx context.Context, k key, j Journal) {
	w.mu.Lock()
	s, known := w.sessions[k]
	w.read++
	if known && s.journal.Size == j.Size && s.journal.Version == j.Version {
		if s.journal != j {
			held := *s
			held.journal = j
			w.sessions[k] = &held
		}
		w.mu.Unlock()
		return
	}
	now := watched{key: k, journal: j}
	if known && s.journal.Version == j.Version && j.Size >= s.offset {
		now.summary = s.summary
		now.asks = slices.Clone(s.asks)
	}
	w.mu.Unlock()
	in, err := w.stores[k.store].Store.Read(ctx, j.Name, now.offset)
	if err == nil {
		err = now.read(in, w.buf, now.take)
		err = errors.Join(err, in.Close())
	}
	now.err = err
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.session != "" || now.damaged > 0 {
		w.sessions[k] = &now
	}
}

// all returns what is known of all sessions, in the order of their journals.
func (w *watcher) all() (all []*watched, read, total int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *watched) int { return cmp.Or(a.store-b.store, cmp.Compare(a.name, b.name)) })
	return all, w.read, w.total
}

// find returns the session with an id; nil if there is none.
func (w *watcher) find(store, id string) *watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		if s.id() == id && (store == "" || w.stores[s.store].Name == store) {
			return s
		}
	}
	return nil
}

// id is the id of the session, or the name of a journal whose header cannot be read.
func (s *watched) id() string { return cmp.Or(s.session, s.name) }
