package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/schema"
)

// provider is a model that reports its responses like the adapters.
func provider(turns ...looptest.Turn) loop.Model {
	model := looptest.NewModel(turns...)
	return loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		ratelimit.Tell(ctx, ratelimit.Response{
			Provider: "openai", Model: "gpt-4o-mini", Status: 200, At: looptest.Epoch,
			Headers: map[string][]string{"X-Ratelimit-Remaining-Requests": {"59"}, "Set-Cookie": {"secret"}, "X-Request-Id": {"req-7"}},
		})
		return model.Reply(ctx, req)
	})
}

func used(text, model string, input, output int64) looptest.Turn {
	return looptest.Turn{Reply: message.Reply{
		Text: text, Model: model, Usage: message.Usage{InputTokens: input, CacheReadTokens: 200, OutputTokens: output, APICalls: 1},
	}}
}

var prices = policy.Prices{"gpt-4o": {Input: 100e6, Output: 100e6}, "gpt-4o-mini": {Input: 1e6, Output: 2e6, CacheRead: new(int64(500_000))}}

func TestTheEnvelopeOfARunIsFull(t *testing.T) {
	model := provider(used("oops", "gpt-4o-mini-2024-07-18", 1200, 100), looptest.Fail(fixture.Refused{Class: fault.Timeout}), used(`{"number":"R-1"}`, "", 1200, 400))
	typed, err := schema.For[fixture.Receipt]()
	require.NoError(t, err)
	r := agent.Run(t.Context(), model, fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{Output: typed.Schema()},
		agent.Account{Prices: prices, RawHeaders: true}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, r.Validate())
	assert.JSONEq(t, `{"number":"R-1"}`, string(r.Data))
	x := r.Execution
	assert.Equal(t, "gpt-4o-mini", x.Model)
	assert.Equal(t, "openai", x.Provider)
	assert.EqualValues(t, 2900, x.Usage.Tokens())
	assert.EqualValues(t, 2900, x.Usage.TotalTokens, "every form writes it")
	assert.Equal(t, "req-7", r.Provider.RequestID)
	assert.InDelta(t, 0.002+0.0002+0.001, x.Cost.Amount(), 1e-12)
	assert.Equal(t, new(2), x.RetryCount)
	assert.Greater(t, x.Duration, time.Duration(0), "the wait after the timeout")
	started, ok := x.Started()
	assert.True(t, ok)
	assert.Equal(t, looptest.Epoch, started)
	require.Len(t, r.RateLimit.Windows, 1)
	assert.Equal(t, ratelimit.Of(59), r.RateLimit.Windows[0].Remaining)
	assert.Equal(t, "59", r.Provider.RawHeaders["x-ratelimit-remaining-requests"])
	assert.NotContains(t, r.Provider.RawHeaders, "set-cookie")
}

// A text without a schema is the data. No form says it a second time.
func TestATextIsWrittenOnce(t *testing.T) {
	r := agent.Run(t.Context(), provider(used("Hello.", "llama", 10, 10)), nil, loop.Input{Prompt: "Hi."}, loop.Config{}, agent.Account{})
	for _, form := range []result.Form{result.ResultEnvelope, result.AgentResult, result.AgentResponse} {
		doc, err := result.Encode(form, r)
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(string(doc), "Hello."), "%s", doc)
		assert.Contains(t, string(doc), `"total_tokens":20`)
		assert.Contains(t, string(doc), `"request_id":"req-7"`)
		back, err := result.Decode[json.RawMessage](form, doc)
		require.NoError(t, err)
		assert.JSONEq(t, `"Hello."`, string(back.Data))
	}
}

// A run with several models has the cost of each, whoever chose it.
func TestTheCostIsThatOfEachModel(t *testing.T) {
	typed, err := schema.For[fixture.Receipt]()
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Answer.PerAttempt = []policy.Settings{{}, {Model: "gpt-4o"}}
	big := looptest.NewModel(used(`{"number":"R-1"}`, "", 1000, 1000)) // it does not say who it is
	r := agent.Run(t.Context(), provider(used("oops", "", 1000, 1000)), fixture.NewSession(t), loop.Input{Prompt: "Book."},
		loop.Config{Output: typed.Schema(), Policy: &set}, agent.Account{Prices: prices}, loop.WithModels(map[string]loop.Model{"gpt-4o": big}))
	require.True(t, r.IsSuccess(), r.Error)
	assert.Equal(t, "gpt-4o", r.Execution.Model)
	assert.InDelta(t, (800*1+200*0.5+1000*2+1000*100+1000*100)/1e6, r.Execution.Cost.Amount(), 1e-12)
}

func TestAModelWithoutAPriceIsNamed(t *testing.T) {
	r := agent.Run(t.Context(), provider(used("Hello.", "llama", 10, 10)), fixture.NewSession(t), loop.Input{Prompt: "Hi."}, loop.Config{}, agent.Account{Prices: prices, Provider: "mine"})
	assert.Equal(t, []string{`the price table has no model "llama": its tokens are not in the cost`}, r.Warnings)
	assert.Zero(t, r.Execution.Cost)
	assert.Equal(t, "mine", r.Execution.Provider)
	assert.Nil(t, r.Provider.RawHeaders, "nobody asked for them")
}

func TestAPriceIsThatOfTheLongestName(t *testing.T) {
	for model, want := range map[string]bool{"gpt-4o": true, "gpt-4o-mini": true, "gpt-4o-mini-2024-07-18": true, "gpt-4o@20240806": true, "gpt-4": false, "gpt-4omni": false, "": false} {
		_, known := prices.Of(model)
		assert.Equal(t, want, known, model)
	}
	mini, _ := prices.Of("gpt-4o-mini-2024-07-18")
	assert.Equal(t, prices["gpt-4o-mini"], mini)
}

func TestARunThatIsToBeResumedIsInProgress(t *testing.T) {
	r := agent.Envelope(loop.Result{Totals: machine.Totals{Usage: message.Usage{InputTokens: 7}}}, fmt.Errorf("the end of the day: %w", loop.ErrSuspended))
	assert.True(t, r.IsInProgress())
	assert.EqualValues(t, 7, r.Execution.Usage.Tokens())
	require.NoError(t, r.Validate())
}

// A turn that returned a question instead of JSON is in progress, and the next turn continues the
// conversation.
func TestTheFormsOfAConversation(t *testing.T) {
	typed, err := schema.For[fixture.Receipt]()
	require.NoError(t, err)
	cfg := loop.Config{Output: typed.Schema()}
	first := agent.Converse(t.Context(), provider(used("Which city?", "", 1, 1), used("Which city?", "", 1, 1), used("Which city?", "", 1, 1)),
		fixture.NewSession(t), loop.Input{Prompt: "Book."}, cfg, agent.Account{}, loop.WithPlanner(degrade.PlainText{}))
	assert.True(t, first.Result.IsInProgress())
	assert.Equal(t, "Which city?", first.Reply)
	doc, err := json.Marshal(first)
	require.NoError(t, err)
	assert.Contains(t, string(doc), `"status":"in-progress"`)

	second := agent.Converse(t.Context(), provider(used(`{"number":"R-1"}`, "", 1, 1)), fixture.NewSession(t), loop.Input{Prompt: "Lisbon.", History: first.State}, cfg, agent.Account{})
	assert.True(t, second.Result.IsSuccess())
	assert.JSONEq(t, `{"number":"R-1"}`, string(second.Result.Data))
}
