package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
)

// took is a result with its cost.
func took(r result.Result[string], tokens int64, cost float64) result.Result[string] {
	r.Execution.Duration = time.Second
	r.Execution.Usage.Usage = message.Usage{InputTokens: tokens, APICalls: 1}
	r.Execution.Cost.Total = cost
	return r
}

func failed(class fault.Class) result.Result[string] {
	return took(result.Failure[string](class, ""), 100, 0.001)
}

func sure(data string, confidence float64) result.Result[string] {
	r := took(result.Success(data), 200, 0.002)
	r.Confidence = new(confidence)
	return r
}

// runs returns results in order, and counts them.
func runs(made *int, all ...result.Result[string]) func(context.Context, loop.Attempt) result.Result[string] {
	return func(context.Context, loop.Attempt) result.Result[string] {
		*made++
		return all[min(*made, len(all))-1]
	}
}

// bothWays runs a test with a session and without one.
func bothWays(t *testing.T, test func(*testing.T, *session.Session)) {
	t.Run("with_a_session", func(t *testing.T) { test(t, fixture.NewSession(t)) })
	t.Run("without", func(t *testing.T) { test(t, nil) })
}

func TestWithRetryCountsRetriesAndSumsAllAttempts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		results []result.Result[string]
		made    int
		waited  time.Duration
		status  result.Status
		class   fault.Class
	}{
		{"first_try", []result.Result[string]{sure("ok", 1)}, 1, 0, result.StatusSuccess, ""},
		{"second_try", []result.Result[string]{failed(fault.Timeout), sure("ok", 1)}, 2, time.Second, result.StatusSuccess, ""},
		{"third_try", []result.Result[string]{failed(fault.RateLimit), failed(fault.Timeout), sure("ok", 1)}, 3, 7 * time.Second, result.StatusSuccess, ""},
		{"not_retryable", []result.Result[string]{failed(fault.Refusal)}, 1, 0, result.StatusError, fault.Refusal},
		{"not_retryable_later", []result.Result[string]{failed(fault.Timeout), failed(fault.ContextLength)}, 2, time.Second, result.StatusError, fault.ContextLength},
		{"exhausted", []result.Result[string]{failed(fault.Unavailable)}, 5, 90 * time.Second, result.StatusError, fault.Unavailable},
		{"the_agents_own_code", []result.Result[string]{failed("breed-not-found")}, 1, 0, result.StatusError, "breed-not-found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, s *session.Session) {
				clock, made := looptest.NewClock(), 0
				r := agent.Retry(t.Context(), s, agent.New("breed"), runs(&made, tt.results...), loop.WithClock(clock))
				assert.Equal(t, tt.made, made)
				assert.Equal(t, tt.status, r.Status)
				assert.Equal(t, tt.class, r.Error.Class)
				assert.Equal(t, new(tt.made-1), r.Execution.RetryCount)
				assert.Equal(t, tt.waited, clock.Now().Sub(looptest.Epoch))
				assert.Equal(t, time.Duration(tt.made)*time.Second, r.Execution.Duration)
				assert.Equal(t, int64(tt.made), r.Execution.Usage.APICalls)
				require.NoError(t, r.Validate())
			})
		})
	}
}

func TestRetrySumsTokensAndCostOfFailedAttemptsToo(t *testing.T) {
	made := 0
	s := fixture.NewSession(t)
	r := agent.Retry(t.Context(), s, agent.New("breed"), runs(&made, failed(fault.Timeout), failed(fault.Timeout), sure("ok", 1)), loop.WithClock(looptest.NewClock()))
	assert.Equal(t, int64(400), r.Execution.Usage.Tokens())
	assert.InDelta(t, 0.004, r.Execution.Cost.Amount(), 0)
	require.Equal(t, 3, s.State().AttemptCount())
	assert.Equal(t, int64(100), s.State().Attempts()[1].Usage.InputTokens)
	assert.Equal(t, fault.Transport, s.State().Attempts()[1].Plane)
}

func TestRetryTellsTheAgentItsAttempt(t *testing.T) {
	bothWays(t, func(t *testing.T, s *session.Session) {
		var seen []string
		agent.Retry(t.Context(), s, agent.New("breed"), func(_ context.Context, a loop.Attempt) result.Result[string] {
			seen = append(seen, fmt.Sprint(a.Number, " of ", a.Max))
			return failed(fault.Timeout)
		}, loop.WithClock(looptest.NewClock()))
		assert.Equal(t, []string{"1 of 5", "2 of 5", "3 of 5", "4 of 5", "5 of 5"}, seen)
	})
}

