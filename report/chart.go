package report

import (
	"fmt"
	"slices"
	"time"
)

// chartView is a run to scale: bars in lanes, in units of a thousandth of its length.
type chartView struct {
	Lanes  []laneView
	Length string
	// Ticks are the times at the quarters.
	Ticks []string
}

// laneView is one lane of a chart.
type laneView struct {
	Name string
	Bars []barView
}

// barView is one bar: X and Width are in thousandths.
type barView struct {
	X, Width int
	Tone     string
	Says     string
	// Link is the section that it belongs to.
	Link string
}

// maxBars bounds the bars of a lane.
const maxBars = 1_000

// interval is something that took time.
type interval struct {
	lane     string
	from, to time.Duration
	tone     string
	says     string
	link     string
}

// tracer finds what took time in a run.
type tracer struct {
	all  []interval
	open *interval
	runs time.Duration
}

// see takes one entry; link is the section that it stands in.
func (c *tracer) see(e *entry, link string) {
	if c.open != nil && e.Kind != noted {
		c.close(e)
	}
	switch e.Kind {
	case called, trying:
		c.open = &interval{lane: "calls", from: e.At, says: string(e.Kind) + " " + e.Text, link: link}
	case waiting:
		c.open = &interval{lane: "waits", from: e.At, tone: "wait", says: "wait " + e.Text, link: link}
	case running:
		c.runs = e.At
	case ended:
		to := e.At
		if e.detail != nil && e.detail.landed > 0 {
			to = e.detail.landed
		}
		c.all = append(c.all, interval{"tools", c.runs, to, "tool", e.Text, link})
	}
}

// close ends what was under way.
func (c *tracer) close(e *entry) {
	i := *c.open
	i.to = e.At
	if i.lane == "calls" && (e.bad || e.failed()) {
		i.tone = "bad"
	}
	c.all, c.open = append(c.all, i), nil
}

// chart draws what took time; nil where nothing did.
func (c *tracer) chart() *chartView {
	var length time.Duration
	for _, i := range c.all {
		length = max(length, i.to)
	}
	if length <= 0 {
		return nil
	}
	v, step := &chartView{Length: short(length)}, time.Duration(1)
	for step*10 <= length/100 {
		step *= 10
	}
	for _, part := range []time.Duration{0, 1, 2, 3, 4} {
		v.Ticks = append(v.Ticks, short((length / 4 * part).Round(step)))
	}
	for _, name := range []string{"calls", "waits", "tools"} {
		v.Lanes = append(v.Lanes, c.lanes(name, length)...)
	}
	return v
}

// maxLanes bounds the lanes of one name: what overlaps stands in lanes of its own.
const maxLanes = 4

func (c *tracer) lanes(name string, length time.Duration) []laneView {
	var (
		lanes []laneView
		ends  []time.Duration
	)
	for _, i := range c.all {
		if i.lane != name || i.to <= i.from {
			continue
		}
		at := slices.IndexFunc(ends, func(end time.Duration) bool { return end <= i.from })
		if at < 0 && len(ends) < maxLanes {
			title := name
			if len(lanes) > 0 {
				title = ""
			}
			lanes, ends, at = append(lanes, laneView{Name: title}), append(ends, 0), len(ends)
		}
		if at < 0 || len(lanes[at].Bars) >= maxBars {
			continue
		}
		ends[at] = i.to
		x := share(i.from, length, 1000)
		lanes[at].Bars = append(lanes[at].Bars, barView{
			X: x, Width: max(3, share(i.to, length, 1000)-x), Tone: i.tone, Link: i.link,
			Says: fmt.Sprintf("%s: %s, from %s to %s",
				i.says, short(i.to-i.from), since(i.from), since(i.to)),
		})
	}
	return lanes
}

// share is a part of a whole, of which full is the measure.
func share(part, whole time.Duration, full int) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(full) * min(1, max(0, float64(part)/float64(whole))))
}
