package report_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report"
	"github.com/retake-go/retake/tool"
)

// manyTurns is a run of so many turns, of which each tenth fails.
func manyTurns(t *testing.T, n int) []byte {
	t.Helper()
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	look := tool.New("look", "Looks.", func(_ context.Context, a struct {
		At int `json:"at" validate:"min=0"`
	}) (string, error) {
		return strings.Repeat("It is a room. ", 20) + fmt.Sprint(a.At), nil
	}, tool.ReadOnly())
	set, err := tool.NewSet(look)
	require.NoError(t, err)
	pol := policy.DefaultSet()
	pol.Global.MaxAttempts, pol.Global.NoProgress = new(n+2), new(n+2)
	pol.Budgets = policy.Budgets{Run: policy.Unlimited, Tool: policy.Unlimited, UnknownTools: policy.Unlimited}
	pol.MaxTurns = n + 2
	var turns []looptest.Turn
	for at := range n {
		if at%10 == 9 {
			at = -at
		}
		turn := looptest.Call(message.Call{Name: "look", Arguments: fmt.Sprintf(`{"at":%d}`, at)})
		turn.Reply.Usage = message.Usage{InputTokens: 100, OutputTokens: 10}
		turns = append(turns, turn)
	}
	_, err = fixture.Run(t.Context(), looptest.NewModel(append(turns, looptest.Say("Done."))...), fixture.In(newSession(t), j),
		loop.Input{Prompt: "Look."}, loop.Config{Tools: set, Policy: &pol}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	return store.Text("order-42")
}

var (
	laterOf = regexp.MustCompile(`<details class="([a-z ]*)" id="([^"]*)" data-later="([^"]*)"(?: data-n="\d+")?><summary>(?:<h3 class="title">\d+ to \d+: (?:look, )?(\d+) turns)?`)
	turnOf  = regexp.MustCompile(`<details class="attempt[^"]*" id="r1-(\d+)"`)
)

// A page of many turns in a server is small: it has the latest failures and the end, and what it leaves out
// is found at the address of each part. RETAKE_TURNS makes it a long one.
func TestAPageOfManyTurnsLoadsInParts(t *testing.T) {
	n := 400
	if more, err := strconv.Atoi(os.Getenv("RETAKE_TURNS")); err == nil {
		n = more
	}
	text := manyTurns(t, n)
	page := func(p report.Page) string {
		var out strings.Builder
		require.NoError(t, p.HTML(&out, bytes.NewReader(text)))
		return out.String()
	}
	const at = "/session?id=order-42&part="
	first := page(report.Page{Part: at})
	t.Logf("%d events, %d bytes of journal, %d of the page", bytes.Count(text, []byte(`"record":{"event"`)), len(text), len(first))
	assert.Less(t, len(first), 300_000)
	assert.Contains(t, first, `<p class="note"><a href="/session?id=order-42&amp;part=r1-1-g">`, "without a script it is a link")

	there, fetched := len(turnOf.FindAllString(first, -1)), map[string]bool{}
	for _, m := range laterOf.FindAllStringSubmatch(first, -1) {
		class, id, before := m[1], m[2], there
		require.Equal(t, html.EscapeString(at)+id, m[3])
		if class == "group" {
			turns, err := strconv.Atoi(m[4])
			require.NoError(t, err)
			there += turns
		}
		if fetched[class] {
			continue // one of each kind
		}
		fetched[class] = true
		alone := page(report.Page{Part: at, Only: id})
		assert.Contains(t, alone, `<details class="`+class+`" id="`+id+`"`)
		assert.NotContains(t, alone, `data-later="`)
		if class == "group" {
			assert.Len(t, turnOf.FindAllString(alone, -1), there-before)
		}
	}
	assert.True(t, fetched["group"] && fetched["attempt"], "%v", fetched)
	if n < 1000 { // of more, turns are left out
		assert.Contains(t, first, fmt.Sprintf(`id="r1-%d"`, n+1), "the last turn is there")
		assert.Equal(t, n+1, there, "each turn is there, or is fetched")
		assert.NotContains(t, page(report.Page{}), `data-later="`, "a page that stands alone has all")
	}
}

// Texts that are not on the page are not looked through for keys: of two megabytes that somebody made for it
// that took fifteen seconds.
func TestWhatIsFetchedLaterIsNotScrubbed(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	set, err := tool.NewSet(tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) {
		return "password=hunter2x\n" + strings.Repeat("It is a room.\n", 12_000), nil
	}, tool.ReadOnly()))
	require.NoError(t, err)
	look := looptest.Call(message.Call{Name: "look", Arguments: `{}`})
	_, err = fixture.Run(t.Context(), looptest.NewModel(look, look, look, looptest.Say("Done.")), fixture.In(newSession(t), j),
		loop.Input{Prompt: "Look."}, loop.Config{Tools: set}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text := store.Text("order-42")
	const at = "/session?id=order-42&part="
	page := scrubsLittle(t, text, at)
	found := laterOf.FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, found)
	var alone strings.Builder
	require.NoError(t, report.Page{Part: at, Only: found[0][2], Scrub: true}.HTML(&alone, bytes.NewReader(text)))
	assert.Positive(t, strings.Count(alone.String(), "password=[key left out]"))
	assert.Zero(t, strings.Count(alone.String(), "password=hunter2x"))
}

// scrubsLittle makes a page that looks for keys in little of a journal, by the memory that this takes.
func scrubsLittle(t *testing.T, text []byte, at string) (page string) {
	t.Helper()
	took := func(scrub bool) (bytesMade uint64, page string) {
		var before, after runtime.MemStats
		var out strings.Builder
		runtime.ReadMemStats(&before)
		require.NoError(t, report.Page{Part: at, Scrub: scrub}.HTML(&out, bytes.NewReader(text)))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, out.String()
	}
	_, page = took(true) // and what is compiled once
	with, _ := took(true)
	without, _ := took(false)
	assert.Less(t, with, without*5/4)
	return page
}

// Nor are arguments, of which titles have the first values, and which are compared with those before.
func TestArgumentsThatAreFetchedLaterAreNotScrubbed(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	set, err := tool.NewSet(tool.New("note", "Notes.", func(context.Context, struct {
		Password string `json:"password"`
		Text     string `json:"text"`
		N        int    `json:"n"`
	}) (string, error) {
		return "noted", nil
	}))
	require.NoError(t, err)
	note := looptest.Call(message.Call{Name: "note", Arguments: `{"password":"hunter2x","text":"` + strings.Repeat("It is a room. ", 12_000) + `"}`})
	_, err = fixture.Run(t.Context(), looptest.NewModel(note, note, note), fixture.In(newSession(t), j), loop.Input{Prompt: "Note."},
		loop.Config{Tools: set}, loop.WithClock(looptest.NewClock()))
	require.Error(t, err)
	require.NoError(t, j.Close())
	text := store.Text("order-42")
	assert.NotContains(t, scrubsLittle(t, text, "/session?id=order-42&part="), "hunter2x")
	var alone strings.Builder
	require.NoError(t, report.Page{Scrub: true}.HTML(&alone, bytes.NewReader(text)))
	assert.NotContains(t, alone.String(), "hunter2x")
	assert.Equal(t, 2, strings.Count(alone.String(), `<table class="fields">`), "each is compared with the one before")
}
