package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Child is a run that an engine made itself within the call of an agent, as it ended. It is for one goroutine
// at a time.
type Child struct {
	engine.Outer
	// Result and Err are what [loop.Loop.Within] returns in process.
	Result loop.Result
	Err    error
	// Usage and Cost are what the run has consumed in all; Cost is nil if it is not known.
	Usage message.Usage
	Cost  *int64
	// Late reports that the run ended because the call took too long.
	Late bool
}

// Outcome returns the outcome of the call, in the words of [AsTool], with what the run consumed and left in
// doubt. The error is that of [ToolOf].
func (c *Child) Outcome() (tool.Outcome, error) {
	t, err := ToolOf(c.Run.Tool, "", nil, func(ctx context.Context, _ string) (loop.Result, error) {
		return c.Result, c.settle(ctx)
	})
	if err != nil {
		return tool.Outcome{}, err
	}
	return t.Invoke(context.Background(), c.Run.Arguments), nil
}

// settle adds what the run consumed and left in doubt to the call, and returns the error of the run.
func (c *Child) settle(ctx context.Context) error {
	used, cost := c.Untold(c.Usage, *cmp.Or(c.Cost, new(int64)))
	_ = tool.AddUsage(ctx, used) // errors would say that this is not within a call
	if c.Cost != nil {
		_ = tool.AddCost(ctx, cost)
	}
	x, exhausted := errors.AsType[*loop.RetryExhaustedError](c.Err)
	if c.Err != nil && !exhausted && !errors.Is(c.Err, loop.ErrTooDeep) || len(c.Result.InDoubt) > 0 {
		_ = tool.Doubt(ctx)
	}
	if exhausted && x.Reason == policy.ReasonDeadline && c.Late {
		return &fault.TransportError{Class: fault.Timeout,
			Cause: fmt.Errorf("%s did not return within %v", c.Run.Tool, c.Run.Timeout)}
	}
	return c.Err
}
