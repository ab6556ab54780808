package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// costRow is what one attempt cost. Use says what came of it. Page is the address of the page of an agent.
type costRow struct {
	Link, Turn, What, Model      string
	Page                         string
	In, Cached, Out, Took, Price string
	Use                          string
	Lost                         bool
	// Share is what the attempt cost in hundredths of the dearest one; 0 for what is no attempt.
	Share int

	paid int64
}

// priced reports whether what a run took has prices.
func (r *run) priced() bool { return r.totals.Cost > 0 }

// spent returns what something cost, in money where the run has prices, else in tokens; empty for nothing.
func (r *run) spent(c policy.Charge) string {
	switch tokens := c.Usage.Total(); {
	case r.priced() && c.Cost > 0:
		return several.Money(c.Cost)
	case !r.priced() && tokens > 0:
		return several.Grouped(tokens) + " tokens"
	}
	return ""
}

// charge returns what the attempts of sections cost.
func charge(sections ...*section) (all policy.Charge) {
	for _, s := range sections {
		all = all.Plus(s.charge(func(*entry) bool { return true }))
	}
	return all
}

// charge returns what the attempts of a section cost that are wanted.
func (s *section) charge(wanted func(*entry) bool) (all policy.Charge) {
	for _, e := range s.Items {
		if e.Decision != nil && wanted(e) {
			all = all.Plus(policy.Charge{Usage: e.Usage, Cost: e.Cost})
		}
	}
	return all
}

// took returns how long a turn took, with its tools and waits; empty for no time.
func (s *section) took() string {
	end := time.Duration(0)
	for _, e := range s.all {
		end = max(end, e.At, e.to)
	}
	if s.Call == nil || end <= s.Call.At {
		return ""
	}
	return short(end - s.Call.At)
}

// costs has a row for each attempt that consumed something, one for what models consumed in each of its
// calls, one for the rest, and one for all.
func (r *run) costs(sections []*section) (rows []costRow) {
	for _, s := range sections {
		rows = append(rows, r.costsOf(s)...)
	}
	if len(rows) == 0 {
		return nil
	}
	dearest := slices.MaxFunc(rows, func(a, b costRow) int { return cmp.Compare(a.paid, b.paid) }).paid
	for n := range rows {
		rows[n].Share = share(rows[n].paid, dearest, 100)
	}
	all := policy.Charge{Usage: r.totals.Usage, Cost: r.totals.Cost}
	if rest := less(all, charge(sections...)); rest.Usage.Total() > 0 || rest.Cost > 0 {
		row := r.costRow(rest)
		row.What = "left out above, or nothing decided on it"
		rows = append(rows, row)
	}
	sum := r.costRow(all)
	sum.What = "in all"
	sum.Use = lostText(r.spent(r.totals.Wasted))
	return append(rows, sum)
}

// costsOf has the rows of the attempts of a section. The first one has the time of the model call.
func (r *run) costsOf(s *section) (rows []costRow) {
	took := s.called()
	for _, e := range s.Items {
		all := policy.Charge{Usage: e.Usage, Cost: e.Cost}
		if e.Decision == nil || all == (policy.Charge{}) {
			continue
		}
		for _, c := range e.inside {
			all = less(all, c.Charge)
			row, what := r.costRow(c.Charge), ": inside the call"
			if agent := s.agent(c.child); agent != nil {
				row.Page, what = agent.Link, ": all of the agent"
			}
			rows = append(rows, row.of(s, e, c.tool+what, c.took))
		}
		if all != (policy.Charge{}) {
			row := r.costRow(all)
			row.Model = e.model
			rows = append(rows, row.of(s, e, e.Decision.Position.String(), took))
			took = 0
		}
	}
	return rows
}

// of returns a row with what it is about: a part of an attempt of a section.
func (row costRow) of(s *section, attempt *entry, what string, took time.Duration) costRow {
	row.Link, row.Turn, row.What = s.ID, fmt.Sprint(s.Number), told.Brief(what, maxNames)
	row.Use, row.Lost, row.Took = "used", attempt.failed(), when(took > 0, short(took))
	if row.Lost {
		row.Use = "lost: " + visible(told.Words(string(attempt.Decision.Class)))
	}
	return row
}

// less returns a charge without a part of it, as far as rows show it.
func less(all, part policy.Charge) policy.Charge {
	return policy.Charge{Cost: max(0, all.Cost-part.Cost), Usage: message.Usage{
		InputTokens:     max(0, all.Usage.InputTokens-part.Usage.InputTokens),
		OutputTokens:    max(0, all.Usage.OutputTokens-part.Usage.OutputTokens),
		CacheReadTokens: max(0, all.Usage.CacheReadTokens-part.Usage.CacheReadTokens),
	}}
}

// agent finds an agent that a section shows, or nil.
func (s *section) agent(session string) *childView {
	for _, e := range s.Items {
		for _, c := range e.Nested {
			if c.ID == session {
				return c
			}
		}
	}
	return nil
}

// lostText says what was lost; empty if nothing was.
func lostText(spent string) string { return when(spent != "", spent+" lost") }

// called returns how long the model call of a section took.
func (s *section) called() (took time.Duration) {
	for _, e := range s.all {
		if e.lane == calls {
			took += e.to - e.from
		}
	}
	return took
}

// costRow has the numbers of a row.
func (r *run) costRow(c policy.Charge) (row costRow) {
	row.In, row.Cached = several.Grouped(c.Usage.InputTokens), several.Grouped(c.Usage.CacheReadTokens)
	row.Out = several.Grouped(c.Usage.OutputTokens)
	row.Price = when(c.Cost > 0, several.Money(c.Cost))
	if row.paid = c.Cost; !r.priced() {
		row.paid = c.Usage.Total()
	}
	return row
}
