package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/tool"
)

// told returns the journal of a run of a model with a price and a small window, whose tool says much.
func told(t *testing.T, rules string, says string, turns ...looptest.Turn) []byte {
	t.Helper()
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	set, err := tool.NewSet(tool.New("look", "Looks.", func(context.Context, guest) (string, error) { return says, nil }))
	require.NoError(t, err)
	p, err := file.Read("policy.yaml", []byte(rules))
	require.NoError(t, err)
	cfg := loop.Config{Tools: set, Policy: &p, Models: map[string]machine.ModelInfo{"": {Name: "m"}}}
	for n := range turns {
		if turns[n].Reply.Usage.Total() == 0 {
			turns[n].Reply.Usage = message.Usage{InputTokens: 1000, OutputTokens: 100, APICalls: 1}
		}
	}
	_, err = fixture.Run(t.Context(), looptest.NewModel(turns...), fixture.In(newSession(t), j),
		loop.Input{Prompt: "Who is this?"}, cfg, loop.WithClock(looptest.NewClock()))
	if err != nil {
		t.Log(err)
	}
	require.NoError(t, j.Close())
	return store.Text("order-42")
}

func look(age int) looptest.Turn {
	turn := calls(message.Call{Name: "look", Arguments: fmt.Sprintf(`{"name":"Ada","age":%d}`, age)})
	turn.Reply.Usage = message.Usage{}
	return turn
}

// rowsOf are the rows of the table of cost, as texts.
func rowsOf(page string) (rows []string) {
	table, _, _ := strings.Cut(page[strings.Index(page, `<details class="costs"`):], "</table>")
	for _, row := range strings.Split(table, "<tr")[2:] {
		rows = append(rows, strings.Join(strings.Fields(tags.ReplaceAllString(strings.ReplaceAll("<tr"+row, "</td>", " |"), "")), " "))
	}
	return rows
}

// A page has a row for what each attempt cost, which add up, and names what failed attempts wasted.
func TestWhatEachAttemptCostIsShown(t *testing.T) {
	text := told(t, "prices: {m: {input: 2000000, output: 10000000}}\n", "Ada", look(300), look(36), looptest.Say("It is Ada."))
	timeline := show(t, "text", text)
	assert.Contains(t, timeline, "cost 0.003\n")
	assert.Contains(t, strings.Join(strings.Fields(timeline), " "), "300 out, 1,100 tokens of failed attempts, 0.009 cost, 0.003 cost of failed attempts")
	page := show(t, "html", text)
	assert.Equal(t, []string{
		"1 |look attempt 1 of 3 |example-1 |1,000 |0 |100 | |0.003 |lost: tool validation |",
		"2 |look attempt 2 of 3 |example-1 |1,000 |0 |100 | |0.003 |used |",
		"3 |attempt 1 of 3 |m |1,000 |0 |100 | |0.003 |used |",
		"|in all | |3,000 |0 |300 | |0.009 |0.003 lost |",
	}, rowsOf(page))
	assert.Contains(t, page, `<td><a href="#r1-2">2</a></td>`)
	assert.Contains(t, page, `<svg class="share bad"><rect width="100%"`)
	assert.Contains(t, page, `again at once <span class="faint">0.003 lost</span></h3>`, "a heading says what was lost")
	assert.Contains(t, page, `</span> <span class="faint">0.003</span> <span class="mark">✓</span>`, "each turn says what it cost")
	page = show(t, "html", told(t, "{}", "Ada", looptest.Say("It is Ada.")))
	assert.Equal(t, []string{
		"1 |attempt 1 of 3 | |1,000 |0 |100 | | |used |", "|in all | |1,000 |0 |100 | | | |",
	}, rowsOf(page))
	assert.Contains(t, page, `<span class="faint">1,100 tokens</span>`)

	// A reply that nothing was decided on has a row, too: the rows add up.
	cut := bytes.LastIndex(text, []byte(`"record":{"decision"`))
	cut = bytes.LastIndexByte(text[:cut], '\n') + 1
	rows := rowsOf(show(t, "html", text[:cut]))
	assert.Contains(t, rows[2], "|left out above, or nothing decided on it | |1,000 |0 |100 | | | |")
	assert.Contains(t, rows[3], "|in all | |3,000 |0 |300 | |0.006 |")
}

func TestACycleIsShown(t *testing.T) {
	var turns []looptest.Turn
	for range 10 {
		turns = append(turns, look(36))
	}
	text := told(t, "{}", "Ada", turns...)
	timeline := show(t, "text", text)
	assert.Contains(t, timeline, "nudge     the model is told what it repeats\n")
	assert.Contains(t, timeline, "gave Ada, 4 times\n")
	assert.Contains(t, timeline, `look {"age":36,"name":"Ada"} gave Ada, 10 times`)
	page := show(t, "html", text)
	assert.Contains(t, page, "gave Ada, 4 times")
	assert.Contains(t, page, `look Ada, 36: the same 4 times`, "a folded turn says that it repeats")
	assert.Contains(t, page, `<span class="mark">✓!</span>`)
	assert.Contains(t, page, `no progress: the same again and again: look {`)
	var nudge struct {
		Decision struct {
			Reason policy.Reason
			Cycle  machine.Cycle
		}
	}
	for line := range strings.Lines(show(t, "json", text)) {
		if strings.Contains(line, `"nudged"`) {
			require.NoError(t, json.Unmarshal([]byte(line), &nudge))
			break
		}
	}
	assert.Equal(t, 4, nudge.Decision.Cycle.Rounds)
}

// A run that says more than its model's window holds: it is shown what was left out, of which calls, and what
// stands there instead.
func TestWhatAPromptLeavesOutIsShown(t *testing.T) {
	turns := []looptest.Turn{look(300)}
	for age := range 9 {
		turns = append(turns, look(age))
	}
	for n := range turns {
		turns[n].Reply.Usage = message.Usage{InputTokens: int64(500 + 700*n), OutputTokens: 20, APICalls: 1}
	}
	text := told(t, "prices: {m: {context_window: 6000}}\ncontext: {keep: 2}\n", strings.Repeat("word ", 400),
		append(turns, looptest.Say("It is Ada."))...)
	timeline := show(t, "text", text)
	assert.Contains(t, timeline, "  prompt    shorter by ")
	assert.Contains(t, timeline, "folded: call 1\n")
	assert.Contains(t, timeline, "results replaced by notes: call 2, call 3")
	page := show(t, "html", text)
	assert.Contains(t, page, "in the prompt instead")
	assert.Regexp(t, `<h3 class="title"><span class="faint">[0-9]+</span> look Ada, [0-9]: prompt shorter by |look Ada, [0-9]; prompt shorter by `, page, "a folded turn says that the prompt became shorter")
	assert.Contains(t, page, "This result is left out here")
}
