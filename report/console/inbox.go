package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
)

// pending is a question that waits for a person.
type pending struct {
	*openAsk
	In *watched
	// Given says how it was answered, before the run has taken that; empty if it was not.
	Given string
}

// anchor returns the id of a question of a session on pages.
func (s *watched) anchor(question string) string {
	return fmt.Sprintf("q%d-%s", s.store, url.PathEscape(question))
}

// Anchor returns the id of the question on pages, and Link its address in the inbox.
func (a pending) Anchor() string { return a.In.anchor(a.ID) }
func (a pending) Link() string {
	return "inbox?" + url.Values{"at": {a.Anchor()}}.Encode() + "#" + a.Anchor()
}

// state says whether the question was answered or its time is over; empty if it is open.
func (a pending) state(now time.Time) string {
	switch {
	case a.Given != "":
		return "answered: " + a.Given
	case a.over(now):
		return "Its time is over: " + a.Holds() + "."
	}
	return ""
}

// pending returns the questions of all sessions: those about calls in doubt first, then by deadline.
func (c *Console) pending(ctx context.Context) (all []pending) {
	sessions, _ := c.watch.all()
	given := c.given(ctx)
	for _, s := range sessions {
		if len(s.asks) == 0 {
			continue
		}
		answers := given(s)
		for n := range s.asks {
			all = append(all, pending{&s.asks[n], s, answers[s.asks[n].ID]})
		}
	}
	slices.SortStableFunc(all, func(a, b pending) int {
		return cmp.Or(sooner(a.Doubt())-sooner(b.Doubt()),
			orNever(a.Deadline).Compare(orNever(b.Deadline)), cmp.Compare(a.In.id, b.In.id),
			cmp.Compare(a.ID, b.ID))
	})
	return all
}

// question is a question that waits for a person, as the inbox shows it.
type question struct {
	pending
	now time.Time
	// Whole are the arguments as they are, with what cannot be seen by name.
	Whole string
	// Large is the size of arguments that the page has no room for. They are on the page of this question.
	Large string
	// Form has the arguments; nil where nothing can be answered.
	Form *form
	By   string
	// Words, Result, Policy and Verdict are what was entered, and the faults what is wrong with it.
	Words, Result, Policy                 string
	Verdict                               machine.Ruling
	WordsFault, ResultFault, VerdictFault string
	PolicyFaults                          []string
	// Checked reports that the fields were checked, and can be sent.
	Checked bool
	// Drafted reports that ready words were chosen, and stand in the field.
	Drafted bool
	// Inside is the session whose call made this one; nil if it is not known.
	Inside *watched
}

// Due returns the time that passes.
func (q *question) Due() due { return due{q.At, q.Deadline, q.now} }

// Mark returns the mark of the question in the list of questions, and Stands what is said of it there.
func (q *question) Mark() string {
	if q.Doubt() {
		return "m-doubt"
	}
	return "m-asking"
}
func (q *question) Stands() string {
	switch {
	case q.Given != "":
		return "answered"
	case q.Over():
		return "its time is over"
	case q.Doubt():
		return "in doubt"
	case q.GaveUp():
		return "gave up"
	}
	return q.Effect
}

// Over reports whether the deadline is over.
func (q *question) Over() bool { return q.over(q.now) }

// Correctable reports whether the arguments of a call that was not accepted can be corrected, and Fields
// whether arguments can be changed at all.
func (q *question) Correctable() bool {
	return q.GaveUp() && q.Index >= 0 && q.Form != nil && len(q.Form.Fields) > 0
}
func (q *question) Fields() bool { return q.Kind == machine.AskApproval || q.Correctable() }

// question returns a question as the inbox shows it.
func (c *Console) question(asks pending, now time.Time) *question {
	a := asks.openAsk
	q := &question{pending: asks, now: now, Whole: visible(c.whole(masked.JSON(a.Arguments, a.secrets)))}
	if outer := asks.In.outer; outer != "" {
		q.Inside = c.watch.of(key{asks.In.store, outer})
	}
	if _, can := c.inboxOf(asks.In); can {
		q.Form = formOf(a.form, a.Arguments, c.scrubber)
		q.Form.compare(a.before)
		if q.Correctable() && a.Failure != nil {
			q.Form.mark(a.Failure.Issues)
		}
	}
	return q
}

// inboxOf returns the store that takes what is said to a session; false if that can only be read.
func (c *Console) inboxOf(s *watched) (inbox.Store, bool) {
	store, can := c.settings.Stores[s.store].Store.(inbox.Store)
	return store, can
}

