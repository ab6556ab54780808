package limit

import (
	"math"
	"slices"
	"time"
)

// step is one transition.
type step struct {
	State
	fx []Effect
}

// Step returns the limiter after ev and what has to be done. It takes st over, as append takes a slice: only
// the State that it returns may be used from then on. The same state and events always give the same effects.
//
// No event is an error: one that names an ID which is not known changes nothing but what its outcome teaches.
func Step(st State, ev Event) (State, []Effect) {
	s := step{State: st}
	s.Now = max(s.Now, ev.At.UnixNano())
	s.expire()
	s.denyLate()
	switch ev.Kind {
	case Ask:
		s.ask(&ev)
	case Leave:
		s.leave(ev.IDs)
	case Settle:
		s.settle(&ev)
	case Lent:
		s.lent(&ev)
	}
	s.serve()
	return s.State, s.fx
}

// ask puts a call into the queue, or denies it.
func (s *step) ask(ev *Event) {
	w := waiter{
		ID: ev.ID, No: s.Asked, Turn: bound(ev.Turn, 0), Calls: bound(ev.Calls, 1),
		Tokens: bound(ev.Tokens, 0), Shared: ev.Shared, Retry: ev.Retry,
	}
	if d := ev.Deadline; !d.IsZero() && d.Before(latest) {
		w.Deadline = d.UnixNano()
	}
	w.Key = s.place(&w, ev)
	s.Asked++
	_, out := s.Out[w.ID]
	wait, late := int64(0), false
	if w.Deadline != 0 { // it is known soon that it is early enough
		if late = s.Now+s.wait(&w, int64(s.Waiting())) > w.Deadline; late {
			wait = s.wait(&w, s.First.ahead(&w, 0)+s.Again.ahead(&w, 0))
			late = s.Now+wait > w.Deadline
		}
	}
	switch {
	case out:
		s.deny(&w, Twice, 0)
	case s.Waiting() >= s.Config.MaxWaiting:
		s.deny(&w, TooMany, 0)
	case late:
		s.deny(&w, TooLate, wait)
	default:
		q := &s.First
		if w.Retry {
			q = &s.Again
		}
		q.push(w)
		s.noteDeadline(&w)
	}
}

// noteDeadline notes the deadline of a call that waits.
func (s *step) noteDeadline(w *waiter) {
	if w.Deadline > 0 && (s.Overdue == 0 || w.Deadline < s.Overdue) {
		s.Overdue = w.Deadline
	}
}

// denyLate denies those whose deadlines are over. It looks at all that wait, and so not again for a moment.
func (s *step) denyLate() {
	if s.Overdue == 0 || s.Now < s.Overdue {
		return
	}
	s.Overdue = 0
	var late []int64
	for _, q := range s.queues() {
		for n := range *q {
			if w := &(*q)[n]; w.Deadline == 0 || w.Deadline > s.Now {
				s.noteDeadline(w)
			} else {
				s.deny(w, TooLate, 0)
				late = append(late, w.ID)
			}
		}
	}
	if len(late) > 0 {
		s.leave(late)
	}
	if s.Overdue > 0 {
		s.Overdue = max(s.Overdue, s.Now+int64(s.Waiting())*int64(time.Microsecond))
	}
}

// place returns the key of an ask in the queue. A call that is made again has waited before, and goes first.
func (s *step) place(w *waiter, ev *Event) int64 {
	if w.Shared { // its first call has a place already
		return s.Now + min(max(int64(ev.Place), -1<<60), 1<<60)
	}
	key := s.Now + s.yield(w) - yields*int64(s.Config.Yield)*int64(min(max(ev.Priority, -1000), 1000))
	if w.Retry {
		key -= int64(maxTime)
	}
	return key
}

// yields bounds for how many of the calls it has made a session yields to those that made fewer.
const yields = 10

// yield returns how much a session's call goes back in the queue. One with a deadline gives away a quarter of
// the time that it has, at most.
func (s *step) yield(w *waiter) int64 {
	back := min(w.Turn, yields) * int64(s.Config.Yield)
	if w.Deadline != 0 {
		back = min(back, max(w.Deadline-s.Now, 0)/4)
	}
	return back
}

// latest is the end of time, in nanoseconds since 1970.
var latest = time.Unix(0, math.MaxInt64)

