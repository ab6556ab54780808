package console_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/browser"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// trip makes a run with a call that is an agent, which looks for a room so many times. What it says has an
// evil text and a secret.
func trip(t *testing.T, dir journal.Dir, looks int) {
	t.Helper()
	look := tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) {
		return "none", nil
	}, tool.ReadOnly())
	set, err := tool.NewSet(look)
	require.NoError(t, err)
	turns := append(fixture.Repeat(looptest.Call(fixture.Call("look", `{}`)), looks), looptest.Say("The Avenida. <script>window.pwned=1</script> password=hunter2hunter2"))
	guide, err := agent.AsTool("guide", "Finds rooms.", looptest.NewModel(turns...), loop.Config{Tools: set})
	require.NoError(t, err)
	set, err = tool.NewSet(guide)
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), dir, "trip", journal.Settings{Sync: journal.SyncNever})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{ID: "trip", Journal: j})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(fixture.Call("guide", `{"task":"Find a room."}`)), looptest.Say("Done."))
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Go."}, loop.Config{Tools: set}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
}

// What an agent did stands folded under the call that it was, with a link to its page, and its secrets do
// not.
func TestAPageShowsWhatItsAgentsDid(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	trip(t, dir, 2)
	c := open(t, string(dir))
	ask(t, c, "GET", "/api/sessions") // all is read
	page := body(t, ask(t, c, "GET", "/session?id=trip"))
	_, nested, found := strings.Cut(page, `<details class="diff" id="a-trip.1.1.1">`)
	require.True(t, found, "%s", page)
	nested, _, _ = strings.Cut(nested, "</details>")
	assert.Contains(t, page, `the agent's session <a href="/session?id=trip.1.1.1">trip.1.1.1</a>: done. The Avenida.`)
	for _, want := range []string{"call      2", "The Avenida.", "&lt;script&gt;"} {
		assert.Contains(t, nested, want)
	}
	assert.NotContains(t, page, "hunter2hunter2")
	// A damaged agent spoils nothing else.
	path := filepath.Join(string(dir), "trip.1.1.1.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, "no line\n"...), 0o600))
	page = body(t, ask(t, c, "GET", "/session?id=trip"))
	assert.Contains(t, page, "The Avenida.")
	assert.Contains(t, page, "it is no line of a journal")
}

// However much its agents did, a page keeps to its budget: what does not fit is a link.
func TestAPageOfLongAgentsKeepsToItsBudget(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	trip(t, dir, 90)
	c := open(t, string(dir))
	ask(t, c, "GET", "/api/sessions")
	page := body(t, ask(t, c, "GET", "/session?id=trip"))
	assert.Less(t, len(page), 300<<10)
	assert.Contains(t, page, `href="/session?id=trip.1.1.1"`)
}

// The page of a run is live for what its agents do, too.
func TestAnAgentIsLiveOnThePageOfItsCaller(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	tab := browser.Open(t)
	dir := journal.Dir(t.TempDir())
	trip(t, dir, 2)
	path := filepath.Join(string(dir), "trip.1.1.1.jsonl")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:4], "")), 0o600))
	c := open(t, string(dir), func(s *console.Settings) { s.Hosts = nil })
	ask(t, c, "GET", "/api/sessions")
	server := httptest.NewServer(c)
	defer server.Close()
	defer tab.Go("about:blank", "true")
	tab.Go(server.URL+"/session?id=trip&token="+token, `document.getElementById("a-trip.1.1.1")`)
	tab.Text(`document.getElementById("a-trip.1.1.1").closest("details.attempt").open = true, document.getElementById("a-trip.1.1.1").open = true`)
	assert.Equal(t, "false", tab.Text(`document.getElementById("a-trip.1.1.1").innerText.includes("The Avenida.")`))
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	tab.Until(`document.getElementById("a-trip.1.1.1").innerText.includes("The Avenida.")`)
	assert.Equal(t, "true", tab.Text(`document.getElementById("a-trip.1.1.1").open`), "it stays open")
	assert.Equal(t, "undefined", tab.Text("typeof window.pwned"))
	shoot(t, tab, "nested")
}
