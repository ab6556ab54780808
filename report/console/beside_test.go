package console_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// askedAgain makes a run that calls pay with each of arguments, refuses the question of each but the last,
// and returns its journal as it is then.
func askedAgain(t testing.TB, name string, settings journal.Settings, arguments ...string) []byte {
	t.Helper()
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, name, settings)
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: name, Journal: j})
	require.NoError(t, err)
	set, err := tool.NewSet(pay(always))
	require.NoError(t, err)
	var turns []looptest.Turn
	for _, a := range arguments {
		turns = append(turns, looptest.Call(message.Call{Name: "pay", Arguments: a}))
	}
	var text []byte
	approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		if text = store.Text(name); strings.Contains(string(q.Arguments), `"cents":400`) {
			return machine.Response{}, errors.New("nobody is here")
		}
		return machine.Response{Verdict: machine.Refuse, Words: "Too much."}, nil
	}
	_, err = fixture.Run(t.Context(), looptest.NewModel(append(turns, looptest.Say("Well."))...), s, loop.Input{Prompt: "Pay ACME."},
		loop.Config{Tools: set}, loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
	if err == nil {
		require.Contains(t, string(text), `"kind":"ask`)
	}
	return text
}

// With a question stands what differs from the time before, and whether a person has refused the same.
func TestAQuestionTellsWhatIsOtherThanTheTimeBefore(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "changed.jsonl", askedAgain(t, "changed", journal.Settings{}, `{"to":"ACME","currency":"EUR","cents":"500"}`,
		`{"to":"ACME","currency":"USD","cents":400,"urgent":true}`))
	page := body(t, ask(t, open(t, dir, soonAfter), "GET", "/inbox"))
	for _, want := range []string{
		`the time before: <span dir="auto">&#34;500&#34;</span>`, `the time before: <span dir="auto">&#34;EUR&#34;</span>`,
		`the time before: <span dir="auto">missing</span>`, "<dt>pay the time before</dt>", "cents &#34;500&#34;, currency EUR, to ACME: ",
		"not declared idempotent", `class="yes"><span>Approve: pay cents 400, currency USD, to ACME, urgent true</span></button>`,
	} {
		assert.Contains(t, page, want)
	}
	assert.Equal(t, 3, strings.Count(page, `class="diff"`), "the name is the same")
	assert.NotContains(t, page, "refused before")
}

func TestTheSameArgumentsAgainSayThatTheyWereRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "again.jsonl", askedAgain(t, "again", journal.Settings{}, acme, acme))
	page := body(t, ask(t, open(t, dir, soonAfter), "GET", "/inbox"))
	assert.Contains(t, page, "a person refused the same arguments at 2030-01-01 00:0")
	assert.Contains(t, page, "answered in the last day: 1</summary>")
	assert.Contains(t, page, `dir="auto">again</a>, <span dir="auto">pay</span>: refused at 2030-01-01 00:0`)
}

// Ready words come into the field and are sent only by a click of its own.
func TestReadyWordsAreChosenAndEdited(t *testing.T) {
	dir, c, in := asking(t, acme, pay(always))
	in.Set("draft", "1")
	in.Set("a/cents", "450")
	page := body(t, send(t, c, in))
	for _, want := range []string{"Nothing was sent yet", "Not with these arguments. Ask the user which are right; do not guess.</textarea>", `value="450"`} {
		assert.Contains(t, page, want)
	}
	items, err := dir.Items(t.Context(), "order-7")
	require.NoError(t, err)
	require.Empty(t, items)
	for _, draft := range []string{"-1", "99", "x"} {
		in.Set("draft", draft)
		assert.Contains(t, body(t, send(t, c, in)), "choose what holds")
	}
}

