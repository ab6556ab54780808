package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report/console"
)

// hostile are texts that get into a page, or make it say something else, where they are not escaped.
var hostile = []string{
	attack, "\u202e\u2066drawkcab\u2069", "a\x00b\x1b[31m", "not \xff\xfe UTF-8", "line\u2028after\u2029it", "\ufeff\u200b",
	"Hangul \u3164\u115f\uffa0, joined\u034f, chosen\ufe0f\ufe00\U000e0100",
	`{{.}}${1}<!--</style></textarea></title>`, "data: x\n\nevent: change\ndata: {}", strings.Repeat("<b>", 350_000),
}

// Whatever stands in the fields of a session, its pages are whole, and none of it acts.
func TestHostileTextsInEveryField(t *testing.T) {
	for n, text := range hostile {
		dir := t.TempDir()
		arguments, err := json.Marshal(map[string]any{"to": text, "cents": 5, "currency": "EUR", text[:min(len(text), 200)]: 1})
		require.NoError(t, err)
		put(t, dir, "asks.jsonl", asked(t, "asks", fmt.Sprintf(`{"to":%s,"cents":5,"currency":"EUR"}`, quoted(t, text[:min(len(text), 50_000)])), time.Hour, pay(always)))
		run(t, journal.Dir(dir), "ends", text, nil, looptest.Call(message.Call{ID: text, Name: text, Arguments: text}),
			looptest.Call(message.Call{ID: "c", Name: text, Arguments: string(arguments)}), looptest.Say(text))
		c := open(t, dir, soonAfter)
		for _, target := range []string{"/", "/inbox", "/session?id=asks", "/session?id=ends", "/?q=" + url.QueryEscape(text[:min(len(text), 2000)]),
			"/?wait=" + url.QueryEscape(text[:min(len(text), 2000)]), "/session?id=" + url.QueryEscape(text[:min(len(text), 2000)])} {
			page := body(t, ask(t, c, "GET", target))
			name := fmt.Sprintf("%d %.40s", n, target)
			assert.True(t, utf8.ValidString(page), name)
			assert.Less(t, len(page), 8<<20, name)
			for _, never := range []string{"<img src=x", "<script>window", "\u202e", "\u2066", "\x00", "\x1b", "\u200b", "<!--</style>", "<b><b>", "\u2028", "\u3164", "\uffa0", "\u034f", "\ufe0f", "\U000e0100"} {
				assert.False(t, strings.Contains(page, never), "%s has %q", name, never)
			}
		}
		var answer map[string]any
		require.NoError(t, json.Unmarshal([]byte(body(t, ask(t, c, "GET", "/api/sessions"))), &answer))
		assert.Len(t, answer["sessions"], 2)
	}
}

func quoted(t *testing.T, text string) string {
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	return string(raw)
}

// Journals that were cut or changed anywhere are rows that say so, and hide no other.
func TestJournalsThatWereCutOrChangedAnywhere(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "good.jsonl", named(t, "good", -1))
	for n := range 24 {
		cut, changed := fmt.Sprint("cut", n), fmt.Sprint("changed", n)
		whole := named(t, cut, -1)
		put(t, dir, cut+".jsonl", whole[:n*len(whole)/24])
		whole = named(t, changed, -1)
		whole[n*len(whole)/24] ^= 0x15
		put(t, dir, changed+".jsonl", whole)
	}
	put(t, dir, "zeros.jsonl", make([]byte, 1<<20))
	put(t, dir, "binary.jsonl", bytes.Repeat([]byte{0xff, 0xfe, 0}, 1000))
	c := open(t, dir)
	list := body(t, ask(t, c, "GET", "/api/sessions"))
	assert.Contains(t, list, `"unread":"binary.jsonl`)
	for n := range 24 {
		for _, id := range []string{fmt.Sprint("cut", n), fmt.Sprint("changed", n)} {
			r := ask(t, c, "GET", "/session?id="+id)
			text := body(t, r)
			if r.StatusCode == http.StatusOK {
				assert.Contains(t, list, `{"id":"`+id+`"`)
				continue
			}
			assert.Less(t, n, 3, "%s, which begins with a whole header, is there", id)
			assert.Regexp(t, "The session was not found|There is no such session", text)
		}
	}
}

