package looptest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A script of replies replaces a model. Its requests can be inspected afterwards.
func ExampleNewModel() {
	model := looptest.NewModel(looptest.Say(""), looptest.Say("In Lisbon."))
	l, _ := loop.New(model, loop.Config{})
	result, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Where?"})
	fmt.Println(result.Text, err)
	shown := model.Requests()[1].Messages
	fmt.Println(shown[len(shown)-1].Text)
	// Output:
	// In Lisbon. <nil>
	// Automatic check, not a message from the user: your reply had neither text nor a tool call (attempt 1 of 3).
	// Reply with the answer that was asked for, or call a tool if you have one.
}

// A wait of a minute takes no time.
func ExampleNewClock() {
	clock := looptest.NewClock()
	model := looptest.NewModel(
		looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, RetryAfter: time.Minute}), looptest.Say("In Lisbon."))
	set := policy.DefaultSet()
	set.Transport.MaxRetryAfter, set.Transport.RetryAfterJitter = new(time.Hour), nil
	s, _ := session.New(session.Config{ID: "order-42"})
	l, _ := loop.New(model, loop.Config{Policy: &set}, loop.WithClock(clock))
	result, err := l.Run(context.Background(), s, loop.Input{Prompt: "Where?"})
	fmt.Println(result.Text, err, clock.Now().Sub(looptest.Epoch) >= time.Minute)
	// Output: In Lisbon. <nil> true
}

// Attempts are compared as lines of text.
func ExampleAssertAttempts() {
	_ = func(t *testing.T) {
		model := looptest.NewModel(looptest.Say(""), looptest.Say("In Lisbon."))
		l, _ := loop.New(model, loop.Config{})
		result, err := l.Run(t.Context(), nil, loop.Input{Prompt: "Where?"})
		looptest.AssertAnswer(t, result, err, "In Lisbon.")
		looptest.AssertAttempts(t, result.Attempts,
			"attempt 1 of 3: no_output, again (immediate)",
			"attempt 2 of 3: passed (accepted)")
	}
	// Output:
}

// A run that stopped is checked by its reason.
func ExampleAssertStopped() {
	_ = func(t *testing.T) {
		model := looptest.NewModel(looptest.Say(""), looptest.Say(""), looptest.Say(""))
		l, _ := loop.New(model, loop.Config{})
		_, err := l.Run(t.Context(), nil, loop.Input{Prompt: "Where?"})
		exhausted := looptest.AssertStopped(t, err, policy.ReasonAttemptsExhausted)
		if exhausted != nil && len(exhausted.Attempts) != 3 {
			t.Error(exhausted)
		}
	}
	// Output:
}
