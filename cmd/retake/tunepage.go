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
	Cheapest, Dearest, Best, Worst *candidate
	// Front are the points of the policies that are not dominated, from left to right.
	Points, Front []tunePoint
}

// tunePoint is a policy in the picture, which is 600 by 320. R says how long its runs waited.
type tunePoint struct {
	*candidate
	X, Y, R float64
	Label   string
}

// writeTunePage writes a page with a table and a picture: what ranked policies cost, and how often they
// succeed.
func writeTunePage(w io.Writer, of string, all []*candidate) error {
	p := tunePage{Corpus: plain(of), Priced: isPriced(all), Rows: all, Best: all[0], Worst: all[len(all)-1]}
	price := func(c *candidate) int64 { return c.price(p.Priced) }
	byPrice := func(a, b *candidate) int { return cmp.Compare(price(a), price(b)) }
	p.Cheapest, p.Dearest = slices.MinFunc(all, byPrice), slices.MaxFunc(all, byPrice)
	longest := int64(0)
	for _, c := range all {
		longest = max(longest, c.WaitMS)
	}
	for _, c := range all {
		p.Points = append(p.Points, tunePoint{
			candidate: c, Label: c.Plain(),
			X: scaled(price(c), price(p.Cheapest), price(p.Dearest), 80, 560),
			Y: scaled(int64(c.Succeeded), int64(p.Worst.Succeeded), int64(p.Best.Succeeded), 270, 40),
			R: scaled(c.WaitMS, 0, longest, 5, 14),
		})
	}
	for n := len(p.Points) - 1; n > 0; n-- { // of those in one place, the best has all labels
		if last, q := &p.Points[n-1], &p.Points[n]; last.X == q.X && last.Y == q.Y {
			last.Label, q.Label = last.Label+", "+q.Label, ""
		}
	}
	p.Front = slices.DeleteFunc(slices.Clone(p.Points), func(q tunePoint) bool { return q.Dominated })
	slices.SortFunc(p.Front, func(a, b tunePoint) int { return cmp.Compare(a.X, b.X) })
	return tuneTemplate.Execute(w, p)
}

// Paid is the cost, or the tokens, as text; of tokens without a price the cost is not known.
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
