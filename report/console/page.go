package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/report"
)

// session writes the page of a session.
func (c *Console) session(w http.ResponseWriter, r *http.Request) {
	id, store := r.URL.Query().Get("id"), r.URL.Query().Get("store")
	s, unread := c.watch.look(r.Context(), store, id)
	if s == nil && unread != nil {
		c.refused(w, nil, http.StatusInternalServerError, "The session was not found", c.unread(unread))
		return
	}
	if s == nil {
		show(w, http.StatusNotFound, "missing", brief(id))
		return
	}
	in, secrets, err := c.peek(r.Context(), s)
	if err != nil {
		http.Error(w, "the journal cannot be read: "+brief(c.scrub(err.Error())), http.StatusInternalServerError)
		return
	}
	defer in.Close()
	named := url.Values{"id": {id}, "store": {store}}.Encode()
	page := report.Page{Home: "./", Inbox: "inbox", Scrub: !c.settings.ShowSecrets, Secrets: secrets,
		Part: partOf(s), Only: r.URL.Query().Get("part"), Scheme: schemeOf(r)}
	if page.Only == "" {
		page.Live, page.State, page.Says = "events?"+named, s.Word(), s.Why
		page.Last, page.Now = s.Last, c.clock.Now()
	}
	if c.settings.ShowSecrets {
		page.Raw = "lines?" + named + "&from="
	}
	page.Children, page.Around = c.children(r.Context(), s.store), c.watch.around(s)
	if said, can := c.inboxOf(s); can && s.hears && page.Only == "" {
		if asks := c.watch.asking(s); asks != nil {
			page.Answer = pending{openAsk: &asks.asks[0], In: asks}.Link()
		}
		page.Say, page.By, page.Waiting = c.sayAt(s), whoAsks(r), c.waiting(r.Context(), said, id)
	}
	w.Header().Set("Content-Security-Policy", page.Policy()+"; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.HTML(w, in) // the page itself says what is wrong with the journal
}

// peek opens the journal of a session, and returns what its page leaves out of the arguments of tools.
func (c *Console) peek(ctx context.Context, s *watched) (in io.ReadCloser, secrets map[string][]string, err error) {
	if err = c.watch.away(s.store); err != nil {
		return nil, nil, err
	}
	from := c.settings.Stores[s.store].Store
	if in, err = from.Peek(ctx, s.id); err != nil || c.settings.ShowSecrets {
		return in, nil, err
	}
	secrets = secretsIn(in)
	if err = in.Close(); err == nil {
		in, err = from.Peek(ctx, s.id)
	}
	return in, secrets, err
}

// maxNested is how many bytes of agents' journals are read for a page. Of what does not fit there is a link.
const maxNested = 2 << 20

// children finds the sessions of agents in a store, for one page.
func (c *Console) children(ctx context.Context, store int) report.Children {
	left := int64(maxNested)
	return func(id string) (report.Child, bool) {
		s := c.watch.of(key{store, id})
		if s == nil || s.outer == "" {
			return report.Child{}, false
		}
		child := report.Child{Link: s.Link, State: s.Word(), Says: s.Why, Part: partOf(s)}
		child.Open = func() (io.ReadCloser, map[string][]string, error) {
			if s.stat.Bytes > left {
				return nil, nil, errLong
			}
			left -= s.stat.Bytes
			return c.peek(ctx, s)
		}
		return child, true
	}
}

var errLong = errors.New("what it did is too long for this page")

// partOf returns the address of a part of a session's page, but for its id.
func partOf(s *watched) string { return s.Link + "&part=" }

// waiting returns the messages to a run that it has not taken yet.
func (c *Console) waiting(ctx context.Context, store inbox.Store, id string) (all []string) {
	items, _ := store.Items(ctx, id) // one that cannot be read is the run's to say
	for _, i := range items {
		if i.Kind != journal.MessageItem {
			continue
		}
		if words, err := mail.WordsIn(i); err == nil {
			all = append(all, brief(c.scrub(words.Text)))
		}
	}
	return all
}
