package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/journal"
)

// told is a session as GET /api/sessions tells it: with every key that scripts read, whatever it has.
type told struct {
	ID      string               `json:"id"`
	State   journal.SessionState `json:"state"`
	Why     string               `json:"why"`
	Until   *time.Time           `json:"until"`
	InDoubt int                  `json:"in_doubt"`
	Turns   int                  `json:"turns"`
	Tokens  int64                `json:"tokens"`
	Since   *time.Time           `json:"since"`
	Last    *time.Time           `json:"last"`
	Store   string               `json:"store,omitempty"`
	Damaged int64                `json:"damaged,omitempty"`
}

func toldOf(s *Session) told {
	return told{s.Summary.Session, s.State, s.Why, orNull(s.Until), s.InDoubt, s.Turns, s.Tokens, orNull(s.Since),
		orNull(s.Last), s.Store, s.Damaged}
}

// orNull is a time, or nil for none.
func orNull(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// api answers with all sessions, or those of a filter. What cannot be read does not hide the others.
func (c *Console) api(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	f := filterOf(query)
	if state := query.Get("state"); state != string(f.State) {
		http.Error(w, fmt.Sprintf("state: %q: give one of %q", brief(state), states), http.StatusBadRequest)
		return
	}
	answer := struct {
		Sessions []told `json:"sessions"`
		Unread   string `json:"unread,omitempty"`
	}{Sessions: []told{}}
	err := c.watch.refresh(r.Context())
	all, _ := c.watch.all()
	if err != nil {
		answer.Unread = brief(c.scrub(err.Error()))
	}
	if err != nil && len(all) == 0 {
		http.Error(w, "the stores cannot be read: "+answer.Unread, http.StatusInternalServerError)
		return
	}
	for _, s := range all {
		if f.fits(s.row) {
			answer.Sessions = append(answer.Sessions, toldOf(&s.row.Session))
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer)
}

// listView is the list page.
type listView struct {
	Filter     filter
	Title      string
	Chips      []chip
	Sections   []listSection
	Heads      []head
	Now        string
	From, To   int
	Fit, All   string
	Newer      string
	Older      string
	Reading    string
	Empty      bool
	Wrong      string
	Stores     string
	Live       string
	Asking     int
	ManyStores bool
	Unfiltered []chip
	// Limits reports that there is a page of limits.
	Limits bool
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
	f, now := filterOf(r.URL.Query()), c.clock.Now()
	v := c.view(f, now)
	if err != nil {
		v.Wrong = "Not all stores can be read: " + brief(err.Error())
	}
	show(w, http.StatusOK, "list", v)
}

// fitting returns the rows of a filter in order, and counts all.
func (c *Console) fitting(f filter, now time.Time) (rows []*row, counts map[string]int, reading string) {
	all, reading := c.watch.all()
	counts = map[string]int{"": len(all)}
	for _, s := range all {
		r := s.row
		counts[string(r.State)]++
		if r.InDoubt > 0 {
			counts["doubt"]++
		}
		if r.Retrying {
			counts["retry"]++
		}
		if f.fits(r) {
			rows = append(rows, r)
		}
	}
	order(rows, f.Sort, now)
	return rows, counts, reading
}

func (c *Console) view(f filter, now time.Time) *listView {
	rows, counts, reading := c.fitting(f, now)
	pagesOf := max(1, (len(rows)+pageRows-1)/pageRows)
	f.Page = min(f.Page, pagesOf)
	first := (f.Page - 1) * pageRows
	shown := rows[first:min(len(rows), first+pageRows)]
	v := &listView{
		Filter: f, Title: "retake", Now: now.UTC().Format("15:04:05"), Fit: grouped(len(rows)),
		All:  grouped(counts[""]),
		From: first + 1, To: first + len(shown), Empty: counts[""] == 0 && reading == "", Reading: reading,
		Asking: counts[string(journal.SessionAsks)], ManyStores: len(c.settings.Stores) > 1,
		Chips: chipsOf(f, counts), Heads: headsOf(f), Live: "/events?" + f.query(), Stores: c.storeNames(),
		Limits: c.settings.Limits != nil,
	}
	if v.Asking > 0 {
		v.Title = fmt.Sprintf("(%d) retake", v.Asking)
	}
	at := func(page int) string { g := f; g.Page = page; return "/?" + g.query() }
	if f.Page > 1 {
		v.Newer = at(f.Page - 1)
	}
	if f.Page < pagesOf {
		v.Older = at(f.Page + 1)
	}
	if len(rows) == 0 && !v.Empty {
		v.Unfiltered = offs(f)
	}
	if f.Sort != "" {
		v.Sections = []listSection{{Rows: cells(shown, now)}}
		return v
	}
	sizes := [3]int{}
	for _, r := range rows {
		sizes[r.section(now)]++
	}
	for n, name := range sectionNames {
		in := slices.DeleteFunc(slices.Clone(shown), func(r *row) bool { return r.section(now) != n })
		if len(in) > 0 {
			v.Sections = append(v.Sections, listSection{name, grouped(sizes[n]), cells(in, now)})
		}
	}
	return v
}

func cells(rows []*row, now time.Time) []cell {
	all := make([]cell, len(rows))
	for n, r := range rows {
		all[n] = cell{r, now}
	}
	return all
}

func (c *Console) storeNames() string {
	names := make([]string, len(c.settings.Stores))
	for n, s := range c.settings.Stores {
		names[n] = s.Name
	}
	return strings.Join(names, ", ")
}

// headsOf are the headers of the table.
func headsOf(f filter) (all []head) {
	for _, h := range []head{
		{Text: "State", Sort: "state"}, {Text: "Session", Sort: "session"}, {Text: "What is going on"},
		{Text: "Attempt", Sort: "attempt"},
		{Text: "Spent (lost)", Sort: "spent"}, {Text: "Last", Sort: "last"}, {Text: "Began", Sort: "began"},
	} {
		if h.Sort != "" {
			g := f
			g.Page, g.Sort = 1, h.Sort
			if f.Sort == h.Sort {
				g.Sort = ""
			}
			h.Link = "/?" + g.query()
		}
		all = append(all, h)
	}
	return all
}
