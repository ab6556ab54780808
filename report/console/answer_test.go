package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/tool"
)

// always asks a person about each call.
var always = tool.Approval(policy.Approval{When: policy.ApproveAlways})

// send posts a form.
func send(t *testing.T, c *console.Console, in url.Values) *http.Response {
	t.Helper()
	return ask(t, c, "POST", "/answer", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Body = http.NoBody
		r.PostForm = in
		r.Form = in
	})
}

// standing is a clock that stands still soon after the runs ask.
type standing struct{}

func (standing) Now() time.Time                         { return looptest.Epoch.Add(5 * time.Second) }
func (standing) After(d time.Duration) <-chan time.Time { return time.After(d / 10) }

// asking is a folder with a session that asks, its console, and the form as a browser would send it.
func asking(t *testing.T, arguments string, tools ...*tool.Tool) (journal.Dir, *console.Console, url.Values) {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "order-7.jsonl", asked(t, "order-7", arguments, time.Hour, tools...))
	c := open(t, dir, func(s *console.Settings) { s.Clock = standing{} })
	return journal.Dir(dir), c, formIn(t, body(t, ask(t, c, "GET", "/inbox")))
}

// formIn is the form of a page as a browser would send it.
func formIn(t *testing.T, page string) url.Values {
	t.Helper()
	in := url.Values{}
	for _, m := range regexp.MustCompile(`<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"[^>]*>`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(m[0], `type="radio"`) || strings.Contains(m[0], " checked") {
			in.Set(m[1], m[2])
		}
	}
	for _, m := range regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		in.Set(m[1], m[2])
	}
	return in
}

// said is the only answer in an inbox.
func said(t *testing.T, dir journal.Dir) *machine.Response {
	t.Helper()
	items, err := dir.Items(t.Context(), "order-7")
	require.NoError(t, err)
	require.Len(t, items, 1)
	answer, err := mail.ResponseIn(items[0])
	require.NoError(t, err)
	return answer
}

func TestAnAnswerGoesIntoTheInboxOnce(t *testing.T) {
	dir, c, in := asking(t, acme, pay(always))
	in.Set("verdict", "approve")
	in.Set("by", "Ann")
	r := send(t, c, in)
	require.Equal(t, http.StatusSeeOther, r.StatusCode, body(t, r))
	answer := said(t, dir)
	assert.Equal(t, machine.Approve, answer.Verdict)
	assert.Equal(t, "Ann", answer.By)
	assert.Empty(t, answer.Arguments, "nothing was changed")
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.Contains(t, page, "answered: approved by Ann at 2030-01-01 00:00:05 UTC")
	assert.NotContains(t, page, "<form")

	r = send(t, c, in)
	assert.Equal(t, http.StatusConflict, r.StatusCode)
	assert.Contains(t, body(t, r), "Somebody was faster")
	in.Set("question", "1.1.1-of-yesterday")
	r = send(t, c, in)
	assert.Equal(t, http.StatusConflict, r.StatusCode)
	assert.Contains(t, body(t, r), "The arguments are others")
	in.Set("question", "1.9.1-of-tomorrow")
	r = send(t, c, in)
	assert.Equal(t, http.StatusConflict, r.StatusCode)
	assert.Contains(t, body(t, r), "It no longer asks this")
	in.Set("id", "nobody")
	assert.Equal(t, http.StatusNotFound, send(t, c, in).StatusCode)
}

func TestChangedArgumentsAreJudgedBeforeTheyAreSent(t *testing.T) {
	dir, c, in := asking(t, acme, pay(always))
	in.Set("verdict", "approve")
	in.Set("a/cents", "0")
	in.Set("a/currency", `"GBP"`)
	r := send(t, c, in)
	page := body(t, r)
	require.Equal(t, http.StatusUnprocessableEntity, r.StatusCode)
	for _, want := range []string{"Nothing was sent", `value="0"`, `aria-invalid="true"`, "expected at least 1", `expected one of`} {
		assert.Contains(t, page, want)
	}
	in.Set("a/cents", "four")
	assert.Contains(t, body(t, send(t, c, in)), "this is not a number")
	in.Set("a/cents", "450")
	in.Set("a/currency", `"USD"`)
	in.Set("verdict", "check")
	assert.Contains(t, body(t, send(t, c, in)), "The fields can be sent")
	items, err := dir.Items(t.Context(), "order-7")
	require.NoError(t, err)
	require.Empty(t, items)

	in.Set("verdict", "approve")
	require.Equal(t, http.StatusSeeOther, send(t, c, in).StatusCode)
	assert.JSONEq(t, `{"to":"ACME","cents":450,"currency":"USD"}`, string(said(t, dir).Arguments))
}

func TestARefusalNeedsWords(t *testing.T) {
	dir, c, in := asking(t, acme, pay(always))
	in.Set("verdict", "refuse")
	assert.Contains(t, body(t, send(t, c, in)), "say why")
	in.Set("words", "Not <b>today</b>.")
	require.Equal(t, http.StatusSeeOther, send(t, c, in).StatusCode)
	assert.Equal(t, "Not <b>today</b>.", said(t, dir).Words)
}

func TestACallInDoubtIsSettled(t *testing.T) {
	dir, c, in := asking(t, acme, pay(tool.Approval(policy.Approval{InDoubt: policy.DoubtAsk})))
	in.Set("verdict", "approve")
	assert.Equal(t, http.StatusUnprocessableEntity, send(t, c, in).StatusCode)
	in.Set("verdict", "done")
	assert.Contains(t, body(t, send(t, c, in)), "give the result as JSON")
	in.Set("result", `"paid"`)
	require.Equal(t, http.StatusSeeOther, send(t, c, in).StatusCode)
	assert.Equal(t, machine.WasDone, said(t, dir).Verdict)
	assert.JSONEq(t, `"paid"`, string(said(t, dir).Result))
}

