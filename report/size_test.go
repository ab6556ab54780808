package report_test

import (
	"fmt"
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
)

// A system prompt of 8 KB that holds the latest feedback is sent with each of 200 attempts. The page shows it
// once, and then only the lines that are new.
func TestAPageGrowsByWhatIsNewInAPrompt(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	cfg := longStory().config(t)
	cfg.System = strings.Repeat("You book hotel rooms, and you are polite.\n", 100) + "{{with feedback}}Mind this: {{.}}{{end}}\n" +
		strings.Repeat("You never book a room for more than thirty nights.\n", 80)
	pol := policy.DefaultSet()
	pol.Global.MaxAttempts, pol.Global.NoProgress = new(500), new(500)
	pol.Budgets = policy.Budgets{Run: policy.Unlimited, Tool: policy.Unlimited, UnknownTools: policy.Unlimited}
	pol.MaxTurns = 500
	cfg.Policy = &pol
	var turns []looptest.Turn
	for n := range 200 {
		turns = append(turns, calls(book(fmt.Sprintf(`{"city": "Lisbon", "nights": %d, "room": "double"}`, n+31))))
	}
	turns = append(turns, paid(message.Reply{Text: `{"number": "R-1", "total": 12}`}))
	_, err = fixture.Run(t.Context(), looptest.NewModel(turns...), fixture.In(newSession(t), j), loop.Input{Prompt: "A room."}, cfg, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())

	page := show(t, "html", store.Text("order-42"))
	assert.Less(t, len(page), 200*3_500)
	assert.Equal(t, 100, strings.Count(page, "You book hotel rooms, and you are polite."))
	assert.Equal(t, 200, strings.Count(page, `<details class="attempt failed"`))
	assert.Equal(t, 200, strings.Count(page, " around it are the same as before</p>"))
}
