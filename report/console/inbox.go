package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/report/internal/told"
)

// pending is a question that waits for a person.
type pending struct {
	*machine.Ask
	in *watched
	// given says how it was answered, before the run has taken that; empty if it was not.
	given string
}

// anchor is the id of the question on pages.
func (a pending) anchor() string { return fmt.Sprintf("q%d-%s", a.in.store, url.PathEscape(a.ID)) }

// link is the address of the question in the inbox.
func (a pending) link() string {
	return "/inbox?" + url.Values{"at": {a.anchor()}}.Encode() + "#" + a.anchor()
}

// state says whether the question was answered or its time is over; empty if it is open.
func (a pending) state(now time.Time) string {
	switch {
	case a.given != "":
		return "answered: " + a.given
	case isOver(a.Ask, now):
		return "Its time is over: " + holds(a.Ask) + "."
	}
	return ""
}

func isOver(a *machine.Ask, now time.Time) bool {
	return !a.Deadline.IsZero() && !now.Before(a.Deadline)
}

// holds says what holds if nobody answers.
func holds(a *machine.Ask) string {
	if a.Deadline.IsZero() {
		return "nothing happens until somebody does"
	}
	return defaultWord(a.Default) + " at " + clock(a.Deadline)
}

// pending are the questions of all sessions: those about calls in doubt first, then by deadline.
func (c *Console) pending(ctx context.Context) (all []pending) {
	sessions, _ := c.watch.all()
	for _, s := range sessions {
		if len(s.asks) == 0 {
			continue
		}
		given := c.given(ctx, s)
		for n := range s.asks {
			all = append(all, pending{&s.asks[n], s, given[s.asks[n].ID]})
		}
	}
	slices.SortStableFunc(all, func(a, b pending) int {
		return cmp.Or(sooner(a.Kind == machine.AskDoubt)-sooner(b.Kind == machine.AskDoubt),
			deadline(a.Ask).Compare(deadline(b.Ask)), cmp.Compare(a.in.id, b.in.id),
			cmp.Compare(a.ID, b.ID))
	})
	return all
}

// question is a question that waits for a person, as the inbox shows it.
type question struct {
	machine.Ask
	Anchor, Session, Store, Link string
	Doubt                        bool
	// GaveUp reports that the question is what is to follow an exhaustion, and Failed what was wrong.
	GaveUp bool
	Failed string
	// Whole are the arguments as they are, with what cannot be seen by name.
	Whole, Request string
	// Said are the model's words beside the call, and Earlier the calls of the tool before it.
	Said    string
	Earlier []string
	// Before is the call of the tool before this one, if it did not succeed, Refused when a person has
	// refused the same arguments, and Declared what the tool says of itself.
	Before, Refused, Declared string
	// Effect says what the tool is called with, in few words.
	Effect string
	// Attempt is that of the run.
	Attempt string
	// Holds says what holds if nobody answers.
	Holds string
	// Given says how it was answered, before the run has taken that; empty if it was not.
	Given string
	// Large is the size of arguments that the page has no room for. They are on the page of this question.
	Large, Alone string
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
	// Run is the number of the run, Inside the session whose call made this one, if it is known, and Budgets
	// what the run has left.
	Run     int
	Inside  *watched
	Budgets []budget
	// Untaken is what the run said of an answer that it did not take.
	Untaken string
	now     time.Time
}

// Due is the time that passes.
func (q *question) Due() due { return due{q.At, q.Deadline, q.now} }

// Mark is the mark of the question in the list of questions, and Stands what is said of it there.
func (q *question) Mark() string {
	if q.Doubt {
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
	case q.Doubt:
		return "in doubt"
	case q.GaveUp:
		return "gave up"
	}
	return q.Effect
}

// Over reports whether the deadline is over.
func (q *question) Over() bool { return isOver(&q.Ask, q.now) }

// Correctable reports whether the arguments of a call that was not accepted can be corrected, and Fields
// whether arguments can be changed at all.
func (q *question) Correctable() bool {
	return q.GaveUp && q.Index >= 0 && q.Form != nil && len(q.Form.Fields) > 0
}
func (q *question) Fields() bool { return q.Kind == machine.AskApproval || q.Correctable() }

// question is a question as the inbox shows it.
func (c *Console) question(asks pending, now time.Time) *question {
	s, a := asks.in, asks.Ask
	q := &question{
		Ask: *a, Anchor: asks.anchor(), Given: asks.given, Session: s.id, Store: s.Store, Link: s.Link,
		Doubt:   a.Kind == machine.AskDoubt,
		Whole:   visible(c.whole(masked.JSON(a.Arguments, s.secrets[a.Tool]))),
		Request: s.request, Said: s.said, Earlier: c.earlier(s, a.Tool), now: now, Holds: holds(a),
	}
	if q.GaveUp = a.Kind == machine.AskExhausted; q.GaveUp && a.Failure != nil {
		for _, i := range a.Failure.Issues {
			q.Failed += i.String() + "; "
		}
		class := told.Words(string(a.Failure.Class))
		q.Failed = c.scrub(fmt.Sprintf("%s%s, at attempt %d (%s)", q.Failed, class, a.Attempt, a.Reason.Phrase()))
	}
	q.Untaken = s.untaken[a.ID]
	c.beside(q, s, a)
	if _, can := c.settings.Stores[s.store].Store.(inbox.Store); can {
		q.Form = formOf(s.forms[a.Tool], a.Arguments, c.hides, c.settings.ShowSecrets)
		q.Form.compare(s.beside[a.ID].before, c.hides)
		if q.Correctable() && a.Failure != nil {
			q.Form.mark(a.Failure.Issues)
		}
	}
	return q
}

