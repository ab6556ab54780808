package console_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// looked makes a run of so many turns, of which each fifth fails.
func looked(t *testing.T, dir journal.Dir, name string, n int) {
	t.Helper()
	look := tool.New("look", "Looks.", func(_ context.Context, a struct {
		At int `json:"at" validate:"min=0"`
	}) (string, error) {
		return fmt.Sprint("room ", a.At), nil
	}, tool.ReadOnly())
	set, err := tool.NewSet(look)
	require.NoError(t, err)
	pol := policy.DefaultSet()
	pol.Global.MaxAttempts, pol.Global.NoProgress, pol.MaxTurns = new(n+2), new(n+2), n+2
	pol.Budgets = policy.Budgets{Run: policy.Unlimited, Tool: policy.Unlimited, UnknownTools: policy.Unlimited}
	var turns []looptest.Turn
	for at := range n {
		if at%5 == 4 {
			at = -at
		}
		turn := looptest.Call(message.Call{Name: "look", Arguments: fmt.Sprintf(`{"at":%d}`, at)})
		turn.Reply.Usage = message.Usage{InputTokens: 700, OutputTokens: 40, CacheReadTokens: 512}
		turns = append(turns, turn)
	}
	j, err := journal.Open(t.Context(), dir, name, journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{ID: name, Journal: j})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(append(turns, looptest.Say("Done."))...), s, loop.Input{Prompt: "Look at all rooms."},
		loop.Config{Tools: set, Policy: &pol}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
}

// A part of a page is a page, too, for browsers without script: it has that part alone.
func TestAPartOfASessionIsAPage(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	looked(t, dir, "rooms", 300)
	c := open(t, string(dir))
	page := body(t, ask(t, c, "GET", "/session?id=rooms"))
	const link = `session?id=rooms&amp;part=r1-1-g`
	require.Contains(t, page, `<a href="`+link+`">`)
	part := body(t, ask(t, c, "GET", strings.ReplaceAll(link, "&amp;", "&")))
	assert.Contains(t, part, `<details class="attempt" id="r1-1"`)
	assert.NotContains(t, part, `id="r1-300"`)
	assert.NotContains(t, part, `data-live="`)
	assert.Contains(t, part, `<a id="home" href="./">`)
}

func TestASessionOfManyTurnsInABrowser(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	looked(t, dir, "rooms", 300)
	goesOn := half(t, dir, "trip-9")
	tab, at := browse(t, dir, soonAfter)
	shot := func(name string) {
		if path := os.Getenv("RETAKE_SCREENSHOTS"); path != "" {
			require.NoError(t, os.WriteFile(path+"/"+name+".png", tab.Shot(), 0o600))
		}
	}
	press := func(key string) {
		tab.Text(fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true, cancelable: true}))`, key))
	}
	for _, width := range []int{400, 1280} {
		for _, dark := range []bool{false, true} {
			tab.Look(width, 900, dark)
			tab.Go(at+"/session?id=rooms&token="+token, `document.getElementById("r1-1-g")`)
			tab.Click(".costs summary")
			assert.Equal(t, "true", tab.Text(fmt.Sprintf("document.documentElement.scrollWidth <= %d", width)))
			shot(fmt.Sprintf("session-%d-%t", width, dark))
		}
	}

	// What is opened is fetched, by a click, a link and from the list of turns, and stays.
	tab.Click("#r1-1-g > summary")
	tab.Until(`document.getElementById("r1-1")`)
	assert.Equal(t, "true", tab.Text(`document.getElementById("r1-1-g").open`))
	tab.Text(`location.hash = "#r1-150"`)
	tab.Until(`document.getElementById("r1-150").open`)

	// The keys lead to the filter and to the help, and are text in the filter.
	press("?")
	tab.Until(`document.getElementById("keys").open && document.activeElement.closest("#keys")`)
	shot("keys")
	press("/")
	tab.Until(`document.activeElement.id === "find"`)
	press("?")
	assert.Equal(t, "true", tab.Text(`document.getElementById("keys").open`), "in a field it is text")
	tab.Enter("#find", "look -299")
	tab.Until(`!document.getElementById("r1-297-g").checkVisibility() && document.getElementById("r1-300").checkVisibility()`)
	tab.Enter("#find", "")
	tab.Until(`document.getElementById("r1-297-g").checkVisibility()`)

	// A session that goes on says when its last event was, and takes up what is new.
	tab.Go(at+"/session?id=trip-9", `document.getElementById("last")`)
	assert.Regexp(t, `^last event \S+ ago$`, tab.Text(`document.getElementById("last").parentElement.innerText`))
	goesOn()
	tab.Until(`document.getElementById("says").innerText.includes("Cara")`)
	tab.Until(`document.querySelectorAll("#o1, #c1, #r1-1, #p1").length === 4`)
	assert.Equal(t, "1", tab.Text(`document.querySelectorAll("[id=r1-1]").length`))

	tab.Go(at+"/", `document.querySelector("#list")`)
	press("?")
	tab.Until(`document.getElementById("keys").open`)
	shot("list")
	press("i")
	tab.Until(`location.pathname === "/inbox" && document.querySelector(".card")`)
	press("j")
	assert.Equal(t, "trip-9", tab.Text(`document.activeElement.innerText`))
	press("?")
	tab.Until(`document.getElementById("keys").open`)
	shot("inbox")
}

// Without script a page says as of when it is.
func TestAPageOfASessionSaysAsOfWhenItIs(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	trip(t, dir, 1)
	assert.Contains(t, body(t, ask(t, open(t, string(dir), soonAfter), "GET", "/session?id=trip")), `">as of 00:00:05 UTC, <a href="">reload</a>`)
}

// What could not be fetched is said, and is fetched when it is opened again.
func TestAPartThatCannotBeFetchedInABrowser(t *testing.T) {
	dir := t.TempDir()
	looked(t, journal.Dir(dir), "rooms", 300)
	var refuses atomic.Bool
	refuses.Store(true)
	tab, at := unlocked(t, dir, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("part") && refuses.Load() {
				http.Error(w, "bad gateway", http.StatusBadGateway)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	tab.Go(at+"/session?id=rooms", `document.getElementById("r1-1-g")`)
	tab.Click("#r1-1-g > summary")
	tab.Until(`document.querySelector("#r1-1-g .note").innerText.includes("It could not be fetched")`)
	refuses.Store(false)
	tab.Click("#r1-1-g > summary")
	tab.Click("#r1-1-g > summary")
	tab.Until(`document.getElementById("r1-1")`)
}
