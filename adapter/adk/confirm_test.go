package adk_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// wants is a tool whose config wants a confirmation.
func wants(t *testing.T) adktool.Tool {
	made, err := functiontool.New(functiontool.Config{Name: "book_room", Description: "Book.", RequireConfirmation: true},
		func(_ agent.Context, b booking) (receipt, error) { return receipt{b.City}, nil })
	require.NoError(t, err)
	return made
}

// asks is a tool that asks for a confirmation itself.
func asks(t *testing.T) adktool.Tool {
	return bookRoom(t, func(ctx agent.Context, b booking) (receipt, error) {
		if ctx.ToolConfirmation() == nil {
			return receipt{"nothing yet"}, ctx.RequestConfirmation("Really?", nil)
		}
		return receipt{b.City}, nil
	})
}

// goesOn sends the user's answer and returns what the tools and the model said then.
func goesOn(t *testing.T, r *runner.Runner, answer *genai.Content) (said []any) {
	t.Helper()
	for ev, err := range r.Run(t.Context(), "user", "session", answer, agent.RunConfig{}) {
		require.NoError(t, err)
		for _, p := range ev.LLMResponse.Content.Parts {
			if p.FunctionResponse != nil {
				said = append(said, p.FunctionResponse.Response)
			} else if p.Text != "" {
				said = append(said, p.Text)
			}
		}
	}
	return said
}

// A confirmation that a tool asks for itself pauses its call, too: the run keeps its attempts.
func TestAToolMayAskForAConfirmation(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	r := newRunner(t, a, newFake(calls(call("book_room", nil)), calls(call("book_room", lisbon())), say("Booked.")), asks(t))
	yes := confirmed(t, r)
	assert.Empty(t, end.errs, "the run is open")
	assert.Equal(t, []any{map[string]any{"booked": "Lisbon"}, "Booked."}, goesOn(t, r, yes))
	require.Len(t, end.errs, 1)
	require.NoError(t, end.errs[0])
	assert.Equal(t, []string{"book_room", "book_room", ""}, actions(end.results[0].Attempts))
	assert.Equal(t, 2, end.results[0].Attempts[1].Attempt)
}

// Other calls of the reply end while the confirmed one waits. It has not failed, and the run goes on.
func TestAConfirmationBesideACallThatFails(t *testing.T) {
	for name, book := range map[string]adktool.Tool{"of the config": wants(t), "of the tool": asks(t)} {
		t.Run(name, func(t *testing.T) {
			look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Look."},
				func(agent.Context, struct{}) (receipt, error) { return receipt{}, errors.New("no light") })
			require.NoError(t, err)
			a, _, end := newAdapter(t, adk.Config{})
			m := newFake(calls(call("book_room", nil)), calls(call("book_room", lisbon()), call("look", nil), call("book_room", lisbon())), say("Booked."))
			r := newRunner(t, a, m, book, look)
			yes := confirmed(t, r)
			assert.Empty(t, end.errs, "the run is open")
			assert.Equal(t, []any{map[string]any{"booked": "Lisbon"}, "Booked."}, goesOn(t, r, yes))
			require.Len(t, end.errs, 1)
			require.NoError(t, end.errs[0])
			for _, at := range end.results[0].Attempts {
				assert.NotEqual(t, policy.ReasonFailedForGood, at.Reason)
			}
			given := m.requests()[2]
			var texts []any
			for _, c := range given {
				for _, p := range c.Parts {
					if p.FunctionResponse != nil {
						texts = append(texts, p.FunctionResponse.Response)
					}
				}
			}
			assert.Contains(t, texts, map[string]any{"error": `The call failed, and its effect may or may not have happened. The tool says: "no light"`})
			assert.Contains(t, texts, map[string]any{"error": "Not run: it equals another call of the same reply, which has no result yet."})
		})
	}
}

// What the user does not confirm was not run. It is no failure, and the tool keeps its attempts.
func TestAConfirmationThatIsRefused(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	m := newFake(calls(call("book_room", nil)), calls(call("book_room", lisbon())), calls(call("book_room", nil)), say("As you wish."))
	r := newRunner(t, a, m, wants(t))
	no := confirmed(t, r)
	no.Parts[0].FunctionResponse.Response["confirmed"] = false
	goesOn(t, r, no)
	require.Len(t, end.errs, 1)
	require.NoError(t, end.errs[0])
	result := end.results[0]
	assert.Empty(t, result.InDoubt)
	assert.Empty(t, result.Warnings)
	assert.Equal(t, "Not run: a person refused this call.", result.Transcript[4].Text)
	assert.Equal(t, []string{"book_room", "book_room", ""}, actions(result.Attempts), "the refused call is no attempt")
	for _, at := range result.Attempts[:2] {
		assert.Equal(t, fault.ToolValidation, at.Class)
	}
	assert.Equal(t, 2, result.Attempts[1].Attempt)
}

