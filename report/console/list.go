package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// api answers with all sessions, or those of a filter.
func (c *Console) api(w http.ResponseWriter, r *http.Request) {
	if err := c.watch.refresh(r.Context()); err != nil {
		http.Error(w, "the stores cannot be read: "+brief(err.Error()), http.StatusInternalServerError)
		return
	}
	all, _, _ := c.watch.all()
	f := filterOf(r.URL.Query())
	now := c.clock.Now()
	answer := struct {
		Sessions []Session `json:"sessions"`
	}{[]Session{}}
	for _, s := range all {
		if row := c.row(s, now); f.fits(row) {
			answer.Sessions = append(answer.Sessions, row.Session)
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer)
}

// row is a session as a row of the list.
type row struct {
	Session
	Key, Link string
	Attempt   string
	Spent     string
	Lost      string
	Retrying  bool
	search    string
	spent     int64
}

// row makes the row of a session.
func (c *Console) row(s *watched, now time.Time) *row {
	r := &row{Session: s.told(s.journal.Held, now), Attempt: s.attempt, spent: s.tokens}
	r.ID, r.Why = s.id(), c.scrub(r.Why)
	if s.err != nil && s.damaged == 0 {
		r.State, r.Why = Failed, "cannot be read: "+brief(s.err.Error())
	}
	if len(c.settings.Stores) > 1 {
		r.Store = c.settings.Stores[s.store].Name
	}
	r.Key = fmt.Sprintf("s%d-%s", s.store, url.PathEscape(s.name))
	r.Link = "/session?" + link(r.ID, r.Store)
	r.Retrying = s.outcome == nil && (s.attempt != "" && !strings.HasPrefix(s.attempt, "1 ") || r.State == Waiting)
	switch {
	case s.cost > 0:
		r.Spent, r.spent = money(s.cost), s.cost
		if s.lostCost > 0 {
			r.Lost = money(s.lostCost)
		}
	case s.tokens > 0:
		r.Spent = grouped(s.tokens)
		if s.lost > 0 {
			r.Lost = grouped(s.lost)
		}
	case s.turns > 0:
		r.Spent = "unknown"
	}
	r.search = strings.ToLower(r.ID + "\n" + r.Why + "\n" + s.request + "\n" + s.toolNames() + "\n" + s.model)
	return r
}

// link is the query of a session.
func link(id, store string) string {
	q := url.Values{"id": {id}}
	if store != "" {
		q.Set("store", store)
	}
	return q.Encode()
}

// money is a cost in units of money.
func money(micros int64) string {
	text := fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// grouped is a number with commas.
func grouped[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Mark is the id of the mark of the row's state.
func (r *row) Mark() string { return "m-" + string(r.State) }

// Word is the word of the row's state.
func (r *row) Word() string {
	if r.State == Asks {
		return "asks"
	}
	return string(r.State)
}

// Doubtful reports whether calls of the latest run are in doubt.
func (r *row) Doubtful() bool { return r.InDoubt > 0 }

// Version changes with everything that the row shows, but for times that pass.
func (r *row) Version() string {
	return fmt.Sprint(r.State, r.Why, r.Attempt, r.Spent, r.Lost, r.Since.UnixNano(), r.Until.UnixNano())
}

// ms is a time for the script; empty if there is none.
func ms(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

// SinceMS, UntilMS and BeganMS are times for the script.
func (r *row) SinceMS() string { return ms(r.Since) }
func (r *row) UntilMS() string { return ms(r.Until) }
func (r *row) BeganMS() string { return ms(r.Began) }

// cell is a row with the time as of which it is shown.
type cell struct {
	*row
	now time.Time
}

// Last is how long ago the latest line was, Left how long the wait or question lasts, Start when the run began.
func (c cell) Last() string {
	if c.Since.IsZero() {
		return ""
	}
	return rough(c.now.Sub(c.Since))
}

func (c cell) Left() string {
	if c.Until.IsZero() || c.Until.Before(c.now) {
		return ""
	}
	return rough(c.Until.Sub(c.now))
}

func (c cell) Start() string {
	switch at := c.Began.UTC(); {
	case at.IsZero():
		return ""
	case c.now.Sub(at) < 20*time.Hour:
		return at.Format("15:04")
	default:
		return at.Format("2006-01-02")
	}
}

// rough is a duration in at most two units.
func rough(d time.Duration) string {
	s := max(0, int64(d/time.Second))
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

// filter is what a list shows, as the query of its address says it.
type filter struct {
	Q     string
	State State
	// Doubt shows sessions with calls in doubt, Retry those in a later attempt or that wait.
	Doubt, Retry bool
	Sort         string
	Page         int
}

func filterOf(q url.Values) filter {
	f := filter{
		Q: brief(q.Get("q")), State: State(q.Get("state")), Doubt: q.Get("doubt") != "", Retry: q.Get("retry") != "", Sort: q.Get("sort"),
	}
	if !slices.Contains(states, f.State) {
		f.State = ""
	}
	if columns[f.Sort] == nil {
		f.Sort = ""
	}
	f.Page, _ = strconv.Atoi(q.Get("page"))
	f.Page = max(1, min(f.Page, 1_000_000))
	return f
}

// query is the address of a filter.
func (f filter) query() string {
	q := url.Values{}
	for _, p := range []struct {
		name, value string
		is          bool
	}{
		{"q", f.Q, f.Q != ""}, {"state", string(f.State), f.State != ""}, {"doubt", "1", f.Doubt}, {"retry", "1", f.Retry},
		{"sort", f.Sort, f.Sort != ""}, {"page", strconv.Itoa(f.Page), f.Page > 1},
	} {
		if p.is {
			q.Set(p.name, p.value)
		}
	}
	return q.Encode()
}

// fits reports whether a row fits a filter.
func (f filter) fits(r *row) bool {
	return (f.State == "" || r.State == f.State) && (!f.Doubt || r.InDoubt > 0) && (!f.Retry || r.Retrying) &&
		(f.Q == "" || strings.Contains(r.search, strings.ToLower(f.Q)))
}

// columns sort the list flat.
var columns = map[string]func(a, b *row) int{
	"state": func(a, b *row) int {
		return cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State))
	},
	"session": func(a, b *row) int { return cmp.Compare(a.ID, b.ID) },
	"attempt": func(a, b *row) int { return cmp.Compare(b.Attempt, a.Attempt) },
	"spent":   func(a, b *row) int { return cmp.Compare(b.spent, a.spent) },
	"last":    func(a, b *row) int { return b.Since.Compare(a.Since) },
	"began":   func(a, b *row) int { return b.Began.Compare(a.Began) },
}

// deployment is how long a session may be without a process until a person is needed.
const deployment = time.Minute

// The sections of the list.
const (
	needsPerson = iota
	underWay
	over
)

var sectionNames = []string{"Needs a person", "Under way", "Ended"}

// section is the section of a row.
func (r *row) section(now time.Time) int {
	switch r.State {
	case Asks:
		return needsPerson
	case Interrupted:
		if now.Sub(r.Since) > deployment {
			return needsPerson
		}
	case Failed, Done:
		return over
	}
	return underWay
}

// order sorts rows by need: calls in doubt, then questions by deadline, then what no process has; then what is
// overdue, waits by their end, and runs by age; then what has ended, the newest first.
func order(rows []*row, sort string, now time.Time) {
	by := columns[sort]
	rank := func(r *row) int {
		switch {
		case r.State == Asks && r.InDoubt > 0:
			return 0
		case r.State == Asks:
			return 1
		case r.State == Waiting:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(rows, func(a, b *row) int {
		if by != nil {
			return cmp.Or(by(a, b), cmp.Compare(a.Key, b.Key))
		}
		sa, sb := a.section(now), b.section(now)
		var in int
		switch {
		case sa != sb:
		case sa == over:
			in = b.Since.Compare(a.Since)
		case a.State == Interrupted && b.State == Interrupted, a.State == Running && b.State == Running:
			in = a.Since.Compare(b.Since)
		default:
			in = until(a).Compare(until(b))
		}
		return cmp.Or(sa-sb, rank(a)-rank(b), in, cmp.Compare(a.Key, b.Key))
	})
}

// until is when a wait or question ends; far away if it does not.
func until(r *row) time.Time {
	if r.Until.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return r.Until
}

// listView is the list page.
type listView struct {
	Filter      filter
	Title       string
	Chips       []chip
	Sections    []listSection
	Heads       []head
	Now         string
	From, To    int
	Fit, All    string
	Newer       string
	Older       string
	Reading     string
	Empty       bool
	Wrong       string
	Stores      string
	Live        string
	Asking      int
	ManyStores  bool
	Unfiltered  []chip
	RefreshedAt string
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
	err := c.watch.refresh(r.Context())
	f, now := filterOf(r.URL.Query()), c.clock.Now()
	v := c.view(f, now)
	if err != nil {
		v.Wrong = "Not all stores can be read: " + brief(err.Error())
	}
	show(w, http.StatusOK, "list", v)
}

// fitting returns the rows of a filter in order, and counts all.
func (c *Console) fitting(f filter, now time.Time) (rows []*row, counts map[string]int, read, total int) {
	all, read, total := c.watch.all()
	counts = map[string]int{"": len(all)}
	for _, s := range all {
		r := c.row(s, now)
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
	return rows, counts, read, total
}

func (c *Console) view(f filter, now time.Time) *listView {
	rows, counts, read, total := c.fitting(f, now)
	pagesOf := max(1, (len(rows)+pageRows-1)/pageRows)
	f.Page = min(f.Page, pagesOf)
	first := (f.Page - 1) * pageRows
	shown := rows[first:min(len(rows), first+pageRows)]
	v := &listView{
		Filter: f, Title: "retake", Now: now.UTC().Format("15:04:05"), Fit: grouped(len(rows)), All: grouped(counts[""]),
		From: first + 1, To: first + len(shown), Empty: counts[""] == 0, Asking: counts[string(Asks)], ManyStores: len(c.settings.Stores) > 1,
		Chips: chipsOf(f, counts), Heads: headsOf(f), Live: "/events?" + f.query(), Stores: c.storeNames(),
	}
	if v.Asking > 0 {
		v.Title = fmt.Sprintf("(%d) retake", v.Asking)
	}
	if read < total {
		v.Reading = fmt.Sprintf("read %s of %s", grouped(read), grouped(total))
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

// chipsOf are the links of the filters, with what each has.
func chipsOf(f filter, counts map[string]int) (all []chip) {
	for _, s := range states {
		g := f
		g.Page, g.State = 1, s
		on := f.State == s
		if on {
			g.State = ""
		}
		name := strings.ToUpper(string(s[:1])) + string(s[1:])
		all = append(all, chip{name, "/?" + g.query(), grouped(counts[string(s)]), on})
	}
	for _, b := range []struct {
		text, name string
		field      func(*filter) *bool
	}{{"In doubt", "doubt", func(f *filter) *bool { return &f.Doubt }}, {"Retrying", "retry", func(f *filter) *bool { return &f.Retry }}} {
		g := f
		g.Page = 1
		*b.field(&g) = !*b.field(&g)
		all = append(all, chip{b.text, "/?" + g.query(), grouped(counts[b.name]), *b.field(&f)})
	}
	return all
}

// offs are links that take one filter off each.
func offs(f filter) (all []chip) {
	for _, o := range []struct {
		text string
		is   bool
		off  func(*filter)
	}{
		{"without the search", f.Q != "", func(f *filter) { f.Q = "" }},
		{"in any state", f.State != "", func(f *filter) { f.State = "" }},
		{"in doubt or not", f.Doubt, func(f *filter) { f.Doubt = false }},
		{"retrying or not", f.Retry, func(f *filter) { f.Retry = false }},
	} {
		if g := f; o.is {
			g.Page = 1
			o.off(&g)
			all = append(all, chip{Text: o.text, Link: "/?" + g.query()})
		}
	}
	return all
}

// headsOf are the headers of the table.
func headsOf(f filter) (all []head) {
	for _, h := range []head{
		{Text: "State", Sort: "state"}, {Text: "Session", Sort: "session"}, {Text: "What is going on"}, {Text: "Attempt", Sort: "attempt"},
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

// rowHTML is the row of a session as HTML, for the stream.
func rowHTML(r *row, now time.Time) string {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "cells", cell{r, now}); err != nil {
		return template.HTMLEscapeString(err.Error())
	}
	return b.String()
}
