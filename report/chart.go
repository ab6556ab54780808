package report

import (
	"cmp"
	"fmt"
	"time"
)

// chartView shows what took time or money in a run, to scale. Positions are in thousandths of the whole.
type chartView struct {
	Says  string
	Lanes []laneView
	// Ticks are the times at each quarter.
	Ticks []string
}

// laneView is one lane of a chart.
type laneView struct {
	Name string
	Bars []barView
}

// barView is one bar. Link is the id of its section.
type barView struct {
	X, Y, Width, Height int
	Tone, Says, Link    string
}

// maxBars is the most bars that a lane shows.
const maxBars = 1_000

// The lanes of the chart, by what took the time.
const (
	calls = 1 + iota
	waits
	tools
)

// chartOf returns the chart of a run, or nil if nothing took time.
func chartOf(sections []*section) *chartView {
	length := time.Duration(0)
	for _, s := range sections {
		for _, e := range s.Items {
			length = max(length, e.to)
		}
	}
	if length <= 0 {
		return nil
	}
	v := &chartView{Says: "What took time: " + short(length) + " in all, to scale", Lanes: []laneView{{Name: "calls"}, {Name: "waits"},
		{Name: "tools"}}}
	for _, s := range sections {
		for n, e := range s.Items {
			if e.lane == 0 || e.to <= e.from {
				continue
			}
			b := barView{X: share(e.from, length, 1000), Y: 2, Height: 16, Tone: e.Tone(), Link: s.ID}
			b.Width = max(3, share(e.to, length, 1000)-b.X)
			b.Says = fmt.Sprintf("%s: %s, from %s to %s", s.Title, short(e.to-e.from), since(e.from),
				since(e.to))
			if e.lane == tools { // calls that overlap are drawn below one another
				b.Y, b.Height, b.Tone = 2+4*(n%4), 4, cmp.Or(b.Tone, "tool")
			}
			if l := &v.Lanes[e.lane-1]; len(l.Bars) < maxBars {
				l.Bars = append(l.Bars, b)
			}
		}
	}
	step := time.Duration(1)
	for step*10 <= length/100 {
		step *= 10
	}
	for part := range time.Duration(5) {
		v.Ticks = append(v.Ticks, short((length / 4 * part).Round(step)))
	}
	return v
}

// share scales part of whole to a number from 0 to full.
func share[N ~int64](part, whole N, full int) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(full) * min(1, max(0, float64(part)/float64(whole))))
}
