package simulate

import (
	"slices"
	"time"
)

// log is what is seen of a simulation.
type log struct {
	arrived, served, refusals int64
	inOutage                  int64
	times                     []int64 // of all calls that arrived
	// Of each second: what arrived, and how it ended.
	seconds []Second
}

// Second is what a provider saw in one second: calls that were served, refused, and made while it was down.
type Second struct{ Served, Refused, Down int64 }

const maxSeconds = 200_000

func (l *log) second(now int64) *Second {
	n := int(min(now/int64(time.Second), maxSeconds-1))
	for len(l.seconds) <= n {
		l.seconds = append(l.seconds, Second{})
	}
	return &l.seconds[n]
}

func (l *log) call(now int64, down bool) {
	l.arrived++
	l.times = append(l.times, now)
	if down {
		l.inOutage++
		l.second(now).Down++
	}
}

func (l *log) refused(now int64) {
	l.refusals++
	l.second(now).Refused++
}

func (l *log) serve(now int64) {
	l.served++
	l.second(now).Served++
}

// worst returns the largest number of calls that arrived in a window, wherever it begins at or after from.
func (l *log) worst(from int64, window time.Duration) (most int64) {
	first, _ := slices.BinarySearch(l.times, from)
	for n := first; n < len(l.times); n++ {
		for l.times[first] <= l.times[n]-int64(window) {
			first++
		}
		most = max(most, int64(n-first+1))
	}
	return most
}
