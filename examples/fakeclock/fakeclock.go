// Package fakeclock shows how to test code that retries: its test runs through an hour of backoff in no time.
package fakeclock

import (
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
)

// Headline asks write for a headline of at most max characters, up to five times, and waits longer each time.
func Headline(ctx context.Context, max int, write func(hint string) string, opts ...loop.Option) (string, error) {
	action := loop.FinalAnswer()
	action.Policy.MaxAttempts = 5
	action.Policy.Backoff = backoff.Exponential(4*time.Minute, backoff.Dec("2"))
	return loop.Do(ctx, nil, action, func(_ context.Context, a loop.Attempt) (string, error) {
		text := write(a.Feedback().Message)
		if text == "" {
			return "", &fault.ClassError{Class: fault.NoOutput, Cause: errors.New("no headline")}
		}
		if len(text) > max {
			return "", &fault.StructuredOutputError{Issues: []fault.Issue{{Rule: "maxLength", Expected: "a shorter headline", Got: fault.String}}}
		}
		return text, nil
	}, opts...)
}
