package adk_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/plugin/retryandreflect"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/looptest"
	retake "github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
)

const told = "Automatic check, not a message from the user: "

// busy is Gemini's error when it is overloaded.
var busy = genai.APIError{Code: 503, Status: "UNAVAILABLE", Message: "The model is overloaded."}

// modes are the two ways to call a model.
var modes = []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE}

// Without retake, ADK ends these runs with an error, or without an answer.
func TestARunThatFailedEndsWell(t *testing.T) {
	output, err := schema.Compile([]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
	require.NoError(t, err)
	answer := `{"city":"Lisbon"}`
	for _, c := range []struct {
		name    string
		script  []turn
		alone   string
		fails   bool
		classes []fault.Class
	}{
		{"a provider that is overloaded", []turn{{err: busy}, say(answer)}, "", true, []fault.Class{fault.Unavailable, ""}},
		{
			"a reply without a word", []turn{{resp: &model.LLMResponse{FinishReason: genai.FinishReasonStop}}, say(answer)},
			"", false, []fault.Class{fault.NoOutput, ""},
		},
		{"a call that Gemini could not read", []turn{
			{resp: &model.LLMResponse{FinishReason: genai.FinishReasonMalformedFunctionCall, ErrorCode: "MALFORMED_FUNCTION_CALL"}}, say(answer),
		}, "", false, []fault.Class{fault.NoOutput, ""}},
		{"an answer of the wrong shape", []turn{say("Certainly!"), say(answer)}, "Certainly!", false, []fault.Class{fault.StructuredOutput, ""}},
	} {
		for _, mode := range modes {
			t.Run(c.name+" "+string(mode), func(t *testing.T) {
				text, err := play(t.Context(), newRunner(t, nil, newFake(c.script...), bookRoom(t, nil)), mode)
				assert.Equal(t, c.fails, err != nil, "ADK alone: %v", err)
				assert.Equal(t, c.alone, text, "ADK alone")

				a, _, end := newAdapter(t, adk.Config{Output: output})
				text, err = play(t.Context(), newRunner(t, a, newFake(c.script...), bookRoom(t, nil)), mode)
				require.NoError(t, err)
				assert.Equal(t, answer, text)
				require.Len(t, end.results, 1)
				require.NoError(t, end.errs[0])
				var classes []fault.Class
				for _, at := range end.results[0].Attempts {
					classes = append(classes, at.Class)
				}
				assert.Equal(t, c.classes, classes)
			})
		}
	}
}

// rescued are calls that ADK answers itself, in words that differ between runs and libraries, and never
// counts.
var rescued = []struct {
	name string
	bad  *genai.FunctionCall
	told string
	tool string
}{
	{
		"an unknown tool", call("book_hotel", lisbon()),
		told + "there is no tool named book_hotel, so nothing was run for this call (attempt 1 of 3).\n" +
			"- tools that exist: book_room\nCall a tool that exists, by its exact name, or answer without one.", "book_hotel",
	},
	{
		"arguments of a wrong type", call("book_room", map[string]any{"city": "Lisbon", "nights": "two"}),
		told + "the arguments of your call of book_room are not valid, and the tool was not run (attempt 1 of 3).\n" +
			"- nights: expected integer, got string\nCall book_room again with all arguments corrected.", "book_room",
	},
}

func TestABadCallIsAnsweredWithFeedback(t *testing.T) {
	for _, c := range rescued {
		t.Run(c.name, func(t *testing.T) {
			script := []turn{calls(c.bad), calls(call("book_room", lisbon())), say("Booked.")}
			m := newFake(script...)
			_, err := play(t.Context(), newRunner(t, nil, m, bookRoom(t, nil)), agent.StreamingModeNone)
			require.NoError(t, err)
			alone := fmt.Sprint(answers(m.requests()[1])[0].Response)
			assert.NotContains(t, alone, "attempt")

			a, _, end := newAdapter(t, adk.Config{})
			m = newFake(script...)
			text, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
			require.NoError(t, err)
			assert.Equal(t, "Booked.", text)
			assert.Equal(t, map[string]any{"error": c.told}, answers(m.requests()[1])[0].Response)
			assert.Equal(t, map[string]any{"booked": "Lisbon"}, answers(m.requests()[2])[0].Response)

			require.NoError(t, end.errs[0])
			attempts := end.results[0].Attempts
			require.Len(t, attempts, 3)
			assert.Equal(t, c.tool, attempts[0].Action)
			assert.True(t, attempts[0].Retry)
			assert.Equal(t, retake.Usage{InputTokens: 10, OutputTokens: 7, ReasoningTokens: 2, APICalls: 1}, attempts[0].Usage)
			assert.True(t, attempts[1].Passed())
			said := end.s[0].State().Feedback()
			require.NotEmpty(t, said)
			fb := said[len(said)-1]
			assert.Equal(t, c.tool, fb.ToolName)
			assert.Equal(t, end.at[0].ID, fb.CorrelationID)
			assert.Equal(t, attempts[0].Issues, fb.Issues)
			assert.Equal(t, "session", end.at[0].SessionID)
		})
	}
}

// The model never learns. ADK alone and retryandreflect ask it forever; retake ends the run.
func TestAModelThatNeverLearnsIsStopped(t *testing.T) {
	bad := call("book_room", map[string]any{"city": "Lisbon"})
	endless := func() *fakeModel {
		var script []turn
		for range 12 {
			script = append(script, calls(&genai.FunctionCall{Name: bad.Name, Args: bad.Args}))
		}
		return newFake(script...)
	}
	m := endless()
	_, err := play(t.Context(), newRunner(t, nil, m, bookRoom(t, nil)), agent.StreamingModeNone)
	require.ErrorIs(t, err, errScript)
	assert.Len(t, m.requests(), 13)

	m = endless()
	reflect := runnerOf(t, []*plugin.Plugin{retryandreflect.MustNew()}, llmAgent(t, m, bookRoom(t, nil)))
	_, err = play(t.Context(), reflect, agent.StreamingModeNone)
	require.ErrorIs(t, err, errScript)
	assert.Len(t, m.requests(), 13)

	m = endless()
	a, _, end := newAdapter(t, adk.Config{})
	_, err = play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
	exhausted := exhaustedIn(t, err)
	assert.Equal(t, policy.ReasonAttemptsExhausted, exhausted.Reason)
	assert.Len(t, exhausted.Attempts, 3)
	assert.Len(t, m.requests(), 3)
	assert.ErrorIs(t, end.errs[0], policy.ReasonAttemptsExhausted)
}

func TestBudgetsEndTheRun(t *testing.T) {
	twice := policy.DefaultSet()
	twice.Global.NoProgress = new(1)
	bad := func() turn { return calls(call("book_room", map[string]any{"city": "Lisbon"})) }
	unknown := func(name string) turn { return calls(call(name, nil)) }
	for _, c := range []struct {
		name   string
		cfg    adk.Config
		script []turn
		reason policy.Reason
		asked  int
	}{
		{"the pool of unknown names", adk.Config{}, []turn{unknown("a"), unknown("b"), unknown("c"), say("never")}, policy.ReasonUnknownToolBudget, 3},
		{"no progress", adk.Config{Policy: &twice}, []turn{bad(), bad(), say("never")}, policy.ReasonNoProgress, 2},
		{"transport", adk.Config{}, []turn{{err: busy}, {err: busy}, {err: busy}, {err: busy}, say("never")}, policy.ReasonAttemptsExhausted, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, end := newAdapter(t, c.cfg)
			m := newFake(c.script...)
			_, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
			assert.Equal(t, c.reason, exhaustedIn(t, err).Reason)
			assert.Len(t, m.requests(), c.asked)
			assert.ErrorIs(t, end.errs[0], c.reason)
		})
	}
}

