package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
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
