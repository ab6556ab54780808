package report_test

import (
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// metered are turns that consume something each.
func metered(turns ...looptest.Turn) []looptest.Turn {
	for n := range turns {
		turns[n].Reply.Usage, turns[n].Reply.Model = message.Usage{InputTokens: 100, OutputTokens: 10}, "outer"
	}
	return turns
}

// nestedRuns is a store with a run, an agent in it and another one in that, whose tool has an evil name for
// what it did.
func nestedRuns(t *testing.T) *looptest.Store { t.Helper(); return nestedIn(t, "trip") }

// nestedIn is [nestedRuns] in a session with an id.
func nestedIn(t *testing.T, id string) *looptest.Store {
	t.Helper()
	task := func(name string) message.Call { return fixture.Call(name, `{"task":"<b>Find</b> a room."}`) }
	look := tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) { return "", errors.New("<script>alert(1)</script>") },
		tool.ReadOnly())
	store := new(looptest.Store)
	tools := []*tool.Tool{look}
	for _, of := range [][2]string{{"scout", "look"}, {"guide", "scout"}} {
		call := task(of[1])
		if of[1] == "look" {
			call.Arguments = `{}`
		}
		set, err := tool.NewSet(tools...)
		require.NoError(t, err)
		made, err := agent.AsTool(of[0], "Finds rooms.", looptest.NewModel(metered(looptest.Call(call), looptest.Say("none"))...), loop.Config{Tools: set})
		require.NoError(t, err)
		tools = []*tool.Tool{made}
	}
	set, err := tool.NewSet(tools...)
	require.NoError(t, err)
	l, err := loop.New(looptest.NewModel(metered(looptest.Say("Hello."), looptest.Call(task("guide")), looptest.Say("none"))...), loop.Config{Tools: set},
		loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), store, id, journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: id, Journal: j})
	require.NoError(t, err)
	for _, prompt := range []string{"Hi.", "Go."} {
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: prompt})
		require.NoError(t, err)
	}
	return store
}

// opened opens a journal.
func opened(text []byte) func() (io.ReadCloser, map[string][]string, error) {
	return func() (io.ReadCloser, map[string][]string, error) {
		return io.NopCloser(bytes.NewReader(text)), nil, nil
	}
}

// childrenIn finds the sessions of a store.
func childrenIn(store *looptest.Store) report.Children {
	return func(id string) (report.Child, bool) {
		text := store.Text(id)
		return report.Child{Open: opened(text)}, len(text) > 0
	}
}

// What an agent did is shown under the call that it was, however deep.
func TestATimelineShowsAnAgentUnderItsCall(t *testing.T) {
	store := nestedRuns(t)
	ids, err := store.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"trip", "trip.2.1.1", "trip.2.1.1.1.1.1"}, ids)
	var out strings.Builder
	require.NoError(t, report.Text(&out, bytes.NewReader(store.Text("trip")), report.Style{Children: childrenIn(store)}))
	text := out.String()
	begun, guide, scout, broke, ended := strings.Index(text, "run       guide"), strings.Index(text, "\n    trip.2.1.1 run 1"),
		strings.Index(text, "\n        trip.2.1.1.1.1.1 run 1"), strings.Index(text, "look broke"), strings.LastIndex(text, "guide: result of")
	assert.True(t, 0 < begun && begun < guide && guide < scout && scout < broke && broke < ended, "%d %d %d %d %d\n%s", begun, guide, scout, broke, ended, text)
	assert.NotContains(t, strings.TrimSpace(text[:begun]), "    trip.", "the first run has no agent")

	var alone strings.Builder
	require.NoError(t, report.Text(&alone, bytes.NewReader(store.Text("trip")), report.Style{}))
	assert.NotContains(t, alone.String(), "trip.2.1.1")
}