// card are arguments with a secret, a part that is too deep for fields, and names that need escapes.
type card struct {
	To    string `json:"to"`
	Pin   string `json:"pin" retake:"secret"`
	Where struct {
		City string   `json:"city"`
		Tags []string `json:"tags"`
	} `json:"where"`
	Odd string `json:"a/b~c"`
}

func TestSecretsAreKeptWithoutBeingShown(t *testing.T) {
	charge := tool.New("pay", "Pays.", func(context.Context, card) (string, error) { return "", nil }, always)
	const arguments = `{"to":"ACME","pin":"hunter2","where":{"city":"Oslo","tags":["x"]},"a/b~c":"odd"}`
	dir, c, in := asking(t, arguments, charge)
	for _, path := range []string{"/", "/inbox", "/api/sessions"} {
		assert.NotContains(t, body(t, ask(t, c, "GET", path)), "hunter2", path)
	}
	assert.Contains(t, body(t, ask(t, open(t, string(dir), soonAfter, func(s *console.Settings) { s.ShowSecrets = true }), "GET", "/inbox")), "hunter2")
	in.Set("verdict", "approve")
	in.Set("a/pin", "")
	in.Set("a/where/city", "Rome")
	in.Set("a/where/tags", `["y"]`)
	in.Set("a/a~1b~0c", "even")
	r := send(t, c, in)
	require.Equal(t, http.StatusSeeOther, r.StatusCode, body(t, r))
	assert.JSONEq(t, strings.NewReplacer("Oslo", "Rome", `"x"`, `"y"`, "odd", "even").Replace(arguments), string(said(t, dir).Arguments))
}

// A secret may be within a value that has one field, or under its name in another case.
func TestSecretsWithinAValueAreNotShown(t *testing.T) {
	charge, err := tool.Raw("pay", "Pays.", []byte(`{"type":"object","$defs":{"card":{"properties":{"pin":{"x-secret":true}}}},
		"properties":{"to":{"type":"string"},"card":{"$ref":"#/$defs/card"},"cards":{"items":{"$ref":"#/$defs/card"}}}}`),
		func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }, always)
	require.NoError(t, err)
	const arguments = `{"to":"ACME","card":{"pin":"hunter1"},"cards":[{"pin":"hunter2"}],"Card":{"PIN":"hunter3"}}`
	dir, c, in := asking(t, arguments, charge)
	for _, path := range []string{"/", "/inbox", "/api/sessions", "/session?id=order-7"} {
		assert.NotContains(t, body(t, ask(t, c, "GET", path)), "hunter", path)
	}
	assert.Contains(t, body(t, ask(t, c, "GET", "/inbox")), "3 values are hidden")
	in.Set("verdict", "approve")
	in.Set("a/to", "Bolt")
	require.Equal(t, http.StatusSeeOther, send(t, c, in).StatusCode)
	assert.JSONEq(t, strings.Replace(arguments, "ACME", "Bolt", 1), string(said(t, dir).Arguments))
}

// Long texts of several lines are no secrets: who is asked sees them whole. A key in the middle of one is
// left out, and so is one in arguments that are shown as they are.
func TestLongTextsAreShownWhole(t *testing.T) {
	const line, key = `two  words and a \"line\" é\n`, "api_key=sk-proj-4f9QzX7bT2LmN8vRkW3yHcJd"
	long := strings.Repeat(line, 400)
	to := func(text string) string { return strings.Replace(acme, "ACME", text, 1) }
	for _, doubt := range []bool{false, true} {
		needs := always
		if doubt {
			needs = tool.Approval(policy.Approval{InDoubt: policy.DoubtAsk})
		}
		_, c, _ := asking(t, to(long+"the end"), pay(needs))
		page := body(t, ask(t, c, "GET", "/inbox"))
		assert.Contains(t, page, "the end")
		assert.NotContains(t, page, "without seeing")
		assert.Equal(t, 400, strings.Count(page, "two  words"), "once")

		_, c, _ = asking(t, to(long+" "+key+" "+long), pay(needs))
		page = body(t, ask(t, c, "GET", "/inbox"))
		assert.NotContains(t, page, "sk-proj")
		assert.NotContains(t, page, "two  words")
		assert.Contains(t, page, map[bool]string{true: "[secret]", false: "without seeing"}[doubt])
		assert.Contains(t, page, "500", "the others are there")
	}
}

// readable is a folder that can only be read.
type readable struct{ journal.Dir }

func (readable) Put(context.Context, string, journal.Item) error {
	return fmt.Errorf("inbox: %w", journal.ErrReadOnly)
}

// What a store that can only be read did not take was not sent, and to send it again is of no use.
func TestAnAnswerToAStoreThatCanOnlyBeReadIsNotSent(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "order-7.jsonl", asked(t, "order-7", acme, time.Hour, pay(always)))
	c := open(t, dir, func(s *console.Settings) {
		s.Clock, s.Stores = standing{}, []console.Named{{Store: readable{journal.Dir(dir)}}}
	})
	in := formIn(t, body(t, ask(t, c, "GET", "/inbox")))
	in.Set("verdict", "approve")
	r := send(t, c, in)
	assert.Equal(t, http.StatusForbidden, r.StatusCode)
	page := body(t, r)
	assert.Contains(t, page, "This store can only be read")
	assert.Contains(t, page, "Yours was not sent.")
	assert.NotContains(t, page, "Send the same form again")
}
