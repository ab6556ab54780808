package limit

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/retake-go/retake/ratelimit"
)

const (
	milli  = 1000
	whole  = 1_000_000
	second = int64(time.Second)
	never  = math.MaxInt64
	// slowest is the least pace to which refusals cut it, one call in a hundred seconds, and waking the least
	// while no call is served, so that it is soon seen when calls are served again: one in ten seconds.
	slowest = 10
	waking  = 100
	fastest = maxRate * milli
	// fullBudget is the most that is kept for retries, in thousandths; below half of it retries are
	// throttled. retryShare is how much of a retry one success pays for.
	fullBudget = 100 * milli
	retryShare = milli / 5
	// probeFor is the time after which a probe that was not settled is lost.
	probeFor = 30 * time.Second
)

// scaled returns n*by/per, rounded up, or the largest number if that is more. All are 0 or more, per above 0.
func scaled(n, by, per int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(by))
	lo, carry := bits.Add64(lo, uint64(per-1), 0)
	if hi += carry; hi >= uint64(per) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(per))
	return int64(min(q, math.MaxInt64))
}

// cost returns the time that a call with so many tokens takes of the window. A hundredth is left out, because
// no call begins exactly when it should.
func (st *State) cost(w *Paced, tokens int64) int64 {
	return min(scaled(takes(w.Resource, tokens)*100, w.Period*st.Config.Parts, w.Limit*99), int64(maxTime))
}

// every returns the time between calls with so many tokens each, by the pace and all windows. There is no
// pace while the limiter is open.
func (st *State) every(tokens int64) int64 {
	gap := int64(1)
	if !st.Open {
		gap = max(st.gap(), gap)
	}
	return max(gap, st.everyOfWindows(tokens))
}

// everyOfWindows returns that time by the windows alone; 0 if none is known.
func (st *State) everyOfWindows(tokens int64) (gap int64) {
	for n := range st.Windows {
		gap = max(gap, st.cost(&st.Windows[n], tokens))
	}
	return gap
}

// ceiling returns the pace that the known request windows allow; 0 if none is known.
func (st *State) ceiling() (top int64) {
	for n := range st.Windows {
		if w := &st.Windows[n]; w.Resource == "requests" {
			rate := min(max(scaled(w.Limit, second*milli/100*99, w.Period*st.Config.Parts), 1), fastest)
			if top == 0 || rate < top {
				top = rate
			}
		}
	}
	return top
}

// climb raises the pace after a grant. While it seeks, it doubles in the time of the ramp, up to the knee, if
// that is known, and otherwise to little more than twice what was really granted. From then on it rises the
// faster, the farther it is from the knee: it is soon back, tries carefully where it was refused, and looks
// on beyond. Only time in which calls were made counts, and little of it for one call: of a small limit, one
// too many is a large part.
func (st *State) climb(used int64) {
	top := cmp.Or(st.ceiling(), fastest)
	if st.Headroom == 0 && st.Now < st.Cut+st.calm() {
		top = st.Knee * 19 / 20
	}
	if !st.Seeking {
		rise := st.Knee + 16*max(st.Knee-st.Pace, st.Pace-st.Knee, st.Headroom)
		rise = max(min(scaled(rise, used, 100*second), rise/500), 1)
		top = min(top, (st.lastSecond()+st.Config.Start)*milli) // a pace that nobody needs tells nothing
		st.Pace = max(st.Pace, min(st.Pace+rise, top))
		return
	}
	next := st.Pace + scaled(st.Pace, used*7/10, int64(st.Config.Ramp))
	if st.Knee == 0 {
		next = min(next, 2*(st.lastSecond()+st.Config.Start)*milli, fastest)
	} else if next >= min(st.Knee, top) {
		next, st.Seeking = min(st.Knee, top), false
	}
	st.Pace = max(st.Pace, next)
}

// calm returns how long after a refusal the pace stays below the one that was refused: twenty times as long
// as the refusal asked to wait, and as a hundred calls take, but an hour at most. The longer a refusal holds
// a session up, the more seldom one is provoked. A limit that is known need not be tried.
func (st *State) calm() int64 {
	if st.ceiling() > 0 {
		return 0
	}
	return min(20*max(st.RetryAfter, 5*st.gap(), second), int64(time.Hour))
}

// gap returns the time between calls by the pace.
func (st *State) gap() int64 { return scaled(second, milli, st.Pace) }

// trying reports that the next call has the pace at which others were refused, or little more.
func (st *State) trying() bool {
	if st.Config.Shared {
		return len(st.Slots) > 0 && st.Slots[0].Trying
	}
	return !st.Seeking && st.ceiling() == 0 && st.Pace > st.Knee-st.Knee/50 && st.Pace < st.Knee+st.Knee/10
}

// ramp begins with a third of the pace that is known or was kept, and doubles: a window that is full empties
// as it was filled, and a provider that was down is not overrun.
func (st *State) ramp() {
	top := max(st.Pace, st.Knee)
	if st.Knee > 0 {
		st.Knee = top
	}
	st.Pace, st.Seeking = max(top/3, min(top, waking)), true
}

