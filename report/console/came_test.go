package console_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// goesOn takes up a session of a folder, whose tool pay does as it is told.
func goesOn(t *testing.T, dir journal.Dir, name string, do func(transfer) (string, error)) {
	t.Helper()
	j, err := journal.Open(t.Context(), dir, name, journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{ID: name, Journal: j})
	require.NoError(t, err)
	set, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, in transfer) (string, error) { return do(in) }, always))
	require.NoError(t, err)
	_, err = fixture.Resume(t.Context(), looptest.NewModel(looptest.Say("Paid.")), s, loop.Config{Tools: set},
		loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
}

// What came of an answer is said to who gave it, in the inbox and on the session's page, also without script.
func TestWhatCameOfAnAnswer(t *testing.T) {
	for name, one := range map[string]struct {
		do   func(transfer) (string, error)
		came string
	}{
		"ran":    {func(transfer) (string, error) { return "<b>receipt</b> R-1", nil }, `pay ran: &#34;&lt;b&gt;receipt&lt;/b&gt; R-1&#34;`},
		"failed": {func(transfer) (string, error) { return "", tool.Fail("The account is closed.") }, "pay failed: The account is closed."},
	} {
		t.Run(name, func(t *testing.T) {
			dir := journal.Dir(t.TempDir())
			put(t, string(dir), "order-42.jsonl", asked(t, "order-42", acme, 0, pay(always)))
			c := open(t, string(dir), soonAfter)
			in := formIn(t, body(t, ask(t, c, "GET", "/inbox")))
			in.Set("verdict", "approve")
			in.Set("by", "Ann")
			to := send(t, c, in).Header.Get("Location")
			require.Contains(t, to, "answered=")
			assert.Contains(t, body(t, ask(t, c, "GET", to)), "approved by Ann at 2030-01-01 00:00:05 UTC; not taken yet:")
			assert.Contains(t, body(t, ask(t, c, "GET", "/")), "pay: approved by Ann at 2030-01-01 00:00:05 UTC, not taken yet:")
			assert.Contains(t, body(t, ask(t, c, "GET", "/session?id=order-42")), `<b class="chip warn">asks</b> pay: cents 500`)
			goesOn(t, dir, "order-42", one.do)
			c = open(t, string(dir), soonAfter)
			page := body(t, ask(t, c, "GET", to))
			assert.Contains(t, page, `id="came"`)
			assert.Equal(t, 2, strings.Count(page, one.came), "in the line, and among what was answered: %s", page)
		})
	}
}

// After an answer the focus is on the next question, and what comes of it is said while the page is open.
func TestAfterAnAnswerInABrowser(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	put(t, string(dir), "order-42.jsonl", asked(t, "order-42", acme, 10*time.Minute, pay(always)))
	put(t, string(dir), "order-43.jsonl", asked(t, "order-43", acme, time.Hour, pay(always)))
	tab, at := browse(t, dir, soonAfter)
	tab.Look(1280, 600, false)
	tab.Go(at+"/inbox?token="+token, `document.querySelectorAll("section.card").length === 2`)
	first, second := `section[aria-label="question of order-42"] `, `section[aria-label="question of order-43"] `
	assert.Equal(t, "true", tab.Text(`(b => b.top >= 0 && b.bottom <= innerHeight)(document.querySelector('`+first+`[value=approve]').getBoundingClientRect())`),
		"the buttons are in view above the end of a long card")
	tab.Click(first + "[value=approve]")
	tab.Until(`document.activeElement.matches('` + strings.TrimSpace(second) + `')`)
	assert.Contains(t, tab.Text(`document.getElementById("polite").textContent`), "Next: may pay run?")
	goesOn(t, dir, "order-42", func(transfer) (string, error) { return "R-1", nil })
	tab.Until(`document.getElementById("came").innerText.includes("pay ran: \"R-1\"")`)
	assert.Equal(t, "true", tab.Text(`document.activeElement.matches('`+strings.TrimSpace(second)+`')`), "what is new takes no focus")
	if path := os.Getenv("RETAKE_SCREENSHOTS"); path != "" {
		require.NoError(t, os.WriteFile(path+"/came.png", tab.Shot(), 0o600))
	}
	tab.Enter(second+"[name=words]", "No.")
	tab.Click(second + "[value=refuse]")
	tab.Until(`document.activeElement.id === "came" && document.activeElement.innerText.includes("order-43")`)
}

// A question whose answer the run did not take is open again, and says so.
func TestAnAnswerThatTheRunDidNotTakeIsSaidAtItsQuestion(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	text := asked(t, "order-42", acme, 0, pay(always))
	id := regexp.MustCompile(`1\.1\.1-[0-9a-f]+`).Find(text)
	put(t, string(dir), "order-42.jsonl", text)
	j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{})
	require.NoError(t, err)
	require.NoError(t, j.Note(journal.Note{Kind: journal.Undelivered, At: looptest.Epoch, Text: fmt.Sprintf("it was not taken: answer to %q: too <b>much", id)}))
	require.NoError(t, j.Close())
	page := body(t, ask(t, open(t, string(dir), soonAfter), "GET", "/inbox"))
	assert.Contains(t, page, "too &lt;b&gt;much</p>")
	assert.Contains(t, page, `value="approve"`)
}