// beside says what a question is to be judged by.
func (c *Console) beside(q *question, s *watched, a *machine.Ask) {
	in := s.beside[a.ID]
	if q.Attempt = s.Attempt.String(); q.Attempt != "" {
		q.Attempt = "attempt " + q.Attempt
	}
	if in.failed != "" {
		q.Before = c.spoken(s, a.Tool, in.before) + ": " + brief(c.scrub(in.failed))
	}
	if in.plain && !q.GaveUp {
		q.Declared = "not declared idempotent: what it does is not taken back by a retry"
	}
	if !in.refused.IsZero() {
		q.Refused = clock(in.refused)
	}
	q.Run, q.Budgets = in.run, in.left
	if o := c.watch.of(key{s.store, s.outer}); o != nil && s.outer != "" {
		q.Inside = o
	}
	q.Effect = c.spoken(s, a.Tool, a.Arguments)
}

// spoken are the arguments of a tool in few words.
func (c *Console) spoken(s *watched, tool string, arguments json.RawMessage) string {
	text := string(masked.JSON(arguments, s.secrets[tool]))
	return brief(visible(c.scrub(spoken(c.scrub(text)))))
}

// earlier says what became of the earlier calls of a tool.
func (c *Console) earlier(s *watched, tool string) (all []string) {
	for _, call := range s.earlier[tool] {
		outcome := "done, " + call.Said
		switch {
		case call.InDoubt:
			outcome = "nobody knows whether it was done"
		case call.Failed:
			outcome = "failed, " + call.Said
		}
		all = append(all, c.spoken(s, tool, json.RawMessage(call.Arguments))+": "+brief(visible(c.scrub(outcome))))
	}
	return all
}

// given are the answers that wait for the runs of a session to take them.
func (c *Console) given(ctx context.Context, s *watched) map[string]string {
	store, can := c.settings.Stores[s.store].Store.(inbox.Store)
	if !can {
		return nil
	}
	items, _ := store.Items(ctx, s.id) // one that cannot be read is the run's to say
	all := map[string]string{}
	for _, i := range items {
		if said, err := inbox.ResponseIn(i); err == nil && i.Kind == journal.AnswerItem {
			changed := ""
			if len(said.Arguments) > 0 {
				changed = " with changed arguments"
			}
			all[i.Key] = strings.TrimSpace(ruled(said.Verdict)+changed+" "+
				c.by(said.By)) + " at " + clock(i.At)
		}
	}
	return all
}

func (c *Console) by(name string) string {
	if name == "" {
		return ""
	}
	return "by " + brief(c.scrub(name))
}

// deadline is that of a question; far away if it has none.
func deadline(a *machine.Ask) time.Time {
	if a.Deadline.IsZero() {
		return never
	}
	return a.Deadline
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

// inboxView is a page of the questions, or one that is entered again.
type inboxView struct {
	Title, Now, Wrong string
	Questions         []*question
	One               bool
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

// briefly is a question without its arguments, which the page has no room for.
func (c *Console) briefly(asks pending, now time.Time) *question {
	a, size := *asks.Ask, len(asks.Arguments)
	a.Arguments = nil
	q := c.question(pending{&a, asks.in, asks.given}, now)
	q.Form, q.Large, q.Alone = nil, several.Grouped(size)+" bytes", asks.link()
	return q
}

// day is how long the inbox tells of answers.
const day = 24 * time.Hour

// answered finds the question that was answered just now, whether or not the run has taken that.
func answered(anchor string, open []pending, taken []settled) *settled {
	for n := range taken {
		if taken[n].Anchor == anchor {
			return &taken[n]
		}
	}
	for _, a := range open {
		if a.anchor() == anchor && a.given != "" {
			return &settled{Anchor: anchor, Session: a.in.id, Link: a.in.Link,
				Tool: brief(cmp.Or(a.Tool, "the answer")), How: a.given, Came: notTaken}
		}
	}
	return nil
}

// notTaken is said of an answer that waits for its run.
const notTaken = "not taken yet: a live run takes it within a second, another when it is resumed"

// next is the first question after one that is open still; nil if there is none.
func next(all []pending, anchor string, now time.Time) *pending {
	at := slices.IndexFunc(all, func(a pending) bool { return a.anchor() == anchor })
	for n := range all {
		if a := &all[(at+1+n)%len(all)]; a.state(now) == "" && a.anchor() != anchor {
			return a
		}
	}
	return nil
}

// inbox writes a page of the questions: that of a number, or the one with the question "at".
func (c *Console) inbox(w http.ResponseWriter, r *http.Request) {
	v := &inboxView{Title: "inbox – retake", Drafts: drafts}
	if err := c.watch.refresh(r.Context()); err != nil {
		v.Wrong = "Not all stores can be read: " + brief(c.scrub(err.Error()))
	}
	now, all, query := c.clock.Now(), c.pending(r.Context()), r.URL.Query()
	page, _ := strconv.Atoi(query.Get("page"))
	if n := slices.IndexFunc(all, func(a pending) bool { return a.anchor() == query.Get("at") }); n >= 0 {
		page = n/pageCards + 1
	}
	first, last := v.cut(page, len(all), pageCards, func(page int) string { return fmt.Sprint("/inbox?page=", page) })
	room := pageBytes
	for _, a := range all[first:last] {
		room -= len(a.Arguments)
		card := c.question
		if room < 0 && a.anchor() != query.Get("at") {
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