// What the journal has only a mark for cannot be sent on beside a change: the tool would get the mark.
func TestAMarkOfARedactionIsNeverSent(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	redact := journal.Settings{Redact: &journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{"/to"}}}}}
	put(t, string(dir), "order-7.jsonl", askedAgain(t, "order-7", redact, `{"to":"ACME","currency":"USD","cents":400}`))
	c := open(t, string(dir), soonAfter)
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.Contains(t, page, "1 value is hidden: you decide without seeing it.")
	id := strings.Split(strings.Split(page, `name="question" value="`)[1], `"`)[0]
	in := map[string][]string{"id": {"order-7"}, "question": {id}, "verdict": {"approve"}, "a/to": {""}, "a/cents": {"450"}}
	assert.Contains(t, body(t, send(t, c, in)), "the journal does not have it: give it anew, or change nothing")
	in["a/to"] = []string{"Bolt"}
	require.Equal(t, http.StatusSeeOther, send(t, c, in).StatusCode)
	assert.JSONEq(t, `{"to":"Bolt","currency":"USD","cents":450}`, string(said(t, dir).Arguments))
}

// What has the form of a password is hidden by its name, too, wherever arguments are shown.
func TestAPasswordIsHiddenByItsName(t *testing.T) {
	login := tool.New("pay", "Logs in.", func(context.Context, struct {
		Password string `json:"password"`
	}) (string, error) {
		return "", nil
	}, always)
	_, c, _ := asking(t, `{"password":"correcthorse"}`, login)
	for _, path := range []string{"/", "/inbox", "/api/sessions", "/session?id=order-7"} {
		assert.NotContains(t, body(t, ask(t, c, "GET", path)), "correcthorse", path)
	}
}

// A card whose question is answered elsewhere stays with what was typed, and can no longer be sent; new
// questions are counted, and come when they are asked for.
func TestTheInboxIsLiveInABrowser(t *testing.T) {
	dir, _, _ := asking(t, acme, pay(always))
	tab, at := browse(t, dir, soonAfter)
	tab.Look(1280, 900, true)
	tab.Go(at+"/inbox?token="+token, `document.querySelector("form.answer")`)
	tab.Until(`document.title === "(1) inbox – retake"`)
	tab.Click(`[name=draft]`)
	tab.Enter(`[name="a/cents"]`, "450")
	tab.Until(`document.querySelector("[value=approve]").innerText === "Send changed: cents 500 → 450"`)
	assert.Contains(t, tab.Text(`document.querySelector("[name=words]").value`), "Not this.")

	put(t, string(dir), "order-8.jsonl", asked(t, "order-8", acme, time.Hour, pay(always)))
	tab.Until(`document.getElementById("moved").innerText.includes("1 new question")`)
	q, err := inbox.PendingOf(t.Context(), dir, "order-7", looptest.Epoch.Add(time.Minute))
	require.NoError(t, err)
	require.NoError(t, inbox.Answer(t.Context(), dir, "order-7", machine.Response{Question: q[0].ID, Verdict: machine.Approve, By: "Bob",
		At: looptest.Epoch.Add(time.Minute)}))
	tab.Until(`document.querySelector(".told").innerText.includes("answered: approved by Bob")`)
	assert.Regexp(t, `UTC\. What you typed stays here\.$`, tab.Text(`document.querySelector(".told").innerText`))
	tab.Size(1280, 500)
	tab.Text(`document.querySelector(".card .buttons").scrollIntoView()`)
	assert.Equal(t, "true", tab.Text(`(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector(".told").getBoundingClientRect())`),
		"it is seen where somebody types")
	tab.Size(1280, 900)
	assert.Equal(t, "not-allowed", tab.Text(`getComputedStyle(document.querySelector(".card .buttons button")).cursor`))
	assert.Equal(t, "true", tab.Text(`document.querySelector("[value=approve]").disabled`))
	assert.Equal(t, "450", tab.Text(`document.querySelector("[name='a/cents']").value`))
	tab.Click(`#moved a`)
	tab.Until(`document.querySelectorAll(".card").length === 2`)

	// What was typed is there again when the page is, and only there.
	other := `section[aria-label="question of order-8"] `
	tab.Enter(other+`[name=words]`, "Not today.")
	tab.Enter(other+`[name="a/cents"]`, "5")
	tab.Text(`(window.was = 1, location.reload())`)
	tab.Until(`!window.was && document.querySelector('` + other + `[name=words]').value === "Not today."`)
	assert.Equal(t, "Send changed: cents 500 → 5", tab.Text(`document.querySelector('`+other+`[value=approve]').innerText`))
}
