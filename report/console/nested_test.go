package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// trip makes a run with a call that is an agent, which looks for a room so many times. What it says has an
// evil text and a secret.
func trip(t *testing.T, dir journal.Dir, looks int) {
	t.Helper()
	trips(t, dir, 1, looks)
}

// trips is [trip] with so many calls.
func trips(t *testing.T, dir journal.Dir, calls, looks int) {
	t.Helper()
	look := tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) {
		return "none", nil
	}, tool.ReadOnly())
	set, err := tool.NewSet(look)
	require.NoError(t, err)
	turns := append(fixture.Repeat(looptest.Call(fixture.Call("look", `{}`)), looks), looptest.Say("The Avenida. <script>window.pwned=1</script> password=hunter2hunter2"))
	guide, err := agent.AsTool("guide", "Finds rooms.", looptest.NewModel(slices.Repeat(turns, calls)...), loop.Config{Tools: set})
	require.NoError(t, err)
	set, err = tool.NewSet(guide)
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), dir, "trip", journal.Settings{Sync: journal.SyncNever})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{ID: "trip", Journal: j})
	require.NoError(t, err)
	var outer []looptest.Turn
	for n := range calls {
		outer = append(outer, looptest.Call(fixture.Call("guide", fmt.Sprintf(`{"task":"Find room %d."}`, n+1))))
	}
	model := looptest.NewModel(append(outer, looptest.Say("Done."))...)
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Go."}, loop.Config{Tools: set}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
}

// The list of turns has lines of what an agent did, each of which is fetched from the agent's page, and that
// page leads back. Secrets of the agent are not shown.
func TestAPageShowsWhatItsAgentsDid(t *testing.T) {
	dir, clock := journal.Dir(t.TempDir()), byHand{new(atomic.Int64)}
	trip(t, dir, 2)
	c := open(t, string(dir), func(s *console.Settings) { s.Clock = clock })
	ask(t, c, "GET", "/api/sessions") // all is read, and the store not once more while the clock stands
	page := body(t, ask(t, c, "GET", "/session?id=trip"))
	for n, title := range []string{"look", "look", "answer"} {
		id := fmt.Sprintf("a-trip.1.1.1-r1-%d", n+1)
		assert.Contains(t, page, `<li><a href="#`+id+`"><span class="what">`+fmt.Sprint(n+1, " ", title)+`</span>`)
		at := "session?id=trip.1.1.1&part=" + id
		assert.Contains(t, page, `id="`+id+`" data-later="`+strings.ReplaceAll(at, "&", "&amp;")+`"`)
		part := body(t, ask(t, c, "GET", at))
		assert.Contains(t, part, `id="`+id+`">`)
		assert.NotContains(t, part, "hunter2hunter2")
		assert.Contains(t, part, `/ <a href="session?id=trip" dir="auto">trip</a> /`)
		if title == "answer" {
			assert.Contains(t, part, "The Avenida. &lt;script&gt;")
		}
	}
	assert.Contains(t, page, `the agent's session <a href="session?id=trip.1.1.1">trip.1.1.1</a>: done. The Avenida.`)
	assert.NotContains(t, page, "hunter2hunter2")
	// A damaged agent spoils nothing else.
	path := filepath.Join(string(dir), "trip.1.1.1.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, "no line\n"...), 0o600))
	for range 2 { // before the store is read anew, and after
		page = body(t, ask(t, c, "GET", "/session?id=trip"))
		assert.Contains(t, page, "The Avenida.")
		assert.Contains(t, page, "it is no line of a journal")
		clock.passed.Add(int64(time.Hour))
		ask(t, c, "GET", "/api/sessions")
	}
	assert.Contains(t, page, `the agent's session <a href="session?id=trip.1.1.1">trip.1.1.1</a>: failed. cannot be read from line`)
}

// However much its agents did, a page keeps to its budget: what does not fit is a link.
func TestAPageOfLongAgentsKeepsToItsBudget(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	trip(t, dir, 90)
	page := shown(t, dir)
	assert.Less(t, len(page), 300<<10)
	assert.Contains(t, page, `href="session?id=trip.1.1.1"`)
	assert.Contains(t, page, "1 to 9: look, 9 turns")
}

// shown is the page of the run of a folder.
func shown(t *testing.T, dir journal.Dir) string {
	t.Helper()
	c := open(t, string(dir))
	ask(t, c, "GET", "/api/sessions") // all is read
	return body(t, ask(t, c, "GET", "/session?id=trip"))
}

// So do many agents: the latest have lines, and each has a link.
func TestAPageOfManyAgentsKeepsToItsBudget(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	trips(t, dir, 90, 3)
	page := shown(t, dir)
	assert.Less(t, len(page), 300<<10)
	assert.Contains(t, page, `<a href="#a-trip.1.90.1-r1-1-g">`)
	assert.NotContains(t, page, `<a href="#a-trip.1.1.1-r1-1-g">`)
	for n := range 90 {
		assert.Contains(t, page, fmt.Sprintf(`<li><a href="session?id=trip.1.%d.1"`, n+1))
	}
	c := open(t, string(dir))
	ask(t, c, "GET", "/api/sessions")
	assert.Contains(t, body(t, ask(t, c, "GET", "/session?id=trip&part=r1-1")), `id="a-trip.1.1.1-r1-1-g" data-later=`)
}

// The page of a run is live for what its agents do, too.
func TestAnAgentIsLiveOnThePageOfItsCallerInABrowser(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	trip(t, dir, 2)
	path := filepath.Join(string(dir), "trip.1.1.1.jsonl")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:4], "")), 0o600))
	tab, at := browse(t, dir)
	tab.Look(1280, 240, false)
	line := `document.querySelector('.rail a[href="#a-trip.1.1.1-r1-%d"]')`
	first, last, turn := fmt.Sprintf(line, 1), fmt.Sprintf(line, 3), `document.getElementById("a-trip.1.1.1-r1-%d")`
	tab.Go(at+"/session?id=trip&token="+token, first)
	assert.Equal(t, "true", tab.Text(last+" === null"), "it is not there yet")
	left := tab.Text(first + ".getBoundingClientRect().left - document.querySelector('.rail a[href=\"#r1-1\"]').getBoundingClientRect().left")
	assert.Regexp(t, `^[1-9]`, left, "it is moved to the right")

	// A line opens the turn of the call, and in it that of the agent, which is fetched then.
	assert.Equal(t, "false", tab.Text(`document.getElementById("r1-1").open`))
	tab.Text(first + ".click()")
	tab.Until(fmt.Sprintf(turn, 1) + `.open && ` + fmt.Sprintf(turn, 1) + `.innerText.includes("prompt")`)
	tab.Until(first + `.getAttribute("aria-current") === "true"`)

	// What comes is shown, and what was opened stays.
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	tab.Until(last)
	assert.Equal(t, "true", tab.Text(fmt.Sprintf(turn, 1)+`.open`))
	tab.Until(fmt.Sprintf(turn, 1) + `.innerText.includes("prompt")`)
	tab.Until(first + `.getAttribute("aria-current") === "true"`)
	tab.Text(last + ".click()")
	tab.Until(fmt.Sprintf(turn, 3) + `.innerText.includes("The Avenida.")`)
	assert.Equal(t, "undefined", tab.Text("typeof window.pwned"))
	tab.Look(1280, 900, false)
	shoot(t, tab, "nested")

	// So is a turn that an address names, also in a turn that is not on the page at first.
	tab.Go("about:blank", "true")
	tab.Go(at+"/session?id=trip#a-trip.1.1.1-r1-3", fmt.Sprintf(turn, 3)+`.innerText.includes("The Avenida.")`)
	tab.Look(420, 800, true)
	tab.Text(`document.querySelector(".rail details").open = true`)
	assert.Equal(t, "true", tab.Text("document.documentElement.scrollWidth <= 420"))
	shoot(t, tab, "nested.phone")
}

