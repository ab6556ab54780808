package limit

import "time"

// A shared limiter has no windows of its own. It borrows calls from the limiter above, which says when they
// may be made, and hands them out to its sessions.

// longestLease is the time that one grant of several calls covers at most.
const longestLease = int64(100 * time.Millisecond)

// lease returns the time that one grant covers now. It is shorter while the pace doubles: what is lent when
// the first call is refused is too much.
func (st *State) lease() int64 {
	if st.Seeking {
		return longestLease / 5
	}
	return longestLease
}

// ahead returns how long before its time a call may be lent, so that it reaches its process.
func (st *State) ahead() int64 { return st.lease() / 2 }

// slot takes the next call from what was lent, and returns the share that it came from.
func (s *step) slot(share *Share) (lender int64) {
	l := &s.Slots[0]
	lender, share.Probe, share.Excused = l.ID, l.Probe, l.Excused
	share.From = l.From
	l.From, l.Calls = l.From.Add(l.Every), l.Calls-1
	if l.Calls == 0 {
		s.Slots = s.Slots[1:]
	}
	return lender
}

// lent adds what was lent. What was on its way for too long begins now, with the same time between calls.
func (s *step) lent(ev *Event) {
	s.Borrowing, s.Busy = false, s.Now+int64(ev.Share.Queue)
	if ev.Why == DownTooLong {
		s.denyAll()
		return
	}
	if l := ev.Share; l.Calls > 0 {
		s.Seeking = l.Seeking
		l.From = time.Unix(0, max(l.From.UnixNano(), s.Now)).UTC()
		s.Slots = append(s.Slots, l)
	}
}

// borrow asks for more calls if more wait than were lent, before the last of them is used, and anew once a
// call has come that goes before the one it asked for.
func (s *step) borrow() {
	if !s.Config.Shared {
		return
	}
	s.drop()
	left, last := int64(0), s.Now
	for n := range s.Slots {
		l := &s.Slots[n]
		left += l.Calls
		last = max(last, l.From.Add(time.Duration(l.Calls)*l.Every).UnixNano())
	}
	more := int64(s.Waiting()) - left
	if more <= 0 || left > 0 && last > s.Now+s.ahead() {
		return
	}
	q := s.First
	if len(q) == 0 {
		q = s.Again
	}
	head := &q[min(left, int64(len(q)-1))] // roughly the first that nothing was lent for
	if s.Borrowing && (left > 0 || head.Key >= s.Borrowed) {
		return
	}
	s.Borrowing, s.Borrowed = true, head.Key
	s.fx = append(s.fx, Effect{Kind: Borrow, Borrow: &Event{
		Kind: Ask, Calls: more, Tokens: head.Tokens, Retry: head.Retry, Shared: true,
		Place: time.Duration(head.Key - s.Now),
	}})
}

// drop gives back the calls whose time has passed unused, so that they are not made all at once later.
func (s *step) drop() {
	for len(s.Slots) > 0 {
		l := &s.Slots[0]
		every := l.Every
		if every == 0 {
			every = time.Duration(longestLease)
		}
		late := time.Duration(s.Now - l.From.UnixNano())
		gone := min(l.Calls, int64(late/every))
		if late <= every || gone <= 0 {
			return
		}
		s.unused(l.ID, gone)
		l.From, l.Calls = l.From.Add(time.Duration(gone)*every), l.Calls-gone
		if l.Calls > 0 {
			return
		}
		s.Slots = s.Slots[1:]
	}
}

// unused returns calls that were lent.
func (s *step) unused(lender, calls int64) {
	s.fx = append(s.fx, Effect{Kind: Return, Share: Share{ID: lender, Calls: calls}})
}

// giveBack returns all that was lent, because the limiter above may know more: it is asked again.
func (s *step) giveBack() {
	for n := range s.Slots {
		s.unused(s.Slots[n].ID, s.Slots[n].Calls)
	}
	s.Slots = nil
}

// Part returns a limiter for one of n processes that have lost what they shared: with nothing in flight and
// nobody waiting, and with its part of the limits and of the pace. IDs from id on are its own.
func (st *State) Part(n, id int64) State {
	p := st.Clone()
	n = max(n, 1)
	p.Config.Parts = min(n*st.Config.Parts, maxParts)
	p.Pace, p.Knee, p.Accepted = max(st.Pace/n, waking), st.Knee/n, st.Accepted/n
	p.Headroom = st.Headroom / n
	for k := range p.Quotas {
		p.Quotas[k].Left /= n
	}
	for k := range p.Windows {
		w := &p.Windows[k]
		w.Left /= n
		for q := range w.Spent {
			w.Spent[q] /= n
		}
	}
	p.First, p.Again, p.Out, p.Order, p.InFlight, p.Reserved = nil, nil, map[int64]outstanding{}, nil, 0, 0
	p.Breaker.Probe, p.Breaker.Lost, p.Asked, p.Overdue = 0, 0, id, 0
	return p
}
