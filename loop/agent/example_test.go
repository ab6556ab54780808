package agent_test

import (
	"context"
	"fmt"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/result"
)

// An agent that is unsure twice: each run is paid for, and the envelope has the sum.
func ExampleRetry() {
	breed := agent.New("breed")
	breed.MinConfidence = 0.8

	r := agent.Retry(context.Background(), nil, breed, func(_ context.Context, a loop.Attempt) result.Result[string] {
		r := result.Success("Maine Coon")
		r.Confidence = result.Some([]float64{0.5, 0.65, 0.9}[a.Number-1])
		r.Execution.Cost.Total = 0.004
		return r
	})
	fmt.Println(r.Data, r.Confidence.Value, r.Execution.RetryCount.Value, r.Execution.Cost.Amount())
	// Output: Maine Coon 0.9 2 0.012
}