func TestConfidenceStopsOnceItIsReached(t *testing.T) {
	bothWays(t, func(t *testing.T, s *session.Session) {
		a, made, clock := agent.New("breed"), 0, looptest.NewClock()
		a.MinConfidence = 0.8
		r := agent.Retry(t.Context(), s, a, runs(&made, sure("Persian", 0.5), sure("Siamese", 0.65), sure("Maine Coon", 0.9)), loop.WithClock(clock))
		assert.Equal(t, "Maine Coon", r.Data)
		assert.Equal(t, new(2), r.Execution.RetryCount)
		assert.Equal(t, looptest.Epoch, clock.Now().UTC(), "waiting does not make an agent surer")
		assert.Empty(t, r.Warnings)
	})
}

func TestTheMostConfidentSuccessIsKeptWithAWarning(t *testing.T) {
	bothWays(t, func(t *testing.T, s *session.Session) {
		a, made := agent.New("breed"), 0
		a.MinConfidence, a.Transport.MaxAttempts = 0.8, 3
		r := agent.Retry(t.Context(), s, a, runs(&made, sure("Persian", 0.7), sure("Siamese", 0.5), failed(fault.Timeout)), loop.WithClock(looptest.NewClock()))
		assert.Equal(t, "Persian", r.Data)
		assert.Equal(t, []string{"confidence 0.7 is below 0.8", "stopped after attempt 3: attempts used up"}, r.Warnings)
		assert.Equal(t, new(2), r.Execution.RetryCount)
		require.NoError(t, r.Validate())
	})
}

func TestAnUnknownConfidenceIsAccepted(t *testing.T) {
	a, made := agent.New("breed"), 0
	a.MinConfidence = 1
	r := agent.Retry(t.Context(), nil, a, runs(&made, result.Success("Persian")))
	assert.True(t, r.IsSuccess())
	assert.Equal(t, 1, made)
}

func TestLowConfidenceIsRetriedOnlyWhereThePolicyListsIt(t *testing.T) {
	a, made := agent.New("breed"), 0
	a.MinConfidence = 0.8
	a.Transport, _ = policy.Preset("result-envelope")
	r := agent.Retry(t.Context(), nil, a, runs(&made, sure("Persian", 0.7)))
	assert.Equal(t, 1, made)
	assert.Equal(t, []string{"confidence 0.7 is below 0.8"}, r.Warnings)
}

func TestAPredicateAsDataStopsTheRetries(t *testing.T) {
	known, err := schema.Compile([]byte(`{"enum": ["Persian", "Siamese"]}`))
	require.NoError(t, err)
	a, made := agent.New("breed"), 0
	a.Accept = known
	r := agent.Retry(t.Context(), nil, a, runs(&made, sure("Dog", 0.9), sure("Siamese", 0.2)))
	assert.Equal(t, "Siamese", r.Data)
	assert.Equal(t, 2, made)
}

func TestWorkInProgressIsNoFailure(t *testing.T) {
	made := 0
	r := agent.Retry(t.Context(), nil, agent.New("chat"), runs(&made, result.InProgress[string](nil)))
	assert.True(t, r.IsInProgress())
	assert.Equal(t, new(0), r.Execution.RetryCount)
}

func TestAnAgentThatTakesItsRetryBackIsNotRunAgain(t *testing.T) {
	final := failed(fault.RateLimit)
	final.Error.Retryable = new(false)
	made := 0
	r := agent.Retry(t.Context(), nil, agent.New("breed"), runs(&made, final))
	assert.Equal(t, 1, made)
	assert.Empty(t, r.Warnings)
}

func TestAServersWaitIsNeverUndercutByAnAgentsRetry(t *testing.T) {
	limited := failed(fault.RateLimit)
	limited.RateLimit.RetryAfter = ratelimit.In(20 * time.Second)
	clock, made := looptest.NewClock(), 0
	agent.Retry(t.Context(), nil, agent.New("breed"), runs(&made, limited, sure("ok", 1)), loop.WithClock(clock))
	waited := clock.Now().Sub(looptest.Epoch)
	assert.GreaterOrEqual(t, waited, 20*time.Second)
	assert.LessOrEqual(t, waited, 30*time.Second)
}

