package loop_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// used is a turn that used tokens.
func used(turn looptest.Turn, in, out int64) looptest.Turn {
	turn.Reply.Usage = message.Usage{InputTokens: in, OutputTokens: out, APICalls: 1}
	return turn
}

// spending returns a config whose model m costs 2 and 10 for a million tokens.
func spending(bounds policy.Spending, tools ...*tool.Tool) loop.Config {
	p := policy.DefaultSet()
	p.Prices = policy.Prices{"m": {Input: 2_000_000, Output: 10_000_000}}
	p.Spending = bounds
	cfg := loop.Config{Policy: &p, Models: map[string]machine.ModelInfo{"": {Name: "m"}}}
	if len(tools) > 0 {
		cfg.Tools, _ = tool.NewSet(tools...)
	}
	return cfg
}

func TestTheResultHasWhatARunCostAndWasted(t *testing.T) {
	metrics, log := &observe.Metrics{}, &bytes.Buffer{}
	model := looptest.NewModel(used(looptest.Call(call("book_room", `{}`)), 100, 20),
		used(looptest.Call(call("book_room", lisbon)), 130, 20), used(looptest.Say("done"), 170, 5))
	cfg := spending(policy.Spending{Run: policy.Allowance{Cost: new(int64(50_000))}}, bookRoom(t, booked).All()...)
	l, err := loop.New(model, cfg, loop.WithClock(looptest.NewClock()), loop.WithObserver(metrics), loop.WithObserver(observe.LogTo(slog.New(slog.NewTextHandler(log, nil)))))
	require.NoError(t, err)
	r, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	assert.EqualValues(t, 400+460+390, r.Cost)
	assert.Zero(t, r.Estimated)
	assert.Equal(t, policy.Charge{Usage: message.Usage{InputTokens: 100, OutputTokens: 20, APICalls: 1}, Cost: 400}, r.Wasted)
	assert.EqualValues(t, 400, metrics.Counts().WastedCost)
	assert.EqualValues(t, 120, metrics.Counts().WastedTokens)
	assert.Contains(t, log.String(), `turns=3 input_tokens=400 output_tokens=45 attempts=3 cost_micros=1250 wasted_tokens=120 wasted_cost_micros=400`)
	// What was left of 50,000 when each call was made: the prompt at 2, the reply at 10.
	for n, most := range []int64{4966, 4919, 4870} {
		assert.InDelta(t, most, model.Requests()[n].MaxOutputTokens, 60)
	}
}

func TestARunOutOfMoneySaysWhatWasLeftAndWhatTheCallWouldHaveTaken(t *testing.T) {
	model := looptest.NewModel(used(looptest.Say(""), 100, 20), used(looptest.Say("never"), 1, 1))
	l, err := loop.New(model, spending(policy.Spending{Run: policy.Allowance{Cost: new(int64(700))}}))
	require.NoError(t, err)
	_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "Where?"})
	require.ErrorIs(t, err, policy.ReasonCostBudget)
	require.EqualError(t, err, "run stopped: the next call does not fit the budget of money (run.cost: 300 left, the call takes 530)")
	var x *loop.RetryExhaustedError
	require.ErrorAs(t, err, &x)
	assert.Equal(t, policy.Detail{Budget: "run.cost", Left: 300, Takes: 530}, x.Detail)
	assert.EqualValues(t, 400, x.Cost)
	assert.EqualValues(t, 400, x.Wasted.Cost)
	assert.Len(t, model.Requests(), 1)
}

func TestModelsWithoutAPriceAreRefusedBeforeARun(t *testing.T) {
	bounds := policy.Spending{MaxNextCost: new(int64(1000))}
	cfg := spending(bounds)
	cfg.Models = nil
	_, err := loop.New(looptest.NewModel(), cfg, loop.WithModels(map[string]loop.Model{"big": looptest.NewModel(), "m": looptest.NewModel()}))
	require.EqualError(t, err, `policy: spending: the model has no name to price it by: give it one in Config.Models[""]
policy: spending: the model "big" has no price: add it to prices, or bound no cost`)
	_, err = loop.New(described{}, cfg)
	require.NoError(t, err, "a model that says what it is")
}

// described is a model that says what it is.
type described struct{}

