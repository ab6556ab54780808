package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed tune.html
var tuneText string

var tuneTemplate = template.Must(template.New("").Parse(tuneText))

// tunePage is the page of a ranking.
type tunePage struct {
	Corpus, Of string
	Rows       []*candidate
	Points     []tunePoint
	// Front joins the policies that are not dominated. MinX to MaxY are the ends of the axes, as text.
	Front                  string
	MinX, MaxX, MinY, MaxY string
}

// tunePoint is a policy in the picture, which is 600 by 320. R says how long its runs waited.
type tunePoint struct {
	X, Y, R     float64
	Label, Says string
	Dominated   bool
}

// writeTunePage writes a page with a table and a picture: what policies cost, and how often they succeed.
func writeTunePage(w io.Writer, of string, all []*candidate) error {
	p := tunePage{Corpus: plain(of), Of: "tokens"}
	if isPriced(all) {
		p.Of = "cost"
	}
	p.Rows = all
	low, high := *all[0], *all[0]
	for _, c := range all {
		low.Succeeded, high.Succeeded = min(low.Succeeded, c.Succeeded), max(high.Succeeded, c.Succeeded)
		low.Tokens, high.Tokens = min(low.Tokens, c.Tokens), max(high.Tokens, c.Tokens)
		low.CostMicros, high.CostMicros = min(low.CostMicros, c.CostMicros), max(high.CostMicros, c.CostMicros)
		high.WaitMS = max(high.WaitMS, c.WaitMS)
	}
	priced := p.Of == "cost"
	p.MinX, p.MaxX = low.Paid(priced), high.Paid(priced)
	p.MinY, p.MaxY = low.Share(), high.Share()
	for _, c := range all {
		p.Points = append(p.Points, tunePoint{
			X: scaled(c.price(priced), low.price(priced), high.price(priced), 80, 560),
			Y: scaled(int64(c.Succeeded), int64(low.Succeeded), int64(high.Succeeded), 270, 40),
			R: scaled(c.WaitMS, 0, high.WaitMS, 5, 14), Label: c.Plain(), Dominated: c.Dominated,
			Says: fmt.Sprintf("%s: %d of %d succeeded, %s %s, waited %s",
				c.Plain(), c.Succeeded, c.Sessions, p.Of, c.Paid(priced), c.Waited()),
		})
	}
	for n := len(p.Points) - 1; n > 0; n-- { // of those in one place, the best has all labels
		if last, q := &p.Points[n-1], &p.Points[n]; last.X == q.X && last.Y == q.Y {
			last.Label, q.Label = last.Label+", "+q.Label, ""
		}
	}
	front := slices.DeleteFunc(slices.Clone(p.Points), func(q tunePoint) bool { return q.Dominated })
	slices.SortFunc(front, func(a, b tunePoint) int { return cmp.Compare(a.X, b.X) })
	for _, q := range front {
		p.Front += fmt.Sprintf("%.1f,%.1f ", q.X, q.Y)
	}
	p.Front = strings.TrimSpace(p.Front)
	return tuneTemplate.Execute(w, p)
}

// Paid is the cost, or the tokens, as text.
func (c *candidate) Paid(priced bool) string {
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