func TestAnAgentsWaitThatDoesNotFitIsNotBegun(t *testing.T) {
	bothWays(t, func(t *testing.T, s *session.Session) {
		a, clock, made := agent.New("breed"), looptest.NewClock(), 0
		a.Deadline = looptest.Epoch.Add(5 * time.Second)
		r := agent.Retry(t.Context(), s, a, runs(&made, failed(fault.Unavailable)), loop.WithClock(clock))
		assert.Equal(t, fault.Unavailable, r.Error.Class)
		assert.Equal(t, []string{"stopped after attempt 1: the deadline leaves no time (wait 10s, room 5s)"}, r.Warnings)
		assert.Equal(t, looptest.Epoch, clock.Now().UTC())
	})
}

func TestWhatCannotBeRunIsAResultToo(t *testing.T) {
	busy := fixture.NewSession(t)
	require.NoError(t, session.DriverOf(busy).Acquire())
	doubtful, unbounded := agent.New("breed"), agent.New("breed")
	doubtful.MinConfidence = math.NaN()
	unbounded.Transport.MaxAttempts = 0
	for _, tt := range []struct {
		name string
		s    *session.Session
		a    *agent.Agent
		want string
	}{
		{"busy_session", busy, agent.New("breed"), session.ErrBusy.Error()},
		{"no_confidence", nil, doubtful, "min_confidence: NaN is not a confidence; write 0 to 1"},
		{"no_attempts", nil, unbounded, "max_attempts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made := 0
			r := agent.Retry(t.Context(), tt.s, tt.a, runs(&made, sure("ok", 1)))
			assert.Zero(t, made)
			assert.Equal(t, fault.Initialization, r.Error.Class)
			assert.Contains(t, r.Error.Message, tt.want)
		})
	}
}

func TestACallerWhoGivesUpEndsTheRetries(t *testing.T) {
	bothWays(t, func(t *testing.T, s *session.Session) {
		ctx, cancel := context.WithCancel(t.Context())
		r := agent.Retry(ctx, s, agent.New("breed"), func(context.Context, loop.Attempt) result.Result[string] {
			cancel()
			return failed(fault.Timeout)
		})
		assert.Equal(t, fault.Timeout, r.Error.Class, "the cause")
		assert.Equal(t, []string{"stopped after attempt 1: cancelled"}, r.Warnings)
		if s == nil {
			return
		}
		made := 0
		r = agent.Retry(ctx, s, agent.New("breed"), runs(&made, sure("ok", 1)))
		assert.Zero(t, made)
		assert.Equal(t, fault.Cancelled, r.Error.Class)
	})
}

func TestWithTimingLeavesWhatTheAgentSays(t *testing.T) {
	clock := looptest.NewClock()
	slow := func(context.Context) result.Result[string] {
		clock.Add(1234 * time.Millisecond)
		return result.Success("ok")
	}
	r := agent.Timed(t.Context(), clock, slow)
	assert.Equal(t, 1234*time.Millisecond, r.Execution.Duration)
	assert.Equal(t, "2030-01-01T00:00:00Z", r.Execution.Timestamp)

	own := agent.Timed(t.Context(), clock, func(context.Context) result.Result[string] { return sure("ok", 1) })
	assert.Equal(t, time.Second, own.Execution.Duration)
}

