package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// A run may end well although a tool failed. Its result and its attempts say so.
func TestAResultSaysWhatFailedInTools(t *testing.T) {
	for name, c := range map[string]struct {
		pay  func() error
		want string
	}{
		"panic":    {func() error { panic("no till") }, "tool pay failed: tool_execution (not_repeatable)"},
		"error":    {func() error { return errors.New("no till") }, "tool pay failed: tool_execution (not_repeatable)"},
		"for_good": {func() error { return tool.Fail("no till") }, "tool pay failed for good"},
		"typed":    {func() error { return &fault.TransportError{Class: fault.Timeout} }, "tool pay failed: timeout (not_repeatable)"},
		"unknown":  {func() error { return tool.ErrUnknown }, "tool pay failed: tool_execution (outcome_unknown)"},
		"good":     {func() error { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", c.pay() }))
			require.NoError(t, err)
			model := looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Done."))
			result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
			require.NoError(t, err)
			if c.want == "" {
				assert.Empty(t, result.Warnings)
				assert.True(t, result.Attempts[0].Passed())
				return
			}
			assert.Equal(t, []string{c.want}, result.Warnings)
			assert.False(t, result.Attempts[0].Passed())
		})
	}
}

// A tool that failed may say that its effect is in doubt. The model reads that and all that the tool says,
// media included, and the same call has the same key.
func TestAToolThatFailedInDoubtSaysSoInItsOwnWords(t *testing.T) {
	long := strings.Repeat("main.go:1:1: undefined: x\n", 100)
	image := message.Bytes(message.ImagePart, "image/png", []byte("png"))
	var keys []string
	pay := func(ctx context.Context, _ struct{}) (string, error) {
		if keys = append(keys, tool.IdempotencyKey(ctx)); len(keys) > 1 {
			return "paid", nil
		}
		require.NoError(t, tool.Attach(ctx, image))
		return "", &tool.FailedError{Text: long, InDoubt: true, Whole: true}
	}
	tools, err := tool.NewSet(tool.New("pay", "Pay.", pay))
	require.NoError(t, err)
	turns := []looptest.Turn{looptest.Call(call("pay", `{}`)), looptest.Call(call("pay", `{}`)), looptest.Say("Paid.")}
	result, err := fixture.Run(t.Context(), looptest.NewModel(turns...), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
	require.NoError(t, err)
	told := result.Transcript[2]
	assert.True(t, told.IsError)
	assert.Equal(t, "The call failed, and its effect may or may not have happened. The tool says: \""+
		strings.ReplaceAll(long, "\n", `\n`)+`"`, told.Text)
	assert.Equal(t, []message.Part{image}, told.Parts)
	require.Len(t, keys, 2)
	assert.Equal(t, keys[0], keys[1])
	assert.Equal(t, []string{"tool pay failed for good"}, result.Warnings)
}

// lowFunds is an error of a tool's own type.
type lowFunds struct{ missing int }

func (e *lowFunds) Error() string {
	return fmt.Sprintf("%d short, key sk-proj-0123456789abcdefghij0123456789", e.missing)
}

// A call that failed is in the result with its text and, in process, with the tool's own error, also if the
// run ended well. The record has the text.
func TestTheResultHasTheErrorsOfTools(t *testing.T) {
	const text = "5 short, key [key left out]"
	own := &lowFunds{5}
	for name, c := range map[string]struct {
		end    error
		class  fault.Class
		text   string
		budget int
	}{
		"an error":         {end: fmt.Errorf("paying: %w", own), class: fault.ToolExecution, text: "paying: " + text},
		"a typed error":    {end: &fault.TransportError{Class: fault.Timeout, Cause: own}, class: fault.Timeout, text: "timeout: " + text},
		"a failure":        {end: fmt.Errorf("%w: %w", tool.Fail("no money"), own), class: fault.ToolExecution, text: "no money"},
		"a panic":          {class: fault.ToolExecution, text: `tool "pay" panicked: ` + text},
		"unknown":          {end: fmt.Errorf("%w: %w", tool.ErrUnknown, own), class: fault.ToolExecution, text: "the outcome of the call is not known: " + text},
		"later":            {end: tool.TryLater(own, 0), class: fault.Unavailable, text: "try later: " + text},
		"the end of a run": {end: own, class: fault.ToolExecution, text: text, budget: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var key string
			tools, err := tool.NewSet(tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
				if key = tool.IdempotencyKey(ctx); c.end == nil {
					panic(own)
				}
				return "", c.end
			}))
			require.NoError(t, err)
			j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), "s", journal.Settings{})
			require.NoError(t, err)
			set := policy.DefaultSet()
			set.Transport.MaxAttempts = new(2)
			opts := []loop.Option{loop.WithClock(looptest.NewClock())}
			cfg := loop.Config{Tools: tools, Policy: &set}
			if c.budget > 0 {
				set.Budgets.Tool = 0
			}
			run := func(turns ...looptest.Turn) ([]loop.ToolFailure, error) {
				result, err := fixture.Run(t.Context(), looptest.NewModel(turns...), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay.", RequestID: "r"}, cfg, opts...)
				if exhausted, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
					assert.Equal(t, result.ToolFailures, exhausted.ToolFailures)
				}
				return result.ToolFailures, err
			}
			got, ended := run(looptest.Call(call("pay", `{}`)), looptest.Say("Done."))
			require.Equal(t, c.budget != 0, ended != nil, ended)
			require.Len(t, got, 1)
			want := machine.ToolFailure{CallRef: machine.CallRef{Tool: "pay", CallID: "c1", Key: key}, Class: c.class, Text: c.text}
			assert.Equal(t, want, got[0].ToolFailure)
			found, ok := errors.AsType[*lowFunds](got[0].Err)
			require.True(t, ok, got[0].Err)
			assert.Same(t, own, found)

			again, _ := run()
			require.Len(t, again, 1)
			assert.Equal(t, want, again[0].ToolFailure, "read from the record")
			var recorded *fault.RecordedError
			require.ErrorAs(t, again[0].Err, &recorded)
			assert.EqualError(t, again[0].Err, c.text)
		})
	}
}

// Each failure has its own error, also if the same call failed twice and others went well.
func TestTheErrorsOfToolsAreInTheirOrder(t *testing.T) {
	runs := 0
	result, err := payTwice(t, func() error {
		runs++
		return &lowFunds{runs}
	})
	require.NoError(t, err)
	require.Len(t, result.ToolFailures, 2)
	for n, f := range result.ToolFailures {
		found, ok := errors.AsType[*lowFunds](f.Err)
		require.True(t, ok)
		assert.Equal(t, n+1, found.missing)
	}
	result, err = payTwice(t, func() error { return nil })
	require.NoError(t, err)
	assert.Nil(t, result.ToolFailures)
}
