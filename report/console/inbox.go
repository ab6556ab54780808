package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/retake-go/retake/loop/machine"
)

// question is a question that waits for a person, as the inbox shows it.
type question struct {
	machine.Ask
	Session, Link string
	Doubt         bool
	// Whole are the arguments as they are, with what cannot be seen by name.
	Whole, Request string
	// Holds says what holds if nobody answers.
	Holds string
	now   time.Time
}

// UntilMS is the deadline for the script, and Left how long that is.
func (q *question) UntilMS() string { return ms(q.Deadline) }
func (q *question) Left() string {
	if q.Deadline.IsZero() {
		return ""
	}
	return rough(q.Deadline.Sub(q.now))
}

// Over reports whether the deadline is over.
func (q *question) Over() bool { return !q.Deadline.IsZero() && !q.now.Before(q.Deadline) }

// questions are the open questions of all sessions: those about calls in doubt first, then by deadline.
func (c *Console) questions(now time.Time) (all []*question) {
	sessions, _ := c.watch.all()
	for _, s := range sessions {
		for _, a := range s.asks {
			q := &question{
				Ask: a, Session: s.id, Link: s.row.Link, Doubt: a.Kind == machine.AskDoubt,
				Whole: visible(c.scrub(string(a.Arguments))), Request: s.request, now: now, Holds: "nothing happens until somebody does",
			}
			if !a.Deadline.IsZero() {
				q.Holds = defaultWord(a.Default) + " at " + clock(a.Deadline) + " UTC"
			}
			all = append(all, q)
		}
	}
	slices.SortStableFunc(all, func(a, b *question) int {
		switch {
		case a.Doubt != b.Doubt && a.Doubt:
			return -1
		case a.Doubt != b.Doubt:
			return 1
		}
		return cmp.Or(a.deadline().Compare(b.deadline()), cmp.Compare(a.Session, b.Session), cmp.Compare(a.ID, b.ID))
	})
	return all
}

func (q *question) deadline() time.Time {
	if q.Deadline.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return q.Deadline
}

// visible names the characters of a text that cannot be seen or that change the direction of others.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "⟨U+%04X⟩", r)
	}
	return b.String()
}

// inboxView is the page of all questions.
type inboxView struct {
	Title, Now, Wrong string
	Asking            int
	Questions         []*question
}

// inbox writes the page of all questions.
func (c *Console) inbox(w http.ResponseWriter, r *http.Request) {
	v := &inboxView{Title: "inbox – retake"}
	if err := c.watch.refresh(r.Context()); err != nil {
		v.Wrong = "Not all stores can be read: " + brief(err.Error())
	}
	now := c.clock.Now()
	v.Now, v.Questions = now.UTC().Format("15:04:05"), c.questions(now)
	v.Asking = len(v.Questions)
	show(w, http.StatusOK, "inbox", v)
}
