package console

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

// row is a session as a row of the list. Its Why says in one sentence what goes on, and what will unblock the
// session; it has no times that pass.
type row struct {
	journal.Summary
	// Store is the name of its store; empty if there is one only. Damaged is the first line of the journal
	// that cannot be read; 0 if there is none.
	Store   string
	Damaged int64
	// own is what Why says of the session without its agents.
	own string

	Key, Link string
	Attempt   attempt
	Spent     string
	Lost      string
	Retrying  bool
	// asked is when the first question to end was asked; zero for none.
	asked  time.Time
	search string
	spent  int64
	traits traits
}

// row makes the row of a session.
func (c *Console) row(s *watched) *row {
	r := &row{
		Summary: s.Summary, Damaged: s.damaged,
		Key:     fmt.Sprintf("s%d-%s", s.store, url.PathEscape(s.id)),
		Attempt: s.at, Retrying: s.retrying,
	}
	r.Session, r.Why = s.id, c.scrub(s.Why)
	switch {
	case s.damaged > 0:
		r.State, r.Why = journal.SessionFailed, fmt.Sprintf("cannot be read from line %d", s.damaged)
	case s.err != nil:
		r.State, r.Why = journal.SessionFailed, "cannot be read: "+brief(c.scrub(s.err.Error()))
	}
	r.own = r.Why
	if r.traits = s.traits; len(c.settings.Stores) > 1 {
		r.Store = c.settings.Stores[s.store].Name
	}
	r.traits[storePick] = []string{c.settings.Stores[s.store].Name}
	r.Link = "/session?" + link(s.id, r.Store)
	r.spending(s)
	for n := range s.asks {
		if a := &s.asks[n]; a.Deadline.Equal(s.Until) && !a.Deadline.IsZero() {
			r.asked = a.At
		}
	}
	r.search = s.words + "\n" + strings.ToLower(s.id+"\n"+r.Why)
	return r
}

// spending says what the run cost: money where there are prices, else tokens.
func (r *row) spending(s *watched) {
	lost := s.wasted.Usage.Total()
	switch cost := s.charged.Cost; {
	case cost > 0:
		r.Spent, r.spent = several.Money(cost), cost
		if s.wasted.Cost > 0 {
			r.Lost = several.Money(s.wasted.Cost)
		}
	case s.Tokens > 0:
		r.Spent, r.spent = several.Grouped(s.Tokens), s.Tokens
		if lost > 0 {
			r.Lost = several.Grouped(lost)
		}
	case s.Turns > 0:
		r.Spent = "unknown"
	}
}

// link is the query of a session.
func link(id, store string) string {
	q := url.Values{"id": {id}}
	if store != "" {
		q.Set("store", store)
	}
	return q.Encode()
}

// ID is the id of the session.
func (r *row) ID() string { return r.Session }

// Mark is the id of the mark of the row's state.
func (r *row) Mark() string { return "m-" + string(r.State) }

// Word is the word of the row's state.
func (r *row) Word() string {
	if r.State == journal.SessionAsks {
		return "asks"
	}
	return string(r.State)
}

// Says is the row's state, and what goes on.
func (r *row) Says() string { return r.Word() + ". " + r.Why }

// Doubtful reports whether calls of the latest run are in doubt.
func (r *row) Doubtful() bool { return r.InDoubt > 0 }

// Version changes with everything that the row shows, but for times that pass.
func (r *row) Version() string {
	return fmt.Sprint(r.State, r.InDoubt, r.Why, r.Attempt, r.Spent, r.Lost, r.Last.UnixNano(),
		r.Until.UnixNano())
}

// ms is a time for the script; empty if there is none.
func ms(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

// LastMS is the time of the latest event for the script.
func (r *row) LastMS() string { return ms(r.Last) }

// due is a time that passes, from one time, which may be unknown, until another.
type due struct{ from, until, now time.Time }

// UntilMS and AskedMS are its end and its beginning for the script.
func (d due) UntilMS() string { return ms(d.until) }
func (d due) AskedMS() string { return ms(d.from) }

// Left is how long it lasts; empty if it is over.
func (d due) Left() string {
	if d.until.Before(d.now) {
		return ""
	}
	return several.Rough(d.until.Sub(d.now))
}

// Soon is the attribute of a time of which less than a tenth is left.
func (d due) Soon() template.HTMLAttr {
	if !d.from.IsZero() && d.now.Before(d.until) && several.Low(d.until.Sub(d.now), d.until.Sub(d.from)) {
		return ` class="soon"`
	}
	return ""
}

// cell is a row with the time as of which it is shown.
type cell struct {
	line
	now time.Time
}

// Class is the class of the row in the page: how deep it stands, and whether it is grey.
func (c cell) Class() string {
	var all []string
	if c.depth > 0 {
		all = append(all, "in", fmt.Sprintf("in%d", min(c.depth, maxIndent)))
	}
	if c.grey {
		all = append(all, "grey")
	}
	return strings.Join(all, " ")
}

// maxIndent is how deep rows are moved to the right.
const maxIndent = 3

// Due is the time that passes.
func (c cell) Due() due { return due{c.asked, c.Until, c.now} }

// More says how many rows after this one are folded; Unfold is the address that shows them.
func (c cell) More() string {
	if c.more == 0 {
		return ""
	}
	return several.Of(c.more, "more agent")
}
func (c cell) Unfold() string { return c.unfold }

// Ago is how long ago the latest event was, and Start when the run began.
func (c cell) Ago() string {
	if c.Last.IsZero() {
		return ""
	}
	return several.Rough(c.now.Sub(c.Last))
}

func (c cell) Start() string {
	switch at := c.Since.UTC(); {
	case at.IsZero():
		return ""
	case c.now.Sub(at) < 20*time.Hour:
		return at.Format("15:04")
	default:
		return at.Format("2006-01-02")
	}
}

// rowHTML is the row of a session as HTML, for the stream.
func rowHTML(r *row, now time.Time) string {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "cells", cell{line{row: r}, now}); err != nil {
		return template.HTMLEscapeString(err.Error())
	}
	return b.String()
}
