package loop_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
)

func TestACallIsForcedUntilOneHasEnded(t *testing.T) {
	good := call("book_room", `{"city": "Lisbon", "nights": 2, "room": "double"}`)
	bad := call("book_room", `{"city": "Lisbon", "nights": 90, "room": "double"}`)
	for choice, want := range map[message.ToolChoice][]message.ToolChoice{
		"book_room":     {"book_room", "book_room", ""},
		message.AnyTool: {message.AnyTool, message.AnyTool, ""},
		message.NoTool:  {message.NoTool, message.NoTool, message.NoTool},
	} {
		model := looptest.NewModel(looptest.Call(bad), looptest.Call(good), looptest.Say("Booked."))
		_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked), ToolChoice: choice, Stop: []string{"END"}})
		require.NoError(t, err)
		var got []message.ToolChoice
		for _, r := range model.Requests() {
			got = append(got, r.ToolChoice)
			assert.Equal(t, []string{"END"}, r.Stop)
		}
		assert.Equal(t, want, got, choice)
	}
}

func TestAChoiceThatCannotBeIsRefused(t *testing.T) {
	for want, cfg := range map[string]loop.Config{
		`tool_choice: there is no tool "book": name one of Tools (book_room), or leave it empty`:     {Tools: bookRoom(t, booked), ToolChoice: "book"},
		"tool_choice: there is no tool to call: give Tools, or leave it empty":                       {ToolChoice: message.AnyTool},
		"calls_only: there is no tool to call: give Tools, or leave it off":                          {CallsOnly: true},
		"tool_choice: none: calls are the answer (calls_only): leave it empty":                       {CallsOnly: true, Tools: bookRoom(t, booked), ToolChoice: message.NoTool},
		"stop[1]: is empty: remove it\nstop[2]: is empty: remove it\nstop[3]: \"\\xff\": give UTF-8": {Stop: []string{"END", "", "", "\xff"}},
		"output: has no schema: make one with schema.For or schema.Compile":                          {Output: new(schema.Schema)},
	} {
		assert.EqualError(t, cfg.Validate(), want)
	}
}