func (described) Describe() machine.ModelInfo {
	return machine.ModelInfo{Name: "m", MaxOutputTokens: 30}
}

func (described) Reply(context.Context, loop.Request) (message.Reply, error) {
	return message.Reply{}, nil
}

// The function is asked for what is new, and for all at first: the system prompt, the tools, the prompt.
// A cost without a part that nobody knows says so, once. Without prices there is no cost that could be wrong.
func TestAModelWithoutAPriceIsWarnedOf(t *testing.T) {
	for name, warnings := range map[string][]string{
		"m": nil, "m-2026-01-02": nil, "m-mini": {`the price table has no model "m-mini": its tokens are not in the cost`},
		"": {`the price table has no model "": its tokens are not in the cost`},
	} {
		cfg := spending(policy.Spending{}, bookRoom(t, booked).All()...)
		cfg.Models = map[string]machine.ModelInfo{"": {Name: name}}
		turns := []looptest.Turn{used(looptest.Call(call("book_room", lisbon)), 130, 20), used(looptest.Say("done"), 170, 5)}
		r, err := fixture.Run(t.Context(), looptest.NewModel(turns...), newSession(t), loop.Input{Prompt: "Book."}, cfg)
		require.NoError(t, err)
		assert.Equal(t, warnings, r.Warnings, name)
		cfg.Policy.Prices = nil
		r, err = fixture.Run(t.Context(), looptest.NewModel(turns...), newSession(t), loop.Input{Prompt: "Book."}, cfg)
		require.NoError(t, err)
		assert.Empty(t, r.Warnings)
	}
}

func TestTheUserEstimatesWhatAPromptGains(t *testing.T) {
	var asked [][]message.Role
	cfg := spending(policy.Spending{Run: policy.Allowance{InputTokens: new(int64(100_000))}}, bookRoom(t, booked).All()...)
	cfg.System = "You book rooms."
	cfg.Estimate = func(model string, added []message.Message) int64 {
		assert.Equal(t, "m", model)
		var roles []message.Role
		for _, m := range added {
			roles = append(roles, m.Role)
		}
		asked = append(asked, roles)
		return -5
	}
	model := looptest.NewModel(used(looptest.Call(call("book_room", lisbon)), 100, 20), looptest.Fail(&fault.TransportError{Class: fault.Network, Cause: errors.New("cut")}), used(looptest.Say("done"), 170, 5))
	l, err := loop.New(model, cfg, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	r, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	assert.Equal(t, [][]message.Role{{message.System, message.System, message.User}, {message.Tool}}, asked, "once for each prompt")
	assert.EqualValues(t, 1, r.Estimated, "the stream that was cut")
	assert.EqualValues(t, 400+390+2*120+10*policy.LeastReply, r.Cost)
}

// A tool that runs another agent costs what that run cost, by its own prices or by those of the run around
// it.
func TestANestedRunIsPaidByTheRunAroundIt(t *testing.T) {
	for _, c := range []struct {
		name      string
		own       *policy.Set
		cost      int64
		estimated int64
	}{
		{"with prices of its own", &policy.Set{MaxTurns: 1, MaxCalls: 1, Prices: policy.Prices{"inner": {Input: 1_000_000, Output: 1_000_000}}}, 60, 0},
		{"without prices", nil, 2*50 + 10*10, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := tool.New("ask", "Ask an expert.", func(ctx context.Context, _ struct{}) (string, error) {
				inner, err := loop.New(looptest.NewModel(used(looptest.Say("42"), 50, 10)), loop.Config{Policy: c.own, Models: map[string]machine.ModelInfo{"": {Name: "inner"}}})
				if err != nil {
					return "", err
				}
				r, err := inner.Run(ctx, nil, loop.Input{Prompt: "What?"})
				return r.Text, err
			})
			model := looptest.NewModel(used(looptest.Call(call("ask", `{}`)), 100, 20), used(looptest.Say("done"), 170, 5))
			l, err := loop.New(model, spending(policy.Spending{Run: policy.Allowance{Cost: new(int64(50_000))}}, ask))
			require.NoError(t, err)
			r, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Ask."})
			require.NoError(t, err)
			assert.EqualValues(t, 400+390+c.cost, r.Cost)
			assert.Equal(t, c.estimated, r.Estimated)
		})
	}
}

