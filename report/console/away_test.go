package console_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/browser"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

// unlocked opens a browser on a console of a folder without a token, behind a handler.
func unlocked(
	t *testing.T, dir string, behind func(http.Handler) http.Handler, change ...func(*console.Settings),
) (tab *browser.Tab, at string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	c := open(t, dir, append(change, soonAfter, func(s *console.Settings) { s.Hosts, s.Token = nil, "" })...)
	server := httptest.NewServer(behind(c))
	t.Cleanup(server.Close)
	tab = browser.Open(t)
	t.Cleanup(func() { tab.Go("about:blank", "true") }) // its stream ends
	tab.Look(1280, 900, false)
	return tab, server.URL
}

// grow writes the rest of a journal that has begun.
func grow(t *testing.T, dir, name string, from, to int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name+".jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(bytes.TrimPrefix(named(t, name, to), named(t, name, from)))
	require.NoError(t, errors.Join(err, f.Close()))
}

func nothing(h http.Handler) http.Handler { return h }

// What came while a page was not live is counted once it is live again.
func TestWhatCameWhileAListWasNotLiveInABrowser(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "b.jsonl", named(t, "b", 4))
	tab, at := unlocked(t, dir, nothing)
	tab.Go(at+"/?sort=session", `document.querySelector("#live").innerText.includes("live, heard")`)
	tab.Click("#live button")
	tab.Until(`document.querySelector("#live").innerText.includes("paused")`)
	put(t, dir, "a.jsonl", named(t, "a", 4))
	grow(t, dir, "b", 4, -1)
	assert.Equal(t, "1", tab.Text(`document.querySelectorAll("#list tr[id]").length`))
	tab.Click("#live button")
	tab.Until(`document.getElementById("moved").innerText.includes("1 row belongs elsewhere now")`)
	tab.Until(`document.getElementById("s0-b").innerText.includes("failed")`)
	assert.Equal(t, "Sessions 2", tab.Text(`document.querySelector("nav a").innerText`))
	tab.Text(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "r", bubbles: true}))`)
	tab.Until(`document.querySelectorAll("#list tr[id]").length === 2 && document.getElementById("moved").hidden`)
}

// A page on which nothing waited does not go on saying so beside a new question.
func TestAFirstQuestionInABrowser(t *testing.T) {
	dir := t.TempDir()
	tab, at := unlocked(t, dir, nothing)
	tab.Go(at+"/inbox", `document.querySelector("main").innerText.includes("Nothing waits for a person.")`)
	put(t, dir, "order-7.jsonl", asked(t, "order-7", acme, time.Hour, pay(always)))
	tab.Until(`document.getElementById("moved").innerText.includes("1 new question")`)
	assert.NotContains(t, tab.Text(`document.querySelector("main").innerText`), "Nothing waits")
}

// A page that is open says that its store cannot be read, and goes on by itself once it can.
func TestAStoreThatGoesAwayUnderAnOpenPageInABrowser(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	require.NoError(t, os.Mkdir(dir, 0o700))
	put(t, dir, "b.jsonl", named(t, "b", -1))
	tab, at := unlocked(t, dir, nothing)
	for _, path := range []string{"/", "/inbox", "/session?id=b"} {
		tab.Go(at+path, `document.querySelector("#live").innerText.includes("live")`)
		require.NoError(t, os.Rename(dir, dir+".away"))
		tab.Until(`document.body.innerText.includes("Not all stores can be read: ")`)
		require.NoError(t, os.Rename(dir+".away", dir))
		tab.Until(`!document.body.innerText.includes("Not all stores can be read: ")`)
	}
	require.NoError(t, os.Rename(dir, dir+".away"))
	for _, path := range []string{"/", "/inbox"} { // so does one that was opened meanwhile
		tab.Go(at+path, `document.body.innerText.includes("Not all stores can be read: ")`)
	}
	require.NoError(t, os.Rename(dir+".away", dir))
	tab.Until(`!document.body.innerText.includes("Not all stores can be read: ")`)
}

// What cannot be read is not said to be deleted, or not to be there.
func TestWhatCannotBeReadWasNotDeleted(t *testing.T) {
	dir, clock := filepath.Join(t.TempDir(), "runs"), byHand{new(atomic.Int64)}
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	c := open(t, dir, func(s *console.Settings) { s.Clock = clock })
	for target, never := range map[string]string{"/": "No session in", "/inbox": "Nothing waits"} {
		page := body(t, ask(t, c, "GET", target))
		assert.Contains(t, page, "Not all stores can be read: ")
		assert.NotContains(t, page, never)
	}
	next := stream(t, c, "/events?id=b")
	require.Contains(t, next(), "Not all stores can be read: ")
	clock.passed.Add(int64(time.Minute))
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Mkdir(dir, 0o700))
	put(t, dir, "b.jsonl", named(t, "b", 4))
	for heard := next(); !strings.Contains(heard, `"lines":4`); heard = next() {
		assert.Equal(t, `""`, heard)
		clock.passed.Add(int64(time.Second))
	}
}

// closing is a store whose journals cannot be opened for a while.
type closing struct {
	journal.Dir
	closed *atomic.Bool
}

func (s closing) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	if s.closed.Load() {
		return nil, errors.New("the database is closed")
	}
	return s.Dir.Peek(ctx, session)
}

// A journal that could not be opened is read once it can be, though nothing was written meanwhile.
func TestAJournalThatCouldNotBeOpenedIsReadLater(t *testing.T) {
	dir, clock := t.TempDir(), byHand{new(atomic.Int64)}
	put(t, dir, "b.jsonl", named(t, "b", -1))
	store := closing{journal.Dir(dir), new(atomic.Bool)}
	store.closed.Store(true)
	c := open(t, dir, func(s *console.Settings) { s.Stores[0].Store, s.Clock = store, clock })
	assert.Contains(t, body(t, ask(t, c, "GET", "/api/sessions")), "cannot be read: the database is closed")
	store.closed.Store(false)
	clock.passed.Add(int64(10 * time.Second))
	assert.Contains(t, body(t, ask(t, c, "GET", "/api/sessions")), `"state":"failed","why":"transport`)
}

