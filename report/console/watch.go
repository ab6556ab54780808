package console

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/report"
)

// Named is a store with the name that people know it by.
type Named struct {
	Name  string
	Store journal.Keeper
}

// refreshed is how long what was read of the stores counts as new. It is shorter than [collect], so that the
// stores were read anew each time that a page is told of changes.
const refreshed = 200 * time.Millisecond

// watcher knows the sessions of stores. It reads only what is new, and only when asked.
type watcher struct {
	stores []Named
	clock  loop.Clock
	scrubber
	configs journal.Configs

	// reading is held while the stores are read.
	reading sync.Mutex

	mu       sync.Mutex
	sessions map[key]*watched
	// digested are the ids of sessions by the digests that the ids of their agents have instead.
	digested map[key]string
	// at is when the stores were read last; zero until the first reading is over. total and read count the
	// journals of that one.
	at          time.Time
	total, read int
	err         error
	// version counts the changes of sessions.
	version int64
}

// key names a session.
type key struct {
	store int
	id    string
}

// watched is a session as it was when its journal was read. It does not change, but for follower, which
// belongs to who reads the stores.
type watched struct {
	key
	facts
	row
	stat journal.Stat
	// err is why the journal could not be read at a time.
	err error
	at  time.Time
	// follower goes on with a journal that is being written; nil for others, which are read again if they
	// change.
	follower *journal.Follower
}

// patience is how long a page waits for the stores to be read the first time, and soon how long later.
const (
	patience = 500 * time.Millisecond
	soon     = 80 * time.Millisecond
)

// beginning reports whether the stores are yet to be read the first time.
func (w *watcher) beginning() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at.IsZero()
}

