// Command decide does what command do does and links less: its own loop calls policy.Decide, without the
// package of runs.
package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

func main() {
	p := policy.Transport()
	p.Backoff = backoff.Exponential(time.Millisecond, backoff.Dec("2"))
	tried := 0
	text, err := do(context.Background(), &p, backoff.NewKey("order-42", "book_room"), func(context.Context) (string, error) {
		if tried++; tried < 3 {
			return "", syscall.ECONNRESET
		}
		return "Done: R-1.", nil
	})
	fmt.Println(text, err)
}

func do(
	ctx context.Context, p *policy.RetryPolicy, key backoff.Key,
	try func(context.Context) (string, error),
) (string, error) {
	for at := (policy.Position{Attempt: 1, Key: key}); ; at.Attempt++ {
		text, err := try(ctx)
		if err == nil {
			return text, nil
		}
		said := fault.ClassifyError(err)
		d := policy.Decide(p, &at, &fault.Failure{Plane: said.Plane, Class: said.Class})
		if !d.Retry {
			return "", fmt.Errorf("gave up after %d attempts, for %w: %w", at.Attempt, d.Reason, err)
		}
		at.Waited += d.Delay
		timer := time.NewTimer(d.Delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return "", ctx.Err()
		}
	}
}
