package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

// maxAnswer is the largest answer that is read, in bytes. A form has up to three for each byte of arguments,
// also of those that were not changed, and they have a mebibyte.
const maxAnswer = 4 << 20

// byCookie remembers who answers.
const byCookie = "retake-by"

// answer puts an answer into the inbox of its session, and leads to the inbox. One that does not fit is shown
// again with what is wrong at its fields; one that comes too late is an error.
func (c *Console) answer(w http.ResponseWriter, r *http.Request) {
	in, ok := c.posted(w, r, "The answer cannot be read")
	if !ok {
		return
	}
	id, of := in.Get("id"), in.Get("question")
	s, store := c.heard(w, r, in, in.Get("store"), id)
	if store == nil {
		return
	}
	said := machine.Response{
		Question: of, Verdict: machine.Ruling(in.Get("verdict")), Words: strings.TrimSpace(in.Get("words")),
		By: strings.TrimSpace(in.Get("by")), At: c.clock.Now(),
	}
	var q *question
	if n := slices.IndexFunc(s.asks, func(a openAsk) bool { return a.ID == of }); n >= 0 {
		q = c.question(pending{openAsk: &s.asks[n], In: s}, said.At)
		q.By = said.By
		if !q.take(&said, in) {
			c.again(w, q)
			return
		}
	}
	err := inbox.Answer(r.Context(), store, id, said)
	if q != nil && errors.Is(err, machine.ErrMisfit) {
		q.VerdictFault = brief(c.scrub(err.Error()))
		c.again(w, q)
		return
	}
	if err != nil {
		c.notSent(w, in, err)
		return
	}
	c.keep(w, r, byCookie, said.By)
	lead(w, c.after(r.Context(), s.anchor(of)))
}

// after returns the address to which an answer leads: the inbox with what comes of it, at the next question.
func (c *Console) after(ctx context.Context, anchor string) string {
	to := url.Values{"answered": {anchor}}
	next := next(c.pending(ctx), anchor, c.clock.Now())
	if next == nil {
		return "inbox?" + to.Encode()
	}
	to.Set("at", next.Anchor())
	return "inbox?" + to.Encode() + "#" + next.Anchor()
}

// aForm is how forms are posted.
const aForm = "application/x-www-form-urlencoded"

// posted returns the form that was posted. What is none is refused under a title.
func (c *Console) posted(w http.ResponseWriter, r *http.Request, title string) (in url.Values, ok bool) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != aForm {
		c.refused(w, nil, http.StatusUnsupportedMediaType, title,
			"It has to be a form: Content-Type "+aForm+". Nothing was sent.")
		return nil, false
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxAnswer)
	if err := r.ParseForm(); err != nil {
		c.refused(w, nil, http.StatusBadRequest, title, err.Error()+". Nothing was sent.")
		return nil, false
	}
	return r.PostForm, true
}

// again shows a question with what was entered, and what is wrong with it.
func (c *Console) again(w http.ResponseWriter, q *question) {
	show(w, http.StatusUnprocessableEntity, "inbox", &inboxView{
		Title: "answer – retake", Now: q.now.UTC().Format("15:04:05"), nav: c.nav("inbox"), Questions: []*question{q}, One: true,
		Drafts: drafts,
	})
}

// keep puts a value into a cookie.
func (c *Console) keep(w http.ResponseWriter, r *http.Request, cookie, value string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookie, Value: url.QueryEscape(value), Path: "/", HttpOnly: true, Secure: c.isSecure(r),
		SameSite: http.SameSiteLaxMode, MaxAge: 1 << 25,
	})
}

// whoAsks returns the name in the cookie; empty for none.
func whoAsks(r *http.Request) string {
	cookie, err := r.Cookie(byCookie)
	if err != nil {
		return ""
	}
	name, _ := url.QueryUnescape(cookie.Value)
	return brief(name)
}

// correct is what the form says instead of [machine.GoOn] if the call is to be made with the changed
// arguments.
const correct machine.Ruling = "correct"

// take makes an answer of what was entered. It reports whether it can be sent; what is wrong stands in the
// question.
func (q *question) take(said *machine.Response, in url.Values) bool {
	q.Words, q.Result, q.Policy, q.Verdict = said.Words, in.Get("result"), in.Get("policy"), said.Verdict
	fail := func(at *string, why string) bool { *at = why; return false }
	arguments, changed, fits := q.Form.take(in)
	if n, err := strconv.Atoi(in.Get("draft")); err == nil && n >= 0 && n < len(drafts) {
		q.Words, q.Drafted = drafts[n], true
		return false
	}
	switch said.Verdict {
	case machine.Approve:
		if said.Words = ""; changed {
			said.Arguments = arguments
		}
		return fits
	case correct:
		said.Verdict, said.Arguments = machine.GoOn, arguments
		if !changed {
			return fail(&q.VerdictFault, "change the arguments: with these the call was not accepted")
		}
		return q.takePolicy(said) && fits
	case machine.GoOn:
		if changed {
			return fail(&q.VerdictFault, "a hint sends no changed arguments: make the call with them, or put them back")
		}
		if !q.takePolicy(said) {
			return false
		}
	case machine.Refuse:
		if said.Words == "" {
			return fail(&q.WordsFault, "say why: the model is told")
		}
	case machine.WasDone:
		said.Words = ""
		if said.Result = json.RawMessage(strings.TrimSpace(q.Result)); !json.Valid(said.Result) {
			return fail(&q.ResultFault, `give the result as JSON, such as {"number": "R-1"} or "paid"`)
		}
	case machine.WasNotDone, machine.NobodyKnows, machine.EndRun:
	case machine.RunAgain:
		said.Words = ""
	default:
		q.Checked = fits && q.Fields()
		if q.Checked {
			return false
		}
		return fail(&q.VerdictFault, "choose what holds")
	}
	if len(said.Words) > machine.MaxWords {
		return fail(&q.WordsFault, "these are too many words")
	}
	return true
}

