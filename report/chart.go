package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// chartView shows what took time in a run, to scale. Positions are in thousandths of the whole.
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

// maxBars is about the most bars of a lane, and manyBars begins what one says that is several.
const (
	maxBars  = 100
	manyBars = "the first of several: "
)

// add adds a bar that lasts from one part of a whole to another. One beside many others becomes part of the
// last, if that is near.
func (l *laneView) add(b barView, from, to, whole time.Duration) {
	b.X = share(from, whole, 1000)
	b.Width = max(3, share(to, whole, 1000)-b.X)
	if n := len(l.Bars); n >= maxBars/2 {
		last := &l.Bars[n-1]
		if b.X < last.X+1000/maxBars*2 {
			last.Width, last.Y, last.Height = max(last.Width, b.X+b.Width-last.X), 2, 16
			if last.Says = manyBars + strings.TrimPrefix(last.Says, manyBars); b.Tone == "bad" {
				last.Tone = b.Tone
			}
			return
		}
	}
	l.Bars = append(l.Bars, b)
}

// The lanes of the chart, by what took the time.
const (
	calls = 1 + iota
	waits
	tools
)

// chartOf returns the chart of a run, or nil if nothing took time.
func chartOf(sections []*section, gaps []gap) *chartView {
	length := time.Duration(0)
	for _, s := range sections {
		for _, e := range s.all {
			length = max(length, e.to)
		}
	}
	if length <= 0 {
		return nil
	}
	v := &chartView{Says: "What took time: " + short(length) + " in all, to scale",
		Lanes: []laneView{{Name: "calls"}, {Name: "waits"}, {Name: "tools"}}}
	for _, s := range sections {
		bars := barsOf(s)
		for n, e := range bars {
			row, of := overlapping(bars, n)
			for _, piece := range e.pieces(gaps) {
				b := barView{Y: 2 + 16*row/of, Height: 16 / of, Tone: piece.tone, Link: s.ID}
				b.Says = fmt.Sprintf("%s: %s%s, from %s to %s", s.Title, piece.says, short(piece.to-piece.from),
					since(piece.from), since(piece.to))
				v.Lanes[e.lane-1].add(b, piece.from, piece.to, length)
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

// barsOf returns the entries of a section that took time.
func barsOf(s *section) (bars []*entry) {
	for _, e := range s.all {
		if e.lane != 0 && e.to > e.from {
			bars = append(bars, e)
		}
	}
	return bars
}

// maxRows is the most rows in which calls that overlap are drawn below one another.
const maxRows = 4

// overlapping returns the row of a bar, and how many rows there are: one for each tool call of a batch.
func overlapping(bars []*entry, n int) (row, of int) {
	for i, e := range bars {
		if e.lane == tools && bars[n].lane == tools && e.from == bars[n].from {
			if of++; i < n {
				row++
			}
		}
	}
	return row % maxRows, max(1, min(of, maxRows))
}

// piece is a part of a bar.
type piece struct {
	from, to   time.Duration
	tone, says string
}

// pieces divides what took time where no process may have been at work.
func (e *entry) pieces(gaps []gap) (all []piece) {
	tone, from := e.Tone(), e.from
	if e.lane == tools {
		tone = cmp.Or(tone, "tool")
	}
	for _, g := range gaps {
		if e.lane == waits || g.from < from || g.to > e.to || g.to <= g.from {
			continue
		}
		if g.from > from {
			all = append(all, piece{from, g.from, tone, ""})
		}
		all, from = append(all, piece{g.from, g.to, "gap", "no process, up to "}), g.to
	}
	if from < e.to {
		all = append(all, piece{from, e.to, tone, ""})
	}
	return all
}

// share scales part of whole to a number from 0 to full.
func share[N ~int64](part, whole N, full int) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(full) * min(1, max(0, float64(part)/float64(whole))))
}
