package report_test

import (
	"bytes"
	"context"
	"errors"
	"io"
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

// nestedRuns is a store with a run, an agent in it and another one in that, whose tool has an evil name for
// what it did.
func nestedRuns(t *testing.T) *looptest.Store {
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
		made, err := agent.AsTool(of[0], "Finds rooms.", looptest.NewModel(looptest.Call(call), looptest.Say("none")), loop.Config{Tools: set})
		require.NoError(t, err)
		tools = []*tool.Tool{made}
	}
	set, err := tool.NewSet(tools...)
	require.NoError(t, err)
	l, err := loop.New(looptest.NewModel(looptest.Say("Hello."), looptest.Call(task("guide")), looptest.Say("none")), loop.Config{Tools: set},
		loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), store, "trip", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "trip", Journal: j})
	require.NoError(t, err)
	for _, prompt := range []string{"Hi.", "Go."} {
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: prompt})
		require.NoError(t, err)
	}
	return store
}

// childrenIn finds the sessions of a store.
func childrenIn(store *looptest.Store) report.Children {
	return func(id string) (report.Child, bool) {
		text := store.Text(id)
		return report.Child{Journal: io.NopCloser(bytes.NewReader(text))}, len(text) > 0
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
		return report.Child{Journal: io.NopCloser(strings.NewReader("{}\n"))}, id == "trip.2.1.1"
	}
	var out strings.Builder
	require.NoError(t, report.Text(&out, bytes.NewReader(store.Text("trip")), report.Style{Children: children}))
	assert.Contains(t, out.String(), "trip.2.1.1: ")
	assert.Contains(t, out.String(), "guide: result of")
	out.Reset()
	require.NoError(t, report.Page{Children: children}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	assert.Contains(t, out.String(), "<summary>the agent's session trip.2.1.1</summary><pre>\n")
}

// A user may give a session the id that an agent's would have. It is nobody's agent.
func TestAnIdAloneMakesNoAgent(t *testing.T) {
	store := nestedRuns(t)
	children := func(string) (report.Child, bool) {
		return report.Child{Journal: io.NopCloser(bytes.NewReader(store.Text("trip")))}, true
	}
	var text, page strings.Builder
	require.NoError(t, report.Text(&text, bytes.NewReader(store.Text("trip")), report.Style{Children: children}))
	assert.NotContains(t, text.String(), "    trip run 1")
	require.NoError(t, report.Page{Children: children}.HTML(&page, bytes.NewReader(store.Text("trip"))))
	assert.NotContains(t, page.String(), "the agent's session")
}

func TestAPageShowsAnAgentUnderItsCall(t *testing.T) {
	store := nestedRuns(t)
	var out strings.Builder
	require.NoError(t, report.Page{Children: childrenIn(store)}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	assert.Contains(t, out.String(), "<summary>the agent's session trip.2.1.1</summary><pre>trip.2.1.1 run 1")
	assert.Contains(t, out.String(), "\n    trip.2.1.1.1.1.1 run 1", "one within the other")
	assert.Contains(t, out.String(), "&lt;script&gt;alert(1)")
	assert.NotContains(t, out.String(), "<script>alert(1)")
	assert.NotContains(t, out.String(), "<b>Find</b>")
	assert.Contains(t, out.String(), `<ul><li><a href="#r2-1" title=""><span class="what">guide</span>`, "the list of turns has it")

	out.Reset()
	link := func(id string) (report.Child, bool) {
		return report.Child{Link: `/session?id="><b>`, Says: "asks. <b>pay</b>?"}, id == "trip.2.1.1"
	}
	require.NoError(t, report.Page{Children: link}.HTML(&out, bytes.NewReader(store.Text("trip"))))
	assert.Contains(t, out.String(), `<ul><li><a href="/session?id=%22%3e%3cb%3e" title="asks. &lt;b&gt;pay&lt;/b&gt;?"><span class="what">guide</span> <span class="faint">asks</span>`)
	assert.Contains(t, out.String(), `<a href="/session?id=%22%3e%3cb%3e">trip.2.1.1</a>: asks. &lt;b&gt;pay&lt;/b&gt;?`)
}
