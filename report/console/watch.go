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

// watcher knows the sessions of stores. It reads only what is new, and only when asked.
type watcher struct {
	stores []Named
	clock  loop.Clock
	scrubber
	configs journal.Configs

	mu sync.Mutex
	// readings are how far those of the stores are.
	readings []reading
	sessions map[key]*watched
	// digested are the ids of sessions by the digests that the ids of their agents have instead.
	digested map[key]string
	// version counts the changes of sessions.
	version int64
}

// key names a session.
type key struct {
	store int
	id    string
}

// watched is a session as it was when its journal was read. It does not change, but for follower, which
// belongs to who reads the store.
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

// relate finds the sessions of a store in which others were made by their digests, counts the calls under way
// as in doubt whose agents have left something in doubt, and says what their agents ask.
func (w *watcher) relate(store int) {
	for k, s := range w.sessions {
		if k.store != store {
			continue
		}
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

// withAgents returns what a session says of itself, with the agents among the calls that were left.
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

// asks returns the session that asks a person for another: itself, or an agent in a call under way; nil if
// none does.
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

// agent returns the session of an agent; nil if there is none.
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

// around returns the sessions in whose calls another one was made, the outermost first.
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
	w.readings[k.store].read++
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
	last, none := f.Last()
	if err = cmp.Or(err, none); err != nil { // an agent stays one, whatever else its journal has lost
		s.follower = nil
		s.outer, _ = machine.Outer(last.Header.Session, last.Header.Config.Seed)
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
	if w.begins() {
		read, total := 0, 0
		for _, r := range w.readings {
			read, total = read+r.read, total+r.total
		}
		reading = "Read " + several.Grouped(read) + " of " + several.Grouped(total)
	}
	w.mu.Unlock()
	slices.SortFunc(all, func(a, b *watched) int { return cmp.Or(a.store-b.store, cmp.Compare(a.id, b.id)) })
	return all, reading
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