// A page whose stream was refused asks for it again.
func TestAStreamThatWasRefusedIsAskedForAgainInABrowser(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "b.jsonl", named(t, "b", 4))
	put(t, dir, "c.jsonl", named(t, "c", 4))
	var refuses atomic.Bool
	tab, at := unlocked(t, dir, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/events" && refuses.Swap(false) {
				http.Error(w, "bad gateway", http.StatusBadGateway)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	for _, page := range []struct{ session, path, row string }{{"b", "/", "s0-b"}, {"c", "/session?id=c", "says"}} {
		refuses.Store(true)
		tab.Go(at+page.path, `document.querySelector("#live button")`)
		grow(t, dir, page.session, 4, -1)
		tab.Until(`document.getElementById("` + page.row + `").innerText.includes("failed")`)
		assert.False(t, refuses.Load())
	}
}

// heardOf is a response that says when the first of it was written.
type heardOf struct {
	http.ResponseWriter
	heard chan struct{}
}

func (w heardOf) Write(text []byte) (int, error) {
	n, err := w.ResponseWriter.Write(text)
	select {
	case w.heard <- struct{}{}:
	default:
	}
	return n, err
}

func (w heardOf) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A page whose journal cannot be opened for a while says so, and shows what is new once it can.
func TestAPageWhoseJournalCannotBeOpenedForAWhileInABrowser(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "b.jsonl", named(t, "b", 4))
	store, heard := closing{journal.Dir(dir), new(atomic.Bool)}, make(chan struct{}, 1)
	tab, at := unlocked(t, dir, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/events" && r.URL.Query().Get("id") == "b" {
				w = heardOf{w, heard}
			}
			h.ServeHTTP(w, r)
		})
	}, func(s *console.Settings) { s.Stores[0].Store = store })
	tab.Go(at+"/session?id=b", `document.querySelector("#live").innerText.startsWith("live")`)
	<-heard // the page knows how it was
	store.closed.Store(true)
	grow(t, dir, "b", 4, -1)
	tab.Until(`document.querySelector("#live").innerText.startsWith("the journal cannot be read: the database is closed")`)
	store.closed.Store(false)
	tab.Until(`document.querySelector("#live").innerText.startsWith("live") && document.getElementById("says").innerText.startsWith("failed")`)
}

