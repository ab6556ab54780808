// Command dohand does by hand what command do does: a loop with a timer and jitter, and an error with the
// result.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

func main() {
	tried := 0
	text, err := do(context.Background(), 5, time.Millisecond, func(context.Context) (string, error) {
		if tried++; tried < 3 {
			return "", syscall.ECONNRESET
		}
		return "Done: R-1.", nil
	})
	fmt.Println(text, err)
}

func do(
	ctx context.Context, attempts int, delay time.Duration, try func(context.Context) (string, error),
) (string, error) {
	var last error
	for range attempts {
		text, err := try(ctx)
		if err == nil {
			return text, nil
		}
		last = err
		timer := time.NewTimer(rand.N(delay))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return "", ctx.Err()
		}
		delay *= 2
	}
	return "", fmt.Errorf("gave up after %d attempts: %w", attempts, last)
}
