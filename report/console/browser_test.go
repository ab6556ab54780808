package console_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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

// attack is what a model may write to get into a page.
const attack = `<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>\u202e${alert(1)}{{.}}'\"`

// run makes a run in a folder.
func run(t testing.TB, dir journal.Dir, name, prompt string, tools []*tool.Tool, turns ...looptest.Turn) {
	t.Helper()
	j, err := journal.Open(t.Context(), dir, name, journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{ID: name, Journal: j})
	require.NoError(t, err)
	set, err := tool.NewSet(tools...)
	require.NoError(t, err)
	for n := range turns {
		turns[n].Reply.Usage = message.Usage{InputTokens: 780 + int64(n)*90, OutputTokens: 40}
	}
	_, _ = fixture.Run(t.Context(), looptest.NewModel(turns...), s, loop.Input{Prompt: prompt}, loop.Config{Tools: set}, loop.WithClock(looptest.NewClock()))
}

// fleet is a folder with sessions of all kinds, and how a held one goes on.
func fleet(t *testing.T) (dir journal.Dir, goesOn func()) {
	t.Helper()
	dir = journal.Dir(t.TempDir())
	doubts := tool.Approval(policy.Approval{InDoubt: policy.DoubtAsk})
	put(t, string(dir), "order-42.jsonl", asked(t, "order-42", acme, 64*time.Minute, pay(always)))
	put(t, string(dir), "order-17.jsonl", asked(t, "order-17", `{"to":"Bolt","cents":1200,"currency":"USD"}`, 0, pay(doubts)))
	search := tool.New("search", "Searches.", func(_ context.Context, a struct {
		City string `json:"city" validate:"required"`
	}) (string, error) {
		return "three rooms in " + a.City, nil
	}, tool.ReadOnly())
	find := func(arguments string) looptest.Turn {
		return looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: arguments})
	}
	run(t, dir, "trip-1", "A room in Lisbon.", []*tool.Tool{search}, find(`{"town":"Lisbon"}`), find(`{"city":"Lisbon"}`), looptest.Say("Three rooms in Lisbon: the Avenida has a view."))
	run(t, dir, "trip-2", "A room in Porto.", []*tool.Tool{search}, find(`{"city":"Porto"}`), looptest.Say("Three rooms in Porto."))
	run(t, dir, "trip-3", "A room in Faro.", []*tool.Tool{search}, find(`{}`), find(`{}`), find(`{}`), find(`{}`), find(`{}`))
	return dir, half(t, dir, "trip-9")
}

// half begins a journal whose writer lives. What is returned writes more of it.
func half(t *testing.T, dir journal.Dir, name string) func() {
	t.Helper()
	log, err := dir.Open(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, log.Close()) })
	lines := bytes.SplitAfter(asked(t, name, `{"to":"Cara","cents":9900,"currency":"EUR"}`, 0, pay(always)), []byte("\n"))
	first := bytes.Join(lines[:3], nil)
	require.NoError(t, log.Append(t.Context(), 0, first, false))
	return func() {
		require.NoError(t, log.Append(t.Context(), int64(len(first)), bytes.Join(lines[3:], nil), false))
	}
}

// shoot writes a picture of a page beside that of the README, if that is written.
func shoot(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	if path := os.Getenv("RETAKE_SCREENSHOT"); path != "" {
		require.NoError(t, os.WriteFile(path+"."+name+".png", tab.Shot(), 0o600))
	}
}

// browse opens a browser, and a console of a folder that has read all of it.
func browse(t *testing.T, dir journal.Dir, change ...func(*console.Settings)) (tab *browser.Tab, at string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	c := open(t, string(dir), append(change, func(s *console.Settings) { s.Hosts = nil })...)
	ask(t, c, "GET", "/api/sessions")
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	tab = browser.Open(t)
	t.Cleanup(func() { tab.Go("about:blank", "true") }) // its stream ends
	return tab, server.URL
}