// The journal of an agent may be damaged, and says so where it is shown.
func TestADamagedAgentSpoilsNothingElse(t *testing.T) {
	store := nestedRuns(t)
	children := func(id string) (report.Child, bool) {
		return report.Child{Open: opened([]byte("{}\n"))}, id == "trip.2.1.1"
	}
	var out strings.Builder
	require.NoError(t, report.Text(&out, bytes.NewReader(store.Text("trip")), report.Style{Children: children}))
	assert.Contains(t, out.String(), "trip.2.1.1: ")
	assert.Contains(t, out.String(), "guide: result of")
	out.Reset()
	require.NoError(t, report.Page{Children: children}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	assert.Contains(t, out.String(), `id="a-trip.2.1.1"><p>the agent's session trip.2.1.1</p><p class="note">The journal is damaged: `)
}

// A user may give a session the id that an agent's would have. It is nobody's agent.
func TestAnIdAloneMakesNoAgent(t *testing.T) {
	store := nestedRuns(t)
	children := func(string) (report.Child, bool) {
		return report.Child{Open: opened(store.Text("trip"))}, true
	}
	var text, page strings.Builder
	require.NoError(t, report.Text(&text, bytes.NewReader(store.Text("trip")), report.Style{Children: children}))
	assert.NotContains(t, text.String(), "    trip run 1")
	require.NoError(t, report.Page{Children: children}.HTML(&page, bytes.NewReader(store.Text("trip"))))
	assert.NotContains(t, page.String(), "the agent's session")
}

// linesOf are the lines of turns in a page's list, with marks for how deep each is.
func linesOf(page string) (all []string) {
	_, rail, _ := strings.Cut(page, `<nav class="rail"`)
	rail, _, _ = strings.Cut(rail, "</nav>")
	depth := 0
	for _, m := range regexp.MustCompile(`<(/?)(?:ol|ul)>|<a href="([^"]*)"[^>]*><span class="what">([^<]*)<`).FindAllStringSubmatch(rail, -1) {
		switch {
		case m[2] != "":
			all = append(all, strings.Repeat(">", depth-1)+m[2]+" "+m[3])
		case m[1] == "":
			depth++
		default:
			depth--
		}
	}
	return all
}

// A page that stands alone has what an agent did in its call, and lines of its turns; those of agents in it
// are there, too, without lines.
func TestAPageShowsAnAgentUnderItsCall(t *testing.T) {
	store := nestedRuns(t)
	var out strings.Builder
	require.NoError(t, report.Page{Children: childrenIn(store)}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	page := out.String()
	assert.Equal(t, []string{
		"#r1-1 1 answer",
		"#r2-1 1 guide &lt;b&gt;Find&lt;/b&gt; a room.", ">#a-trip.2.1.1 guide",
		">>#a-trip.2.1.1-r1-1 1 scout &lt;b&gt;Find&lt;/b&gt; a room.", ">>>#a-trip.2.1.1.1.1.1 scout", ">>#a-trip.2.1.1-r1-2 2 answer",
		"#r2-2 2 answer",
	}, linesOf(page))
	for _, id := range []string{"r2-1", "a-trip.2.1.1", "a-trip.2.1.1-r1-1", "a-trip.2.1.1.1.1.1", "a-trip.2.1.1.1.1.1-r1-1"} {
		assert.Equal(t, 1, strings.Count(page, `id="`+id+`"`), id)
	}
	assert.Contains(t, page, "&lt;script&gt;alert(1)")
	assert.NotContains(t, page, "<script>alert(1)")
	assert.NotContains(t, page, "<b>Find</b>")
	assert.NotContains(t, page, `data-later="`, "nothing can be fetched")

	out.Reset()
	link := func(id string) (report.Child, bool) {
		return report.Child{Link: `/session?id="><b>`, State: "asks", Says: "<b>pay</b>?"}, id == "trip.2.1.1"
	}
	require.NoError(t, report.Page{Children: link}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	assert.Contains(t, out.String(), `<ul><li><a href="/session?id=%22%3e%3cb%3e" title="asks. &lt;b&gt;pay&lt;/b&gt;?"><span class="what">guide</span> <span class="faint">asks</span>`)
	assert.Contains(t, out.String(), `<a href="/session?id=%22%3e%3cb%3e">trip.2.1.1</a>: asks. &lt;b&gt;pay&lt;/b&gt;?`)
}

// In a server a page has the lines of what an agent did, and each is fetched from the agent's own page with
// the id that it has here. An agent in the agent is on that page.
func TestAPageInAServerFetchesWhatAnAgentDid(t *testing.T) {
	store := nestedRuns(t)
	children := func(id string) (report.Child, bool) {
		at := "/session?id=" + id
		return report.Child{Link: at, State: "done", Says: "none", Part: at + "&part=", Open: opened(store.Text(id))}, len(store.Text(id)) > 0
	}
	page := func(id, only string) string {
		var out strings.Builder
		p := report.Page{Part: "/session?id=" + id + "&part=", Only: only, Children: children}
		require.NoError(t, p.HTML(&out, bytes.NewReader(store.Text(id))))
		return out.String()
	}
	whole := page("trip", "")
	assert.Equal(t, []string{
		"#r1-1 1 answer",
		"#r2-1 1 guide &lt;b&gt;Find&lt;/b&gt; a room.", ">/session?id=trip.2.1.1 guide",
		">>#a-trip.2.1.1-r1-1 1 scout &lt;b&gt;Find&lt;/b&gt; a room.", ">>>/session?id=trip.2.1.1.1.1.1 scout", ">>#a-trip.2.1.1-r1-2 2 answer",
		"#r2-2 2 answer",
	}, linesOf(whole))
	assert.Contains(t, whole, `id="a-trip.2.1.1-r1-1" data-later="/session?id=trip.2.1.1&amp;part=a-trip.2.1.1-r1-1"`)
	call := `scout <span class="values">`
	assert.NotContains(t, whole, call, "what the agent did is not fetched yet")
	assert.NotContains(t, whole, "a-trip.2.1.1.1.1.1")

	part := page("trip.2.1.1", "a-trip.2.1.1-r1-1")
	assert.Equal(t, 1, strings.Count(part, `class="attempt`))
	assert.Contains(t, part, `id="a-trip.2.1.1-r1-1">`)
	assert.Contains(t, part, call)
	assert.Contains(t, part, `<a href="/session?id=trip.2.1.1.1.1.1">trip.2.1.1.1.1.1</a>: done. none`)
	assert.Contains(t, page("trip", "r2-1"), `id="a-trip.2.1.1-r1-1" data-later=`, "the turn of the call has the lines")
	assert.Contains(t, page("trip.2.1.1.1.1.1", "a-trip.2.1.1.1.1.1-r1-1"), `href="/session?id=trip.2.1.1.1.1.1&amp;part=p1#p1-`, "a policy is on the agent's own page")
}

// Whatever a session is called, its agents' lines lead to their turns.
func TestLinesOfAnyAgentLeadToItsTurns(t *testing.T) {
	const id = `a b"<é>%41-r1-1`
	store := nestedIn(t, id)
	var out strings.Builder
	require.NoError(t, report.Page{Children: childrenIn(store)}.HTML(&out, bytes.NewReader(store.Text(id))))
	found := 0
	for _, m := range regexp.MustCompile(`<a href="#(a-[^"]*)"><span class="what">`).FindAllStringSubmatch(out.String(), -1) {
		to, err := url.PathUnescape(html.UnescapeString(m[1]))
		require.NoError(t, err)
		assert.Contains(t, html.UnescapeString(out.String()), ` id="`+to+`"`)
		assert.Contains(t, to, id)
		found++
	}
	assert.Equal(t, 2, found)
}

// An agent of many turns has lines for the latest, and one for those before them, which is fetched, too.
func TestManyTurnsOfAnAgentAreOneLine(t *testing.T) {
	store := nestedRuns(t)
	long := manyTurns(t, 100)
	children := func(id string) (report.Child, bool) {
		return report.Child{Link: "/s", Part: "/s?part=", Open: opened(long)}, id == "trip.2.1.1"
	}
	var out strings.Builder
	require.NoError(t, report.Page{Part: "/p?part=", Children: children}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	var inner []string
	for _, line := range linesOf(out.String()) {
		if at, is := strings.CutPrefix(line, ">>"); is {
			inner = append(inner, at)
		}
	}
	require.Len(t, inner, 21)
	assert.Regexp(t, `^#a-trip.2.1.1-r1-1-g 1 to \d+: \d+ turns, look`, inner[0])
	assert.Less(t, out.Len(), 300<<10)
}

// What a schema marks as secret in the arguments of an agent's tools is left out of its lines, as of its own
// page.
func TestTheLinesOfAnAgentHaveNoSecrets(t *testing.T) {
	store := nestedRuns(t)
	children := func(id string) (report.Child, bool) {
		return report.Child{Open: func() (io.ReadCloser, map[string][]string, error) {
			in, _, err := opened(store.Text(id))()
			return in, map[string][]string{"scout": {"/task"}}, err
		}}, len(store.Text(id)) > 0
	}
	var out strings.Builder
	require.NoError(t, report.Page{Children: children}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	assert.NotContains(t, strings.Join(linesOf(out.String()), "\n"), "scout &lt;b&gt;")
}

// What an agent consumed is a row of its own in the costs of its caller, and not in that of the call.
func TestWhatAnAgentCostIsOneRow(t *testing.T) {
	store := nestedRuns(t)
	var out strings.Builder
	require.NoError(t, report.Page{Children: childrenIn(store)}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	_, costs, found := strings.Cut(out.String(), `<details class="costs" id="c2">`)
	require.True(t, found)
	costs, _, _ = strings.Cut(costs, "</details>")
	var rows []string
	for _, m := range regexp.MustCompile(`(?s)<tr[^>]*><td>(.*?)</td></tr>`).FindAllStringSubmatch(costs, -1) {
		cells := strings.Split(regexp.MustCompile(`<svg.*?</svg>|<a[^>]*>|</a>`).ReplaceAllString(m[1], ""), "</td>")
		for n := range cells {
			cells[n] = cells[n][strings.LastIndexByte(cells[n], '>')+1:]
		}
		rows = append(rows, strings.Join(cells[:6], "|"))
	}
	assert.Equal(t, []string{
		"1|guide: all of the agent||400|0|40",
		"1|guide attempt 1 of 3|outer|100|0|10",
		"2|attempt 1 of 3|outer|100|0|10",
		"|in all||600|0|60",
	}, rows)
}

// Of a run whose calls are under way the tools are named.
func TestAnUnfinishedRunSaysWhatItRuns(t *testing.T) {
	whole := nestedRuns(t).Text("trip")
	at := bytes.Index(whole, []byte(`"kind":"run_tools"`))
	end := at + bytes.IndexByte(whole[at:], '\n') + 1
	var out strings.Builder
	require.NoError(t, report.Text(&out, bytes.NewReader(whole[:end]), report.Style{}))
	assert.Contains(t, out.String(), "unfinished: runs guide\n")
}
