package report_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Failed runs of a tool follow the tool's own policy, if it has one. The reason of a retry leads there.
func TestAFailedRunOfAToolLeadsToItsOwnPolicy(t *testing.T) {
	s := longStory()
	s.cfg = func(c *loop.Config) {
		c.Policy.ToolTransport = map[string]policy.Layer{"book_room": {MaxAttempts: new(2)}}
	}
	text := s.tell(t, "Three rooms, please: Lisbon, Porto, Faro.")
	assert.Contains(t, show(t, "text", text), "tool_transport book_room: max_attempts 2; ")
	page := show(t, "html", text)
	for id, title := range map[string]string{"p1-1": "transport", "p1-3": "tool_transport book_room"} {
		assert.True(t, strings.Contains(page, `<section id="`+id+`"><h4>policy as the run began: `+title+`<`), title)
	}
	assert.Equal(t, 1, strings.Count(page, `href="#p1-1"`), "the model was overloaded")
	assert.Equal(t, 1, strings.Count(page, `href="#p1-3"`), "the connection of the hotel broke")
}

type payment struct {
	To       string `json:"to" validate:"required"`
	Cents    int    `json:"cents" validate:"min=1,max=1000000"`
	Currency string `json:"currency" validate:"oneof=EUR USD"`
}

// killed is a run whose payment is put right once. The process is killed while it is made, and another one
// goes on 2.3 seconds later.
func killed(t *testing.T) []byte {
	t.Helper()
	dir := journal.Dir(t.TempDir())
	path := filepath.Join(string(dir), journal.FileName("kill1"))
	synctest.Test(t, func(t *testing.T) {
		tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, payment) (string, error) { return "paid", nil }))
		require.NoError(t, err)
		cfg := loop.Config{Tools: tools, Seed: "7"}
		pay := func(arguments string) looptest.Turn { return calls(message.Call{Name: "pay", Arguments: arguments}) }
		turns := []looptest.Turn{
			pay(`{"to": "ACME", "cents": "500"}`), pay(`{"to": "ACME", "cents": 500, "currency": "EUR"}`), paid(message.Reply{Text: "Paid ACME."}),
		}
		open := func() *journal.Journal {
			j, err := journal.Open(t.Context(), dir, "kill1", journal.Settings{})
			require.NoError(t, err)
			return j
		}
		j := open()
		_, err = fixture.Run(t.Context(), slow{looptest.NewModel(turns...), 800 * time.Millisecond}, fixture.In(newSession(t), j), loop.Input{Prompt: "Pay ACME 5 euros."}, cfg)
		require.NoError(t, err)
		require.NoError(t, j.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		began := strings.Index(string(text), `"kind":"began"`)
		require.Positive(t, began)
		require.NoError(t, os.WriteFile(path, text[:began+bytes.IndexByte(text[began:], '\n')+1], 0o600))

		time.Sleep(2300 * time.Millisecond)
		j = open()
		defer j.Close()
		_, err = fixture.Resume(t.Context(), looptest.NewModel(turns[2]), fixture.In(newSession(t), j), cfg)
		require.NoError(t, err)
	})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// A run whose process was killed says what is not known of it, and where.
func TestAKilledRunShowsWhatIsNotKnown(t *testing.T) {
	page := show(t, "html", killed(t))
	assert.Contains(t, page, `<div class="outcome warn" id="o1"><strong><a href="#r1-2">done, 1 call in doubt: pay</a></strong><p dir="auto">Paid ACME.</p></div>`)
	assert.Contains(t, page, `<pre dir="auto">Pay ACME 5 euros.</pre>`)
	assert.Regexp(t, `<title>[^<]*: no process, up to [0-9.]+s, from [^<]*</title><rect class="hit"[^>]*/><rect class="bar gap"`, page)
	assert.Equal(t, []string{
		"+0s 1 pay ACME, 500: cents was text, currency missing; again at once 832 tokens lost, 800ms tool validation",
		"prompt",
		"+800ms 2 pay ACME, 500, EUR: it may have run; no more 832 tokens lost, 3.9s in doubt",
	}, folded(page)[3:6])
}

// Calls that were put right are a table of fields by attempt, even if it is not known what they did.
func TestWhatWasPutRightIsATable(t *testing.T) {
	page := show(t, "html", killed(t))
	const no, yes = ` <b class="no">✕<span class="sr"> wrong</span></b>`, ` <b class="yes">✓<span class="sr"> right</span></b>`
	for _, row := range []string{
		`<th scope="col">attempt 1</th><th scope="col">attempt 2</th>`,
		`<tr><th scope="row">cents</th><td>&#34;500&#34;` + no + `</td><td>500` + yes + `</td></tr>`,
		`<tr><th scope="row">currency</th><td><span class="gone">missing</span>` + no + `</td><td>&#34;EUR&#34;` + yes + `</td></tr>`,
	} {
		assert.Contains(t, page, row)
	}
	assert.NotContains(t, page, `<th scope="row">to</th>`, "it did not change")
}

// Many calls of one tool that pass at once are one line. A failure stands by itself.
func TestEqualTurnsAreOneLine(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "long", journal.Settings{})
	require.NoError(t, err)
	tools, err := tool.NewSet(tool.New("find", "Finds.", func(context.Context, struct {
		City string `json:"city"`
	}) (string, error) {
		return "found", nil
	}))
	require.NoError(t, err)
	var turns []looptest.Turn
	for n := range 20 {
		city := fmt.Sprintf(`"%d"`, n)
		if n == 12 {
			city = "12"
		}
		turns = append(turns, calls(message.Call{Name: "find", Arguments: `{"city": ` + city + `}`}))
	}
	_, err = fixture.Run(t.Context(), looptest.NewModel(append(turns, looptest.Say("Found."))...), fixture.In(newSession(t), j), loop.Input{Prompt: "Find."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	page := show(t, "html", store.Text("long"))
	var lines []string
	for _, text := range folded(page) {
		if strings.Contains(text, "turns") || strings.Contains(text, "tool validation") {
			lines = append(lines, text)
		}
	}
	assert.Equal(t, []string{
		"1 to 12: find, 12 turns ✓ all passed",
		"+0s 13 find 12: city was an integer; again at once 832 tokens lost tool validation",
		"15 to 20: find, 6 turns ✓ all passed",
	}, lines)
}