func TestTheConsoleInABrowser(t *testing.T) {
	dir, goesOn := fleet(t)
	tab, at := browse(t, dir, soonAfter)

	tab.Look(1280, 560, false)
	tab.Go(at+"/?token="+token, `document.querySelectorAll("#list tr[id]").length === 6`)
	assert.Equal(t, at+"/", tab.Text("location.href"), "the token is not in the address")
	tab.Until(`document.querySelector("#live").innerText.includes("live, heard")`)
	if path := os.Getenv("RETAKE_SCREENSHOT"); path != "" {
		require.NoError(t, os.WriteFile(path, tab.Shot(), 0o600))
	}
	assert.Contains(t, tab.Text(`document.getElementById("s0-trip-9").innerText`), "running")
	for _, on := range []string{"true", "false"} { // a key that does something is not passed on
		tab.Click("#keyed")
		assert.Equal(t, on, tab.Text(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true, cancelable: true}))`))
	}
	tab.Click("#keyed") // who switches keys off has them off on the pages of sessions, too
	tab.Go(at+"/session?id=trip-1", `document.getElementById("inbox")`)
	assert.Equal(t, "false", tab.Text(`document.getElementById("keyed").checked`))
	assert.Equal(t, "true", tab.Text(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "f", bubbles: true, cancelable: true}))`))
	tab.Text(`document.getElementById("keyed").click()`)
	tab.Go(at+"/", `document.querySelectorAll("#list tr[id]").length === 6`)
	goesOn()
	tab.Until(`document.getElementById("s0-trip-9").innerText.includes("Cara")`)
	tab.Until(`document.title === "(3) retake"`)

	put(t, string(dir), "order-66.jsonl", asked(t, "order-66", `{"to":"`+attack+`","cents":1,"currency":"EUR"}`, 20*time.Minute, pay(always)))
	for _, dark := range []bool{false, true} {
		tab.Look(420, 800, dark)
		for _, path := range []string{"/", "/inbox", "/session?id=order-66", "/?q=nothing+has+this"} {
			tab.Go(at+path, `document.querySelector("main, body")`)
			assert.Equal(t, "true", tab.Text("document.documentElement.scrollWidth <= 420"), "%s is not wider than a phone", path)
			assert.Equal(t, "undefined", tab.Text("typeof window.pwned"), path)
		}
		assert.Equal(t, map[bool]string{true: "rgb(20, 23, 26)", false: "rgb(251, 251, 250)"}[dark], tab.Text("getComputedStyle(document.body).backgroundColor"))
	}

	tab.Look(1280, 900, false) // colours that were chosen are those of all pages, whatever the browser prefers
	tab.Go(at+"/", `document.querySelector(".scheme")`)
	for _, is := range [][2]string{{"dark", "rgb(20, 23, 26)"}, {"", "rgb(251, 251, 250)"}} {
		tab.Click(`.scheme [value="` + is[0] + `"]`)
		tab.Until(`getComputedStyle(document.body).backgroundColor === "` + is[1] + `"`)
		tab.Go(at+"/session?id=trip-1", `document.getElementById("run1")`)
		assert.Equal(t, is[1], tab.Text("getComputedStyle(document.body).backgroundColor"))
		for _, path := range []string{"/session?id=trip-1", "/"} {
			tab.Go(at+path, `document.querySelector("main")`)
			tab.Print()
			assert.Equal(t, "rgb(29, 33, 38)", tab.Text("getComputedStyle(document.body).color"), "on paper %s is dark on white", path)
			tab.Look(1280, 900, false)
		}
	}
	tab.Look(420, 800, false)
	tab.Go(at+"/", `document.getElementById("s0-trip-1")`)
	for _, shown := range []string{"false", "true", "false"} { // what a row has no room for comes by a tap
		assert.Equal(t, shown, tab.Text(`[...document.querySelectorAll("#s0-trip-1 td:is(:nth-child(5), :nth-child(7))")].every(td => td.offsetHeight > 0)`))
		if shown == "true" {
			shoot(t, tab, "phone")
		}
		tab.Click("#s0-trip-1 td:nth-child(3)")
		tab.Text(`document.getElementById("s0-trip-1").scrollIntoView()`)
	}

	// On a phone the inbox is two views, the questions and one of them, by links that need no script.
	views := `[...document.querySelectorAll(".asked, .card")].filter(e => e.offsetHeight > 0).map(e => e.getAttribute("aria-label")).join(", ")`
	tab.Go(at+"/inbox", `document.querySelectorAll("section.card").length === 4`)
	assert.Equal(t, "questions", tab.Text(views))
	shoot(t, tab, "inbox.phone.list")
	tab.Click(`.asked a[href*="order-42"], .asked li:nth-child(2) a`)
	tab.Until(`document.querySelector(".card:target")`)
	chosen := tab.Text(views)
	assert.Regexp(t, "^question of [a-z0-9-]+$", chosen)
	tab.Enter(".card:target [name=words]", "Not yet.")
	shoot(t, tab, "inbox.phone.card")
	tab.Look(420, 800, true)
	shoot(t, tab, "inbox.phone.dark")
	tab.Look(420, 800, false)
	tab.Click(".card:target .back a")
	assert.Equal(t, "questions", tab.Text(views))
	tab.Text("history.back()")
	tab.Until(`document.querySelector(".card:target")`)
	assert.Equal(t, chosen, tab.Text(views))
	assert.Equal(t, "Not yet.", tab.Text(`document.querySelector(".card:target [name=words]").value`), "nothing typed is lost")

	tab.Look(1280, 900, false)
	tab.Go(at+"/inbox", `document.querySelectorAll("section.card").length === 4`)
	form := `section[aria-label="question of order-42"] `
	tab.Enter(form+`[name="a/cents"]`, "0")
	tab.Enter(form+`[name=by]`, "Ann")
	tab.Click(form + `[value=approve]`)
	tab.Until(`document.querySelector(".fault") && document.querySelector(".fault").innerText === "expected at least 1"`)
	tab.Enter(`[name="a/cents"]`, "450")
	tab.Click(`[value=approve]`)
	tab.Until(`document.querySelector(".given")`)
	assert.Contains(t, tab.Text(`document.querySelector(".given").innerText`), "approved with changed arguments by Ann")
	key := `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "i", bubbles: true}))`
	tab.Go(at+"/session?id=trip-1", `document.getElementById("inbox")`)
	tab.Text(key)
	tab.Until(`location.pathname === "/inbox" && location.search === ""`)
	tab.Go(at+"/session?id=trip-9", `document.getElementById("answer")`)
	tab.Text(key)
	tab.Until(`location.pathname === "/inbox" && document.querySelector(":target").innerText.includes("trip-9")`)
	items, err := dir.Items(t.Context(), "order-42")
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, journal.AnswerItem, items[0].Kind)
	assert.Contains(t, string(items[0].Body), `"cents":450`)
	assert.Contains(t, string(items[0].Body), string(machine.Approve))
	assert.Equal(t, "Ann", tab.Text(`document.querySelector("[name=by]").value`), "the name is remembered")
	shoot(t, tab, "inbox")
}

