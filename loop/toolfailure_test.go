package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
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
			result, err := loop.Run(t.Context(), model, newSession(t), "Pay.", loop.Config{Tools: tools})
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
	result, err := loop.Run(t.Context(), looptest.NewModel(turns...), newSession(t), "Pay.", loop.Config{Tools: tools})
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