// A run that is left around an agent goes on inside it: only other calls are made again.
func TestALeftAgentIsToldToGoOn(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	trip(t, dir, 2)
	cutAtCalls(t, dir, "trip")
	assert.Contains(t, whyOf(t, dir, "trip"), "; guide goes on where it was; resume it")
	require.NoError(t, os.Remove(filepath.Join(string(dir), "trip.1.1.1.jsonl")))
	assert.Contains(t, whyOf(t, dir, "trip"), "; guide was to run, and is repeated; resume it")
}

// cutAtCalls cuts a journal behind the note that the first call began.
func cutAtCalls(t *testing.T, dir journal.Dir, id string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(dir), id+".jsonl"))
	require.NoError(t, err)
	lines := bytes.SplitAfter(text, []byte("\n"))
	until := slices.IndexFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(`"kind":"began"`)) })
	require.Positive(t, until)
	put(t, string(dir), id+".jsonl", bytes.Join(lines[:until+1], nil))
}

// whyOf is the sentence of a session.
func whyOf(t *testing.T, dir journal.Dir, id string) string {
	t.Helper()
	var answer struct{ Sessions []journal.Summary }
	require.NoError(t, json.Unmarshal([]byte(body(t, ask(t, open(t, string(dir)), "GET", "/api/sessions"))), &answer))
	n := slices.IndexFunc(answer.Sessions, func(s journal.Summary) bool { return s.Session == id })
	require.GreaterOrEqual(t, n, 0)
	return answer.Sessions[n].Why
}

func TestManyCallsThatWereLeftAreCounted(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	look := tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) { return "none", nil }, tool.ReadOnly())
	var calls []message.Call
	for n := range 6 {
		calls = append(calls, message.Call{ID: fmt.Sprint("c", n), Name: "look", Arguments: `{}`})
	}
	run(t, dir, "many", "Go.", []*tool.Tool{look}, looptest.Call(calls...), looptest.Say("Done."))
	cutAtCalls(t, dir, "many")
	assert.Contains(t, whyOf(t, dir, "many"), "; look and look and look and look and 2 more were to run, and are repeated; resume it")
}
