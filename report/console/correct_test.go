package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/browser"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// stuck is a run whose call was not accepted, and has no attempt left: people are asked.
type stuck struct {
	dir  journal.Dir
	paid []transfer
	// other are tools beside pay.
	other []*tool.Tool
}

// What has the form of a key is told nowhere if it stands in what was not accepted: as a value that errors
// may repeat, or as the name of a member.
func TestAKeyThatWasNotAcceptedIsToldNowhere(t *testing.T) {
	const secret = "sk-proj-4f9QzX7bT2LmN8vRkW3yHcJd"
	s := &stuck{other: []*tool.Tool{tool.New("note", "Notes.", func(context.Context, struct {
		Text string `json:"text" retake:"echo" validate:"max=3"`
	}) (string, error) {
		return "", nil
	})}}
	arguments := fmt.Sprintf(`{"text":%q,%q:1}`, secret, secret)
	c := s.beginsWith(t, message.Call{ID: "c", Name: "note", Arguments: arguments})
	for _, target := range []string{"/", "/inbox", "/session?id=order-7", "/api/sessions"} {
		assert.NotContains(t, body(t, ask(t, c, "GET", target)), "4f9Qz", target)
	}
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.Contains(t, page, "expected at most 3 characters")
	assert.Contains(t, page, "2 values are hidden")
	id := strings.Split(strings.Split(page, `name="question" value="`)[1], `"`)[0]
	in := url.Values{"id": {"order-7"}, "question": {id}, "store": {""}, "a/text": {"abcd"}, "verdict": {"check"}}
	again := body(t, send(t, c, in))
	assert.Contains(t, again, "expected at most 3 characters")
	assert.NotContains(t, again, "4f9Qz")
}

// run begins the run, or goes on with it until it ends or nobody answers.
func (s *stuck) run(t testing.TB, turns ...looptest.Turn) (*looptest.Model, loop.Result, error) {
	t.Helper()
	set := policy.DefaultSet()
	set.Global.MaxAttempts, set.Global.Approval = new(1), &policy.Approval{Exhausted: policy.ExhaustedAsk, Timeout: time.Hour}
	pays := tool.New("pay", "Pays.", func(_ context.Context, p transfer) (string, error) {
		s.paid = append(s.paid, p)
		return "paid", nil
	})
	tools, err := tool.NewSet(append(s.other, pays)...)
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), s.dir, "order-7", journal.Settings{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, j.Close()) }()
	in, err := session.New(session.Config{ID: "order-7", Journal: j})
	require.NoError(t, err)
	ctx, leave := context.WithCancelCause(t.Context())
	nobody := loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		leave(loop.ErrSuspended)
		return machine.Response{}, nil
	})
	model, cfg, clock := looptest.NewModel(turns...), loop.Config{Tools: tools, Policy: &set}, loop.WithClock(looptest.NewClock())
	if past, err := j.Past(); err == nil && past.Unfinished() {
		result, err := fixture.Resume(ctx, model, in, cfg, nobody, clock)
		return model, result, err
	}
	result, err := fixture.Run(ctx, model, in, loop.Input{Prompt: "Pay ACME 5 euros."}, cfg, nobody, clock)
	return model, result, err
}

// begins makes the run ask, and returns its console and the form as a browser would send it.
func (s *stuck) begins(t testing.TB) *console.Console {
	t.Helper()
	return s.beginsWith(t, message.Call{ID: "c1", Name: "pay", Arguments: `{"to":"ACME","cents":"500"}`})
}

// beginsWith is begins with a call of the model.
func (s *stuck) beginsWith(t testing.TB, call message.Call) *console.Console {
	t.Helper()
	s.dir = journal.Dir(t.TempDir())
	_, _, err := s.run(t, looptest.Call(call))
	require.ErrorIs(t, err, loop.ErrSuspended)
	return open(t, string(s.dir), soonAfter, func(c *console.Settings) { c.Hosts = nil })
}

// A call that was not accepted is corrected in the form of its arguments, with what was wrong at the
// fields. The judge checks them before they are sent, and the run makes the call with them.
func TestACallThatWasNotAcceptedIsCorrectedInItsForm(t *testing.T) {
	var s stuck
	c := s.begins(t)
	page := body(t, ask(t, c, "GET", "/inbox"))
	for _, want := range []string{
		"pay gave up: what is to follow?", "arguments, to be corrected", `value="correct" class="yes">Make the call: pay as corrected`,
		"&#34;500&#34;</textarea>", `-f">expected integer`, `-f">expected one of`, `value="go_on">Go on without it`,
	} {
		assert.Contains(t, page, want)
	}
	id := strings.Split(strings.Split(page, `name="question" value="`)[1], `"`)[0]
	in := url.Values{"id": {"order-7"}, "question": {id}, "store": {""}, "a/to": {"ACME"}, "a/cents": {`"500"`}, "a/currency": {""},
		"by": {"Ann"}, "words": {""}}
	refuses := func(verdict, why string) {
		t.Helper()
		in.Set("verdict", verdict)
		r := send(t, c, in)
		assert.Equal(t, http.StatusUnprocessableEntity, r.StatusCode)
		assert.Contains(t, body(t, r), why)
	}
	refuses("correct", "change the arguments: with these the call was not accepted")
	in.Set("a/cents", "500")
	refuses("correct", `-f">expected one of`)
	in.Set("a/currency", `"EUR"`)
	refuses("check", "The fields can be sent")
	refuses("go_on", "a hint sends no changed arguments")
	items, err := s.dir.Items(t.Context(), "order-7")
	require.NoError(t, err)
	require.Empty(t, items, "nothing was sent until now")

	in.Set("verdict", "correct")
	in.Set("words", "Euros from now on.")
	r := send(t, c, in)
	require.Equal(t, http.StatusSeeOther, r.StatusCode, body(t, r))
	assert.Contains(t, body(t, ask(t, c, "GET", "/inbox")), "answered: told to go on with changed arguments by Ann")
	model, result, err := s.run(t, looptest.Say("Paid."))
	require.NoError(t, err)
	assert.Equal(t, "Paid.", result.Text)
	assert.Equal(t, []transfer{{To: "ACME", Cents: 500, Currency: "EUR"}}, s.paid)
	told := model.Requests()[0].Messages
	assert.Contains(t, told[len(told)-2].Text, "a person corrected its arguments")
	assert.Equal(t, "Euros from now on.", told[len(told)-1].Text)
}