func TestTheEnvelopeOfARun(t *testing.T) {
	bad := looptest.Call(fixture.Call("book_room", `{}`))
	model := looptest.NewModel(bad, looptest.Fail(fixture.Refused{Class: fault.Timeout}), looptest.Say(`{"number":"R-1"}`))
	answer, err := fixture.Generate[fixture.Receipt](t.Context(), model, fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: fixture.BookRoom(t, fixture.Booked)}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	r := agent.Envelope(answer.Result, err)
	assert.JSONEq(t, `{"number":"R-1"}`, string(r.Data))
	assert.Equal(t, new(2), r.Execution.RetryCount)
	require.NoError(t, r.Validate())

	hello := agent.Envelope(loop.Result{Text: "Hello."}, nil)
	assert.Equal(t, `"Hello."`, string(hello.Data))
	calls := agent.Envelope(loop.Result{Calls: []machine.ToolRun{{Call: machine.Call{Tool: "book_room", Arguments: []byte(`{"city":"Faro"}`)}}}}, nil)
	assert.JSONEq(t, `[{"tool":"book_room","arguments":{"city":"Faro"}}]`, string(calls.Data))
	assert.Equal(t, message.ToolUse, calls.Finish)
	doubt := agent.Envelope(loop.Result{Text: "Paid?", InDoubt: []machine.CallRef{{Tool: "pay", Key: "k1"}}}, nil)
	assert.Equal(t, []string{"a call of pay may or may not have had its effect: key k1"}, doubt.Warnings)

	text := agent.Envelope(loop.Result{Text: "Hello.", Degraded: true, Warnings: []string{"degraded"}}, nil)
	doc, err := result.Encode(result.AgentResult, text)
	require.NoError(t, err)
	back, err := result.Decode[json.RawMessage](result.AgentResult, doc)
	require.NoError(t, err)
	assert.True(t, back.IsSuccess())
	assert.Nil(t, back.Data)
	assert.Equal(t, "Hello.", back.Content)
	assert.Equal(t, []string{"degraded"}, back.Warnings)
}

func TestTheEnvelopeOfAFailedRun(t *testing.T) {
	limited := &ratelimit.LimitedError{
		Err:   &fault.ProviderError{Class: fault.RateLimit, Provider: "openai", StatusCode: 429},
		State: ratelimit.Parse(map[string][]string{"X-RateLimit-Remaining-Requests-Day": {"0"}, "Retry-After": {"7"}}, looptest.Epoch),
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the caller left"))
	one := policy.DefaultSet()
	one.MaxTurns = 1
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		turns []looptest.Turn
		want  fault.Class
	}{
		{"transport", t.Context(), fixture.Repeat(looptest.Fail(limited), 4), fault.RateLimit},
		{"correction", t.Context(), fixture.Repeat(looptest.Call(fixture.Call("book_room", `{}`)), 3), fault.ToolValidation},
		{"turns", t.Context(), []looptest.Turn{looptest.Call(fixture.Call("book_room", fixture.Lisbon))}, fault.MaxIterations},
		{"cancelled", gone, nil, fault.Cancelled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := loop.Config{Tools: fixture.BookRoom(t, fixture.Booked)}
			if tt.want == fault.MaxIterations {
				cfg.Policy = &one
			}
			run, err := fixture.Run(tt.ctx, looptest.NewModel(tt.turns...), fixture.NewSession(t), loop.Input{Prompt: "Book."}, cfg, loop.WithClock(looptest.NewClock()))
			require.Error(t, err)
			r := agent.Envelope(run, err)
			assert.Equal(t, tt.want, r.Error.Class)
			assert.Equal(t, err.Error(), r.Error.Message)
			assert.Equal(t, new(tt.want == fault.RateLimit), r.Error.Retryable, "words were tried where they help")
			require.NoError(t, r.Validate())
			if tt.want == fault.RateLimit {
				assert.Equal(t, "openai", r.Execution.Provider)
				assert.Equal(t, new(3), r.Execution.RetryCount)
				assert.Len(t, r.RateLimit.Windows, 1)
			}
		})
	}
}

func TestAnAgentThatReturnsNothingHasFailed(t *testing.T) {
	r := agent.Retry(t.Context(), nil, agent.New("planner"), func(context.Context, loop.Attempt) result.Result[int] { return result.Result[int]{} })
	assert.True(t, r.IsError())
	assert.Equal(t, fault.InvalidResponse, r.Error.Class)
	assert.Equal(t, "the agent returned no result", r.Error.Message)
	_, err := json.Marshal(r)
	assert.NoError(t, err)
}

func TestNoAgentAndNoAction(t *testing.T) {
	r := agent.Retry(t.Context(), nil, nil, func(context.Context, loop.Attempt) result.Result[int] { return result.Success(1) })
	assert.Equal(t, fault.Initialization, r.Error.Class)
	assert.Equal(t, "the agent is nil: make one with New", r.Error.Message)
	r = agent.Retry[int](t.Context(), nil, agent.New("books"), nil)
	assert.Equal(t, "the function that runs the agent is nil: give one", r.Error.Message)
	_, err := fixture.ActionRunner(fixture.NewSession(t), nil, nil)
	require.ErrorContains(t, err, "the action is nil")
	_, err = (*loop.Action)(nil).Machine()
	require.ErrorContains(t, err, "the action is nil")
}
