package report_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A run that is done while nobody knows whether a payment was made does not look as if all were well.
func TestARunWithACallInDoubtIsNotGreen(t *testing.T) {
	paying := func(fails error, opts ...tool.Option) []byte {
		store := &looptest.Store{}
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: "order-42"})
		require.NoError(t, err)
		tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) {
			return "paid", fails
		}, opts...))
		require.NoError(t, err)
		call := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{}`})
		_, err = fixture.Run(t.Context(), looptest.NewModel(call, looptest.Say("Done.")), fixture.In(s, j), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
		require.NoError(t, err)
		require.NoError(t, j.Close())
		return store.Text("order-42")
	}
	const (
		green = `<div class="outcome good" id="o1"><strong>done</strong>`
		amber = `<div class="outcome warn" id="o1"><strong>done, 1 call in doubt: pay</strong>`
		doubt = "1 call in doubt: pay"
	)

	paid := paying(nil)
	assert.True(t, strings.Contains(show(t, "html", paid), green))
	assert.NotContains(t, show(t, "text", paid), doubt)

	unknown := paying(errors.New("connection reset"))
	page := show(t, "html", unknown)
	assert.False(t, strings.Contains(page, green), "green")
	assert.True(t, strings.Contains(page, amber), "amber")
	assert.Contains(t, show(t, "text", unknown), doubt)
	assert.Contains(t, show(t, "json", unknown), `"in_doubt":[{`)
	assert.NotContains(t, page, "call failed: pay", "it is in doubt")

	// A tool that only reads had no effect: a run goes well without it, and still says that it failed.
	read := paying(errors.New("connection reset"), tool.ReadOnly())
	assert.True(t, strings.Contains(show(t, "html", read), green), "green")
	assert.Contains(t, show(t, "text", read), "1 call failed: pay")

	// Neither does one whose call failed for good.
	const failed = "1 call failed: pay"
	assert.NotContains(t, show(t, "text", paid), failed)
	broke := paying(tool.Fail("no money"))
	page = show(t, "html", broke)
	assert.False(t, strings.Contains(page, green), "green")
	assert.True(t, strings.Contains(page, `<div class="outcome warn" id="o1"><strong>done, `+failed+`</strong>`), "amber")
	assert.Contains(t, show(t, "text", broke), failed)
	var sum struct {
		ToolFailures []machine.ToolFailure `json:"tool_failures"`
	}
	lines := strings.Split(strings.TrimSpace(show(t, "json", broke)), "\n")
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &sum))
	require.Len(t, sum.ToolFailures, 1)
	assert.Equal(t, [2]string{"c1", "no money"}, [2]string{sum.ToolFailures[0].CallID, sum.ToolFailures[0].Text})
}
