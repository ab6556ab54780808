package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
)

// reading is how far the reading of a store is.
type reading struct {
	// over is closed when the one under way is over, and stuck before that if it gets no further; nil while
	// there is none.
	over, stuck chan struct{}
	// at is when the last one was over; zero before the first. err is what is wrong with the store, and away
	// says that nothing of it can be read.
	at   time.Time
	err  error
	away bool
	// total and read count the journals of the one under way.
	total, read int
}

// refreshed is how long what was read of the stores counts as new. It is shorter than [collect], so that the
// stores were read anew each time that a page is told of changes.
const refreshed = 200 * time.Millisecond

// patience is how long a page waits for the stores to be read the first time, and soon how long later or for
// one that is away. After late without progress a store is away.
const (
	patience = 500 * time.Millisecond
	soon     = 80 * time.Millisecond
	late     = 5 * time.Second
)

// beginning reports whether the stores are yet to be read the first time.
func (w *watcher) beginning() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begins()
}

// begins is [watcher.beginning] for who holds the lock.
func (w *watcher) begins() bool {
	return slices.ContainsFunc(w.readings, func(r reading) bool { return r.at.IsZero() && !r.away })
}

// asOf returns the time when the stores were read last; now while they are read for the first time.
func (w *watcher) asOf(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.readings {
		if !r.away && !r.at.IsZero() && r.at.Before(now) {
			now = r.at
		}
	}
	return now
}

// away returns why nothing of a store can be read; nil if it can.
func (w *watcher) away(store int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.readings[store]; r.away {
		return r.err
	}
	return nil
}

// glance reads what is new, in the background if it takes longer than a page waits.
func (w *watcher) glance(ctx context.Context) error {
	wait := soon
	if w.beginning() {
		wait = patience
	}
	return w.refreshUntil(ctx, w.clock.After(wait))
}

// look returns the session with an id as it is now; nil if there is none. While the stores are read for the
// first time, that is as soon as it was read.
func (w *watcher) look(ctx context.Context, store, id string) (*watched, error) {
	if w.beginning() {
		err := w.glance(ctx)
		if s := w.find(store, id); s != nil {
			return s, err
		}
	}
	err := w.refresh(ctx)
	return w.find(store, id), err
}

// refresh reads what is new of all stores that answer.
func (w *watcher) refresh(ctx context.Context) error { return w.refreshUntil(ctx, nil) }

// refreshUntil is refresh that does not wait longer.
func (w *watcher) refreshUntil(ctx context.Context, until <-chan time.Time) error {
	under := make([]reading, len(w.stores))
	for n := range under {
		under[n] = w.begin(ctx, n)
	}
	for _, r := range under {
		var back <-chan time.Time
		if r.over == nil {
			continue
		} else if r.away {
			back = w.clock.After(soon)
		}
		select {
		case <-r.over:
		case <-r.stuck:
		case <-back:
		case <-until:
			return w.unread()
		case <-ctx.Done():
			return errors.Join(w.unread(), ctx.Err())
		}
	}
	return w.unread()
}

// unread returns what is wrong with the stores.
func (w *watcher) unread() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.readings {
		err = errors.Join(err, r.err)
	}
	return err
}

// begin reads what is new of a store in the background, unless it was read just now. It goes on for others if
// who asked has left.
func (w *watcher) begin(ctx context.Context, store int) reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, now := &w.readings[store], w.clock.Now()
	if r.over == nil && (r.at.IsZero() || now.Sub(r.at) >= refreshed) {
		r.over, r.stuck, r.total, r.read = make(chan struct{}), make(chan struct{}), 0, 0
		go w.read(context.WithoutCancel(ctx), store, now)
		go w.guard(store, *r, now)
	}
	return *r
}

// guard says that a store is away if its reading gets no further.
func (w *watcher) guard(store int, of reading, begin time.Time) {
	for was, stuck := 0, false; !stuck; {
		select {
		case <-of.over:
			return
		case <-w.clock.After(late):
		}
		w.mu.Lock()
		if r := &w.readings[store]; r.over == of.over {
			if stuck, was = r.read == was, r.read; stuck {
				r.away = true
				r.err = cmp.Or(r.err, fmt.Errorf("%s: no answer since %s", cmp.Or(w.stores[store].Name, "the store"), clock(begin)))
				close(r.stuck)
			}
		}
		w.mu.Unlock()
	}
}

// read reads what is new of a store.
func (w *watcher) read(ctx context.Context, store int, begin time.Time) {
	all, err := w.stores[store].Store.Stats(ctx, w.settled(store, begin)...)
	w.mu.Lock()
	w.readings[store].total = len(all)
	w.mu.Unlock()
	there := map[key]bool{}
	for _, stat := range all {
		there[key{store, stat.Session}] = true
		w.one(ctx, key{store, stat.Session}, stat, begin)
	}
	away := err != nil && len(all) == 0
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.sessions {
		if k.store == store && !there[k] && !away {
			delete(w.sessions, k)
			w.version++
		}
	}
	w.relate(store)
	r := &w.readings[store]
	close(r.over)
	r.over, r.at, r.err, r.away = nil, w.clock.Now(), err, away
}

// settled returns the stats of the sessions of a store that are as they are whoever holds their journals.
func (w *watcher) settled(store int, now time.Time) (all []journal.Stat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, s := range w.sessions {
		if k.store == store && s.isSettled(now) {
			all = append(all, s.stat)
		}
	}
	return all
}