// What a run of the session spent before it died is known to the process that goes on.
func TestAResumedRunKnowsWhatWasSpent(t *testing.T) {
	store := &looptest.Store{}
	l, err := loop.New(looptest.NewModel(used(looptest.Say(""), 100, 20), looptest.Fail(&fault.TransportError{Class: fault.Unavailable, Cause: errors.New("down")})),
		spending(policy.Spending{Session: policy.Allowance{Cost: new(int64(1000))}}), loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	for _, prompt := range []string{"Where?", "Once more?"} {
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: "order-42", Journal: j})
		require.NoError(t, err)
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: prompt})
		require.ErrorIs(t, err, policy.ReasonCostBudget, "the call that failed may have cost all that was left")
		assert.LessOrEqual(t, s.State().Charged().Cost, int64(1000))
		assert.Greater(t, s.State().Charged().Cost, int64(980))
		require.NoError(t, j.Close())
	}
}

// A summary is a call of a model, too: it is paid at the price of the run's model, because its own is not
// known.
func TestASummaryIsPaid(t *testing.T) {
	p := *spending(policy.Spending{}).Policy
	p.Context = policy.Context{Steps: []policy.ContextStep{policy.Summarise}, Keep: new(1)}
	read := tool.New("read", "Read.", func(context.Context, struct{}) (string, error) { return strings.Repeat("word ", 999), nil }, tool.ReadOnly())
	cfg := spending(policy.Spending{}, read)
	cfg.Policy = &p
	long := looptest.Fail(&fault.ClassError{Class: fault.ContextLength, Cause: errors.New("too long")})
	turn := used(looptest.Call(call("read", `{}`)), 100, 20)
	model := looptest.NewModel(turn, turn, long, used(looptest.Say("done"), 170, 5))
	short := func(context.Context, []message.Message) (string, message.Usage, error) {
		return "It was read.", message.Usage{InputTokens: 50, OutputTokens: 10, APICalls: 1}, nil
	}
	l, err := loop.New(model, cfg, loop.WithSummary(short))
	require.NoError(t, err)
	r, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Read."})
	require.NoError(t, err)
	assert.EqualValues(t, 400+400+390+2*50+10*10, r.Cost)
	assert.EqualValues(t, 1, r.Estimated)
	assert.EqualValues(t, 4, r.Usage.APICalls)
}

// A provider that refuses what its model wrote has run the model.
func TestAReplyThatTheProviderRefusesIsPaid(t *testing.T) {
	refused := looptest.Fail(&fault.ToolValidationError{Tool: "book_room", Issues: []fault.Issue{{Pointer: "/city", Rule: "required"}}})
	l, err := loop.New(looptest.NewModel(refused, used(looptest.Say("done"), 170, 5)),
		spending(policy.Spending{Run: policy.Allowance{Cost: new(int64(50_000))}, MaxReply: new(int64(20))}, bookRoom(t, booked).All()...))
	require.NoError(t, err)
	r, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	assert.EqualValues(t, 1, r.Estimated)
	assert.Greater(t, r.Cost, int64(390+200))
	assert.Greater(t, r.Wasted.Cost, int64(200))
}

// The first call of a run is the first of an action, which has an allowance of its own.
func TestTheFirstCallOfAnActionIsBoundedByItsAllowance(t *testing.T) {
	for _, c := range []struct {
		name   string
		action policy.Allowance
		most   int64
		err    string
	}{
		{"its reply is bounded", policy.Allowance{OutputTokens: new(int64(100))}, 100, ""},
		{"it does not fit", policy.Allowance{OutputTokens: new(int64(10))}, 0,
			"run stopped: the next call does not fit the budget of tokens (action.output_tokens: 10 left, the call takes 16)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := looptest.NewModel(used(looptest.Say("done"), 100, 20))
			l, err := loop.New(model, spending(policy.Spending{Action: c.action}))
			require.NoError(t, err)
			_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "Where?"})
			if c.err != "" {
				require.EqualError(t, err, c.err)
				assert.Empty(t, model.Requests())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.most, model.Requests()[0].MaxOutputTokens)
		})
	}
}

