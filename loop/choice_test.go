package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
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

// A provider may not heed the choice.
func TestAReplyIsHeldToTheChoice(t *testing.T) {
	book := looptest.Call(call("book_room", fixture.Lisbon))
	inText := `{"name": "book_room", "arguments": ` + fixture.Lisbon + `}`
	const check = "Automatic check, not a message from the user: "
	for name, c := range map[string]struct {
		choice message.ToolChoice
		turns  []looptest.Turn
		ran    int
		// told is what the model is told of its first reply, and text the answer of the run.
		told, text string
	}{
		"a call is not run under no tool": {message.NoTool, []looptest.Turn{book, looptest.Say("Done.")}, 0,
			check + "your call of book_room was not asked for, and the tool was not run (attempt 1 of 3).\n" +
				"- expected no tool call\nReply with what is expected.", "Done."},
		"a call of an unknown tool, too": {message.NoTool, []looptest.Turn{looptest.Call(call("book", "{}")), looptest.Say("Done.")}, 0,
			check + "your call of book was not asked for, and the tool was not run (attempt 1 of 3).\n" +
				"- expected no tool call\nReply with what is expected.", "Done."},
		"a call in a text is the answer under no tool": {message.NoTool, []looptest.Turn{looptest.Say(inText)}, 0, "", inText},
		"another tool is not run": {"cancel_room", []looptest.Turn{book, looptest.Call(call("cancel_room", "{}")), looptest.Say("Done.")}, 0,
			check + "your call of book_room was not asked for, and the tool was not run (attempt 1 of 3).\n" +
				"- expected a call of cancel_room\nReply with what is expected.", "Done."},
		"an answer before any call": {message.AnyTool, []looptest.Turn{looptest.Say("Booked."), book, looptest.Say("Done.")}, 1,
			check + "your reply has no tool call in it that can be read (attempt 1 of 3).\n" +
				"Reply with a call of one of the tools that exist, by its exact name and with all its arguments.", "Done."},
		"an answer before the call": {"book_room", []looptest.Turn{looptest.Say("Booked."), book, looptest.Say("Done.")}, 1,
			check + "your reply has no tool call in it that can be read (attempt 1 of 3).\n" +
				"Call book_room with all arguments.", "Done."},
		"any tool after the call": {"book_room", []looptest.Turn{book, book, looptest.Say("Done.")}, 2, "", "Done."},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			tools, err := tool.NewSet(
				tool.New("book_room", "Books.", func(ctx context.Context, b booking) (receipt, error) {
					ran++
					return booked(ctx, b)
				}),
				tool.New("cancel_room", "Cancels.", func(context.Context, struct{}) (string, error) { return "Cancelled.", nil }))
			require.NoError(t, err)
			result, err := fixture.Run(t.Context(), looptest.NewModel(c.turns...), newSession(t), loop.Input{Prompt: "Book."},
				loop.Config{Tools: tools, ToolChoice: c.choice})
			require.NoError(t, err)
			assert.Equal(t, c.ran, ran)
			assert.Equal(t, c.text, result.Text)
			if c.told != "" {
				require.Greater(t, len(result.Transcript), 2)
				assert.Equal(t, c.told, result.Transcript[2].Text)
			}
		})
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
	assert.EqualError(t, loop.Config{ToolChoice: "book"}.Validate(), "tool_choice: there is no tool to call: give Tools, or leave it empty")
}
