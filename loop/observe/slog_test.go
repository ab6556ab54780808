package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// logged runs and returns the records at level debug by their texts; those of the end are all there are.
func logged(t *testing.T, ctx context.Context, opts []loop.Option, turns ...looptest.Turn) (ends []map[string]any, calls []map[string]any) {
	t.Helper()
	var log bytes.Buffer
	to := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	opts = append(opts, loop.WithClock(looptest.NewClock()), loop.WithObserver(observe.LogTo(to)))
	_, _ = fixture.Run(ctx, looptest.NewModel(turns...), fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{}, opts...)
	for line := range strings.Lines(log.String()) {
		var rec map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &rec))
		switch rec["msg"] {
		case "run ended":
			ends = append(ends, rec)
		case "model call ended":
			calls = append(calls, rec)
		}
	}
	return ends, calls
}

func TestTheEndOfARunIsOneRecordAtTheLevelOfItsOutcome(t *testing.T) {
	refused := fault.Typed(fault.ProviderError{Class: fault.Auth, Provider: "openai", Model: "gpt-5", StatusCode: 401, RequestID: "req_7",
		Message: "the key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 is wrong"})
	said := looptest.Say("Done.")
	said.Reply.Model, said.Reply.Usage = "small-2", message.Usage{InputTokens: 120, OutputTokens: 30, APICalls: 1}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	prompt := loop.WithPrompt(noPrompt)
	for _, c := range []struct {
		name  string
		ctx   context.Context
		opts  []loop.Option
		turns []looptest.Turn
		want  map[string]any
	}{
		{"an answer", t.Context(), nil, []looptest.Turn{said},
			map[string]any{"level": "INFO", "reason": "accepted", "model": "small-2", "turns": 1., "input_tokens": 120., "output_tokens": 30.}},
		{"a failed call", t.Context(), nil, []looptest.Turn{looptest.Fail(refused)}, map[string]any{"level": "ERROR", "error_type": "auth",
			"reason": "not_retryable", "provider": "openai", "model": "gpt-5", "status": 401., "request_id": "req_7", "plane": "transport"}},
		{"replies that cannot be used", t.Context(), nil, fixture.Repeat(looptest.Say(""), 3),
			map[string]any{"level": "ERROR", "error_type": "no_output", "turns": 3., "attempt": 3.}},
		{"a run that was cancelled", over, nil, nil, map[string]any{"level": "WARN", "error_type": "cancelled"}},
		{"a run that cannot go on", t.Context(), []loop.Option{prompt}, nil, map[string]any{"level": "ERROR", "error": "making the prompt: no template"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends, _ := logged(t, c.ctx, c.opts, c.turns...)
			require.Len(t, ends, 1)
			assert.Equal(t, "order-42", ends[0]["correlation_id"])
			for name, want := range c.want {
				assert.Equal(t, want, ends[0][name], "%s in %v", name, ends[0])
			}
			assert.Equal(t, c.want["level"] != "INFO", ends[0]["error"] != nil, "an end that is no answer has its text")
			assert.NotContains(t, fmt.Sprint(ends[0]), "abcdefghijklmnop")
		})
	}
}

func TestTheStackOfAToolThatPanickedIsLogged(t *testing.T) {
	var out bytes.Buffer
	pay := tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { panic("no till") })
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(message.Call{ID: "1", Name: "pay", Arguments: "{}"}), looptest.Say("It failed."))
	_, err = fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithObserver(observe.LogTo(slog.New(slog.NewTextHandler(&out, nil)))))
	require.NoError(t, err)
	assert.Contains(t, out.String(), "tool failed")
	assert.Contains(t, out.String(), "TestTheStackOfAToolThatPanickedIsLogged", "the stack names the function that panicked")
}

func TestTheDurationsOfCallsAreLogged(t *testing.T) {
	ends, calls := logged(t, t.Context(), nil, looptest.Fail(limited429()), looptest.Say("Done."))
	require.Len(t, calls, 2)
	assert.Equal(t, []any{"DEBUG", "rate_limit"}, []any{calls[0]["level"], calls[0]["error_type"]})
	assert.Equal(t, []any{"DEBUG", nil, 2.}, []any{calls[1]["level"], calls[1]["error_type"], calls[1]["try"]})
	for _, rec := range calls {
		assert.Contains(t, rec, "duration")
	}
	assert.Positive(t, ends[0]["duration"], "the waits between are in it")
}

func noPrompt(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
	return "", nil, errors.New("no template")
}

// Whoever reads the log of an agent that pays sees who approved what.
func TestAQuestionIsLoggedWithItsVerdict(t *testing.T) {
	p := policy.DefaultSet()
	p.Tools = map[string]policy.Layer{"pay": {Approval: &policy.Approval{When: policy.ApproveAlways, Timeout: time.Hour}}}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "paid", nil }))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		answer machine.Response
		want   map[string]any
	}{
		"ann":    {machine.Response{Verdict: machine.Refuse, By: "Ann"}, map[string]any{"verdict": "refuse", "by": "Ann", "nobody": false}},
		"nobody": {machine.Response{}, map[string]any{"verdict": "refuse", "by": nil, "nobody": true}},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			l, err := loop.New(looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"}), looptest.Say("Done.")),
				loop.Config{Tools: tools, Policy: &p}, loop.WithClock(looptest.NewClock()),
				loop.WithObserver(observe.LogTo(slog.New(slog.NewJSONHandler(&log, nil)))),
				loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) { return c.answer, nil }))
			require.NoError(t, err)
			_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "Pay."})
			require.NoError(t, err)
			records := map[any]map[string]any{}
			for line := range strings.Lines(log.String()) {
				var rec map[string]any
				require.NoError(t, json.Unmarshal([]byte(line), &rec))
				records[rec["msg"]] = rec
			}
			asked, settled := records["a person is asked"], records["a question is settled"]
			assert.Equal(t, "approval", asked["kind"])
			assert.Contains(t, asked, "deadline")
			assert.Equal(t, asked["question"], settled["question"])
			assert.NotEmpty(t, settled["question"])
			for key, want := range c.want {
				assert.Equal(t, want, settled[key], key)
			}
		})
	}
}