// Browsers that trust the name of a console less than that of this machine say of a form only where it comes
// from, and that only if the page lets them.
func TestAConsoleWithoutTLSIsAnswered(t *testing.T) {
	dir, _ := fleet(t)
	tab, at := browse(t, dir, soonAfter)
	at = strings.Replace(at, "127.0.0.1", browser.Host, 1)
	tab.Go(at+"/?token="+token, `document.querySelector(".scheme")`)
	tab.Click(`.scheme [value="dark"]`)
	tab.Until(`getComputedStyle(document.body).backgroundColor === "rgb(20, 23, 26)"`)
	tab.Go(at+"/session?id=trip-9", `document.querySelector("[name=text]")`)
	tab.Enter("[name=text]", "Hurry.")
	tab.Click("#say button")
	tab.Until(`document.querySelector(".waiting").innerText.includes("Hurry.")`)
	tab.Go(at+"/inbox", `document.querySelector(".card")`)
	tab.Click(`section[aria-label="question of order-42"] [value=approve]`)
	tab.Until(`document.querySelector(".given")`)
}

// A link to a session that stands in a ticket or a chat opens it for who has the console open, and no form of
// another site does anything.
func TestALinkFromElsewhereLeadsToASession(t *testing.T) {
	dir, _ := fleet(t)
	tab, at := browse(t, dir, soonAfter)
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="%s/session?id=trip-1">see</a><form method="post" action="%[1]s/scheme"><button name="to" value="dark">win</button></form>`, at)
	}))
	defer chat.Close()
	elsewhere := strings.Replace(chat.URL, "127.0.0.1", browser.Host, 1)
	tab.Go(at+"/?token="+token, `document.querySelector(".scheme")`)
	tab.Go(elsewhere, `document.querySelector("a")`)
	tab.Click("a")
	tab.Until(`document.querySelector("h1").innerText === "trip-1"`)
	tab.Go(elsewhere, `document.querySelector("button")`)
	tab.Click("button")
	tab.Until(`location.pathname === "/scheme"`)
	assert.Contains(t, tab.Text("document.body.innerText"), "The token is missing or wrong", "a form has no cookie")
}