// refused learns from a refusal. One that told the limit was no fault of the pace: calls are held for as long
// as it asks, and go on at the pace that is known now. Otherwise the pace is cut once for all calls that were
// granted before the cut or soon after it.
func (s *step) refused(granted int64, limits *ratelimit.State, taught bool) {
	wait := asks(limits)
	s.RetryAfter = wait
	switch {
	case taught:
		s.Cut, s.HeldUntil = s.Now, max(s.HeldUntil, s.Now+wait)
		if s.Knee > 0 {
			s.ramp()
		}
		return
	case s.Open: // the pace begins
		s.close()
		s.Cut = s.Now
		return
	case granted < s.From || s.Cut > 0 && granted < s.Cut+grace:
		return
	}
	if s.CutsInRow == 0 || s.CutsInRow < maxCuts && s.taken(s.FirstCut) {
		s.CutsInRow, s.FirstCut = 0, s.Now
	}
	s.CutsInRow++
	if s.Seeking && s.Knee == 0 { // by now a doubling pace is at about twice the limit, if it was used
		rate := max((s.lastSecond()-1)*milli, s.Config.Start*milli/2)
		s.Pace = max(min(s.Pace/2, rate), rate/2)
		s.Knee, s.Headroom = s.Pace, milli
		if s.ramp(); s.Knee <= milli { // it may be anywhere below
			s.Pace, s.Seeking = s.Knee/2, false
		}
	} else {
		s.cut()
	}
	s.Cut, s.CutCalls = s.Now, s.Given.Calls
	s.NextCall = max(s.NextCall, s.Now+s.gap()) // the window is full: the new pace begins now
	if s.CutsInRow >= maxCuts {
		s.HeldUntil = max(s.HeldUntil, s.Now+wait)
	}
}

// cut lowers a pace at which calls were refused.
func (s *step) cut() {
	if s.Headroom = 0; !s.Seeking {
		s.Knee = s.Pace
	}
	least, step := int64(slowest), s.CutsInRow
	switch {
	case s.CutsInRow > 1 && s.few(): // the limit is far below
		step = maxCuts
	case s.CutsInRow > 1: // no call was served since the cut before
		least = min(s.Pace, waking)
	case s.ceiling() == 0 && s.Given.Calls < s.CutCalls+enough: // a tenth less would be less than one call
		step = 2
	}
	s.Pace, s.Seeking = max(s.Pace*cuts[min(step, maxCuts)-1]/10, least), false
}

// few reports that so few calls were taken that their number says nothing of a limit.
func (st *State) few() bool { return st.ceiling() == 0 && st.Accepted < enough }

// taken reports whether a call that was granted since is out for longer than a refusal takes.
func (st *State) taken(since int64) bool {
	for _, id := range slices.Backward(st.Order) {
		if o, out := st.Out[id]; out && (o.At <= since || o.At < st.Now-grace) {
			return o.At > since
		}
	}
	return false
}

// accepted learns from a call that was served. If a window was used up, what it allowed since is its limit.
func (s *step) accepted(granted int64) {
	before := s.CutsInRow
	if granted < s.FirstCut {
		return
	}
	if s.CutsInRow = 0; before < maxCuts || s.few() {
		return
	}
	rate := scaled(s.Accepted, second*milli, max(s.Now-s.AcceptedFrom, second))
	s.Knee = min(max(rate, slowest), cmp.Or(s.ceiling(), fastest))
	s.Pace = s.Knee
	s.ramp()
}

// count counts calls that were granted. What was granted long ago counts ever less.
func (s *step) count(calls int64) {
	s.Rate.add(s.Now, second, calls)
	for s.Now-s.AcceptedFrom > int64(2*longest) {
		s.Accepted, s.AcceptedFrom = s.Accepted/2, s.Now-(s.Now-s.AcceptedFrom)/2
	}
	s.Accepted += calls
}

// inRow returns the longest time between cuts in a row: that of three calls, or three seconds.
func (st *State) inRow() int64 { return 3 * max(st.gap(), second) }

// close begins to keep a pace.
func (st *State) close() {
	if st.From = st.Now; st.Open {
		st.Open, st.NextCall = false, st.Now
	}
}

// asks returns how long a refusal asks to wait: as it says, or until the windows reset that it says are used
// up, if that is sooner.
func asks(limits *ratelimit.State) int64 {
	if limits == nil {
		return 0
	}
	wait, known := limits.Delay()
	reset := time.Duration(0)
	for n := range limits.Windows {
		if w := &limits.Windows[n]; w.Exhausted() && w.ResetsIn.Known {
			reset = max(reset, w.ResetsIn.Duration)
		}
	}
	if !known || reset > 0 && reset < wait {
		wait = reset
	}
	return min(max(int64(wait), 0), int64(maxTime))
}

// cuts are the tenths that remain of the pace after the first cut since a call was served, the second, and
// those that follow. The first one is as the second if only a few calls were granted since the last, and the
// second one as the third if only a few were ever taken.
var cuts = [maxCuts]int64{9, 8, 3}

const (
	// maxCuts is how many cuts since a call was served say that a window of some length is used up. Calls are
	// held then, and find out ever more slowly whether there is room again.
	maxCuts = 3
	// grace is how long after a cut a window may still be full of what was called before it.
	grace = second
	// enough is how many calls must have been made for their number to say something.
	enough = 10
)
