package simulate

import (
	"fmt"
	"strings"
)

// The size of a panel of a plot, and the most columns that it has.
const (
	plotWidth   = 720
	plotHeight  = 110
	plotLeft    = 60
	plotTop     = 24
	plotColumns = 360
)

// kindsOfCalls are what a plot shows, from the bottom up.
var kindsOfCalls = []struct {
	name, colour string
	of           func(Second) int64
}{
	{"served", "#2e7d32", func(s Second) int64 { return s.Served }},
	{"refused", "#c62828", func(s Second) int64 { return s.Refused }},
	{"while it was down", "#f9a825", func(s Second) int64 { return s.Down }},
}

// Plot draws the calls of each second, a panel for each limiter, as SVG.
func Plot(all []Played) string {
	seconds, most := 1, int64(1)
	for _, one := range all {
		seconds = max(seconds, len(one.Result.Seconds))
	}
	per := (seconds + plotColumns - 1) / plotColumns
	for _, one := range all {
		for _, column := range columnsOf(one.Result.Seconds, per) {
			most = max(most, column[0]+column[1]+column[2])
		}
	}
	var b strings.Builder
	height := plotTop + len(all)*(plotHeight+24) + 24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		plotLeft+plotWidth+20, height)
	fmt.Fprintln(&b, `<rect width="100%" height="100%" fill="white"/>`)
	for n, kind := range kindsOfCalls {
		x := plotLeft + 140*n
		fmt.Fprintf(&b, `<rect x="%d" y="6" width="10" height="10" fill="%s"/><text x="%d" y="15">%s</text>`+"\n",
			x, kind.colour, x+14, kind.name)
	}
	for n, one := range all {
		panel(&b, plotTop+n*(plotHeight+24), one, per, seconds, most)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">seconds from the start to %d; calls a second up to %d</text>`+
		"\n</svg>\n", plotLeft, height-8, seconds,
		most/int64(per))
	return b.String()
}

// columnsOf sums the seconds, per of them in each column, by kind of call.
func columnsOf(seconds []Second, per int) [][3]int64 {
	all := make([][3]int64, (len(seconds)+per-1)/per)
	for n, second := range seconds {
		for k, kind := range kindsOfCalls {
			all[n/per][k] += kind.of(second)
		}
	}
	return all
}

// panel draws one limiter below top.
func panel(b *strings.Builder, top int, one Played, per, seconds int, most int64) {
	bottom := top + plotHeight
	fmt.Fprintf(b, `<text x="4" y="%d">%s</text><path d="M%d %dV%dH%d" stroke="#888" fill="none"/>`+"\n",
		top+plotHeight/2, one.Limiter,
		plotLeft, top, bottom, plotLeft+plotWidth)
	x := func(column int) float64 { return plotLeft + float64(column*per)*plotWidth/float64(seconds) }
	columns := columnsOf(one.Result.Seconds, per)
	for k := len(kindsOfCalls) - 1; k >= 0; k-- {
		var path strings.Builder
		drawn := false
		for n, column := range columns {
			sum := int64(0)
			for _, calls := range column[:k+1] {
				sum += calls
			}
			drawn = drawn || column[k] > 0
			fmt.Fprintf(&path, "V%.1fH%.1f", float64(bottom)-float64(sum)*plotHeight/float64(most), x(n+1))
		}
		if drawn {
			fmt.Fprintf(b, `<path d="M%d %d%sV%dZ" fill="%s"/>`+"\n", plotLeft, bottom, path.String(), bottom,
				kindsOfCalls[k].colour)
		}
	}
}