// A run that has given up goes on under other settings, which the judge of policies checks first.
func TestARunThatGaveUpGetsAnotherPolicy(t *testing.T) {
	var s stuck
	c := s.begins(t)
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.Contains(t, page, `<textarea name="policy"`)
	id := strings.Split(strings.Split(page, `name="question" value="`)[1], `"`)[0]
	in := url.Values{"id": {"order-7"}, "question": {id}, "store": {""}, "verdict": {"go_on"}}
	for policy, fault := range map[string]string{
		"max_attempts: 4\nbackof: 3s":           "policy:2:1: backof: ",
		"# more\n\nmax_attempts: none":          "policy:3:15: max_attempts: ",
		`{"max_attempts": 0}`:                   "policy:1:18: max_attempts: ",
		`{"model": "nobody has this"}`:          "nobody has this",
		"<script>alert(1)</script>: 1":          "&lt;script&gt;",
		strings.Repeat("max_attempts: 4\n", 99): "policy:2:1: ",
	} {
		in.Set("policy", policy)
		r := send(t, c, in)
		assert.Equal(t, http.StatusUnprocessableEntity, r.StatusCode, policy)
		page := body(t, r)
		_, page, _ = strings.Cut(page, `name="policy"`)
		assert.Contains(t, page, fault)
		assert.NotContains(t, page, "<script>alert")
	}
	in.Set("policy", "max_attempts: 3")
	r := send(t, c, in)
	require.Equal(t, http.StatusSeeOther, r.StatusCode, body(t, r))
	wrong := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"to":"ACME","cents":"500"}`})
	right := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"to":"ACME","cents":500,"currency":"EUR"}`})
	_, result, err := s.run(t, wrong, wrong, right, looptest.Say("Paid."))
	require.NoError(t, err)
	assert.Equal(t, "Paid.", result.Text)
}

// Without a correction, a hint and an end are sent as ever, though the arguments are still wrong.
func TestACallThatIsNotCorrectedGetsAHint(t *testing.T) {
	var s stuck
	c := s.begins(t)
	page := body(t, ask(t, c, "GET", "/inbox"))
	id := strings.Split(strings.Split(page, `name="question" value="`)[1], `"`)[0]
	r := send(t, c, url.Values{"id": {"order-7"}, "question": {id}, "verdict": {"go_on"}, "words": {"Pay in euros."},
		"a/to": {"ACME"}, "a/cents": {`"500"`}, "a/currency": {""}})
	require.Equal(t, http.StatusSeeOther, r.StatusCode, body(t, r))
	answer := said(t, s.dir)
	assert.Equal(t, machine.GoOn, answer.Verdict)
	assert.Equal(t, "Pay in euros.", answer.Words)
	assert.Empty(t, answer.Arguments)
}

func TestACallIsCorrectedInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	var s stuck
	server := httptest.NewServer(s.begins(t))
	defer server.Close()
	tab := browser.Open(t)
	defer tab.Go("about:blank", "true") // its stream ends
	tab.Look(420, 900, false)
	tab.Go(server.URL+"/inbox?token="+token, `document.querySelector("[value=correct]")`)
	assert.Equal(t, "true", tab.Text("document.documentElement.scrollWidth <= 420"))
	tab.Enter(`[name="a/cents"]`, "0")
	tab.Click(`[value=correct]`)
	tab.Until(`[...document.querySelectorAll(".fault")].some(f => f.innerText === "expected at least 1")`)
	tab.Enter(`[name="a/cents"]`, "500")
	tab.Enter(`[name="a/currency"]`, `"EUR"`)
	tab.Enter(`[name=by]`, "Ann")
	tab.Click(`[value=correct]`)
	tab.Until(`document.querySelector(".given")`)
	_, _, err := s.run(t, looptest.Say("Paid."))
	require.NoError(t, err)
	assert.Equal(t, []transfer{{To: "ACME", Cents: 500, Currency: "EUR"}}, s.paid)
}
