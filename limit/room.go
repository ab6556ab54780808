package limit

import "math"

// forgotten is how long after a refusal calls are only made at the pace, at least.
const forgotten = 60 * second

// room returns how many calls with so many tokens may be made at once, before their time by the pace, if
// nobody else waits: as many as all windows have left. While the limit of requests is not known, that is one
// call, if no other one is in flight. After a refusal or an outage there is none.
func (st *State) room(tokens int64) (calls int64) {
	calls = math.MaxInt64
	if st.ceiling() == 0 {
		calls = max(1-st.InFlight, 0)
	}
	if st.Breaker.Open || st.Cut > 0 && st.Now < st.Cut+max(forgotten, st.calm()) || st.Seeking && st.Knee > 0 {
		return 0
	}
	for n := range st.Windows {
		w := &st.Windows[n]
		if each := takes(w.Resource, tokens); each > 0 {
			calls = min(calls, max(w.left(st.Now, st.Config.Parts), 0)/each)
		}
	}
	return calls
}

// left returns what the window has left: what a response said in the last period, or what was not granted in
// it.
func (w *Paced) left(now, parts int64) int64 {
	if w.Told > 0 && now-w.Told < w.Period {
		return w.Left
	}
	return (w.Limit-w.Limit/100)/parts - w.sum(now, w.Period)
}

// spend notes what was granted.
func (w *Paced) spend(at, n int64) {
	w.Left -= n
	w.add(at, w.Period, n)
}

func quarter(at, period int64) int64 { return at / (period / 4) }

// until reports whether r can be what was counted by then.
func (r *recent) until(now, period int64) bool {
	return r.Quarter >= 0 && r.Quarter <= quarter(now, period)
}

// add counts in the quarter of a time, unless that has passed for longer than a period.
func (r *recent) add(at, period, n int64) {
	q := quarter(at, period)
	for k := max(r.Quarter+1, q-quarters+1); k <= q; k++ {
		r.Spent[k%quarters] = 0
	}
	if r.Quarter = max(r.Quarter, q); q > r.Quarter-quarters {
		r.Spent[q%quarters] += n
	}
}

// sum returns what was counted in the last period, or up to a quarter more, and in the quarter that comes.
func (r *recent) sum(now, period int64) (n int64) {
	for k := max(quarter(now, period)-4, r.Quarter-quarters+1, 0); k <= r.Quarter; k++ {
		n += r.Spent[k%quarters]
	}
	return n
}

// lastSecond returns how many calls were granted in the last second, or up to a quarter more.
func (st *State) lastSecond() int64 { return st.Rate.sum(st.Now, second) }

// even returns the time when the pace and all windows allow another call, if calls are spread evenly. There
// is no pace while the limiter is open.
func (st *State) even() int64 {
	at := st.NextCall
	if st.Open {
		at = 0
	}
	for n := range st.Windows {
		at = max(at, st.Windows[n].Next)
	}
	return at
}

// spread takes calls of a window. Next is never later than when the whole window is free again.
func (st *State) spread(w *Paced, from, calls, tokens int64) {
	took := calls * st.cost(w, tokens)
	full := scaled(w.Period, 100, 99)
	w.Next = min(max(w.Next, from)+took, from+max(full, took))
	w.spend(min(from, st.Now+w.Period/4), calls*takes(w.Resource, tokens))
}

// takes returns what a call with so many tokens takes of a resource.
func takes(resource string, tokens int64) int64 { return amount{1, tokens}.of(resource) }

// of is as much of the amount as a window of the resource counts.
func (a amount) of(resource string) int64 {
	if resource == "requests" {
		return a.Calls
	}
	return a.Tokens
}

// plus adds calls with so many tokens each. What is too much for the arithmetic is left out.
func (a amount) plus(calls, tokens int64) amount {
	return amount{a.Calls + calls, a.Tokens + min(calls*tokens, 1<<50)}
}