// A reply of a model that cannot bound it may pass the allowance of its action: the result says so.
func TestAReplyThatPassesTheAllowanceOfItsActionIsAWarning(t *testing.T) {
	cfg := spending(policy.Spending{Action: policy.Allowance{OutputTokens: new(int64(100))}}, bookRoom(t, booked).All()...)
	cfg.Models = map[string]machine.ModelInfo{"": {Name: "m", Unbounded: true}}
	broken := used(looptest.Say(""), 100, 120)
	broken.Reply.Finish = message.Aborted
	for name, turns := range map[string][]looptest.Turn{
		"an answer at once":      {used(looptest.Say("done"), 100, 120)},
		"a call at once":         {used(looptest.Call(call("book_room", lisbon)), 100, 120), used(looptest.Say("done"), 100, 20)},
		"a corrected answer":     {used(looptest.Say(""), 100, 50), used(looptest.Say("done"), 100, 70)},
		"a reply that broke off": {used(looptest.Call(call("book_room", "{}")), 100, 20), broken},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := loop.New(looptest.NewModel(turns...), cfg, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			r, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Book."})
			if broken := name == "a reply that broke off"; broken {
				require.ErrorIs(t, err, policy.ReasonTokenBudget)
				assert.Equal(t, []string{"spending: action.output_tokens: passed by 40"}, r.Warnings)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{"spending: action.output_tokens: passed by 20"}, r.Warnings)
		})
	}
}

// Counts and money below 0 give nothing back, and sums do not overflow: neither from a model nor from a tool.
func TestACountBelowZeroGivesNoBudgetBack(t *testing.T) {
	for name, c := range map[string]struct {
		used   message.Usage
		costs  []int64
		bounds policy.Allowance
		calls  int
	}{
		"input":        {used: message.Usage{InputTokens: -5000, OutputTokens: 50}, bounds: policy.Allowance{OutputTokens: new(int64(110))}, calls: 2},
		"output":       {used: message.Usage{InputTokens: 100, OutputTokens: -5000}, bounds: policy.Allowance{TotalTokens: new(int64(300))}, calls: 2},
		"cache":        {used: message.Usage{InputTokens: 100, CacheReadTokens: 50, CacheWriteTokens: -5000}, bounds: policy.Allowance{CachedTokens: new(int64(149))}, calls: 2},
		"money":        {used: message.Usage{InputTokens: 100}, costs: []int64{-5000, -5000}, bounds: policy.Allowance{Cost: new(int64(700))}, calls: 2},
		"a lot of it":  {used: message.Usage{InputTokens: 100}, costs: []int64{math.MaxInt64, math.MaxInt64}, bounds: policy.Allowance{Cost: new(int64(700))}, calls: 1},
		"no more left": {used: message.Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64}, bounds: policy.Allowance{Cost: new(int64(700))}, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := spending(policy.Spending{Run: c.bounds}, tool.New("act", "Acts.", func(ctx context.Context, _ struct{}) (string, error) {
				for _, micros := range c.costs {
					require.NoError(t, tool.AddCost(ctx, micros))
				}
				return "ok", nil
			}))
			cfg.Estimate = func(string, []message.Message) int64 { return 1 }
			turn := looptest.Call(call("act", `{}`))
			turn.Reply.Usage = c.used
			model := looptest.NewModel(slices.Repeat([]looptest.Turn{turn}, 9)...)
			_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go."}, cfg)
			var x *loop.RetryExhaustedError
			require.ErrorAs(t, err, &x)
			assert.Contains(t, []policy.Reason{policy.ReasonTokenBudget, policy.ReasonCostBudget}, x.Reason)
			assert.Len(t, model.Requests(), c.calls)
			assert.GreaterOrEqual(t, min(x.Usage.InputTokens, x.Usage.OutputTokens, x.Cost), int64(0))
		})
	}
}