// bound keeps a number of an event within what the arithmetic bears.
func bound(n, least int64) int64 { return min(max(n, least), 1<<40) }

// wait returns how long a new ask will probably wait if so many calls go before it. Of the queue of the
// limiter above it is the same part.
func (s *step) wait(w *waiter, before int64) int64 {
	at := s.ready(w, s.Waiting())
	if at == never {
		at = s.Now
	}
	all := max(s.Busy-s.Now, 0)
	if n := int64(s.Waiting()); !s.Config.Shared {
		all = s.serving(before, s.reserve(w))
	} else if n > 0 {
		all = scaled(all, before, n)
	}
	return all + max(at-s.Now, 0)
}

// serving returns how long it probably takes to grant so many calls. While the pace doubles, only known
// windows count.
func (st *State) serving(calls, tokens int64) int64 {
	every := st.everyOfWindows(tokens)
	if !st.Seeking {
		every = st.every(tokens)
	}
	return min(scaled(calls, every, 1), int64(maxTime))
}

func (s *step) deny(w *waiter, why Why, wait int64) {
	s.fx = append(s.fx, Effect{Kind: Deny, Share: Share{ID: w.ID, Calls: w.Calls}, Wait: time.Duration(wait), Why: why})
}

// leave takes asks out of the queue. It looks at all that wait.
func (s *step) leave(ids []int64) {
	ids = slices.Sorted(slices.Values(ids))
	for _, q := range s.queues() {
		*q = slices.DeleteFunc(*q, func(w waiter) bool { _, leaves := slices.BinarySearch(ids, w.ID); return leaves })
		for n := len(*q)/2 - 1; n >= 0; n-- {
			q.down(n)
		}
	}
	if s.Waiting() == 0 {
		s.giveBack()
	}
}

// serve grants all that can be granted now.
func (s *step) serve() {
	for {
		q := s.pick()
		if q == nil {
			break
		}
		w := q.pop()
		if _, out := s.Out[w.ID]; out { // another one waited
			s.deny(&w, Twice, 0)
			continue
		}
		s.grant(&w)
	}
	s.giveUp()
	s.borrow()
}

// giveUp denies all that wait for a provider that has been down for too long, unless one of them may probe
// it.
func (s *step) giveUp() {
	b := &s.Breaker
	if !b.Open || s.Now < b.Since+int64(s.Config.GiveUp) || b.Probe == 0 && s.Now >= b.Next {
		return
	}
	s.denyAll()
}

func (s *step) denyAll() {
	for _, q := range s.queues() {
		for n := range *q {
			s.deny(&(*q)[n], DownTooLong, 0)
		}
		*q = (*q)[:0]
	}
}

// pick returns the queue whose first ask can be granted now; nil if there is none.
func (s *step) pick() (best *queue) {
	for _, q := range s.queues() {
		if len(*q) == 0 || s.due(q) > s.Now {
			continue
		}
		if best == nil || (*q)[0].before(&(*best)[0]) {
			best = q
		}
	}
	return best
}

// ready returns the time when the ask can be granted if nothing else happens, while so many others wait;
// never if that must happen first.
func (st *State) ready(w *waiter, others int) int64 {
	at := st.HeldUntil
	if w.Retry && st.Cut > 0 && len(st.First) > 0 { // others find out whether calls are refused
		at = max(at, st.Cut+st.inRow())
		if st.trying() {
			return never
		}
	}
	if w.Retry && st.CutsInRow > 0 { // what a refusal asks for is heeded until calls are served, but not for hours
		at = max(at, st.Cut+min(st.RetryAfter, forgotten))
	}
	if b := &st.Breaker; b.Open {
		at = max(at, b.Next)
		if b.Probe != 0 {
			at = max(at, b.Lost)
		}
	} else if w.Retry && st.Budget <= fullBudget/2 {
		at = max(at, st.LastRetry+second)
	}
	if st.full() {
		at = max(at, st.lost())
	}
	if st.Config.Shared {
		if len(st.Slots) == 0 {
			return never
		}
		return max(at, st.Slots[0].From.UnixNano())
	}
	if even := st.even(); even > st.Now && (others > 0 || st.room(st.reserve(w)) == 0) {
		at = max(at, even)
	}
	for n := range st.Quotas {
		if q := &st.Quotas[n]; q.Left < takes(q.Resource, st.reserve(w)) {
			at = max(at, q.Reset)
		}
	}
	return at
}