func TestAnExhaustedToolMayBeToldToTheModel(t *testing.T) {
	bad := func() turn { return calls(call("book_room", map[string]any{"city": "Lisbon"})) }
	a, _, end := newAdapter(t, adk.Config{OnExhausted: turns.TellModel})
	m := newFake(bad(), bad(), bad(), say("I cannot book."))
	text, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "I cannot book.", text)
	assert.Contains(t, answers(m.requests()[3])[0].Response["error"], "No attempt is left. Do not call book_room again for this.")
	require.NoError(t, end.errs[0])
}

func TestAllCallsOfAReplyAreAnsweredInCallOrder(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	m := newFake(
		calls(call("book_room", lisbon()), call("book_room", map[string]any{"city": "Porto"}), call("book_boat", nil)),
		calls(call("book_room", map[string]any{"city": "Porto", "nights": 1})), say("Both are booked."))
	text, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "Both are booked.", text)
	given := answers(m.requests()[1])
	require.Len(t, given, 3)
	assert.Equal(t, map[string]any{"booked": "Lisbon"}, given[0].Response)
	assert.Contains(t, given[1].Response["error"], "nights: required")
	assert.Contains(t, given[2].Response["error"], "there is no tool named book_boat")
	assert.Equal(t, []string{"book_room", "book_boat", "book_room", ""}, actions(end.results[0].Attempts))
}