// Thoughts that go back to the provider are part of the next prompt; others are gone.
func TestThoughtsThatGoBackAreProjected(t *testing.T) {
	for opaque, most := range map[string]int64{"": 9_000 - (100 + 20), "signature": 9_000 - (100 + 220)} {
		first := looptest.Say("")
		first.Reply.Opaque = opaque
		first.Reply.Usage = message.Usage{InputTokens: 100, OutputTokens: 220, ReasoningTokens: 200, APICalls: 1}
		model := looptest.NewModel(first, used(looptest.Say("done"), 1, 1))
		l, err := loop.New(model, spending(policy.Spending{Session: policy.Allowance{TotalTokens: new(int64(9_320))}}))
		require.NoError(t, err)
		_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "Where?"})
		require.NoError(t, err)
		assert.InDelta(t, most, model.Requests()[1].MaxOutputTokens, 100, "the feedback is estimated")
	}
}

// A reply that took several requests has the prompts of all, and only the last is the beginning of the next
// one.
func TestThePromptOfTheLastRequestIsProjected(t *testing.T) {
	first := looptest.Say("")
	first.Reply.Usage = message.Usage{InputTokens: 3_000, CacheReadTokens: 2_000, OutputTokens: 20, APICalls: 3}
	first.Reply.PromptTokens = 1_000
	model := looptest.NewModel(first, used(looptest.Say("done"), 1, 1))
	cfg := spending(policy.Spending{Run: policy.Allowance{TotalTokens: new(int64(2_000_000))}})
	cfg.Policy.Prices["m"] = policy.Price{ContextWindow: new(int64(8192))}
	l, err := loop.New(model, cfg)
	require.NoError(t, err)
	r, err := l.Run(t.Context(), nil, loop.Input{Prompt: "Where?"})
	require.NoError(t, err)
	assert.InDelta(t, 8192-(1_000+20), model.Requests()[1].MaxOutputTokens, 100, "the feedback is estimated")
	assert.EqualValues(t, 3_001, r.Usage.InputTokens)
}

// A server refuses to be asked for a reply that does not fit its window beside the prompt, however much is
// left of a budget.
func TestAReplyIsBoundedByTheWindow(t *testing.T) {
	model := looptest.NewModel(used(looptest.Say("done"), 100, 5))
	cfg := spending(policy.Spending{Run: policy.Allowance{TotalTokens: new(int64(2_000_000))}})
	cfg.Policy.Prices["m"] = policy.Price{ContextWindow: new(int64(8192))}
	l, err := loop.New(model, cfg)
	require.NoError(t, err)
	_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "Where?"})
	require.NoError(t, err)
	assert.InDelta(t, 8192-50, model.Requests()[0].MaxOutputTokens, 50)
}

// shortWriter is a model that can write 4,096 tokens, and refuses to be asked for more.
type shortWriter struct{ asked []int64 }

func (m *shortWriter) Reply(_ context.Context, r loop.Request) (message.Reply, error) {
	m.asked = append(m.asked, r.MaxOutputTokens)
	if r.MaxOutputTokens > 4096 {
		return message.Reply{}, fault.Typed(fault.ProviderError{Class: fault.InvalidRequest, StatusCode: 400, MaxReply: 4096, Message: "max_tokens is too large"})
	}
	used := message.Usage{InputTokens: 100, OutputTokens: 20, APICalls: 1}
	if len(r.Messages) < 5 {
		return message.Reply{Usage: used, Calls: []message.Call{call("book_room", lisbon)}}, nil
	}
	return message.Reply{Usage: used, Text: "done"}, nil
}

// What is left of a budget may be more than the model can write. The run asks for that much once, and goes on
// with what the model can write.
func TestAModelThatCannotWriteAllThatIsLeftIsAskedForLess(t *testing.T) {
	model, log := &shortWriter{}, &bytes.Buffer{}
	tools := bookRoom(t, booked).All()
	l, err := loop.New(model, spending(policy.Spending{Run: policy.Allowance{TotalTokens: new(int64(500_000))}}, tools...), loop.WithObserver(observe.LogTo(slog.New(slog.NewTextHandler(log, nil)))))
	require.NoError(t, err)
	s := newSession(t)
	r, err := l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	require.Len(t, model.asked, 4)
	assert.Greater(t, model.asked[0], int64(490_000))
	assert.Equal(t, []int64{4096, 4096, 4096}, model.asked[1:])
	assert.Zero(t, r.Wasted, "a refusal costs nothing")
	refused := r.Attempts[0]
	assert.Equal(t, policy.ReasonReplyBounded, refused.Reason)
	assert.Equal(t, fault.Transport, refused.Plane)
	assert.Contains(t, log.String(), "msg=retrying correlation_id=order-42 plane=transport error_type=invalid_request reason=reply_bounded")

	kept, err := s.Snapshot()
	require.NoError(t, err)
	s, err = session.Restore(session.Config{}, kept)
	require.NoError(t, err)
	_, err = l.Run(t.Context(), s, loop.Input{Prompt: "And another."})
	require.NoError(t, err)
	assert.Equal(t, []int64{4096}, model.asked[4:], "a session keeps it")
}

