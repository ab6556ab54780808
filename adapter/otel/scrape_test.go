package otel_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// story has a retry on each plane, a reducer error, and an answer.
func story() *looptest.Model {
	return looptest.NewModel(
		looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two"}`)),
		looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, Provider: "example", RetryAfter: 3 * time.Second}),
		looptest.Call(call("book_room", faro)),
		looptest.Call(call("book_room", lisbon)),
		looptest.Say("Booked."))
}

// exactly is the default policy without jitter, for tests of times.
func exactly() *policy.Set {
	set, p := policy.DefaultSet(), policy.Transport()
	p.Backoff.Jitter = backoff.Jitter{Kind: backoff.NoJitter}
	set.Transport = p.TransportLayer()
	return &set
}

// journaled plays the story with a journal.
func journaled(t *testing.T, dir journal.Dir, b *backend) loop.Result {
	t.Helper()
	j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	result, err := loopRun(t.Context(), story(), recorded(t, j), "Book a room.", loop.Config{Tools: toolsOf(t, booked), Policy: exactly()}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.NoError(t, err)
	return result
}

func TestAScrapeShowsTheFourSeriesByName(t *testing.T) {
	b := newBackend(t, otel.Config{})
	journaled(t, journal.Dir(t.TempDir()), b)
	lines := b.scrape(t)
	for name, want := range map[string][]string{
		"validation_retry_total": {`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="book_room"} 1`},
		"reducer_error_total":    {`reducer_error_total{gen_ai_tool_name="book_room",retake_reducer="occupancy"} 1`},
		"retake_retry_delay_seconds_count": {
			`retake_retry_delay_seconds_count{retake_plane="correction",retake_reason="immediate"} 1`,
			`retake_retry_delay_seconds_count{retake_plane="transport",retake_reason="retry_after"} 1`,
		},
		"retake_retry_delay_seconds_sum": {
			`retake_retry_delay_seconds_sum{retake_plane="correction",retake_reason="immediate"} 0`,
			`retake_retry_delay_seconds_sum{retake_plane="transport",retake_reason="retry_after"} 3`,
		},
		"retake_retry_attempts_count": {
			`retake_retry_attempts_count{gen_ai_tool_name="book_room",retake_plane="correction",retake_reason="accepted"} 1`,
			`retake_retry_attempts_count{gen_ai_tool_name="book_room",retake_plane="correction",retake_reason="reducer_error"} 1`,
			`retake_retry_attempts_count{retake_plane="correction",retake_reason="accepted"} 1`,
		},
	} {
		assert.ElementsMatch(t, want, series(lines, name))
	}
}

func TestAReplayShowsNone(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	live := journaled(t, dir, newBackend(t, otel.Config{}))
	file, err := os.ReadFile(filepath.Join(string(dir), journal.FileName("order-42")))
	require.NoError(t, err)

	b := newBackend(t, otel.Config{})
	report, err := journal.Replay(bytes.NewReader(file), nil)
	require.NoError(t, err)
	assert.Positive(t, report.Events)

	j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	past, err := j.Past()
	require.NoError(t, err)
	assert.Equal(t, live.Turns, past.State.Turn)
	again, err := loopResume(t.Context(), looptest.NewModel(), recorded(t, j), loop.Config{Tools: toolsOf(t, booked)}, loop.WithObserver(b.observer))
	require.NoError(t, err)
	assert.Equal(t, live.Text, again.Text)

	assert.Empty(t, b.scrape(t))
	assert.Empty(t, b.spans.Started())
}

func TestAResumedRunTellsOnlyWhatIsNew(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{})
	require.NoError(t, err)
	before := newBackend(t, otel.Config{})
	crash := looptest.NewModel(looptest.Call(call("book_room", `{}`)))
	assert.Panics(t, func() {
		model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (reply message.Reply, err error) {
			if reply, err = crash.Reply(ctx, req); err != nil {
				panic("the process dies")
			}
			return reply, nil
		})
		_, _ = loopRun(t.Context(), model, recorded(t, j), "Book a room.", loop.Config{Tools: toolsOf(t, booked)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(before.observer))
	})
	require.NoError(t, j.Close())
	assert.NotEmpty(t, series(before.scrape(t), "validation_retry_total"))

	j, err = journal.Open(t.Context(), dir, "order-42", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	after := newBackend(t, otel.Config{})
	_, err = loopResume(t.Context(), looptest.NewModel(looptest.Say("Never mind.")), recorded(t, j), loop.Config{Tools: toolsOf(t, booked)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(after.observer))
	require.NoError(t, err)
	assert.Equal(t, []string{`retake_retry_attempts_count{retake_plane="correction",retake_reason="accepted"} 1`}, series(after.scrape(t), "retake_retry_attempts_count"))
	assert.Empty(t, series(after.scrape(t), "validation_retry_total"))
	root := after.spans.Ended()[len(after.spans.Ended())-1]
	assert.Equal(t, "true", attributes(root.Attributes())["retake.resumed"])
}

func TestBuckets(t *testing.T) {
	bounds := func(lines []string, name string) []string {
		var all []string
		for _, line := range series(lines, name+"_bucket") {
			if _, at, ok := strings.Cut(line, `le="`); ok {
				all = append(all, at[:strings.IndexByte(at, '"')])
			}
		}
		return all
	}
	a := &loop.Action{Policy: policy.Correction(), Transport: policy.Transport()}
	for _, c := range []struct {
		cfg              otel.Config
		delays, attempts []string
	}{
		{otel.Config{}, []string{"0", "0.01", "0.05", "0.1", "0.5", "1", "2", "5", "10", "30", "60", "300", "+Inf"}, []string{"1", "2", "3", "5", "8", "+Inf"}},
		{otel.Config{DelayBounds: []float64{1}, AttemptBounds: []float64{4}}, []string{"1", "+Inf"}, []string{"4", "+Inf"}},
	} {
		b := newBackend(t, c.cfg)
		_, err := loop.Do(t.Context(), nil, a, func(context.Context, loop.Attempt) (int, error) {
			return 0, &fault.StructuredOutputError{}
		}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
		require.Error(t, err)
		lines := b.scrape(t)
		assert.Equal(t, c.delays, bounds(lines, "retake_retry_delay_seconds"))
		assert.Equal(t, c.attempts, bounds(lines, "retake_retry_attempts"))
		assert.Equal(t, []string{`retake_retry_attempts_sum{retake_plane="correction",retake_reason="attempts_exhausted"} 3`}, series(lines, "retake_retry_attempts_sum"))
	}
}

// retried notifies an observer of a retry.
func retried(b *backend, action string, class fault.Class) {
	b.observer.Observe(context.Background(), observe.Notice{
		Kind: observe.Retrying, Plane: fault.Correction, Action: action, Class: class, Reason: policy.ReasonImmediate, Attempt: 1, MaxAttempts: 3,
	})
}

func TestCardinalityIsBounded(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  otel.Config
		want []string
	}{
		{"by the first names", otel.Config{MaxNames: 2}, []string{
			`validation_retry_total{error_type="_OTHER",gen_ai_tool_name="tool-0"} 1`,
			`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="_OTHER"} 98`,
			`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="tool-0"} 1`,
			`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="tool-1"} 1`,
			`validation_retry_total{error_type="unknown_tool",gen_ai_tool_name="_OTHER"} 50`,
		}},
		{"by a list", otel.Config{Tools: []string{"tool-7"}, Classes: []fault.Class{"mine"}}, []string{
			`validation_retry_total{error_type="mine",gen_ai_tool_name="_OTHER"} 1`,
			`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="_OTHER"} 99`,
			`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="tool-7"} 1`,
			`validation_retry_total{error_type="unknown_tool",gen_ai_tool_name="_OTHER"} 50`,
		}},
		{"by none at all", otel.Config{Tools: []string{}}, []string{
			`validation_retry_total{error_type="_OTHER",gen_ai_tool_name="_OTHER"} 1`,
			`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="_OTHER"} 100`,
			`validation_retry_total{error_type="unknown_tool",gen_ai_tool_name="_OTHER"} 50`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBackend(t, c.cfg)
			for n := range 50 {
				retried(b, fmt.Sprint("made up ", n), fault.UnknownTool)
			}
			for n := range 100 {
				retried(b, fmt.Sprint("tool-", n), fault.ToolValidation)
			}
			retried(b, "tool-0", "mine")
			assert.ElementsMatch(t, c.want, series(b.scrape(t), "validation_retry_total"))
		})
	}
	b := newBackend(t, otel.Config{MaxNames: 3})
	for n := range 100 {
		b.observer.Observe(t.Context(), observe.Notice{Kind: observe.ReducerFailed, Reducer: fmt.Sprint("reducer-", n), Class: fault.Reducer})
	}
	assert.Len(t, series(b.scrape(t), "reducer_error_total"), 4)
}

// A gateway that gives each call a model of its own, by its date or its id, makes no series for each.
func TestNamesThatAServerGivesItsModelsAreBounded(t *testing.T) {
	b := newBackend(t, otel.Config{MaxNames: 2, Models: map[string]otel.Model{"": {Provider: "example", Name: "small"}}})
	for n := range 4 {
		turn := looptest.Say("Booked.")
		turn.Reply.Model = fmt.Sprint("small-", n)
		turn.Reply.Usage.InputTokens = 10
		_, err := loopRun(t.Context(), looptest.NewModel(turn), newSession(t), "Book.", loop.Config{},
			loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
		require.NoError(t, err)
	}
	for _, metric := range []string{"gen_ai_client_operation_duration_seconds_count", "gen_ai_client_token_usage_count"} {
		lines := strings.Join(series(b.scrape(t), metric), "\n")
		assert.Equal(t, 3, strings.Count(lines, "gen_ai_response_model="), lines)
		for _, name := range []string{"small-0", "small-1", "_OTHER"} {
			assert.Contains(t, lines, `gen_ai_response_model="`+name+`"`)
		}
	}
	last := b.spans.Ended()[len(b.spans.Ended())-2]
	assert.Equal(t, "small-3", attributes(last.Attributes())["gen_ai.response.model"], "a span has it as it came")
}

func TestANameThatTheModelMadeUpIsNeverToldApart(t *testing.T) {
	b := newBackend(t, otel.Config{})
	down := looptest.Fail(&fault.ProviderError{Class: fault.Network, Provider: "example"})
	inner := func(ctx context.Context, _ booking) (receipt, error) {
		return loop.Do(ctx, nil, loop.ToolCall("inner"), func(_ context.Context, a loop.Attempt) (receipt, error) {
			if a.Number == 1 {
				return receipt{}, &fault.ToolValidationError{Tool: "inner"}
			}
			return receipt{"R-1"}, nil
		}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	}
	made := looptest.Call(call("made_up", lisbon))
	run := func(turns ...looptest.Turn) error {
		_, err := loopRun(t.Context(), looptest.NewModel(turns...), newSession(t), "Book.", loop.Config{Tools: toolsOf(t, inner)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
		return err
	}
	require.NoError(t, run(made, down, looptest.Call(call("book_room", lisbon)), looptest.Say("done")))
	require.ErrorIs(t, run(made, down, down, down, down), policy.ReasonAttemptsExhausted)
	lines := b.scrape(t)
	assert.NotContains(t, strings.Join(lines, "\n"), "made_up")
	assert.ElementsMatch(t, []string{
		`retake_retry_attempts_count{retake_plane="transport",retake_reason="attempts_exhausted"} 1`,
		`retake_retry_attempts_count{gen_ai_tool_name="book_room",retake_plane="correction",retake_reason="accepted"} 1`,
		`retake_retry_attempts_count{gen_ai_tool_name="inner",retake_plane="correction",retake_reason="accepted"} 1`,
		`retake_retry_attempts_count{retake_plane="correction",retake_reason="accepted"} 1`,
	}, series(lines, "retake_retry_attempts_count"))
	assert.ElementsMatch(t, []string{
		`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="inner"} 1`,
		`validation_retry_total{error_type="unknown_tool",gen_ai_tool_name="_OTHER"} 2`,
	}, series(lines, "validation_retry_total"))
}

func TestSeveralRunsAtOnce(t *testing.T) {
	b := newBackend(t, otel.Config{})
	const runs = 16
	var wg sync.WaitGroup
	for range runs {
		wg.Go(func() {
			_, err := loopRun(context.Background(), story(), newSession(t), "Book a room.", loop.Config{Tools: toolsOf(t, booked)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, []string{fmt.Sprintf(`validation_retry_total{error_type="tool_validation",gen_ai_tool_name="book_room"} %d`, runs)},
		series(b.scrape(t), "validation_retry_total"))
	traces := map[string]int{}
	for _, span := range b.spans.Ended() {
		traces[span.SpanContext().TraceID().String()]++
	}
	assert.Len(t, traces, runs)
	for _, spans := range traces {
		assert.Equal(t, 8, spans, "the run, five calls, two tools")
	}
}

func TestACancelledAttemptIsNoAttempt(t *testing.T) {
	b := newBackend(t, otel.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	book := func(context.Context, booking) (receipt, error) { cancel(); return receipt{}, nil }
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	set, err := tool.NewSet(tool.New("book_room", "Book a hotel room.", book))
	require.NoError(t, err)
	_, err = loopRun(ctx, looptest.NewModel(looptest.Call(call("book_room", lisbon))), s, "Book.", loop.Config{Tools: set}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.ErrorIs(t, err, policy.ReasonCancelled)
	assert.Empty(t, series(b.scrape(t), "retake_retry_attempts_count"))
}

func TestModelCallsAreMeasuredByTheConventions(t *testing.T) {
	b := newBackend(t, otel.Config{Models: map[string]otel.Model{"": {Provider: "example", Name: "small"}}})
	said := looptest.Say("Done.")
	said.Reply.Usage = message.Usage{InputTokens: 120, OutputTokens: 30, ReasoningTokens: 10, APICalls: 1}
	_, err := loopRun(t.Context(), looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Network}), said), newSession(t), "Hi.", loop.Config{}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.NoError(t, err)
	lines := b.scrape(t)
	assert.Len(t, series(lines, "gen_ai_client_operation_duration_seconds_count"), 2, "one with error_type, one without")
	assert.Len(t, series(lines, "gen_ai_client_token_usage_sum"), 2, "input and output")
	assert.Equal(t, otel.SchemaURL, b.spans.Ended()[0].InstrumentationScope().SchemaURL)
	assert.Equal(t, "10", attributes(b.spans.Ended()[1].Attributes())["gen_ai.usage.reasoning.output_tokens"])
}

// Which tool fails most, how runs end, and what failed attempts cost: the sums are those of the results.
func TestADashboardSeesFailuresAndWhatTheyCost(t *testing.T) {
	b := newBackend(t, otel.Config{Agent: "travel"})
	priced := exactly()
	priced.Prices = policy.Prices{"m": {Input: 1_000_000, Output: 2_000_000}}
	clock := looptest.NewClock()
	book := func(ctx context.Context, in booking) (receipt, error) {
		<-clock.After(2 * time.Second)
		if in.City == "Faro" {
			return receipt{}, tool.Fail("sold out")
		}
		return booked(ctx, in)
	}
	play := func(turns ...looptest.Turn) (loop.Result, error) {
		for n := range turns {
			turns[n].Reply.Usage = message.Usage{InputTokens: 100, OutputTokens: 20, APICalls: 1}
		}
		return loopRun(t.Context(), looptest.NewModel(turns...), newSession(t), "Book a room.", loop.Config{Tools: toolsOf(t, book), Policy: priced,
			Models: map[string]machine.ModelInfo{"": {Name: "m"}}}, loop.WithClock(clock), loop.WithObserver(b.observer))
	}
	r, err := play(looptest.Call(call("book_room", `{}`)), looptest.Call(call("book_room", faro)), looptest.Call(call("book_room", lisbon)), looptest.Say("Booked."))
	require.NoError(t, err)
	bad := looptest.Call(call("book_room", `{}`))
	_, err = play(bad, bad, bad)
	var x *loop.RetryExhaustedError
	require.ErrorAs(t, err, &x)
	lines := b.scrape(t)
	for name, want := range map[string][]string{
		"gen_ai_execute_tool_duration_seconds_sum": {
			`gen_ai_execute_tool_duration_seconds_sum{error_type="tool_execution",gen_ai_agent_name="travel",gen_ai_tool_name="book_room",gen_ai_tool_type="function"} 2`,
			`gen_ai_execute_tool_duration_seconds_sum{gen_ai_agent_name="travel",gen_ai_tool_name="book_room",gen_ai_tool_type="function"} 2`,
		},
		"gen_ai_invoke_agent_duration_seconds_count": {
			`gen_ai_invoke_agent_duration_seconds_count{gen_ai_agent_name="travel",retake_reason="accepted"} 1`,
			`gen_ai_invoke_agent_duration_seconds_count{error_type="tool_validation",gen_ai_agent_name="travel",retake_reason="attempts_exhausted"} 1`,
		},
		"retake_wasted_tokens_total": {fmt.Sprintf(`retake_wasted_tokens_total{error_type="tool_validation",gen_ai_tool_name="book_room",retake_plane="correction"} %d`,
			r.Wasted.Usage.Total()+x.Wasted.Usage.Total())},
		"retake_wasted_cost_total": {fmt.Sprintf(`retake_wasted_cost_total{error_type="tool_validation",gen_ai_tool_name="book_room",retake_plane="correction"} %v`,
			float64(r.Wasted.Cost+x.Wasted.Cost)/1e6)},
	} {
		assert.ElementsMatch(t, want, series(lines, name), name)
	}
}