// given finds the answers that wait for the runs of sessions to take them. Each store is asked once which
// sessions have any.
func (c *Console) given(ctx context.Context) func(*watched) map[string]string {
	with := map[int][]string{}
	return func(s *watched) map[string]string {
		store, can := c.inboxOf(s)
		if !can || c.watch.away(s.store) != nil {
			return nil
		}
		ctx, stop := context.WithTimeout(ctx, late)
		defer stop()
		ids, known := with[s.store]
		if !known {
			ids, _ = store.WithItems(ctx) // one that cannot be read is the run's to say
			with[s.store] = ids
		}
		if _, has := slices.BinarySearch(ids, s.id); !has {
			return nil
		}
		items, _ := store.Items(ctx, s.id)
		all := map[string]string{}
		for _, i := range items {
			if said, err := mail.ResponseIn(i); err == nil && i.Kind == journal.AnswerItem {
				changed := ""
				if len(said.Arguments) > 0 {
					changed = " with changed arguments"
				}
				all[i.Key] = strings.TrimSpace(ruled(said.Verdict)+changed+" "+
					c.author(said.By)) + " at " + clock(i.At)
			}
		}
		return all
	}
}

// visible names the characters of a text that cannot be seen or that change the direction of others.
func visible(text string) string {
	var b strings.Builder
	for at, r := range text {
		if r == '\n' || r == '\t' || canon.Seen(text[:at], r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "⟨U+%04X⟩", r)
	}
	return b.String()
}

// inboxView is a page of the questions, or one that is entered again.
type inboxView struct {
	Title, Now, Unread string
	Questions          []*question
	One                bool
	nav
	paging
	// Drafts are ready words for refusals, and Settled what was answered in the last day.
	Drafts  []string
	Settled []settled
	// Answered is the question that was answered just now; nil for none.
	Answered *settled
}

// Listed reports that there is a list of the questions beside them.
func (v *inboxView) Listed() bool { return len(v.Questions) > 1 }

// drafts are ready words for refusals, to be chosen and edited.
var drafts = []string{
	"Not this. Go on without it, and say so in your answer.",
	"Not with these arguments. Ask the user which are right; do not guess.",
	"Not now. Do first what can be done without it.",
}

// pageCards is the most questions of a page, and pageBytes the most bytes of arguments, beside those of the
// question that was asked for.
const (
	pageCards = 50
	pageBytes = 256 << 10
)

// briefly returns a question without its arguments, which the page has no room for.
func (c *Console) briefly(asks pending, now time.Time) *question {
	a, size := *asks.openAsk, len(asks.Arguments)
	a.Arguments, a.Effect = nil, ""
	q := c.question(pending{&a, asks.In, asks.Given}, now)
	q.Form, q.Large = nil, several.Grouped(size)+" bytes"
	return q
}

// day is how long the inbox tells of answers.
const day = 24 * time.Hour

// answered finds the question that was answered just now, whether or not the run has taken that.
func answered(anchor string, open []pending, taken []settled) *settled {
	for n := range taken {
		if taken[n].Anchor() == anchor {
			return &taken[n]
		}
	}
	for _, a := range open {
		if a.Anchor() == anchor && a.Given != "" {
			return &settled{In: a.In, question: a.ID, Tool: brief(cmp.Or(a.Tool, "the answer")), How: a.Given,
				Came: notTaken}
		}
	}
	return nil
}

// notTaken is said of an answer that waits for its run.
const notTaken = "not taken yet: a live run takes it within a second, another when it is resumed"

// next returns the first question after one that is open still; nil if there is none.
func next(all []pending, anchor string, now time.Time) *pending {
	at := slices.IndexFunc(all, func(a pending) bool { return a.Anchor() == anchor })
	for n := range all {
		if a := &all[(at+1+n)%len(all)]; a.state(now) == "" && a.Anchor() != anchor {
			return a
		}
	}
	return nil
}

// inbox writes a page of the questions: that of a number, or the one with the question "at".
func (c *Console) inbox(w http.ResponseWriter, r *http.Request) {
	v := &inboxView{Title: "inbox – retake", Drafts: drafts, Unread: c.unread(c.watch.refresh(r.Context()))}
	now, all, query := c.clock.Now(), c.pending(r.Context()), r.URL.Query()
	page, _ := strconv.Atoi(query.Get("page"))
	if n := slices.IndexFunc(all, func(a pending) bool { return a.Anchor() == query.Get("at") }); n >= 0 {
		page = n/pageCards + 1
	}
	first, last := v.cut(page, len(all), pageCards, func(page int) string { return fmt.Sprint("inbox?page=", page) })
	room := pageBytes
	for _, a := range all[first:last] {
		room -= len(a.Arguments)
		card := c.question
		if room < 0 && a.Anchor() != query.Get("at") {
			room, card = room+len(a.Arguments), c.briefly
		}
		q := card(a, now)
		q.By = whoAsks(r)
		v.Questions = append(v.Questions, q)
	}
	v.Now, v.nav = now.UTC().Format("15:04:05"), c.nav("inbox")
	v.Settled = c.settledSince(now.Add(-day))
	v.Answered = answered(query.Get("answered"), all, v.Settled)
	show(w, http.StatusOK, "inbox", v)
}
