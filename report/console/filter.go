package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/journal"
)

// states are all states, in the order of the filters.
var states = []journal.SessionState{
	journal.SessionAsks, journal.SessionInterrupted, journal.SessionFailed, journal.SessionRuns,
	journal.SessionWaits, journal.SessionDone,
}

// filter is what a list shows, as the query of its address says it.
type filter struct {
	Q     string
	State journal.SessionState
	// Doubt shows sessions with calls in doubt, Retry those in a later attempt or that wait.
	Doubt, Retry bool
	Sort         string
	Page         int
}

func filterOf(q url.Values) filter {
	f := filter{
		Q: brief(q.Get("q")), State: journal.SessionState(q.Get("state")), Doubt: q.Get("doubt") != "",
		Retry: q.Get("retry") != "", Sort: q.Get("sort"),
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
		{"q", f.Q, f.Q != ""}, {"state", string(f.State), f.State != ""}, {"doubt", "1", f.Doubt},
		{"retry", "1", f.Retry},
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
	}{{"In doubt", "doubt", func(f *filter) *bool { return &f.Doubt }},
		{"Retrying", "retry", func(f *filter) *bool { return &f.Retry }}} {
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