// A store that goes away while it is shown is said on each page, and what was known stays; it comes back.
func TestAStoreThatGoesAway(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "order-7.jsonl", asked(t, "order-7", acme, time.Hour, pay(always)))
	clock := byHand{new(atomic.Int64)}
	clock.passed.Add(int64(looptest.Epoch.Sub(clock.Now()) + 5*time.Second))
	c := open(t, dir, func(s *console.Settings) { s.Clock = clock })
	pass := func() { clock.passed.Add(int64(time.Second)) }
	in := formIn(t, body(t, ask(t, c, "GET", "/inbox")))
	in.Set("verdict", "approve")
	away := dir + ".away"
	require.NoError(t, os.Rename(dir, away))
	for _, target := range []string{"/", "/inbox", "/session?id=order-7"} {
		pass()
		r := ask(t, c, "GET", target)
		assert.Regexp(t, "can(not)? be read", body(t, r), target)
	}
	pass()
	assert.Contains(t, body(t, ask(t, c, "GET", "/api/sessions")), `"unread":`)
	pass()
	r := send(t, c, in)
	assert.GreaterOrEqual(t, r.StatusCode, 400)
	assert.Contains(t, body(t, r), "Yours was not sent.")
	require.NoError(t, os.Rename(away, dir))
	pass()
	assert.NotContains(t, body(t, ask(t, c, "GET", "/")), "Not all stores")
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing was sent: %v", left)
}

// Of answers that come at once one counts, and the others are told.
func TestAnswersAtOnce(t *testing.T) {
	dir, c, in := asking(t, acme, pay(always))
	in.Set("verdict", "approve")
	var all sync.WaitGroup
	statuses := make([]int, 8)
	for n := range statuses {
		all.Go(func() { statuses[n] = send(t, c, in).StatusCode })
	}
	all.Wait()
	taken := 0
	for _, status := range statuses {
		if status == http.StatusSeeOther {
			taken++
			continue
		}
		assert.Equal(t, http.StatusConflict, status)
	}
	assert.Equal(t, 1, taken)
	said(t, dir)
}

// What is no form is refused with words, and sends nothing.
func TestAnAnswerThatIsNoForm(t *testing.T) {
	dir, c, _ := asking(t, acme, pay(always))
	for _, target := range []string{"/answer", "/say?id=order-7"} {
		r := ask(t, c, "POST", target, func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r.Body = http.NoBody
		})
		assert.Equal(t, http.StatusUnsupportedMediaType, r.StatusCode, target)
		assert.Contains(t, body(t, r), "application/x-www-form-urlencoded", target)
	}
	items, err := dir.Items(t.Context(), "order-7")
	require.NoError(t, err)
	assert.Empty(t, items)
}

// What was written is shown again where it was not taken: after the deadline, and once the session is gone.
func TestWhatWasWrittenIsNotLost(t *testing.T) {
	const wrote = "Not <today>."
	dir := t.TempDir()
	put(t, dir, "order-7.jsonl", asked(t, "order-7", acme, time.Hour, pay(always)))
	in := formIn(t, body(t, ask(t, open(t, dir, soonAfter), "GET", "/inbox")))
	in.Set("verdict", "refuse")
	in.Set("words", wrote)
	c := open(t, dir, func(s *console.Settings) { s.Clock = startAt(looptest.Epoch.Add(2 * time.Hour)) })
	r := send(t, c, in)
	page := body(t, r)
	assert.Equal(t, http.StatusConflict, r.StatusCode)
	assert.Contains(t, page, "Too late")
	assert.Contains(t, page, "Not &lt;today&gt;.")
	c = open(t, t.TempDir(), soonAfter)
	r = send(t, c, in)
	page = body(t, r)
	assert.Equal(t, http.StatusNotFound, r.StatusCode)
	assert.Contains(t, page, "Yours was not sent.")
	assert.Contains(t, page, "Not &lt;today&gt;.")
}
