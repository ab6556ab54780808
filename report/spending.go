package report

import (
	"fmt"
	"strings"
)

// money writes a cost in units of money: "0.00039".
func money(micros int64) string {
	text := fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// moneyText is money in words; empty if there is none.
func moneyText(micros int64) string {
	if micros <= 0 {
		return ""
	}
	return "cost " + money(micros)
}

// spendingOf returns a chart with what each attempt cost, or its tokens where nothing has a price; nil if
// nothing was consumed.
func spendingOf(sections []*section) *chartView {
	of := func(e *entry) int64 { return e.Cost }
	all := sum(sections, of)
	v := &chartView{Says: "What it cost: " + money(all) + " in all, by attempt, to scale",
		Lanes: []laneView{{Name: "money"}}}
	if all == 0 {
		of = func(e *entry) int64 {
			if e.Decision == nil {
				return 0
			}
			return e.Usage.Total()
		}
		all = sum(sections, of)
		v.Says, v.Lanes[0].Name = fmt.Sprintf("What it took: %d tokens in all, by attempt, to scale", all), "tokens"
	}
	if all == 0 {
		return nil
	}
	at := int64(0)
	for _, s := range sections {
		for _, e := range s.Items {
			if spent := of(e); spent != 0 {
				add(&v.Lanes[0], barView{Y: 2, Height: 16, Tone: e.Tone(), Link: s.ID,
					Says: joined(", ", s.Title, usageText(e.Usage), moneyText(e.Cost))}, at, at+spent, all)
				at += spent
			}
		}
	}
	return v
}

// sum adds up what entries have.
func sum(sections []*section, of func(*entry) int64) (all int64) {
	for _, s := range sections {
		for _, e := range s.Items {
			all += of(e)
		}
	}
	return all
}
