package eino_test

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/fault"
	retake "github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

const told = "Automatic check, not a message from the user: "

// The same script ends Eino's run with an error, and ends well with retake.
var rescued = []struct {
	name  string
	bad   turn
	alone string
	told  string
	class fault.Class
	tool  string
}{
	{
		"an unknown tool", calls(toolCall("c1", "book_hotel", `{"city":"Lisbon","nights":2}`)),
		"tool book_hotel not found in toolsNode indexes",
		told + "there is no tool named book_hotel, so nothing was run for this call (attempt 1 of 3).\n" +
			"- tools that exist: book_room\nCall a tool that exists, by its exact name, or answer without one.",
		fault.UnknownTool, "book_hotel",
	},
	{
		"a name that reads like a tool's", calls(toolCall("c1", "book.room", `{"city":"Lisbon","nights":2}`)),
		"tool book.room not found in toolsNode indexes",
		told + "there is no tool named book.room, so nothing was run for this call (attempt 1 of 3).\n" +
			"- tools that exist: book_room (the nearest name)\nCall a tool that exists, by its exact name, or answer without one.",
		fault.UnknownTool, "book.room",
	},
	{
		"arguments of a wrong type", calls(toolCall("c1", "book_room", `{"city":"Lisbon","nights":"two"}`)),
		"failed to invoke tool[name:book_room id:c1]",
		told + "the arguments of your call of book_room are not valid, and the tool was not run (attempt 1 of 3).\n" +
			"- nights: expected integer, got string\nCall book_room again with all arguments corrected.",
		fault.ToolValidation, "book_room",
	},
	{
		"arguments that are no JSON", calls(toolCall("c1", "book_room", `{"city": Lisbon}`)),
		"failed to invoke tool[name:book_room id:c1]", "", fault.ToolValidation, "book_room",
	},
}

func TestAnAgentThatEndedWithAnErrorEndsWell(t *testing.T) {
	for _, c := range rescued {
		t.Run(c.name, func(t *testing.T) {
			script := []turn{c.bad, calls(toolCall("c2", "book_room", `{"city":"Lisbon","nights":2}`)), say("Booked.")}
			_, err := play(t.Context(), t, agentConfig(newFake(script...), bookRoom(t, nil)), false)
			require.ErrorContains(t, err, c.alone)

			a, _ := newAdapter(t, eino.Config{})
			m := newFake(script...)
			conf := agentConfig(m, bookRoom(t, nil))
			require.NoError(t, a.Agent(conf))
			s := newSession(t, "order-42")
			ctx, run, err := a.Start(t.Context(), s)
			require.NoError(t, err)
			text, err := play(ctx, t, conf, false)
			require.NoError(t, err)
			assert.Equal(t, "Booked.", text)

			shown := last(m.requests()[1])
			assert.Equal(t, schema.Tool, shown.Role)
			assert.Equal(t, "c1", shown.ToolCallID)
			if c.told != "" {
				assert.Equal(t, c.told, shown.Content)
			}
			result, err := run.End()
			require.NoError(t, err)
			assert.Equal(t, "Booked.", result.Text)
			require.Len(t, result.Attempts, 3)
			assert.Equal(t, c.class, result.Attempts[0].Class)
			assert.Equal(t, c.tool, result.Attempts[0].Action)
			assert.True(t, result.Attempts[0].Retry)
			assert.Equal(t, retake.Usage{InputTokens: 10, OutputTokens: 5, ReasoningTokens: 2, APICalls: 1}, result.Attempts[0].Usage)
			assert.True(t, result.Attempts[1].Passed())
			assert.True(t, result.Attempts[2].Passed())

			said := s.State().Feedback()
			require.NotEmpty(t, said)
			fb := said[len(said)-1]
			assert.Equal(t, c.tool, fb.ToolName)
			assert.Equal(t, "order-42", fb.CorrelationID)
			assert.Equal(t, result.Attempts[0].Issues, fb.Issues)
		})
	}
}

func last(in []*schema.Message) *schema.Message { return in[len(in)-1] }