// glance reads what is new, in the background if it takes longer than a page waits.
func (w *watcher) glance(ctx context.Context) error {
	wait := soon
	if w.beginning() {
		wait = patience
	}
	done := make(chan error, 1)
	go func() { done <- w.refresh(context.WithoutCancel(ctx)) }()
	select {
	case err := <-done:
		return err
	case <-w.clock.After(wait):
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.err, ctx.Err())
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

// refresh reads what is new of all stores.
func (w *watcher) refresh(ctx context.Context) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	begin := w.clock.Now()
	w.mu.Lock()
	fresh, err := !w.at.IsZero() && begin.Sub(w.at) < refreshed, w.err
	w.mu.Unlock()
	if fresh {
		return err
	}
	err = nil
	there, listed := map[key]bool{}, map[int]bool{}
	known := w.settled(begin)
	for n, s := range w.stores {
		all, listing := s.Store.Stats(ctx, known[n]...)
		err, listed[n] = errors.Join(err, listing), listing == nil || len(all) > 0
		w.mu.Lock()
		w.total, w.read = len(there)+len(all), len(there)
		w.mu.Unlock()
		for _, stat := range all {
			there[key{n, stat.Session}] = true
			w.one(ctx, key{n, stat.Session}, stat, begin)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.sessions {
		if !there[k] && listed[k.store] {
			delete(w.sessions, k)
			w.version++
		}
	}
	w.relate()
	w.at, w.err = w.clock.Now(), err
	return err
}

// settled are the stats, by store, of sessions that are as they are whoever holds their journals.
func (w *watcher) settled(now time.Time) map[int][]journal.Stat {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[int][]journal.Stat{}
	for k, s := range w.sessions {
		if s.isSettled(now) {
			all[k.store] = append(all[k.store], s.stat)
		}
	}
	return all
}

// isSettled reports whether a session is as it is whoever holds its journal now: it has ended, or waits.
func (s *watched) isSettled(now time.Time) bool {
	if s.err != nil || s.stat.Held {
		return false
	}
	rests := s.State == journal.SessionWaits || s.State == journal.SessionAsks
	return s.State.Ended() || rests && (s.Until.IsZero() || now.Before(s.Until))
}

// mayBeLong is the least length of an id of which agents may have the digest.
const mayBeLong = 60

// relate finds the sessions in which others were made by their digests, counts the calls under way as in
// doubt whose agents have left something in doubt, and says what their agents ask.
func (w *watcher) relate() {
	for k, s := range w.sessions {
		outer := cmp.Or(w.digested[key{k.store, s.outer}], s.outer)
		n, why := w.doubts(s, 0), w.withAgents(s)
		if asks := w.asks(s, 0); asks != nil && asks != s {
			why += "; its agent asks: " + asks.own
		}
		if n != s.InDoubt || why != s.Why || outer != s.outer {
			is := *s
			is.InDoubt, is.Why, is.outer = n, why, outer
			w.sessions[k] = &is
		}
	}
}

// withAgents is what a session says of itself, with the agents among the calls that were left.
func (w *watcher) withAgents(s *watched) string {
	if s.State != journal.SessionInterrupted || len(s.left) == 0 {
		return s.own
	}
	agents := map[int]bool{}
	for n, id := range s.inside {
		agents[n] = w.agent(s.store, id) != nil
	}
	return w.scrub(leftCalls(s.Last, s.left, agents))
}

// asks is the session that asks a person for another: itself, or an agent in a call under way; nil if none
// does.
func (w *watcher) asks(s *watched, depth int) *watched {
	if s.State == journal.SessionAsks {
		return s
	}
	for _, id := range s.inside {
		if c := w.agent(s.store, id); c != nil && depth < deepest {
			if asks := w.asks(c, depth+1); asks != nil {
				return asks
			}
		}
	}
	return nil
}

// agent is the session of an agent; nil if there is none.
func (w *watcher) agent(store int, id string) *watched {
	if s := w.sessions[key{store, id}]; s != nil && s.outer != "" {
		return s
	}
	return nil
}

// asking is [watcher.asks] for who does not hold the lock.
func (w *watcher) asking(s *watched) *watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asks(s, 0)
}

// around are the sessions in whose calls another one was made, the outermost first.
func (w *watcher) around(s *watched) (all []report.Crumb) {
	for depth := 0; s != nil && depth < deepest; depth++ {
		if s = w.of(key{s.store, s.outer}); s != nil {
			all = append([]report.Crumb{{Session: s.id, Link: s.Link}}, all...)
		}
	}
	return all
}

// deepest is how deep agents are looked into; a journal may say that it is its own.
const deepest = 8

func (w *watcher) doubts(s *watched, depth int) int {
	n := s.doubts
	for _, id := range s.inside {
		if c := w.agent(s.store, id); c != nil && depth < deepest && w.doubts(c, depth+1) > 0 {
			n++
		}
	}
	return n
}

// one reads what is new of a journal.
func (w *watcher) one(ctx context.Context, k key, stat journal.Stat, now time.Time) {
	w.mu.Lock()
	was := w.sessions[k]
	w.read++
	w.mu.Unlock()
	if was != nil && was.isAsIt(stat, now) {
		return
	}
	is := &watched{key: k, stat: stat, at: now}
	if was != nil {
		is.follower = was.follower
	}
	if is.err = w.follow(ctx, is, now); errors.Is(is.err, journal.ErrNoRun) {
		return
	}
	w.describe(is)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions[k] = is; len(k.id) >= mayBeLong {
		w.digested[key{k.store, machine.DigestID(k.id)}] = k.id
	}
	w.version++
}

// changes counts the changes of sessions so far.
func (w *watcher) changes() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

// isAsIt reports whether nothing can have changed.
func (s *watched) isAsIt(stat journal.Stat, now time.Time) bool {
	waits := s.Until.IsZero() || now.Before(s.Until) || s.State == journal.SessionInterrupted || stat.Held
	if s.err != nil && s.Damaged == 0 && now.Sub(s.at) >= beat { // the store may be there again
		return false
	}
	return s.stat.Bytes == stat.Bytes && s.stat.Held == stat.Held && s.stat.Changed.Equal(stat.Changed) && waits
}

// follow reads a journal on, and from its beginning if another one has taken its place.
func (w *watcher) follow(ctx context.Context, s *watched, now time.Time) error {
	store, on := w.stores[s.store].Store, s.follower != nil
	if !on {
		s.follower = &journal.Follower{Configs: &w.configs}
	}
	err := s.read(ctx, store)
	if err != nil && on {
		s.follower = &journal.Follower{Configs: &w.configs}
		err = s.read(ctx, store)
	}
	f := s.follower
	if !s.stat.Held {
		s.follower = nil
	}
	if err != nil {
		s.follower = nil
		return err
	}
	last, err := f.Last()
	if err != nil {
		return err
	}
	s.facts = factsOf(last, last.Summary(s.stat.Held, now), f.Lines(), w.scrubber)
	f.Forget()
	return nil
}

func (s *watched) read(ctx context.Context, store journal.Keeper) error {
	in, err := store.Peek(ctx, s.id)
	if err != nil {
		return chain.Bounded(err)
	}
	return errors.Join(s.follower.Read(in), in.Close())
}

// all returns what is known of all sessions, in the order of their stores and ids, and how far the first
// reading has got; empty once it is over.
func (w *watcher) all() (all []*watched, reading string) {
	w.mu.Lock()
	for _, s := range w.sessions {
		all = append(all, s)
	}
	if w.at.IsZero() {
		reading = "Read " + several.Grouped(w.read) + " of " + several.Grouped(w.total)
	}
	w.mu.Unlock()
	slices.SortFunc(all, func(a, b *watched) int { return cmp.Or(a.store-b.store, cmp.Compare(a.id, b.id)) })
	return all, reading
}

// asOf is when the stores were read last; now while they are read for the first time.
func (w *watcher) asOf(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.at, now)
}

// of returns a session of a store, or nil.
func (w *watcher) of(k key) *watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[k]
}

// find returns the session with an id; nil if there is none.
func (w *watcher) find(store, id string) *watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, s := range w.stores {
		if found := w.sessions[key{n, id}]; found != nil && (store == "" || s.Name == store) {
			return found
		}
	}
	return nil
}