// takePolicy adds the settings that were entered to an answer, and reports whether they are any.
func (q *question) takePolicy(said *machine.Response) bool {
	if strings.TrimSpace(q.Policy) == "" {
		return true
	}
	var layer validLayer
	if err := file.ReadOther("policy", []byte(q.Policy), &layer); err != nil {
		for fault := range strings.SplitSeq(err.Error(), "\n") {
			q.PolicyFaults = append(q.PolicyFaults, visible(fault))
		}
		return false
	}
	said.Policy = &layer.Layer
	return true
}

// validLayer is a layer that is valid once it is read.
type validLayer struct{ policy.Layer }

// UnmarshalJSON reads the layer. Its error joins all that is wrong.
func (l *validLayer) UnmarshalJSON(data []byte) error {
	if err := l.Layer.UnmarshalJSON(data); err != nil {
		return err
	}
	return l.Validate()
}

// heard finds a session and the store that takes what is said to it. Without one it says why nothing was
// sent, and returns nil.
func (c *Console) heard(
	w http.ResponseWriter, r *http.Request, in url.Values, named, id string,
) (*watched, inbox.Store) {
	s, err := c.watch.look(r.Context(), named, id)
	if err != nil && r.Context().Err() != nil {
		return nil, nil
	}
	if s == nil {
		c.notSent(w, in, journal.ErrNoRun)
		return nil, nil
	}
	if err = c.watch.away(s.store); err != nil {
		c.refused(w, in, http.StatusServiceUnavailable, "Nothing was sent", c.unread(err)+". Yours was not sent.")
		return nil, nil
	}
	store, can := c.inboxOf(s)
	if !can {
		c.refused(w, in, http.StatusConflict, "Nothing was sent",
			"This store has no inbox: say it in the program that has the run.")
		return nil, nil
	}
	return s, store
}

// refusals say why something was not sent; an error that says it itself has no words here.
var refusals = []struct {
	by         error
	status     int
	title, why string
}{
	{machine.ErrAnswered, http.StatusConflict, "Somebody was faster", "The question has its answer, and the first counts"},
	{machine.ErrTooLate, http.StatusConflict, "Too late",
		"The time of the question is over. What holds then is recorded as said by nobody"},
	{machine.ErrMovedOn, http.StatusConflict, "The run has moved on", "It no longer asks this"},
	{machine.ErrNotAsked, http.StatusConflict, "The run has moved on", "It no longer asks this"},
	{machine.ErrOtherArguments, http.StatusConflict, "The arguments are others",
		"The run asks about other arguments than those that you saw"},
	{machine.ErrMisfit, http.StatusUnprocessableEntity, "The answer does not fit", ""},
	{journal.ErrNoRun, http.StatusNotFound, "There is no such session", ""},
	{journal.ErrInboxFull, http.StatusConflict, "The inbox is full", ""},
	{journal.ErrReadOnly, http.StatusForbidden, "This store can only be read",
		"The console may not write to it: answer where that is allowed"},
	{inbox.ErrEnded, http.StatusConflict, "Nobody hears it", "No model call of this session would see a message"},
}

// notSent says why something was not sent.
func (c *Console) notSent(w http.ResponseWriter, in url.Values, err error) {
	for _, one := range refusals {
		if errors.Is(err, one.by) {
			c.refused(w, in, one.status, one.title, cmp.Or(one.why, err.Error())+". Yours was not sent.")
			return
		}
	}
	c.refused(w, in, http.StatusInternalServerError, "It is not known whether it was sent",
		"The store says: "+err.Error()+". Send the same form again: it counts once.")
}

// refused writes a page that says why nothing was done, with the words that were entered, so that they are
// not lost.
func (c *Console) refused(w http.ResponseWriter, in url.Values, status int, title, why string) {
	typed := visible(strings.TrimSpace(in.Get("words") + in.Get("text") + "\n" + in.Get("result") + in.Get("policy")))
	show(w, status, "refused", struct{ Title, Why, Typed string }{title, brief(c.scrub(why)), typed})
}
