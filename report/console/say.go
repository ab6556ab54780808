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

// sayAt is the address to which the form of one page posts messages for a session.
func (c *Console) sayAt(s *watched) string {
	return "/say?" + url.Values{"id": {s.id}, "store": {c.settings.Stores[s.store].Name},
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
	s, err := c.watch.look(r.Context(), at.Get("store"), at.Get("id"))
	if err != nil && r.Context().Err() != nil {
		return
	}
	if s == nil {
		c.notSaid(kept{w, in}, journal.ErrNoRun)
		return
	}
	store, can := c.settings.Stores[s.store].Store.(inbox.Store)
	if !can {
		c.refused(w, http.StatusConflict, "Nothing was sent",
			"This store has no inbox: say it in the program that runs.")
		return
	}
	sum := sha256.Sum256([]byte(at.Encode() + "\n" + in.Encode()))
	words := session.Words{
		ID: hex.EncodeToString(sum[:16]), Text: strings.TrimSpace(in.Get("text")),
		By: strings.TrimSpace(in.Get("by")), At: c.clock.Now(),
		Stop: in.Has("stop"), Reset: in.Has("reset"),
	}
	if err := words.Validate(); err != nil {
		c.refused(kept{w, in}, http.StatusUnprocessableEntity, "The message does not fit", err.Error()+". Nothing was sent.")
		return
	}
	err = inbox.ErrEnded
	if s.hears {
		err = inbox.Say(r.Context(), store, s.id, words)
	}
	if err != nil && !errors.Is(err, journal.ErrAnswered) {
		c.notSaid(kept{w, in}, err)
		return
	}
	c.remember(w, words.By)
	http.Redirect(w, r, s.row.Link, http.StatusSeeOther)
}

// notSaid says why a message was not sent.
func (c *Console) notSaid(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, inbox.ErrEnded):
		c.refused(w, http.StatusConflict, "Nobody hears it",
			"No model call of this session would see a message. Yours was not sent.")
	case errors.Is(err, journal.ErrInboxFull):
		c.refused(w, http.StatusConflict, "The inbox is full", err.Error()+". Yours was not sent.")
	case errors.Is(err, journal.ErrNoRun):
		c.refused(w, http.StatusNotFound, "There is no such session", err.Error()+". Yours was not sent.")
	default:
		c.refused(w, http.StatusInternalServerError, "It is not known whether the message was sent",
			"The store says: "+err.Error()+". Send the same form again: it is one message.")
	}
}