// What a model without a name can write is known for one run: in the next it may be another model.
func TestWhatANamelessModelCanWriteIsForgotten(t *testing.T) {
	model, cfg := &shortWriter{}, spending(policy.Spending{Run: policy.Allowance{TotalTokens: new(int64(500_000))}}, bookRoom(t, booked).All()...)
	cfg.Models = nil
	l, err := loop.New(model, cfg)
	require.NoError(t, err)
	s := newSession(t)
	for range 2 {
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
		require.NoError(t, err)
	}
	assert.Equal(t, int64(4096), model.asked[1])
	assert.Greater(t, model.asked[4], int64(400_000))
}

// What a user says while a model refuses a call is estimated before the call is made for less: a redacted
// journal has no text to measure.
func TestWhatIsSaidDuringARefusalIsEstimated(t *testing.T) {
	j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), "order-42", journal.Settings{Redact: &journal.Redaction{MaxBytes: 1}})
	require.NoError(t, err)
	defer j.Close()
	s, model := fixture.In(nil, j), &shortWriter{}
	spoken := loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
		if len(model.asked) == 0 {
			assert.NoError(t, s.Say(session.Words{Text: "By train."}))
		}
		return model.Reply(ctx, r)
	})
	cfg := spending(policy.Spending{Run: policy.Allowance{TotalTokens: new(int64(500_000))}}, bookRoom(t, booked).All()...)
	var estimated []string
	cfg.Estimate = func(_ string, added []message.Message) int64 {
		estimated = append(estimated, added[len(added)-1].Text)
		return 10
	}
	l, err := loop.New(spoken, cfg)
	require.NoError(t, err)
	_, err = l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	assert.Equal(t, []string{"Book.", "By train."}, estimated[:2])
	assert.Equal(t, int64(4096), model.asked[1])
}

// What a user says while a call waits for the limiter is estimated, too. The call goes by the grant that it
// has.
func TestWhatIsSaidToACallThatWaitsIsEstimated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := newLimiter(t, limiter.Config{Limit: limit.Config{Concurrency: 1}})
		ask := limiter.Ask{Scope: "m"}
		other, err := lim.Acquire(t.Context(), ask)
		require.NoError(t, err)
		cfg := spending(policy.Spending{Run: policy.Allowance{TotalTokens: new(int64(20))}})
		cfg.Estimate = func(_ string, added []message.Message) int64 { return int64(len(added)) }
		l, err := loop.New(looptest.NewModel(looptest.Say("Done.")), cfg, loop.WithLimiter(lim), loop.WithScope(func(loop.Request) string { return "m" }))
		require.NoError(t, err)
		s, done := newSession(t), make(chan error, 1)
		go func() {
			_, err := l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, s.Say(session.Words{Text: "By train."}))
		lim.Settle(other, limiter.Use{Outcome: limit.Served})
		require.NoError(t, <-done)
		_, err = lim.Acquire(t.Context(), ask)
		require.NoError(t, err, "no grant is left over")
	})
}

// A model that says the same again is not asked again.
func TestAModelIsAskedForLessOnce(t *testing.T) {
	refusal := fault.Typed(fault.ProviderError{Class: fault.InvalidRequest, StatusCode: 400, MaxReply: 4096, Message: "no"})
	model := looptest.NewModel(looptest.Fail(refusal), looptest.Fail(refusal), looptest.Say("never"))
	l, err := loop.New(model, spending(policy.Spending{Run: policy.Allowance{TotalTokens: new(int64(500_000))}}))
	require.NoError(t, err)
	_, err = l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Book."})
	require.ErrorIs(t, err, policy.ReasonNotRetryable)
	assert.Len(t, model.Requests(), 2)
}