// concurrency returns how many calls may be in flight here; 0 for any number.
func (st *State) concurrency() int64 {
	if st.Config.Concurrency == 0 {
		return 0
	}
	return max(st.Config.Concurrency/st.Config.Parts, 1)
}

// full reports whether no further call may be in flight.
func (st *State) full() bool {
	c := st.concurrency()
	return c > 0 && st.InFlight >= c
}

// lost returns the time when the first call that is out counts as lost.
func (st *State) lost() int64 {
	for _, id := range st.Order {
		if o, out := st.Out[id]; out {
			return o.Lost
		}
	}
	return never
}

// grant takes what the ask needs, and tells it.
func (s *step) grant(w *waiter) {
	share := Share{ID: w.ID, Calls: 1, Probe: s.Breaker.Open, Seeking: s.Seeking, Trying: s.trying()}
	o := outstanding{Estimate: w.Tokens, Tokens: s.reserve(w), Retry: w.Retry, At: s.Now}
	if s.Config.Shared {
		o.Lender = s.slot(&share)
	} else {
		s.take(w, &share)
	}
	share.Excused = share.Excused && (w.Shared || !w.Retry)
	if w.Retry {
		s.LastRetry = s.Now
	}
	if share.Turn = w.Turn; !w.Retry { // a session has made one call more, unless it makes one again
		share.Turn++
	}
	s.count(share.Calls)
	from := share.From.UnixNano()
	if s.Given.Calls == 0 {
		s.Since, s.AcceptedFrom = from, from
	}
	o.Given, s.Given = s.Given.plus(1, o.Tokens), s.Given.plus(share.Calls, o.Tokens)
	o.Calls, o.Lost = share.Calls, max(from, s.Now)+int64(share.Every)*share.Calls+int64(s.Config.Hold)
	if s.Breaker.Open {
		s.Breaker.Probe, s.Breaker.Lost = w.ID, s.Now+int64(probeFor)
		s.Breaker.Next = s.Now + int64(s.Config.ProbeEvery)
	}
	s.InFlight, s.Reserved = s.InFlight+o.Calls, s.Reserved+o.Calls*o.Tokens
	s.Out[w.ID], s.Order = o, append(s.Order, w.ID)
	s.fx = append(s.fx, Effect{Kind: Grant, Share: share})
}

// take takes the share from the pace, the windows and the quotas. A limiter below gets as many calls at once
// as a lease has time for.
func (s *step) take(w *waiter, share *Share) {
	from, tokens := max(s.ready(w, s.Waiting()), s.Now), s.reserve(w)
	every := s.every(tokens)
	if !share.Probe {
		share.Calls = min(w.Calls, max(s.lease()/every, 1))
	}
	if from < s.even() {
		share.Calls = min(share.Calls, s.room(tokens))
	}
	if c := s.concurrency(); c > 0 {
		share.Calls = min(share.Calls, c-s.InFlight)
	}
	for n := range s.Quotas {
		q := &s.Quotas[n]
		if s.Now >= q.Reset { // what the next window holds, its first response will say
			q.Left = max(q.Left, share.Calls*takes(q.Resource, tokens))
		}
		if each := takes(q.Resource, tokens); each > 0 {
			share.Calls = max(min(share.Calls, q.Left/each), 1)
		}
		q.Left -= share.Calls * takes(q.Resource, tokens)
	}
	for n := range s.Windows {
		s.spread(&s.Windows[n], from, share.Calls, tokens)
	}
	gap := s.gap()
	used := min(from-s.NextCall+gap, 2*gap) + (share.Calls-1)*gap
	if !share.Probe && !s.Open { // neither says anything of the limit
		s.climb(max(used, 0))
	}
	s.NextCall = from + share.Calls*s.gap()
	if w.Shared {
		share.Queue = time.Duration(s.serving(s.WaitingCalls()+w.Calls-share.Calls, tokens))
	}
	if share.Calls == 1 || s.Open {
		every = 0
	}
	share.From, share.Every = time.Unix(0, from).UTC(), time.Duration(every)
	share.Excused = !s.Open && s.ceiling() == 0 && (s.Waiting() > 0 || w.Calls > share.Calls)
}

// reserve returns how many tokens are reserved for each call of the ask.
func (st *State) reserve(w *waiter) int64 { return scaled(w.Tokens, st.Usage, whole) }