// A second click on a button sends no second answer.
func TestADoubleClickIsOneAnswerInABrowser(t *testing.T) {
	dir, _, _ := asking(t, acme, pay(always))
	answers, clicked := make(chan struct{}, 2), make(chan struct{})
	tab, at := unlocked(t, string(dir), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/answer":
				answers <- struct{}{}
				<-clicked
			case "/clicked":
				close(clicked)
			}
			h.ServeHTTP(w, r)
		})
	})
	tab.Go(at+"/inbox", `!document.querySelector("[value=approve]").disabled`)
	tab.Text(`(b => { b.click(); setTimeout(() => { b.click(); fetch("/clicked") }, 100) })(document.querySelector("[value=approve]"))`)
	tab.Until(`document.querySelector(".given")`)
	assert.Len(t, answers, 1)
}

// What a page takes up leaves the focus where it is, and what was typed.
func TestTheFocusAndWhatWasTypedStayInABrowser(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "b.jsonl", named(t, "b", 4))
	tab, at := unlocked(t, dir, nothing)
	tab.Go(at+"/session?id=b", `document.querySelector("#live").innerText.startsWith("live")`)
	lines := 4
	for _, on := range []string{".attempt > summary", ".rail li a"} {
		tab.Text(`document.querySelector("` + on + `").focus()`)
		tab.Text(`window.was = document.activeElement`)
		grow(t, dir, "b", lines, lines+2)
		lines += 2
		tab.Until(`!window.was.isConnected`)
		assert.Equal(t, "true", tab.Text(`document.activeElement === document.querySelector("`+on+`")`), on)
	}
	tab.Enter("#say-text", "Not Lisbon.")
	grow(t, dir, "b", lines, -1)
	tab.Until(`document.getElementById("says").innerText.startsWith("failed")`)
	assert.Equal(t, "Not Lisbon.", tab.Text(`document.getElementById("say-text").value`))
}

// A console that is mounted below a path of another server leads to its own pages alone.
func TestAConsoleBelowAPathInABrowser(t *testing.T) {
	dir, _, _ := asking(t, acme, pay(always))
	tab, at := unlocked(t, string(dir), func(h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/tools/retake/", http.StripPrefix("/tools/retake", h))
		return mux
	}, func(s *console.Settings) { s.Limits = noScopes{} })
	tab.Go(at+"/tools/retake/", `document.querySelector("#live").innerText.includes("live, heard")`)
	for _, one := range [][2]string{
		{"#list td a", `document.querySelector("#live").innerText.startsWith("live")`}, {"#home", `document.querySelector("#list")`},
		{"th a", `location.search === "?sort=state"`}, {".chips a", `location.search === "?sort=state&state=asking"`},
		{`nav a[href="limits"]`, `document.querySelector("main").innerText.includes("No call")`},
		{`nav a[href="./"]`, `document.querySelector(".scheme")`}, {`.scheme [value="dark"]`, `location.pathname === "/tools/retake/"`},
		{`nav a[href="inbox"]`, `document.querySelector("#live").innerText.includes("live, heard")`},
		{"[value=approve]", `document.querySelector(".given")`}, {"#came a", `document.getElementById("say")`},
	} {
		tab.Click(one[0])
		tab.Until(`location.pathname.startsWith("/tools/retake/") && ` + one[1])
	}
	tab.Enter("#say-text", "Hurry.")
	tab.Click("#say button")
	tab.Until(`location.pathname === "/tools/retake/session" && document.querySelector(".waiting")`)
}
