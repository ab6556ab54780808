package limiter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/limit"
)

const (
	// gather is how long settled calls are kept, to be told together.
	gather = 100 * time.Millisecond
	// patience is how long a process waits for the store, and longest the most time between attempts while it
	// cannot be reached.
	patience = time.Second
	longest  = 30 * time.Second
	// tries is how often a record is read again because another process was faster.
	tries = 100
	// alone is the first ID of a process that has lost the store.
	alone = 1 << 40
	// kept is how many calls that settle while the store is lost it is told later.
	kept = 1000
)

// A process counts among those that share a scope for a time: twice as long as it has not used the scope,
// within these bounds. When half of that is over it says so again, until it has not used the scope for the
// longer bound and has no calls there. So one that is killed at work soon counts no more, and one that is
// silent need not speak often.
const (
	leastCount = 5 * time.Second
	mostCount  = time.Minute
)

// lender is what a scope borrows from: the record of the store or, while that is lost, a part of its last
// state. The fields are guarded by l.mu.
type lender struct {
	l      *Limiter
	s      *scope
	config limit.Config

	todo
	// tell is by when the events are told, look when the answer to the ask may be there, and speak by when
	// the store hears of the process, so that it counts; zero for never.
	tell, look, speak time.Time
	// asking is closed once the store has answered; nil while it is not asked. finding is set while it is
	// looked for.
	asking  chan struct{}
	finding bool
	// leaving is set while the store is told that the process does not count until it uses the scope again.
	leaving bool
	// alive is how many processes there were when the store was last heard of, and skew what its clock is
	// ahead.
	alive int64
	skew  time.Duration
	// down is set while the breaker of the lender is open.
	down bool
	// own takes the place of a store that is lost; nil if it is not. It is tried again at retry, after ever
	// longer pauses.
	own   *record
	retry time.Time
	pause time.Duration
	// untold is what the store is told when it is back, and claims what it may have lent in vain.
	untold []limit.Event
	claims []claim
}

// claim is what a write lent whose answer was lost: it may have been made.
type claim struct {
	id, calls int64
	// at is when it was lent, by the store's clock.
	at int64
}

// todo is what the lender is to be told.
type todo struct {
	events []limit.Event
	// ask is what is asked for, and asked its ID at the lender, 0 before it has one. anew is set if it takes
	// the place of the one with that ID.
	ask   *limit.Event
	asked int64
	anew  bool
	// claims are taken back if they were lent.
	claims []claim
	// write has the record written even if nothing of it changes.
	write bool
	// counts is for how long the process counts from then on.
	counts time.Duration
	// last is what was known last. It takes the place of a record that the store has lost.
	last limit.State
}

// quiet reports whether there is nothing to tell.
func (b *lender) quiet() bool {
	return b.asking == nil && !b.finding && len(b.events) == 0 && b.own == nil
}

func (b *lender) borrow(ask *limit.Event) {
	b.ask, b.anew, b.look = ask, true, b.l.time.Now()
}

// settle tells how a call ended that was granted from what the lender lent.
func (b *lender) settle(ev limit.Event, lender int64) {
	ev.ID = lender
	b.events = append(b.events, ev)
	by := b.l.time.Now()
	if ev.Outcome == limit.Served || ev.Outcome == limit.Unused {
		by = by.Add(gather)
	}
	b.tell = after.Sooner(b.tell, by)
}

// next returns the time when it has something to do; zero is never.
func (b *lender) next() time.Time {
	at := b.retry
	if b.asking == nil {
		at = after.Sooner(at, after.Sooner(b.speak, after.Sooner(b.tell, b.look)))
	}
	if len(b.s.state.Slots) > 0 && b.s.state.Waiting() == 0 { // what nobody uses goes back
		first := &b.s.state.Slots[0]
		at = after.Sooner(at, first.From.Add(max(first.Every, gather)+time.Second))
	}
	return at
}

