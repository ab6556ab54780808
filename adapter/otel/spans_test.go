package otel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func attributes(all []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range all {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

// tell is a span in one line: its parent, its name, its sorted attributes, and its status.
func tell(spans []trace.ReadOnlySpan, s trace.ReadOnlySpan) string {
	parent := "-"
	for _, p := range spans {
		if p.SpanContext().SpanID() == s.Parent().SpanID() {
			parent = p.Name()
		}
	}
	set := attribute.NewSet(s.Attributes()...)
	text := fmt.Sprintf("%s > %s (%s, %v) %s", parent, s.Name(), s.SpanKind(), s.EndTime().Sub(s.StartTime()), set.Encoded(attribute.DefaultEncoder()))
	if s.Status().Code != codes.Unset {
		text += " " + s.Status().Code.String() + ": " + s.Status().Description
	}
	for _, e := range s.Events() {
		set := attribute.NewSet(e.Attributes...)
		text += "\n  " + e.Name + " " + set.Encoded(attribute.DefaultEncoder())
	}
	return text
}

func (b *backend) tree() []string {
	var lines []string
	started := b.spans.Started()
	for _, s := range started {
		lines = append(lines, tell(readOnly(started), s))
	}
	return lines
}

func readOnly(started []trace.ReadWriteSpan) []trace.ReadOnlySpan {
	all := make([]trace.ReadOnlySpan, len(started))
	for n, s := range started {
		all[n] = s
	}
	return all
}

func TestSpansOfARun(t *testing.T) {
	b := newBackend(t, otel.Config{Agent: "travel", Models: map[string]otel.Model{"": {Provider: "example", Name: "small"}}})
	used := looptest.Say("Booked.")
	used.Reply.Usage = message.Usage{InputTokens: 120, OutputTokens: 30, CacheReadTokens: 100, CacheWriteTokens: 7, APICalls: 1}
	used.Reply.Model = "small-2"
	model := looptest.NewModel(
		looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two"}`)),
		looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, Provider: "example", RetryAfter: 3 * time.Second}),
		looptest.Call(call("book_room", lisbon)), used)
	_, err := loopRun(t.Context(), model, newSession(t), "Book.", loop.Config{Tools: toolsOf(t, booked), Policy: exactly()}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.NoError(t, err)
	const asked = "gen_ai.conversation.id=order-42,gen_ai.operation.name=chat,gen_ai.provider.name=example,gen_ai.request.model=small,"
	assert.Equal(t, []string{
		"- > invoke_agent travel (internal, 3s) gen_ai.agent.name=travel,gen_ai.conversation.id=order-42,gen_ai.operation.name=invoke_agent," +
			"gen_ai.provider.name=example,gen_ai.request.model=small,gen_ai.usage.cache_creation.input_tokens=7,gen_ai.usage.cache_read.input_tokens=100," +
			"gen_ai.usage.input_tokens=120,gen_ai.usage.output_tokens=30,retake.reason=accepted" +
			"\n  retake.retry gen_ai.tool.name=book_room,retake.attempt=1,retake.delay_seconds=0,retake.failure.class=tool_validation," +
			"retake.max_attempts=3,retake.plane=correction,retake.reason=immediate" +
			"\n  retake.retry retake.attempt=1,retake.delay_seconds=3,retake.failure.class=overloaded," +
			"retake.max_attempts=4,retake.plane=transport,retake.reason=retry_after",
		"invoke_agent travel > chat small (client, 0s) " + asked + "gen_ai.response.finish_reasons=[\"tool_use\"],retake.attempt=1," +
			"retake.failure.class=tool_validation,retake.max_attempts=3,retake.transport.attempt=1,retake.turn=1",
		"invoke_agent travel > chat small (client, 0s) error.type=overloaded," + asked +
			"retake.attempt=2,retake.max_attempts=3,retake.transport.attempt=1,retake.turn=2 Error: overloaded",
		"invoke_agent travel > chat small (client, 0s) " + asked + "gen_ai.response.finish_reasons=[\"tool_use\"],retake.attempt=2," +
			"retake.max_attempts=3,retake.transport.attempt=2,retake.turn=2",
		"invoke_agent travel > execute_tool book_room (internal, 0s) gen_ai.conversation.id=order-42,gen_ai.operation.name=execute_tool," +
			"gen_ai.tool.call.id=c1,gen_ai.tool.name=book_room,gen_ai.tool.type=function,retake.transport.attempt=1",
		"invoke_agent travel > chat small (client, 0s) " + asked + "gen_ai.response.finish_reasons=[\"stop\"],gen_ai.response.model=small-2," +
			"gen_ai.usage.cache_creation.input_tokens=7,gen_ai.usage.cache_read.input_tokens=100,gen_ai.usage.input_tokens=120," +
			"gen_ai.usage.output_tokens=30,retake.attempt=1,retake.max_attempts=3,retake.transport.attempt=1,retake.turn=3",
	}, b.tree())
	assert.Len(t, b.spans.Ended(), 6)
}

func TestWhatFailsASpan(t *testing.T) {
	calls := looptest.Call(call("book_room", lisbon))
	for _, c := range []struct {
		name  string
		tool  error
		turns []looptest.Turn
		// want has the error.type of each operation with an error.
		want map[string]string
	}{
		{"nothing, where all went well", nil, []looptest.Turn{calls}, nil},
		{"a reply that cannot be used fails no span", nil, []looptest.Turn{looptest.Call(call("book_room", `{}`)), calls}, nil},
		{"a call that was made again fails its own", nil, []looptest.Turn{looptest.Fail(&fault.ProviderError{Class: fault.Network}), calls},
			map[string]string{"chat": "network"}},
		{"a call that ends the run fails both", nil, []looptest.Turn{looptest.Fail(&fault.ProviderError{Class: fault.Auth})},
			map[string]string{"chat": "auth", "invoke_agent": "auth"}},
		{"replies until the end fail the run", nil, []looptest.Turn{
			looptest.Call(call("book_room", `{}`)), looptest.Call(call("book_room", `{}`)), looptest.Call(call("book_room", `{}`)),
		}, map[string]string{"invoke_agent": "tool_validation"}},
		{"a class of the user's own", nil, []looptest.Turn{looptest.Fail(&fault.ClassError{Class: "tired"})},
			map[string]string{"chat": "_OTHER", "invoke_agent": "_OTHER"}},
		{"a class that is listed", nil, []looptest.Turn{looptest.Fail(&fault.ClassError{Class: "listed"})},
			map[string]string{"chat": "listed", "invoke_agent": "listed"}},
		{"a tool that asks for other arguments", tool.AskAgain(fault.Issue{Rule: "refused", Expected: "another city"}), []looptest.Turn{calls},
			map[string]string{"execute_tool": "tool_validation"}},
		{"a tool that failed for good", tool.Fail("closed"), []looptest.Turn{calls}, map[string]string{"execute_tool": "tool_execution"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBackend(t, otel.Config{Classes: []fault.Class{"listed"}})
			book := func(context.Context, booking) (receipt, error) { return receipt{}, c.tool }
			model := looptest.NewModel(append(c.turns, looptest.Say("done"))...)
			_, _ = loopRun(t.Context(), model, newSession(t), "Book.", loop.Config{Tools: toolsOf(t, book)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
			got := map[string]string{}
			for _, s := range b.spans.Ended() {
				own := attributes(s.Attributes())
				if what := own["error.type"]; what != "" {
					got[own["gen_ai.operation.name"]] = what
				}
				assert.Equal(t, own["error.type"], s.Status().Description)
				assert.Equal(t, own["error.type"] != "", s.Status().Code == codes.Error)
			}
			if c.want == nil {
				c.want = map[string]string{}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestARunThatEndsForAReasonOfItsOwn(t *testing.T) {
	b := newBackend(t, otel.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := loopRun(ctx, looptest.NewModel(), newSession(t), "Book.", loop.Config{}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.Error(t, err)
	_, err = loopRun(t.Context(), looptest.NewModel(), newSession(t), "Book.", loop.Config{}, loop.WithObserver(b.observer), loop.WithPrompt(func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
		return "", nil, errFaro
	}))
	require.ErrorIs(t, err, errFaro)
	ended := b.spans.Ended()
	require.Len(t, ended, 2)
	assert.Equal(t, "cancelled", attributes(ended[0].Attributes())["error.type"])
	assert.Equal(t, "unknown", attributes(ended[1].Attributes())["error.type"])
}

func TestTheModelOfALadder(t *testing.T) {
	b := newBackend(t, otel.Config{Models: map[string]otel.Model{"": {Provider: "example", Name: "small"}, "big": {Provider: "example"}}})
	bad := looptest.Fail(&fault.ProviderError{Class: fault.Auth})
	ladder := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
		return machine.Plan{Do: machine.Fallback, Model: "big"}, nil
	})
	big := map[string]loop.Model{"big": looptest.NewModel(looptest.Say("Hello."))}
	_, err := loopRun(t.Context(), looptest.NewModel(bad), newSession(t), "Hello.", loop.Config{}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer), loop.WithPlanner(ladder), loop.WithModels(big))
	require.NoError(t, err)
	var names []string
	for _, s := range b.spans.Ended() {
		names = append(names, s.Name())
	}
	assert.Equal(t, []string{"chat small", "chat big", "invoke_agent"}, names)
}

func TestACallThatFailedHasTheServerOfTheConfig(t *testing.T) {
	b := newBackend(t, otel.Config{Models: map[string]otel.Model{"": {Host: "api.test", Port: 8443, MaxTokens: 1000}}})
	said := looptest.Say("Hello.")
	said.Reply.Source = message.Source{Host: "eu.api.test", Port: 443}
	down := looptest.Fail(&fault.ProviderError{Class: fault.Network})
	_, err := loopRun(t.Context(), looptest.NewModel(down, said), newSession(t), "Hello.", loop.Config{}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.NoError(t, err)
	var got []string
	for _, s := range b.spans.Ended() {
		if own := attributes(s.Attributes()); own["gen_ai.operation.name"] == "chat" {
			got = append(got, own["server.address"]+":"+own["server.port"]+" "+own["gen_ai.request.max_tokens"])
		}
	}
	assert.Equal(t, []string{"api.test:8443 1000", "eu.api.test:443 1000"}, got)
	durations := strings.Join(series(b.scrape(t), "gen_ai_client_operation_duration_seconds_count"), "\n")
	assert.Contains(t, durations, `server_address="api.test",server_port="8443"`)
	assert.Contains(t, durations, `server_address="eu.api.test",server_port="443"`)
}

// described is a model that says what it is.
type described struct {
	loop.Model
	info machine.ModelInfo
}

func (d described) Describe() machine.ModelInfo { return d.info }

// The conventions require the provider's name, so that no configuration is needed for it.
func TestAModelThatSaysWhatItIsNeedsNoConfiguration(t *testing.T) {
	b := newBackend(t, otel.Config{})
	model := described{looptest.NewModel(looptest.Say("Hello.")), machine.ModelInfo{Name: "gemini-3-pro", Provider: "gemini", MaxOutputTokens: 1000}}
	_, err := loopRun(t.Context(), model, newSession(t), "Hello.", loop.Config{}, loop.WithObserver(b.observer))
	require.NoError(t, err)
	for n, span := range []string{"chat gemini-3-pro", "invoke_agent"} {
		own := attributes(b.spans.Ended()[n].Attributes())
		assert.Equal(t, []string{span, "gcp.gemini", "gemini-3-pro"}, []string{b.spans.Ended()[n].Name(), own["gen_ai.provider.name"], own["gen_ai.request.model"]})
	}
	assert.Equal(t, "1000", attributes(b.spans.Ended()[0].Attributes())["gen_ai.request.max_tokens"])
	assert.Contains(t, strings.Join(series(b.scrape(t), "gen_ai_client_operation_duration_seconds_count"), "\n"),
		`gen_ai_provider_name="gcp.gemini",gen_ai_request_model="gemini-3-pro"`)
}

// A budget bounds the reply below what the model's adapter is configured for.
func TestTheBoundOfAReplyIsInItsSpan(t *testing.T) {
	b := newBackend(t, otel.Config{Models: map[string]otel.Model{"": {MaxTokens: 1000}}})
	set := policy.DefaultSet()
	set.Spending = policy.Spending{MaxReply: new(int64(64))}
	_, err := loopRun(t.Context(), looptest.NewModel(looptest.Say("Hello.")), newSession(t), "Hello.", loop.Config{Policy: &set}, loop.WithObserver(b.observer))
	require.NoError(t, err)
	assert.Equal(t, "64", attributes(b.spans.Ended()[0].Attributes())["gen_ai.request.max_tokens"])
}

func TestWhatIsDoneInASpanIsItsChild(t *testing.T) {
	b := newBackend(t, otel.Config{})
	tracer := b.tracers.Tracer("the hotel")
	book := func(ctx context.Context, _ booking) (receipt, error) {
		_, span := tracer.Start(ctx, "POST /rooms")
		defer span.End()
		return receipt{"R-1"}, nil
	}
	ctx, around := tracer.Start(t.Context(), "around")
	_, err := loopRun(ctx, looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Say("done")), newSession(t), "Book.", loop.Config{Tools: toolsOf(t, book)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.NoError(t, err)
	_, err = loop.Do(ctx, nil, loop.FinalAnswer(), func(_ context.Context, a loop.Attempt) (int, error) {
		if a.Number == 1 {
			return 0, &fault.StructuredOutputError{}
		}
		return 1, nil
	}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.NoError(t, err)
	around.End()
	var edges []string
	for _, line := range b.tree() {
		edges = append(edges, line[:strings.Index(line, " (")])
	}
	assert.Equal(t, []string{"- > around", "around > invoke_agent", "invoke_agent > chat", "invoke_agent > execute_tool book_room",
		"execute_tool book_room > POST /rooms", "invoke_agent > chat"}, edges)
	own := b.spans.Ended()[len(b.spans.Ended())-1]
	require.Len(t, own.Events(), 1, "a retry of Do is an event of the caller's span")
	assert.Equal(t, "retake.retry", own.Events()[0].Name)
}

func TestNoTextAndNoMadeUpNameIsTold(t *testing.T) {
	const secret = "s3cr3t"
	b := newBackend(t, otel.Config{})
	book := func(context.Context, booking) (receipt, error) {
		return receipt{}, fmt.Errorf("token %s refused", secret)
	}
	model := looptest.NewModel(
		looptest.Call(call(secret, `{"city": "`+secret+`"}`)),
		looptest.Fail(&fault.ProviderError{Class: fault.Network, Message: secret}),
		looptest.Call(call("book_room", `{"city": "`+secret+`", "nights": 2}`)),
		looptest.Say(secret))
	_, err := loopRun(t.Context(), model, newSession(t), secret, loop.Config{Tools: toolsOf(t, book), System: secret}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
	require.NoError(t, err)
	assert.NotContains(t, strings.Join(b.tree(), "\n"), secret)
	assert.NotContains(t, strings.Join(b.scrape(t), "\n"), secret)
}

// TestNamesAreThoseOfTheConventions compares the names in the code with the conventions' own.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	known := map[string]bool{}
	for _, key := range []attribute.Key{
		semconv.GenAIOperationNameKey, semconv.GenAIProviderNameKey, semconv.GenAIAgentNameKey, semconv.GenAIConversationIDKey,
		semconv.GenAIRequestModelKey, semconv.GenAIResponseModelKey, semconv.GenAIResponseFinishReasonsKey, semconv.GenAIUsageInputTokensKey,
		semconv.GenAIUsageOutputTokensKey, semconv.GenAIUsageCacheReadInputTokensKey, semconv.GenAIUsageCacheCreationInputTokensKey,
		semconv.GenAIRequestTemperatureKey, semconv.GenAIRequestMaxTokensKey, semconv.GenAIRequestStopSequencesKey, semconv.GenAIRequestStreamKey, semconv.GenAIOutputTypeKey,
		semconv.GenAIResponseIDKey, semconv.GenAIUsageReasoningOutputTokensKey, semconv.ServerAddressKey, semconv.ServerPortKey,
		semconv.McpMethodNameKey, semconv.McpSessionIDKey, semconv.McpProtocolVersionKey, semconv.NetworkTransportKey,
		semconv.GenAIToolNameKey, semconv.GenAIToolTypeKey, semconv.GenAIToolCallIDKey, semconv.ErrorTypeKey,
	} {
		known[string(key)] = true
	}
	b := newBackend(t, otel.Config{Agent: "travel", Models: map[string]otel.Model{"": {Provider: "example", Name: "small", MaxTokens: 1000}}})
	said := looptest.Say(`{"city": "Lisbon", "nights": 2}`)
	said.Reply.Model, said.Reply.Usage = "small-2", message.Usage{InputTokens: 1, OutputTokens: 1, CacheReadTokens: 1, CacheWriteTokens: 1, ReasoningTokens: 1}
	said.Reply.Source = message.Source{ID: "msg_1", Finish: "end_turn", Host: "api.test", Port: 443}
	answer, err := schema.For[booking]()
	require.NoError(t, err)
	warm := policy.DefaultSet()
	warm.Global.PerAttempt = []policy.Settings{{Temperature: new(0.5)}}
	book := func(ctx context.Context, in booking) (receipt, error) {
		observe.Calls(ctx, observe.RemoteCall{Protocol: "mcp", Version: "2025-11-25", Method: "tools/call", SessionID: "s1", Transport: "pipe"})
		return booked(ctx, in)
	}
	down := looptest.Fail(&fault.ProviderError{Class: fault.Network})
	_, err = loopRun(t.Context(), looptest.NewModel(down, looptest.Call(call("book_room", lisbon)), said), newSession(t), "Book.", loop.Config{Tools: toolsOf(t, book), Output: answer.Schema(), Stop: []string{"END"}, Policy: &warm}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer), loop.WithStream(func(loop.Delta) {}))
	require.NoError(t, err)
	used := map[string]bool{}
	for _, s := range b.spans.Ended() {
		for name := range attributes(s.Attributes()) {
			if !strings.HasPrefix(name, "retake.") {
				used[name] = true
			}
		}
	}
	assert.Equal(t, known, used)
	chat := attributes(b.spans.Ended()[len(b.spans.Ended())-2].Attributes())
	assert.Equal(t, []string{`["end_turn"]`, "msg_1", "api.test", "443", "json"}, []string{chat["gen_ai.response.finish_reasons"], chat["gen_ai.response.id"],
		chat["server.address"], chat["server.port"], chat["gen_ai.output.type"]})
	lines := b.scrape(t)
	measured := series(lines, "mcp_client_operation_duration_seconds_count")
	require.Len(t, measured, 1)
	assert.Contains(t, measured[0], `network_transport="pipe"`)
	assert.Contains(t, strings.Join(series(lines, "gen_ai_client_operation_duration_seconds_count"), "\n"), `server_address="api.test",server_port="443"`)
	operations := map[attribute.KeyValue]bool{}
	for _, s := range b.spans.Ended() {
		set := attribute.NewSet(s.Attributes()...)
		name, _ := set.Value(semconv.GenAIOperationNameKey)
		operations[attribute.KeyValue{Key: semconv.GenAIOperationNameKey, Value: name}] = true
	}
	assert.Equal(t, map[attribute.KeyValue]bool{
		semconv.GenAIOperationNameInvokeAgent: true, semconv.GenAIOperationNameChat: true, semconv.GenAIOperationNameExecuteTool: true,
	}, operations)
}

// https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/: a result with isError is a "tool_error". A call
// without a result has the class of its error.
func TestAnErrorOfAToolOverMCPIsAToolError(t *testing.T) {
	for want, failed := range map[string]error{"tool_error": tool.Fail("sold out"), "network": &fault.ProviderError{Class: fault.Network, Final: true}} {
		b := newBackend(t, otel.Config{})
		book := func(ctx context.Context, _ booking) (receipt, error) {
			observe.Calls(ctx, observe.RemoteCall{Protocol: "mcp", Method: "tools/call"})
			return receipt{}, failed
		}
		_, err := loopRun(t.Context(), looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Say("No.")), newSession(t), "Book.",
			loop.Config{Tools: toolsOf(t, book)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer))
		require.NoError(t, err)
		var told []string
		for _, s := range b.spans.Ended() {
			if class := attributes(s.Attributes())["error.type"]; class != "" {
				told = append(told, s.Name()+" "+class)
			}
		}
		assert.Equal(t, []string{"execute_tool book_room " + want}, told)
		assert.Contains(t, strings.Join(series(b.scrape(t), "mcp_client_operation_duration_seconds_count"), "\n"), `error_type="`+want+`"`)
	}
}
