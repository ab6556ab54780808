package limit

import (
	"math"
	"math/bits"
	"time"

	"github.com/retake-go/retake/ratelimit"
)

const (
	milli  = 1000
	whole  = 1_000_000
	second = int64(time.Second)
	never  = math.MaxInt64
	// slowest is the least pace to which refusals cut it: one call in ten seconds.
	slowest = 100
	fastest = maxRate * milli
	// fullBudget is the most that is kept for retries, in thousandths; below half of it retries are
	// throttled.
	fullBudget = 100 * milli
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

// cost is the time that a call with so many tokens takes of the window. A hundredth is left out, because no
// call begins exactly when it should.
func (st *State) cost(w *Paced, tokens int64) int64 {
	if w.Resource == "requests" {
		tokens = 1
	}
	return min(scaled(tokens*100, w.Period*st.Config.Parts, w.Limit*99), int64(maxTime))
}

// every is the time between calls with so many tokens each, by the pace and all windows.
func (st *State) every(tokens int64) int64 {
	return max(scaled(second, milli, st.Pace), st.everyOfWindows(tokens), 1)
}

// everyOfWindows is that time by the windows alone; 0 if none is known.
func (st *State) everyOfWindows(tokens int64) (gap int64) {
	for n := range st.Windows {
		gap = max(gap, st.cost(&st.Windows[n], tokens))
	}
	return gap
}

// ceiling is the pace that the known request windows allow; 0 if none is known.
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

// climb raises the pace after a grant: it doubles in the time of the ramp while it seeks, and otherwise comes
// back to the knee in ten seconds, or in a hundred calls if that is longer. Only time in which calls were
// made counts.
func (st *State) climb(used int64) {
	top := st.ceiling()
	switch {
	case st.Seeking:
		st.Pace += scaled(st.Pace, used*7/10, int64(st.Config.Ramp))
		if !st.Answered && top == 0 { // nothing was heard yet: not into the blue
			st.Pace = min(st.Pace, 128*st.Config.Start*milli)
		}
		if st.Knee > 0 && st.Pace >= st.Knee { // back where it was
			st.Pace, st.Seeking = st.Knee, false
		}
	case st.Knee > 0:
		st.Pace += max(min(scaled(st.Knee, used, 100*second), st.Knee/1000), 1)
	}
	if st.Pace = min(st.Pace, fastest); top > 0 && st.Pace >= top {
		st.Pace, st.Seeking = top, false
	}
}

// refused learns from a refusal. One that told the limit was no fault of the pace: calls are held for as long
// as it asks, and go on at the pace that is known now. Otherwise the pace is cut once for all calls that were
// granted before the cut or soon after it, and calls are held if it was cut several times in a row.
func (s *step) refused(granted int64, limits *ratelimit.State, taught bool) {
	wait := asks(limits)
	switch {
	case taught:
		s.Cut, s.HeldUntil = s.Now, max(s.HeldUntil, s.Now+wait)
		return
	case s.Open: // the pace begins
		s.close()
		s.Cut = s.Now
		return
	case s.Cut > 0 && granted < s.Cut+grace:
		return
	}
	if s.Now-s.Cut > s.inRow() {
		s.Refusals = 0
	}
	s.Refusals++
	if s.Seeking {
		// By the time of a refusal a doubling pace is at about twice the limit, and the window is full of the
		// last calls. It empties as it was filled: with a pace that doubles.
		s.Knee = min(s.Pace/2, max((s.Rate.lastSecond(s.Now)-1)*milli, s.Config.Start*milli/2))
		s.Knee = max(s.Knee, slowest)
		s.Pace = s.Knee / 2
	} else {
		s.Knee = s.Pace
		s.Pace = s.Pace * cuts[min(s.Refusals, int64(len(cuts)))-1] / 10
	}
	s.Pace, s.Cut = max(s.Pace, slowest), s.Now
	// The window is full: the new pace begins now.
	s.NextCall = max(s.NextCall, s.Now+scaled(second, milli, s.Pace))
	if s.Refusals >= heldAfter {
		s.HeldUntil = max(s.HeldUntil, s.Now+wait)
	}
}

// inRow is the longest time between cuts in a row: that of three calls, or three seconds.
func (st *State) inRow() int64 { return 3 * max(scaled(second, milli, st.Pace), second) }

// close begins to keep a pace.
func (st *State) close() {
	if st.Open {
		st.Open, st.OpenTo, st.NextCall = false, st.Now, st.Now
	}
}

// asks is how long a refusal asks to wait: as it says, or until the windows reset that it says are used up.
func asks(limits *ratelimit.State) int64 {
	if limits == nil {
		return 0
	}
	wait, known := limits.Delay()
	for n := range limits.Windows {
		if w := &limits.Windows[n]; !known && w.Exhausted() && w.ResetsIn.Known {
			wait = max(wait, w.ResetsIn.Duration)
		}
	}
	return min(max(int64(wait), 0), int64(maxTime))
}

// cuts are the tenths that remain of the pace after the first cut, the second in a row, and so on. After
// heldAfter of them calls are held.
var cuts = [...]int64{9, 8, 7, 5}

const (
	heldAfter = 3
	// grace is how long after a cut a window may still be full of what was called before it.
	grace = second
)
