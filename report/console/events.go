package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

// collect is how long the changes of a stream are collected.
const collect = 250 * time.Millisecond

// maxStreams is how many streams are served at once. Each looks through all sessions when one changes.
const maxStreams = 100

// beat is the longest time without a line in a stream, so that a reader notices when it ends.
const beat = 5 * time.Second

// change is what a stream says of a list.
type change struct {
	// Rows are the rows of the page that have changed, as HTML by their key.
	Rows map[string]string `json:"rows,omitempty"`
	// Counts are the numbers of the filters, in their order.
	Counts []string `json:"counts,omitempty"`
	// Order are the keys of the rows that the page would have now, if they are others than were told last.
	Order []string `json:"order"`
	// All is the number of sessions.
	All    string `json:"all"`
	Title  string `json:"title"`
	Asking int    `json:"asking"`
	Now    int64  `json:"now"`
}

// events streams what changes in a list, or that a session has changed.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	next, wrong := c.changes(r)
	if wrong != nil {
		http.Error(w, wrong.Error(), http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodHead { // it would hold its connection, and tell nothing
		return
	}
	defer c.streams.Add(-1)
	if c.streams.Add(1) > maxStreams {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d pages are live already: close one, or reload this page to see what is new",
			maxStreams), http.StatusServiceUnavailable)
		return
	}
	flush := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // of nginx, which would keep what is told until it has 4 KB
	send := func(event string, data any) error {
		text, err := json.Marshal(data)
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, text); err != nil {
			return err
		}
		return flush.Flush()
	}
	query, silent, told := r.URL.Query(), c.clock.Now(), ""
	for {
		err := c.watch.refresh(r.Context())
		if s := c.watch.find(query.Get("store"), query.Get("id")); s != nil { // the page of a session is about no other store
			err = c.watch.away(s.store)
		}
		unread := c.unread(err)
		if r.Context().Err() != nil || unread != told && send("unread", unread) != nil {
			return
		}
		told = unread
		now := c.clock.Now()
		said, changed := next(now)
		isThere := said != nil || unread == "" // what is not told of may be in what was not read
		if isThere && (changed || now.Sub(silent) >= beat) {
			if silent = now; send("change", said) != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-c.clock.After(collect):
		}
	}
}

// unread says which stores cannot be read; empty if all can.
func (c *Console) unread(err error) string {
	if err == nil {
		return ""
	}
	return "Not all stores can be read: " + brief(c.scrub(err.Error()))
}

// changes returns what a stream is of: the inbox, a session or a list. The error is that of the list's
// filter.
func (c *Console) changes(r *http.Request) (func(now time.Time) (any, bool), error) {
	query := r.URL.Query()
	switch id := query.Get("id"); {
	case query.Has("inbox"):
		return c.inboxChanges(r.Context()), nil
	case id != "":
		return c.sessionChanges(query.Get("store"), id), nil
	}
	f, err := c.filter(r)
	return c.listChanges(r.Context(), f), err
}

// listChanges returns a function that says what has changed in a list since its last call. The first call
// says what is there.
func (c *Console) listChanges(ctx context.Context, f filter) func(now time.Time) (any, bool) {
	var order []string
	versions := map[string]string{}
	var was change
	var found time.Time
	version := int64(-1)
	return func(now time.Time) (any, bool) {
		// What changes with the time alone, as ages do, may come later.
		if is := c.watch.changes(); is != version || now.Sub(found) >= beat {
			version, found = is, now
		} else {
			was.Rows, was.Order, was.Now = nil, nil, now.UnixMilli()
			return was, false
		}
		fd := c.find(ctx, f, now)
		said := change{Rows: map[string]string{}, Asking: questions(fd.all), Now: now.UnixMilli()}
		said.Title, said.All = titled(said.Asking, "retake"), several.Grouped(len(fd.all))
		keys := make([]string, len(fd.shown))
		for n, r := range fd.shown {
			keys[n] = r.Key
			if v := r.Version(); versions[r.Key] != v {
				versions[r.Key] = v
				said.Rows[r.Key] = rowHTML(r.watched, now)
			}
		}
		if order == nil || !slices.Equal(order, keys) {
			order, said.Order = keys, keys
		}
		for _, ch := range chipsOf(f, fd.all, now) {
			said.Counts = append(said.Counts, ch.Count)
		}
		changed := said.Order != nil || len(said.Rows) > 0 || !slices.Equal(was.Counts, said.Counts)
		was = said
		return said, changed
	}
}

// inboxChanges returns a function that says which questions have come, gone, or changed their state since its
// last call, and what came of those that were answered. The first call says all that there are.
func (c *Console) inboxChanges(ctx context.Context) func(now time.Time) (any, bool) {
	var was, came map[string]string
	return func(now time.Time) (any, bool) {
		said := struct {
			Whole     bool              `json:"whole"`
			Questions map[string]string `json:"questions"`
			Gone      []string          `json:"gone"`
			Came      map[string]string `json:"came"`
			Title     string            `json:"title"`
			Asking    int               `json:"asking"`
			Now       int64             `json:"now"`
		}{was == nil, map[string]string{}, nil, map[string]string{}, "", 0, now.UnixMilli()}
		is := map[string]string{}
		for _, a := range c.pending(ctx) {
			id := a.Anchor()
			is[id] = a.state(now)
			if before, there := was[id]; !there || before != is[id] {
				said.Questions[id] = is[id]
			}
		}
		for id := range was {
			if _, there := is[id]; !there {
				said.Gone = append(said.Gone, id)
			}
		}
		slices.Sort(said.Gone)
		said.Asking, said.Title = len(is), titled(len(is), "inbox – retake")
		told := map[string]string{}
		for _, one := range c.settledSince(now.Add(-day)) {
			id, says := one.Anchor(), one.Says()
			if told[id] = says; came[id] != says {
				said.Came[id] = says
			}
		}
		was, came = is, told
		return said, said.Whole || len(said.Questions)+len(said.Gone)+len(said.Came) > 0
	}
}

// sessionChanges returns a function that says whether a session has changed since its last call.
func (c *Console) sessionChanges(store, id string) func(now time.Time) (any, bool) {
	was, version, agents := "", int64(-1), int64(0)
	return func(now time.Time) (any, bool) {
		s := c.watch.find(store, id)
		if s == nil { // it was deleted
			gone := was != ""
			was = ""
			return nil, gone
		}
		if is := c.watch.changes(); is != version {
			version, agents = is, c.agentLines(s)
		}
		said := struct {
			State journal.SessionState `json:"state"`
			Why   string               `json:"why"`
			Lines int64                `json:"lines"`
			// Agents is the number of lines of what it began.
			Agents int64 `json:"agents"`
			Last   int64 `json:"last"`
			Now    int64 `json:"now"`
		}{s.State, s.Why, s.lines, agents, s.Last.UnixMilli(), now.UnixMilli()}
		is := fmt.Sprint(said.State, said.Why, said.Lines, said.Agents)
		changed := is != was
		was = is
		return said, changed
	}
}

// agentLines returns the number of lines in the journals of the agents of a session, and of theirs.
func (c *Console) agentLines(of *watched) (n int64) {
	all, _ := c.watch.all()
	outer := outerOf(all)
	for _, s := range all {
		if s.key != of.key && s.store == of.store && within(s, of.id, outer) {
			n += s.lines
		}
	}
	return n
}