func (b *lender) tick(now time.Time) {
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
	if due(b.retry) && !b.finding {
		b.retry, b.finding = time.Time{}, true
		go b.find()
	}
	switch {
	case b.asking != nil || !due(b.tell) && !due(b.look) && !due(b.speak):
	case b.own != nil:
		b.alone(now)
	default:
		b.start()
	}
}

// start begins to ask the store.
func (b *lender) start() {
	b.asking = make(chan struct{})
	go b.sync()
}

// flush waits until the store was told all. l.mu is held, and free meanwhile.
func (b *lender) flush(ctx context.Context) error {
	b.leaving = true
	defer func() { b.leaving = false }()
	for b.own == nil && (b.asking != nil || len(b.events) > 0 || !b.speak.IsZero()) {
		if b.asking == nil {
			b.start()
		}
		answered := b.asking
		b.l.tell()
		select {
		case <-answered:
		case <-ctx.Done():
		}
		b.l.mu.Lock()
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	if b.own != nil {
		return errors.New("the store cannot be reached")
	}
	return nil
}

// take returns what there is to tell, for an attempt to do so.
func (b *lender) take() todo {
	t := b.todo
	t.counts = b.counts()
	b.events, b.anew, b.tell, b.look = nil, false, time.Time{}, time.Time{}
	return t
}

// sync tells the store what there is to tell, and takes what it lends.
func (b *lender) sync() {
	l := b.l
	l.mu.Lock()
	t := b.take()
	l.mu.Unlock()
	out, err := b.exchange(t)
	l.mu.Lock()
	defer l.tell()
	close(b.asking)
	if b.asking = nil; err != nil {
		if out.claimed != nil {
			b.claims = append(b.claims, *out.claimed)
		}
		b.lose(t.events, err)
	} else {
		b.know(&t, &out)
		b.lent(&t, &out)
	}
	l.plan(b.s)
}

// exchange makes the exchange with the store. Nobody waits longer than patience for it, even if the store
// does not heed the end of its context. It changes nothing of b. With an error the outcome only has what may
// have been lent all the same.
func (b *lender) exchange(t todo) (outcome, error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	type answer struct {
		out outcome
		err error
	}
	answered := make(chan answer, 1)
	var writing atomic.Pointer[claim]
	go func() {
		out, err := b.tried(ctx, t, &writing)
		answered <- answer{out, chain.Bounded(err)}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			a.out = outcome{claimed: writing.Load()}
		}
		return a.out, a.err
	case <-ctx.Done():
		return outcome{claimed: writing.Load()}, fmt.Errorf("it does not answer within %v", patience)
	}
}

// tried tries to make the exchange until no other process is faster.
func (b *lender) tried(ctx context.Context, t todo, writing *atomic.Pointer[claim]) (outcome, error) {
	for range tries {
		out, swapped, err := b.try(ctx, t, writing)
		if err != nil || swapped {
			return out, err
		}
	}
	return outcome{}, errors.New("too many processes change the record at once")
}

// try makes one attempt. Until it knows how its write ended, writing has what that lends.
func (b *lender) try(ctx context.Context, t todo, writing *atomic.Pointer[claim]) (outcome, bool, error) {
	store := b.l.cfg.Store
	old, err := store.Load(ctx, b.s.name)
	if err != nil {
		return outcome{}, false, err
	}
	local := b.l.time.Now()
	r, err := read(old.Value, b.config)
	if err != nil {
		return outcome{}, false, err
	}
	if old.Version == 0 && t.last.Out != nil { // the record is lost, and not what was used of the limits
		r.State = t.last.Clone()
		r.State.Asked += 1 << 12 // others may have had the next IDs
	}
	now := r.steady(old.Now)
	skew := now.Sub(local)
	t.write = r.configure(b.config, b.l.begun.Add(skew)) || t.write
	out := r.play(now, &t, b.l.name)
	if out.skew = skew; !out.changed {
		return out, true, nil
	}
	if s := out.share; s != nil {
		writing.Store(&claim{id: s.ID, calls: s.Calls, at: r.State.Out[s.ID].At})
	}
	swapped, err := store.Swap(ctx, b.s.name, old.Version, r.write())
	if err == nil {
		writing.Store(nil)
	}
	return out, swapped, err
}

