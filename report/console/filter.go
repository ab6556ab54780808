package console

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
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
	// Picks are the values of the filters by a value, and Inside is the session whose agents are shown with
	// it.
	Picks  [numPicks]string
	Inside string
	Sort   string
	Page   int
}

// params are the names in the address of a list, and others that go with it.
var params = func() []string {
	names := []string{"q", "state", "doubt", "retry", "inside", "sort", "page", tokenParam}
	for _, p := range picks {
		names = append(names, p.name)
	}
	return names
}()

// filter reads the address of a request: see [filterOf].
func (c *Console) filter(r *http.Request) (filter, error) {
	q, wrong := url.ParseQuery(r.URL.RawQuery)
	f, err := filterOf(q, c.settings.Stores)
	if wrong != nil {
		err = fmt.Errorf("the query cannot be read: %w", wrong)
	}
	return f, err
}

// filterOf reads the query of an address. The error names what it does not know; the filter leaves that out.
func filterOf(q url.Values, stores []Named) (filter, error) {
	f := filter{Q: brief(q.Get("q")), Inside: q.Get("inside"), Page: 1}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(params, name) {
			faults = append(faults, fmt.Sprintf("%q is no filter: give one of %q", brief(name), params))
		}
	}
	// one takes a value that is empty or one of those that are known
	one := func(name string, known []string) string {
		value := q.Get(name)
		if value == "" || slices.Contains(known, value) {
			return value
		}
		faults = append(faults, fmt.Sprintf("%s: %q: give one of %q", name, brief(value), known))
		return ""
	}
	f.State = journal.SessionState(one("state", texts(states)))
	f.Doubt, f.Retry = one("doubt", []string{"1"}) != "", one("retry", []string{"1"}) != ""
	f.Sort = one("sort", slices.Sorted(maps.Keys(columns)))
	for n, p := range picks {
		f.Picks[n] = brief(q.Get(p.name))
	}
	f.Picks[agePick] = one("age", ageNames())
	f.Picks[storePick] = one("store", storeNames(stores))
	if text := q.Get("page"); text != "" {
		page, err := strconv.Atoi(text)
		if err != nil || page < 1 || page > maxPage {
			faults = append(faults, fmt.Sprintf("page: %q: give a number from 1", brief(text)))
		}
		f.Page = max(1, min(page, maxPage))
	}
	if len(faults) > 0 {
		return f, errors.New(strings.Join(faults, "; "))
	}
	return f, nil
}

// maxPage is the highest number of a page.
const maxPage = 1_000_000

func texts(all []journal.SessionState) (names []string) {
	for _, s := range all {
		names = append(names, string(s))
	}
	return names
}

func ageNames() (names []string) {
	for _, a := range ages {
		names = append(names, a.name)
	}
	return names
}

func storeNames(stores []Named) (names []string) {
	for _, s := range stores {
		names = append(names, s.Name)
	}
	return names
}

// query is the address of a filter.
func (f filter) query() string {
	q := url.Values{}
	set := func(name, value string, is bool) {
		if is {
			q.Set(name, value)
		}
	}
	for _, h := range f.Hidden() {
		set(h.Name, h.Value, true)
	}
	set("q", f.Q, f.Q != "")
	for n, p := range picks {
		set(p.name, f.Picks[n], f.Picks[n] != "")
	}
	set("page", strconv.Itoa(f.Page), f.Page > 1)
	return q.Encode()
}

// pair is a name in the address with its value.
type pair struct{ Name, Value string }

// Hidden are what the form has no field for.
func (f filter) Hidden() (all []pair) {
	for _, p := range []struct {
		pair
		is bool
	}{
		{pair{"state", string(f.State)}, f.State != ""}, {pair{"doubt", "1"}, f.Doubt}, {pair{"retry", "1"}, f.Retry},
		{pair{"inside", f.Inside}, f.Inside != ""}, {pair{"sort", f.Sort}, f.Sort != ""},
	} {
		if p.is {
			all = append(all, p.pair)
		}
	}
	return all
}

// fits reports whether a row fits a filter.
func (f filter) fits(r *row, outer map[*row]*row, now time.Time) bool {
	for n, want := range f.Picks {
		if want != "" && !r.has(n, want, now) {
			return false
		}
	}
	return (f.State == "" || r.State == f.State) && (!f.Doubt || r.InDoubt > 0) && (!f.Retry || r.Retrying) &&
		(f.Inside == "" || within(r, f.Inside, outer)) &&
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
		all = append(all, chip{name, "/?" + g.query(), several.Grouped(counts[string(s)]), on})
	}
	for _, b := range []struct {
		text, name string
		field      func(*filter) *bool
	}{{"In doubt", "doubt", func(f *filter) *bool { return &f.Doubt }},
		{"Retrying", "retry", func(f *filter) *bool { return &f.Retry }}} {
		g := f
		g.Page = 1
		*b.field(&g) = !*b.field(&g)
		all = append(all, chip{b.text, "/?" + g.query(), several.Grouped(counts[b.name]), *b.field(&f)})
	}
	return all
}

// off is a filter that is on, in words, and what takes it off.
type off struct {
	text string
	is   bool
	off  func(*filter)
}

// offs are links that take one filter off each.
func offs(f filter) (all []chip) {
	on := []off{
		{"without the search", f.Q != "", func(f *filter) { f.Q = "" }},
		{"in any state", f.State != "", func(f *filter) { f.State = "" }},
		{"in doubt or not", f.Doubt, func(f *filter) { f.Doubt = false }},
		{"retrying or not", f.Retry, func(f *filter) { f.Retry = false }},
		{"not only inside " + brief(f.Inside), f.Inside != "", func(f *filter) { f.Inside = "" }},
	}
	for n, p := range picks {
		text := "with any " + p.label + " (not " + spokenOf(n, f.Picks[n]) + ")"
		on = append(on, off{text, f.Picks[n] != "", func(f *filter) { f.Picks[n] = "" }})
	}
	for _, o := range on {
		if g := f; o.is {
			g.Page = 1
			o.off(&g)
			all = append(all, chip{Text: o.text, Link: "/?" + g.query()})
		}
	}
	return all
}
