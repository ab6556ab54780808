package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/session"
)

// say posts words to an address.
func say(t *testing.T, c *console.Console, to string, in url.Values) *http.Response {
	t.Helper()
	return ask(t, c, "POST", to, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.PostForm, r.Form = in, in
	})
}

// pageOf is the page of a session, and where its form leads; empty for none.
func pageOf(t *testing.T, c *console.Console, id string) (*http.Response, string, string) {
	t.Helper()
	r := ask(t, c, "GET", "/session?id="+id)
	page := body(t, r)
	if form := regexp.MustCompile(`<form method="post" action="([^"]+)"`).FindStringSubmatch(page); form != nil {
		return r, page, html.UnescapeString(form[1])
	}
	return r, page, ""
}

func TestAMessageGoesIntoTheInboxOnce(t *testing.T) {
	dir := journal.Dir(folder(t))
	c := open(t, string(dir))
	r, _, to := pageOf(t, c, "calls")
	require.NotEmpty(t, to)
	assert.Contains(t, r.Header.Get("Content-Security-Policy"), "form-action 'self'")
	in := url.Values{"text": {" By <b>train</b>. "}, "by": {"Ann"}, "stop": {"1"}}
	for range 2 {
		r = say(t, c, to, in)
		require.Equal(t, http.StatusSeeOther, r.StatusCode, body(t, r))
		assert.Contains(t, r.Header.Get("Location"), "session?id=calls")
	}
	items, err := dir.Items(t.Context(), "calls")
	require.NoError(t, err)
	require.Len(t, items, 1, "a form that is sent twice is one message")
	words, err := mail.WordsIn(items[0])
	require.NoError(t, err)
	assert.Equal(t, session.Words{ID: words.ID, Text: "By <b>train</b>.", By: "Ann", At: words.At, Stop: true}, *words)
	_, page, _ := pageOf(t, c, "calls")
	assert.Contains(t, page, `said, not taken yet: <span dir="auto">By &lt;b&gt;train&lt;/b&gt;.`)

	in.Del("stop")
	in.Set("reset", "1")
	require.Equal(t, http.StatusSeeOther, say(t, c, to, in).StatusCode)
	items, err = dir.Items(t.Context(), "calls")
	require.NoError(t, err)
	require.Len(t, items, 2, "another message is another one")
}

func TestAMessageThatNobodyWouldHearIsRefused(t *testing.T) {
	dir := journal.Dir(folder(t))
	c := open(t, string(dir))
	in := url.Values{"text": {"By train."}}
	for id, status := range map[string]int{"order-42": http.StatusConflict, "damaged": http.StatusConflict, "nobody": http.StatusNotFound} {
		_, _, to := pageOf(t, c, id)
		assert.Empty(t, to, id)
		assert.Equal(t, status, say(t, c, "/say?id="+id, in).StatusCode, id)
	}
	for name, in := range map[string]url.Values{
		"empty": {"text": {" "}}, "too long": {"text": {strings.Repeat("x", 256<<10+1)}}, "name": {"text": {"x"}, "by": {"\x1b"}},
	} {
		r := say(t, c, "/say?id=calls", in)
		assert.Equal(t, http.StatusUnprocessableEntity, r.StatusCode, name)
		assert.Contains(t, body(t, r), "Nothing was sent", name)
	}
	some, err := dir.WithItems(t.Context())
	require.NoError(t, err)
	assert.Empty(t, some)
}

func TestAStoreWithoutAnInboxHasNoForm(t *testing.T) {
	c := open(t, folder(t), func(s *console.Settings) {
		s.Stores[0].Store = struct{ journal.Keeper }{s.Stores[0].Store}
	})
	_, _, to := pageOf(t, c, "calls")
	assert.Empty(t, to)
	r := say(t, c, "/say?id=calls", url.Values{"text": {"By train."}})
	assert.Equal(t, http.StatusConflict, r.StatusCode)
	assert.Contains(t, body(t, r), "This store has no inbox")
}