// A model call that is left costs what was projected, because the provider may bill it: the run was
// cancelled, or the user has said something else. A call that was never made costs nothing.
func TestACallThatIsLeftIsPaid(t *testing.T) {
	bounds := policy.Spending{Session: policy.Allowance{Cost: new(int64(50_000))}, MaxReply: new(int64(20))}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l, err := loop.New(loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			cancel()
			<-ctx.Done()
			return message.Reply{}, ctx.Err()
		}), spending(bounds))
		require.NoError(t, err)
		s := newSession(t)
		_, err = l.Run(ctx, s, loop.Input{Prompt: "Book."})
		var x *loop.RetryExhaustedError
		require.ErrorAs(t, err, &x)
		assert.Greater(t, x.Cost, int64(200))
		assert.EqualValues(t, 1, x.Estimated)
		assert.Equal(t, x.Cost, s.State().Charged().Cost)
	})
	t.Run("never made", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := newSession(t)
		l, err := loop.New(looptest.NewModel(), spending(bounds))
		require.NoError(t, err)
		_, err = l.Run(ctx, s, loop.Input{Prompt: "Book."})
		require.ErrorIs(t, err, policy.ReasonCancelled)
		assert.Zero(t, s.State().Charged())
	})
	t.Run("stopped", func(t *testing.T) {
		s, asked := newSession(t), 0
		l, err := loop.New(loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			if asked++; asked > 1 {
				return used(looptest.Say("done"), 100, 5).Reply, nil
			}
			assert.NoError(t, s.Say(session.Words{Text: "Rather by train.", Stop: true}))
			<-ctx.Done()
			return message.Reply{}, ctx.Err()
		}), spending(bounds))
		require.NoError(t, err)
		r, err := l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
		require.NoError(t, err)
		assert.EqualValues(t, 1, r.Estimated)
		assert.Greater(t, r.Cost, int64(250+200))
		assert.EqualValues(t, 105, r.Usage.Total())
	})
}

// A model call that a shutdown cut off may have been paid for. The run that ends before it is made again
// counts it as estimated; the one that makes it again counts that one.
func TestACallThatAShutdownCutOffIsPaidByARunThatEndsBeforeItIsMadeAgain(t *testing.T) {
	cfg := spending(policy.Spending{Session: policy.Allowance{Cost: new(int64(50_000))}, MaxReply: new(int64(20))})
	for name, late := range map[string]bool{"at its deadline": true, "called again": false} {
		t.Run(name, func(t *testing.T) {
			store, clock := journal.Dir(t.TempDir()), looptest.NewClock()
			ctx, stop := context.WithCancelCause(t.Context())
			cut := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
				stop(loop.ErrSuspended)
				<-ctx.Done()
				return message.Reply{}, ctx.Err()
			})
			in := loop.Input{Prompt: "Is it?", Deadline: clock.Now().Add(time.Hour)}
			s := fixture.In(nil, recorded(t, store))
			_, err := fixture.Run(ctx, cut, s, in, cfg, loop.WithClock(clock))
			require.ErrorIs(t, err, loop.ErrSuspended)
			require.NoError(t, session.DriverOf(s).Journal().(*journal.Journal).Close())
			if late {
				clock.Add(2 * time.Hour)
			}
			again := looptest.NewModel(used(looptest.Say("Yes."), 100, 5))
			l, err := loop.New(again, cfg, loop.WithClock(clock))
			require.NoError(t, err)
			s = fixture.In(nil, recorded(t, store))
			r, err := l.Resume(t.Context(), s)
			if !late {
				require.NoError(t, err)
				assert.EqualValues(t, 250, r.Cost)
				assert.Zero(t, r.Estimated)
				return
			}
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, policy.ReasonDeadline, exhausted.Reason)
			assert.Empty(t, again.Requests())
			assert.Greater(t, exhausted.Cost, int64(200))
			assert.EqualValues(t, 1, exhausted.Estimated)
			assert.Equal(t, exhausted.Cost, s.State().Charged().Cost)
			_, err = journal.Replay(strings.NewReader(lines(t, store)), nil)
			require.NoError(t, err)
		})
	}
}
