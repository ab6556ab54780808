package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

// sessionJSON is a session as GET /api/sessions tells it: with every key that scripts read, whatever it has.
type sessionJSON struct {
	ID      string               `json:"id"`
	State   journal.SessionState `json:"state"`
	Why     string               `json:"why"`
	Until   *time.Time           `json:"until"`
	InDoubt int                  `json:"in_doubt"`
	Turns   int                  `json:"turns"`
	Tokens  int64                `json:"tokens"`
	Cost    int64                `json:"cost_micros"`
	Since   *time.Time           `json:"since"`
	Last    *time.Time           `json:"last"`
	Store   string               `json:"store,omitempty"`
	Damaged int64                `json:"damaged,omitempty"`
	// Inside is the session in whose call the session was made, as an agent; empty for others.
	Inside string `json:"inside,omitempty"`
}

func toldOf(s *watched) sessionJSON {
	return sessionJSON{
		ID: s.Session, State: s.State, Why: s.Why, Until: orNull(s.Until), InDoubt: s.InDoubt, Turns: s.Turns,
		Tokens: s.Tokens, Cost: s.Cost, Since: orNull(s.Since), Last: orNull(s.Last), Store: s.Store, Damaged: s.Damaged,
	}
}

// orNull returns a time, or nil for none.
func orNull(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// api answers with all sessions, or those of a filter. What cannot be read does not hide the others.
func (c *Console) api(w http.ResponseWriter, r *http.Request) {
	f, wrong := c.filter(r)
	if wrong != nil {
		http.Error(w, wrong.Error(), http.StatusBadRequest)
		return
	}
	answer := struct {
		Sessions []sessionJSON `json:"sessions"`
		Unread   string        `json:"unread,omitempty"`
	}{Sessions: []sessionJSON{}}
	err := c.watch.refresh(r.Context())
	all, _ := c.watch.all()
	if err != nil {
		answer.Unread = brief(c.scrub(err.Error()))
	}
	if err != nil && len(all) == 0 {
		http.Error(w, "the stores cannot be read: "+answer.Unread, http.StatusInternalServerError)
		return
	}
	outer, now := outerOf(all), c.clock.Now()
	for _, s := range all {
		if f.fits(s, outer, now) {
			one := toldOf(s)
			if o := outer[s]; o != nil {
				one.Inside = o.Session
			}
			answer.Sessions = append(answer.Sessions, one)
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer)
}

// listView is the list page.
type listView struct {
	Filter   filter
	Title    string
	Chips    []chip
	Sections []listSection
	Heads    []head
	Now      string
	Fit      string
	nav
	paging
	Reading string
	Empty   bool
	// Wrong is what is wrong with the address, and Unread which stores cannot be read.
	Wrong, Unread string
	Stores        string
	Live          string
	Unfiltered    []chip
	// Choices are the filters by a value.
	Choices []choice
}

// nav is what leads from each page to the others.
type nav struct {
	// Here is the page that it stands on.
	Here string
	// All is the number of sessions, and Asking that of questions. Limits reports that there is a page of
	// limits.
	All    string
	Asking int
	Limits bool
}

func (c *Console) nav(here string) nav {
	all, _ := c.watch.all()
	return nav{here, several.Grouped(len(all)), questions(all), c.settings.Limits != nil}
}

// questions counts the questions of sessions.
func questions(all []*watched) (n int) {
	for _, s := range all {
		n += len(s.asks)
	}
	return n
}

// chip is a link that sets or unsets a filter.
type chip struct {
	Text, Link string
	Count      string
	On         bool
}

// head is a header of the table.
type head struct{ Text, Link, Sort string }

// listSection is a part of the list with a title; empty for a flat list.
type listSection struct {
	Title string
	Count string
	Rows  []cell
}

// pageRows is the most rows of a page.
const pageRows = 200

// list writes the list page.
func (c *Console) list(w http.ResponseWriter, r *http.Request) {
	err := c.watch.glance(r.Context())
	f, wrong := c.filter(r)
	v, status := c.view(r.Context(), f, c.clock.Now()), http.StatusOK
	v.Unread = c.unread(err)
	if wrong != nil {
		v.Wrong, status = "Shown without what is wrong in the address. "+wrong.Error(), http.StatusBadRequest
	}
	show(w, status, "list", v)
}

// titled returns the title of a page with the number of questions.
func titled(asking int, name string) string {
	if asking == 0 {
		return name
	}
	return fmt.Sprintf("(%d) %s", asking, name)
}

// found is what a filter finds, and what is shown of it.
type found struct {
	lines, shown []line
	paging
	// fit is the number of sessions that fit.
	fit     int
	reading string
	// all are all sessions.
	all []*watched
}

// find returns what fits a filter, in order, and its page.
func (c *Console) find(ctx context.Context, f filter, now time.Time) (fd found) {
	fd.all, fd.reading = c.watch.all()
	outer := outerOf(fd.all)
	var rows []*watched
	for _, s := range fd.all {
		if f.fits(s, outer, now) {
			rows = append(rows, s)
		}
	}
	order(rows, f.Sort, now)
	if fd.fit = len(rows); f.Sort == "" {
		fd.lines = families(rows, outer, f, now)
	} else {
		for _, r := range rows {
			fd.lines = append(fd.lines, line{watched: r})
		}
	}
	first, last := fd.cut(f.Page, len(fd.lines), pageRows, f.at)
	fd.shown = c.withAnswers(ctx, fd.lines[first:last])
	return fd
}

// paging says which part of all entries a page shows, and has the addresses of the pages beside it.
type paging struct {
	From, To int
	// Of is the number of all entries.
	Of           string
	Newer, Older string
	page         int
}

// cut makes the page of a number, or the last one if there are not so many, and returns where it begins and
// ends. at makes the address of a page.
func (p *paging) cut(page, all, size int, at func(page int) string) (first, last int) {
	pages := max(1, (all+size-1)/size)
	p.page = max(1, min(page, pages))
	first = (p.page - 1) * size
	last = min(all, first+size)
	p.From, p.To, p.Of = first+1, last, several.Grouped(all)
	if p.page > 1 {
		p.Newer = at(p.page - 1)
	}
	if p.page < pages {
		p.Older = at(p.page + 1)
	}
	return first, last
}

func (c *Console) view(ctx context.Context, f filter, now time.Time) *listView {
	asOf := c.watch.asOf(now)
	fd := c.find(ctx, f, now)
	f.Page = fd.page
	v := &listView{
		Filter: f, Title: titled(questions(fd.all), "retake"), Now: asOf.UTC().Format("15:04:05"),
		Fit: several.Grouped(fd.fit), paging: fd.paging, nav: c.nav("list"),
		Empty: len(fd.all) == 0 && fd.reading == "", Reading: fd.reading,
		Chips: chipsOf(f, fd.all, now), Heads: headsOf(f), Live: "events?" + f.query(),
		Stores:  strings.Join(storeNames(c.settings.Stores), ", "),
		Choices: choicesOf(f, fd.all, now),
	}
	if fd.fit == 0 && !v.Empty || f.Inside != "" {
		v.Unfiltered = offs(f)
	}
	if f.Sort != "" {
		if len(fd.shown) > 0 {
			v.Sections = []listSection{{Rows: cells(fd.shown, now)}}
		}
		return v
	}
	sizes := sizesOf(fd.lines)
	for n, name := range sectionNames {
		if in := inSection(fd.shown, n); len(in) > 0 {
			v.Sections = append(v.Sections, listSection{name, several.Grouped(sizes[n]), cells(in, now)})
		}
	}
	return v
}

// withAnswers says of sessions whose questions all have answers that their runs have not taken these yet.
func (c *Console) withAnswers(ctx context.Context, lines []line) []line {
	lines = slices.Clone(lines)
	given := c.given(ctx)
	for n, l := range lines {
		if len(l.asks) == 0 {
			continue
		}
		answers := given(l.watched)
		if slices.ContainsFunc(l.asks, func(a openAsk) bool { return answers[a.ID] == "" }) {
			continue
		}
		s := *l.watched
		s.Why = brief(cmp.Or(s.asks[0].Tool, "the answer")) + ": " + answers[s.asks[0].ID] + ", " + notTaken
		lines[n].watched = &s
	}
	return lines
}

func cells(lines []line, now time.Time) []cell {
	all := make([]cell, len(lines))
	for n, l := range lines {
		all[n] = cell{l, now}
	}
	return all
}

// headsOf returns the headers of the table.
func headsOf(f filter) (all []head) {
	for _, h := range []head{
		{Text: "State", Sort: "state"}, {Text: "Session", Sort: "session"}, {Text: "What is going on"},
		{Text: "Attempt", Sort: "attempt"},
		{Text: "Spent (lost)", Sort: "spent"}, {Text: "Last", Sort: "last"}, {Text: "Began", Sort: "began"},
	} {
		if h.Sort != "" {
			g := f
			if g.Sort = h.Sort; f.Sort == h.Sort {
				g.Sort = ""
			}
			h.Link = g.at(1)
		}
		all = append(all, h)
	}
	return all
}