func TestBothCallsOfAReplyAreAnsweredInCallOrder(t *testing.T) {
	a, _ := newAdapter(t, eino.Config{})
	m := newFake(
		calls(toolCall("c1", "book_room", `{"city":"Lisbon","nights":2}`), toolCall("c2", "book_room", `{"city":"Porto"}`),
			toolCall("c3", "book_boat", `{}`)),
		calls(toolCall("c4", "book_room", `{"city":"Porto","nights":1}`)), say("Both are booked."))
	conf := agentConfig(m, bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	text, err := play(ctx, t, conf, false)
	require.NoError(t, err)
	assert.Equal(t, "Both are booked.", text)

	answers := m.requests()[1][2:]
	require.Len(t, answers, 3)
	assert.Equal(t, []string{"c1", "c2", "c3"}, []string{answers[0].ToolCallID, answers[1].ToolCallID, answers[2].ToolCallID})
	assert.JSONEq(t, `{"booked":"Lisbon"}`, answers[0].Content)
	assert.Contains(t, answers[1].Content, "nights: required")
	assert.Contains(t, answers[2].Content, "there is no tool named book_boat")

	result, err := run.End()
	require.NoError(t, err)
	assert.Equal(t, []string{"book_room", "book_boat", "book_room", ""}, actions(result.Attempts))
	assert.Equal(t, 2, result.Attempts[2].Attempt)
}

func TestAReplyWithTooManyCallsIsAskedAgain(t *testing.T) {
	set := policy.DefaultSet()
	set.MaxCalls = 2
	a, _ := newAdapter(t, eino.Config{Policy: &set})
	m := newFake(calls(toolCall("", "book_room", goodArgs), toolCall("c2", "book_room", goodArgs), toolCall("c3", "book_room", goodArgs)), say("Done."))
	conf := agentConfig(m, bookRoom(t, nil))
	require.NoError(t, a.Agent(conf))
	ctx, run, err := a.Start(t.Context(), nil)
	require.NoError(t, err)
	text, err := play(ctx, t, conf, false)
	require.NoError(t, err)
	assert.Equal(t, "Done.", text)
	said := m.requests()[1]
	assert.Len(t, said[len(said)-4].ToolCalls, 2, "the calls that the feedback shows")
	assert.Empty(t, said[len(said)-3].ToolCallID, "the call has no id")
	assert.Equal(t, "c2", said[len(said)-2].ToolCallID)
	assert.Contains(t, last(said).Content, "at most 2 calls in one reply")
	result, err := run.End()
	require.NoError(t, err)
	assert.Len(t, result.Attempts, 2)
}

func TestBudgetsEndTheRun(t *testing.T) {
	bad := func(id string) turn { return calls(toolCall(id, "book_room", `{"city":"Lisbon"}`)) }
	unknown := func(id, name string) turn { return calls(toolCall(id, name, `{}`)) }
	twice := policy.DefaultSet()
	twice.Global.NoProgress = new(1)
	for _, c := range []struct {
		name   string
		cfg    eino.Config
		script []turn
		reason policy.Reason
		asked  int
	}{
		{"three attempts", eino.Config{}, []turn{bad("1"), bad("2"), bad("3"), say("never")}, policy.ReasonAttemptsExhausted, 3},
		{
			"the pool of unknown names", eino.Config{},
			[]turn{unknown("1", "a"), unknown("2", "b"), unknown("3", "c"), say("never")}, policy.ReasonUnknownToolBudget, 3,
		},
		{"no progress", eino.Config{Policy: &twice}, []turn{bad("1"), bad("2"), say("never")}, policy.ReasonNoProgress, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := newAdapter(t, c.cfg)
			m := newFake(c.script...)
			conf := agentConfig(m, bookRoom(t, nil))
			require.NoError(t, a.Agent(conf))
			ctx, run, err := a.Start(t.Context(), nil)
			require.NoError(t, err)
			_, err = play(ctx, t, conf, false)
			exhausted := exhaustedIn(t, err)
			assert.Equal(t, c.reason, exhausted.Reason)
			assert.Len(t, m.requests(), c.asked)
			_, ended := run.End()
			assert.ErrorIs(t, ended, c.reason)
		})
	}
}
