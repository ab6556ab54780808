package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/session"
)

// sayAt returns the address to which the form of one page posts messages for a session.
func (c *Console) sayAt(s *watched) string {
	return "say?" + url.Values{"id": {s.id}, "store": {c.settings.Stores[s.store].Name},
		"form": {rand.Text()}}.Encode()
}

// say puts a message into the inbox of a session, and leads to its page. The same form that is sent twice is
// one message.
func (c *Console) say(w http.ResponseWriter, r *http.Request) {
	in, ok := c.posted(w, r, "The message cannot be read")
	if !ok {
		return
	}
	at := r.URL.Query()
	s, store := c.heard(w, r, in, at.Get("store"), at.Get("id"))
	if store == nil {
		return
	}
	sum := sha256.Sum256([]byte(at.Encode() + "\n" + in.Encode()))
	words := session.Words{
		ID: hex.EncodeToString(sum[:16]), Text: strings.TrimSpace(in.Get("text")),
		By: strings.TrimSpace(in.Get("by")), At: c.clock.Now(),
		Stop: in.Has("stop"), Reset: in.Has("reset"),
	}
	if err := words.Validate(); err != nil {
		c.refused(w, in, http.StatusUnprocessableEntity, "The message does not fit", err.Error()+". Nothing was sent.")
		return
	}
	err := inbox.ErrEnded
	if s.hears {
		err = inbox.Say(r.Context(), store, s.id, words)
	}
	if err != nil && !errors.Is(err, journal.ErrAnswered) {
		c.notSent(w, in, err)
		return
	}
	c.keep(w, r, byCookie, words.By)
	lead(w, s.Link)
}