// The user refuses one of two calls that wait. The other is run, and each has its own end.
func TestOneOfTwoConfirmationsIsRefused(t *testing.T) {
	a, _, end := newAdapter(t, adk.Config{})
	porto := map[string]any{"city": "Porto", "nights": 1}
	m := newFake(calls(call("book_room", lisbon()), call("book_room", porto)), say("One is booked."))
	r := newRunner(t, a, m, wants(t))
	both := confirmations(t, r)
	require.Len(t, both.Parts, 2)
	both.Parts[0].FunctionResponse.Response["confirmed"] = false
	goesOn(t, r, both)
	require.Len(t, end.errs, 1)
	require.NoError(t, end.errs[0])
	var told []string
	for _, said := range end.results[0].Transcript {
		if said.Role == message.Tool {
			told = append(told, said.Text)
		}
	}
	assert.Equal(t, []string{"Not run: a person refused this call.", `{"booked":"Porto"}`}, told)
}

// Nobody can confirm a call of an agent that is a tool. That is said, instead of an empty result, and its run
// ends.
func TestAnAgentAsAToolGetsNoConfirmation(t *testing.T) {
	for name, book := range map[string]adktool.Tool{"of the config": wants(t), "of the tool": asks(t)} {
		t.Run(name, func(t *testing.T) {
			a, _, end := newAdapter(t, adk.Config{})
			made, err := llmagent.New(llmagent.Config{Name: "booker", Description: "Books rooms.",
				Model: a.Model(newFake(calls(call("book_room", lisbon())), say("never"))), Tools: []adktool.Tool{book}})
			require.NoError(t, err)
			sub, err := a.AgentTool(made, nil)
			require.NoError(t, err)
			m := newFake(delegate(), say("Sorry."))
			_, err = play(t.Context(), newRunner(t, a, m, sub), agent.StreamingModeNone)
			require.NoError(t, err)
			assert.Contains(t, answers(m.requests()[1])[0].Response["error"], "agent booker: a call waits for a confirmation, "+
				"and nobody confirms calls of an agent that is a tool: let the tool of the agent itself want it")
			require.Len(t, end.errs, 2)
			require.ErrorIs(t, end.errs[0], policy.ReasonCancelled)
			assert.Equal(t, "booker", end.at[0].AppName)
			require.NoError(t, end.errs[1])
		})
	}
}

// Of two equal calls one is run, and both have its result.
func TestEqualCallsOfAReplyHaveOneResult(t *testing.T) {
	ran := 0
	a, _, _ := newAdapter(t, adk.Config{})
	m := newFake(calls(call("book_room", lisbon()), call("book_room", lisbon())), say("Booked."))
	_, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, func(_ agent.Context, b booking) (receipt, error) {
		ran++
		return receipt{b.City}, nil
	})), agent.StreamingModeNone)
	require.NoError(t, err)
	assert.Equal(t, 1, ran)
	given := answers(m.requests()[1])
	assert.Equal(t, map[string]any{"booked": "Lisbon"}, given[0].Response)
	assert.Contains(t, given[1].Response["result"], `Not run: it equals another call of the same reply, which has the result: {"booked":"Lisbon"}`)
}

// A model gives two calls one id. Each has its own outcome.
func TestTwoCallsWithOneID(t *testing.T) {
	one, two := call("book_room", lisbon()), call("book_room", map[string]any{"city": "Porto", "nights": 1})
	one.ID, two.ID = "c1", "c1"
	a, _, _ := newAdapter(t, adk.Config{})
	m := newFake(calls(one, two), say("Booked."))
	_, err := play(t.Context(), newRunner(t, a, m, bookRoom(t, func(_ agent.Context, b booking) (receipt, error) {
		return receipt{}, errors.New("no room in " + b.City)
	})), agent.StreamingModeNone)
	require.NoError(t, err)
	given := answers(m.requests()[1])
	assert.Contains(t, given[0].Response["error"], "no room in Lisbon")
	assert.Contains(t, given[1].Response["error"], "no room in Porto")
}

// counting adds up the tokens that a model reports to ADK, whose span of a call has those of the last
// response.
type counting struct {
	model.LLM
	tokens []int32
}

func (c *counting) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range c.LLM.GenerateContent(ctx, req, stream) {
			if resp != nil && resp.UsageMetadata != nil {
				c.tokens = append(c.tokens, resp.UsageMetadata.PromptTokenCount)
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// A call of the model that ends the run cost what its replies cost.
func TestTheUsageOfARunThatFailsIsReported(t *testing.T) {
	empty := say("")
	empty.resp.UsageMetadata = calls().resp.UsageMetadata
	for name, script := range map[string][]turn{"refused": {empty, empty, empty}, "refused, then no model": {empty, empty, empty, {err: errScript}}} {
		t.Run(name, func(t *testing.T) {
			set := policy.DefaultSet()
			set.Global.MaxAttempts = new(len(script))
			a, _, _ := newAdapter(t, adk.Config{Policy: &set})
			m := &counting{LLM: a.Model(newFake(script...))}
			p, err := a.Plugin()
			require.NoError(t, err)
			_, err = play(t.Context(), runnerOf(t, []*plugin.Plugin{p}, llmAgent(t, m)), agent.StreamingModeNone)
			require.Error(t, err)
			assert.Equal(t, []int32{30}, m.tokens)
		})
	}
}
