package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
)

//go:embed tune.html
var tuneText string

var tuneTemplate = template.Must(template.New("").Parse(tuneText))

// tunePage is the page of a ranking.
type tunePage struct {
	Corpus string
	// Priced is set if money decides, and not tokens.
	Priced bool
	Rows   []*candidate
	// The ends of the axes.
	Cheapest, Dearest *candidate
	Best, Worst       string
	// Front are the points of the ranked policies that are not dominated, from left to right.
	Points, Front []tunePoint
}

// tunePoint is a policy in the picture, which is 600 by 320. Top is where it would be if all succeeded of
// which the end is not known. R says how long its runs waited.
type tunePoint struct {
	*candidate
	X, Y, Top, R float64
	Label        string
}

// writeTunePage writes a page with a table and a picture: what ranked policies cost, and how often they
// succeed.
func writeTunePage(w io.Writer, of string, all []*candidate) error {
	p := tunePage{Corpus: plain(of), Priced: isPriced(all), Rows: all}
	price := func(c *candidate) int64 { return c.price(p.Priced) }
	byPrice := func(a, b *candidate) int { return cmp.Compare(price(a), price(b)) }
	p.Cheapest, p.Dearest = slices.MinFunc(all, byPrice), slices.MaxFunc(all, byPrice)
	longest, fewest, most := int64(0), all[0].Succeeded, 0
	for _, c := range all {
		longest, fewest, most = max(longest, c.WaitMS), min(fewest, c.Succeeded), max(most, c.most())
	}
	share := func(n int) string { return fmt.Sprintf("%.1f %%", all[0].percent(n)) } // all have as many sessions
	p.Best, p.Worst = share(most), share(fewest)
	height := func(n int) float64 { return scaled(int64(n), int64(fewest), int64(most), 270, 40) }
	for _, c := range all {
		p.Points = append(p.Points, tunePoint{
			candidate: c, Label: c.Plain(),
			X: scaled(price(c), price(p.Cheapest), price(p.Dearest), 80, 560),
			Y: height(c.Succeeded), Top: height(c.most()),
			R: scaled(c.WaitMS, 0, longest, 5, 14),
		})
	}
	for n := len(p.Points) - 1; n > 0; n-- { // of those in one place, the best has all labels
		if last, q := &p.Points[n-1], &p.Points[n]; last.X == q.X && last.Y == q.Y {
			last.Label, q.Label = last.Label+", "+q.Label, ""
		}
	}
	p.Front = slices.DeleteFunc(slices.Clone(p.Points), func(q tunePoint) bool {
		return q.Dominated || q.Unanswered > 0
	})
	slices.SortFunc(p.Front, func(a, b tunePoint) int { return cmp.Compare(a.X, b.X) })
	return tuneTemplate.Execute(w, p)
}

// Paid returns the cost, or the tokens, as text; of tokens without a price the cost is not known.
func (c *candidate) Paid(priced bool) string {
	if priced && c.CostMicros == 0 && c.Tokens > 0 {
		return "-"
	}
	if priced {
		return fmt.Sprintf("%.6f", float64(c.CostMicros)/1e6)
	}
	return fmt.Sprint(c.Tokens)
}

// scaled puts n, which is between low and high, between from and to.
func scaled(n, low, high int64, from, to float64) float64 {
	if high <= low {
		return from
	}
	return from + (to-from)*float64(n-low)/float64(high-low)
}