// A reply of thoughts alone is an empty one. ADK would ask again without a limit.
func TestThoughtsAreNoAnswer(t *testing.T) {
	thinks := turn{resp: &model.LLMResponse{
		Content:       &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "Lisbon, then.", Thought: true}}},
		UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 10, ThoughtsTokenCount: 100},
	}}
	for name, alone := range map[string]bool{"with the model": false, "the plugin alone": true} {
		t.Run(name, func(t *testing.T) {
			a, _, end := newAdapter(t, adk.Config{})
			m := newFake(thinks, thinks, thinks, thinks, say("Done."))
			var llm model.LLM = m
			if !alone {
				llm = a.Model(m)
			}
			p, err := a.Plugin()
			require.NoError(t, err)
			_, err = play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, llmAgent(t, llm)), agent.StreamingModeNone)
			require.ErrorIs(t, exhaustedIn(t, err), policy.ReasonAttemptsExhausted)
			assert.Len(t, m.requests(), 3)
			assert.Equal(t, int64(300), end.results[0].Usage.ReasoningTokens)
		})
	}
}

// exactly is a transport layer without jitter, for tests of times.
func exactly() policy.Layer {
	p := policy.Transport()
	p.Backoff.Jitter = backoff.Jitter{Kind: backoff.NoJitter}
	return p.TransportLayer()
}

// The model is shown as many calls as the feedback answers: providers want an answer to each.
func TestAReplyWithTooManyCallsIsAskedAgain(t *testing.T) {
	set := policy.DefaultSet()
	set.MaxCalls = 2
	a, _, end := newAdapter(t, adk.Config{Policy: &set})
	one := call("book_room", lisbon())
	m := newFake(calls(one, one, one), say("Done."))
	text, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, "Done.", text)
	require.Len(t, m.requests(), 2)
	said := m.requests()[1]
	assert.Len(t, said[len(said)-3].Parts, 2, "the calls that the feedback shows")
	assert.Len(t, said[len(said)-2].Parts, 2, "their answers")
	assert.Empty(t, answers(said[:len(said)-1])[0].ID, "the call has no id")
	assert.Contains(t, said[len(said)-1].Parts[0].Text, "at most 2 calls in one reply")
	assert.Len(t, end.results[0].Attempts, 2)
}

// A server's wait uses the clock, and the wait of the correction plane is before the next model call.
func TestWaitsAreMadeByTheClock(t *testing.T) {
	slow, delay := policy.DefaultSet(), policy.Correction()
	delay.Backoff.Delay = 2 * time.Second
	slow.Global, slow.Transport = delay.Layer(), exactly()
	asks := genai.APIError{Code: 429, Status: "RESOURCE_EXHAUSTED", Message: "slow down", Details: []map[string]any{
		{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"},
	}}
	a, clock, end := newAdapter(t, adk.Config{Policy: &slow})
	m := newFake(turn{err: asks}, calls(call("book_room", nil)), say("Enough."))
	_, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, nil)), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, 9*time.Second, clock.Now().Sub(looptest.Epoch))
	assert.Equal(t, policy.ReasonServerAsked, end.results[0].Attempts[0].Reason)
}

func TestAnAnswerIsCorrectedWithinTheCall(t *testing.T) {
	output, err := schema.Compile([]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
	require.NoError(t, err)
	cut := calls(call("book_room", lisbon()))
	cut.resp.FinishReason = genai.FinishReasonMaxTokens
	set := policy.DefaultSet()
	set.Global.RetryableErrors = append(policy.Correction().RetryableErrors, fault.Truncated)
	a, _, end := newAdapter(t, adk.Config{Output: output, Policy: &set})
	m := newFake(say("Certainly!"), cut, say(`{"city":"Lisbon"}`))
	_, err = play(t.Context(), newRunner(t, a, m, bookRoom(t, func(agent.Context, booking) (receipt, error) {
		t.Error("a call that was cut off was run")
		return receipt{}, nil
	})), agent.StreamingModeNone)
	require.NoError(t, err)
	third := m.requests()[2]
	require.Len(t, third, 6)
	assert.Equal(t, "Certainly!", third[1].Parts[0].Text)
	assert.Contains(t, third[2].Parts[0].Text, "your answer is not the JSON value that was asked for (attempt 1 of 3)")
	assert.NotNil(t, third[3].Parts[0].FunctionCall)
	assert.Equal(t, "book_room", third[4].Parts[0].FunctionResponse.Name)
	assert.Contains(t, third[5].Parts[0].Text, "cut off by the token limit")
	assert.JSONEq(t, `{"city":"Lisbon"}`, string(end.results[0].Value))
}