// lent passes on what was lent, or notes when to look for it.
func (b *lender) lent(t *todo, out *outcome) {
	b.l.breaker(b.s, b.down, out.state.Breaker.Open)
	b.down = out.state.Breaker.Open
	if t.ask == nil {
		return
	}
	answer := limit.Event{Kind: limit.Lent, At: b.l.time.Now()}
	switch b.asked = out.asked; {
	case out.givenUp:
		answer.Why = limit.DownTooLong
	case out.share != nil:
		answer.Share = *out.share
		answer.Share.From = answer.Share.From.Add(-out.skew)
	default:
		b.look = after.Sooner(b.look, b.l.time.Now().Add(min(max(out.wait, minLook), maxLook)))
		return
	}
	b.ask, b.asked, b.look = nil, 0, time.Time{}
	b.l.step(b.s, &answer)
}

// The bounds of the time after which a process looks again for an answer to its ask.
const (
	minLook = 5 * time.Millisecond
	maxLook = time.Second
)

// lose goes on without the store. What was to be told is told to the part that is left, and to the store
// later.
func (b *lender) lose(untold []limit.Event, err error) {
	now := b.l.time.Now()
	b.events = append(untold, b.events...)
	b.look, b.speak = now, time.Time{}
	if b.own == nil {
		n := max(b.alive, int64(b.l.cfg.Processes), 1)
		last := b.last
		if last.Out == nil {
			last, _ = limit.New(b.config)
		}
		b.own = &record{State: last.Part(n, alone)}
		b.asked, b.pause = 0, time.Second
		b.l.notice(Notice{Kind: StoreLost, Scope: b.s.name, Err: err, Parts: n})
	} else {
		b.pause = min(2*b.pause, longest)
	}
	b.retry = now.Add(b.pause)
}

// alone is sync without a store.
func (b *lender) alone(now time.Time) {
	t := b.take()
	out := b.own.play(now.Add(b.skew), &t, b.l.name)
	out.skew = b.skew
	for n := range t.events { // the store is told of its own calls when it is back
		if ev := t.events[n]; ev.ID < alone && len(b.untold) < kept {
			b.untold = append(b.untold, ev)
		}
	}
	b.lent(&t, &out)
}

// find looks whether the store can be used again: whether it can be told what it was not told.
func (b *lender) find() {
	l := b.l
	l.mu.Lock()
	t := todo{events: b.untold, claims: b.claims, write: true, counts: b.counts(), last: b.last}
	l.mu.Unlock()
	out, err := b.exchange(t)
	l.mu.Lock()
	defer l.tell()
	if b.finding = false; err != nil {
		b.lose(nil, err)
	} else {
		b.know(&t, &out)
		now, later := l.time.Now(), b.untold[len(t.events):]
		b.own, b.asked, b.untold, b.claims = nil, 0, nil, nil
		b.events = append(later, b.events...)
		b.tell, b.look = now, now
		l.notice(Notice{Kind: StoreBack, Scope: b.s.name})
	}
	l.plan(b.s)
}

// know notes what the store has, and by when it must hear of the process again.
func (b *lender) know(t *todo, out *outcome) {
	b.last, b.alive, b.skew, b.speak = out.state, out.alive, out.skew, time.Time{}
	s, at := b.s, b.l.time.Now().Add(t.counts/2)
	if t.counts > 0 && (at.Sub(s.used) < mostCount || len(s.waiting)+len(s.state.Out) > 0) {
		b.speak = at
	}
}

// counts is for how long the process counts from now on.
func (b *lender) counts() time.Duration {
	if b.leaving {
		return 0
	}
	return min(max(2*b.l.time.Now().Sub(b.s.used), leastCount), mostCount)
}

// breaker returns the breaker that counts, and the time by which it goes.
func (b *lender) breaker(now time.Time) (*limit.Breaker, time.Time) {
	st := &b.last
	if b.own != nil {
		st = &b.own.State
	}
	return &st.Breaker, now.Add(b.skew)
}
