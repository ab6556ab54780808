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
)

// filter is what a list shows, as the query of its address says it. Picks are the values of the filters by a
// value, and Inside is the session whose agents are shown with it.
type filter struct {
	Q      string
	Picks  [numPicks]string
	Inside string
	Sort   string
	Page   int
}

// params are the names in the address of a list, and others that go with it.
var params = slices.Concat([]string{"q"}, namesOf(picks[:], func(p pick) string { return p.name }),
	[]string{"inside", "sort", "page", tokenParam})

// namesOf returns the names of several things.
func namesOf[T any](all []T, name func(T) string) (names []string) {
	for _, one := range all {
		names = append(names, name(one))
	}
	return names
}

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
	f.Sort = one("sort", slices.Sorted(maps.Keys(columns)))
	for n, p := range picks {
		if n == storePick {
			p.known = storeNames(stores)
		}
		if f.Picks[n] = brief(q.Get(p.name)); p.known != nil {
			f.Picks[n] = one(p.name, p.known)
		}
	}
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

func storeNames(stores []Named) []string {
	return namesOf(stores, func(s Named) string { return s.Name })
}

// query returns the address of a filter.
func (f filter) query() string {
	q := url.Values{}
	for _, h := range f.Hidden() {
		q.Set(h.Name, h.Value)
	}
	if f.Q != "" {
		q.Set("q", f.Q)
	}
	for n, p := range picks {
		if f.Picks[n] != "" {
			q.Set(p.name, f.Picks[n])
		}
	}
	if f.Page > 1 {
		q.Set("page", strconv.Itoa(f.Page))
	}
	return q.Encode()
}

// at makes the address of a page of a filter.
func (f filter) at(page int) string { f.Page = page; return "./?" + f.query() }

// pair is a name in the address with its value.
type pair struct{ Name, Value string }

// Hidden returns what the form has no field for.
func (f filter) Hidden() (all []pair) {
	all = []pair{{"inside", f.Inside}, {"sort", f.Sort}}
	for n := range firstChoice {
		all = append(all, pair{picks[n].name, f.Picks[n]})
	}
	return slices.DeleteFunc(all, func(p pair) bool { return p.Value == "" })
}

// fits reports whether a row fits a filter.
func (f filter) fits(r *watched, outer map[*watched]*watched, now time.Time) bool {
	for n, want := range f.Picks {
		if want != "" && !slices.Contains(r.values(n, now), want) {
			return false
		}
	}
	return (f.Inside == "" || within(r, f.Inside, outer)) &&
		(f.Q == "" || strings.Contains(r.search, strings.ToLower(f.Q)))
}

// offs returns links that take one filter off each.
func offs(f filter) (all []chip) {
	off := func(is bool, text string, off func(*filter)) {
		if g := f; is {
			off(&g)
			all = append(all, chip{Text: text, Link: g.at(1)})
		}
	}
	off(f.Q != "", "without the search", func(g *filter) { g.Q = "" })
	off(f.Inside != "", "not only inside "+brief(f.Inside), func(g *filter) { g.Inside = "" })
	for n, p := range picks {
		off(f.Picks[n] != "", "with any "+p.label+" (not "+spokenOf(n, f.Picks[n])+")",
			func(g *filter) { g.Picks[n] = "" })
	}
	return all
}
