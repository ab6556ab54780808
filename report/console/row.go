package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

// row is what a row of the list shows of a session beside its facts.
type row struct {
	// Store is the name of its store; empty if there is one only. Damaged is the first line of the journal
	// that cannot be read; 0 if there is none.
	Store       string
	Damaged     int64
	Key, Link   string
	Spent, Lost string

	spent int64
	// asked is when the first question to end was asked; zero for none.
	asked  time.Time
	search string
	// own is what Why says of the session without its agents, and doubts what InDoubt counts.
	own    string
	doubts int
}

// describe makes the row of a session from its facts.
func (w *watcher) describe(s *watched) {
	s.Session, s.Why = s.id, w.scrub(s.Why)
	var corrupt *journal.CorruptError
	switch {
	case errors.As(s.err, &corrupt):
		s.Damaged = corrupt.Line
		s.State, s.Why = journal.SessionFailed, fmt.Sprintf("cannot be read from line %d", s.Damaged)
	case s.err != nil:
		s.State, s.Why = journal.SessionFailed, "cannot be read: "+brief(w.scrub(s.err.Error()))
	}
	s.own, s.doubts = s.Why, s.InDoubt
	store := w.stores[s.store].Name
	if s.traits[storePick] = []string{store}; len(w.stores) > 1 {
		s.Store = store
	}
	s.Key, s.Link = fmt.Sprintf("s%d-%s", s.store, url.PathEscape(s.id)), "session?"+link(s.id, s.Store)
	s.spending()
	for n := range s.asks {
		if a := &s.asks[n]; a.Deadline.Equal(s.Until) && !a.Deadline.IsZero() {
			s.asked = a.At
		}
	}
	s.search = s.words + "\n" + strings.ToLower(s.id+"\n"+s.Why)
}

// spending says what the run cost: money where there are prices, else tokens.
func (s *watched) spending() {
	lost := s.wasted.Usage.Total()
	switch cost := s.charged.Cost; {
	case cost > 0:
		s.Spent, s.spent = several.Money(cost), cost
		if s.wasted.Cost > 0 {
			s.Lost = several.Money(s.wasted.Cost)
		}
	case s.Tokens > 0:
		s.Spent, s.spent = several.Grouped(s.Tokens)+" tokens", s.Tokens
		if lost > 0 {
			s.Lost = several.Grouped(lost)
		}
	case s.Turns > 0:
		s.Spent = "unknown"
	}
}

// link returns the query of a session.
func link(id, store string) string {
	q := url.Values{"id": {id}}
	if store != "" {
		q.Set("store", store)
	}
	return q.Encode()
}

// Mark returns the id of the mark of the row's state.
func (s *watched) Mark() string { return "m-" + string(s.State) }

// Word returns the word of the row's state.
func (s *watched) Word() string {
	if s.State == journal.SessionAsks {
		return "asks"
	}
	return string(s.State)
}

// Doubtful reports whether calls of the latest run are in doubt.
func (s *watched) Doubtful() bool { return s.InDoubt > 0 }

// Version changes with everything that the row shows, but for times that pass.
func (s *watched) Version() string {
	return fmt.Sprint(s.State, s.InDoubt, s.Why, s.Attempt, s.Spent, s.Lost, s.Last.UnixNano(),
		s.Until.UnixNano())
}

// ms returns a time for the script; empty if there is none.
func ms(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

// LastMS returns the time of the latest event for the script.
func (s *watched) LastMS() string { return ms(s.Last) }

// due is a time that passes, from one time, which may be unknown, until another.
type due struct{ from, until, now time.Time }

// UntilMS and AskedMS are its end and its beginning for the script.
func (d due) UntilMS() string { return ms(d.until) }
func (d due) AskedMS() string { return ms(d.from) }

// Left returns how long it lasts; empty if it is over.
func (d due) Left() string {
	if d.until.Before(d.now) {
		return ""
	}
	return several.Rough(d.until.Sub(d.now))
}

// Soon returns the attribute of a time of which less than a tenth is left.
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

// Class returns the class of the row in the page: how deep it stands, and whether it is grey.
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

// Due returns the time that passes.
func (c cell) Due() due { return due{c.asked, c.Until, c.now} }

// More says how many rows after this one are folded.
func (c cell) More() string {
	if c.more == 0 {
		return ""
	}
	return several.Of(c.more, "more agent")
}

// Ago returns how long ago the latest event was, and Start when the run began.
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

// rowHTML returns the row of a session as HTML, for the stream.
func rowHTML(s *watched, now time.Time) string {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, "cells", cell{line{watched: s}, now}); err != nil {
		return template.HTMLEscapeString(err.Error())
	}
	return b.String()
}
