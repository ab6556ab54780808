package policy_test

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

func ExampleDecide() {
	p := policy.Correction()
	p.Backoff = backoff.Exponential(time.Second, 2*backoff.One)
	failure := fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Tool: "book_room"}

	for attempt := 1; ; attempt++ {
		d := policy.Decide(&p, &policy.Position{Attempt: attempt}, &failure)
		fmt.Println(attempt, d)
		if !d.Retry {
			break
		}
	}
	// Output:
	// 1 retry in 1s: backoff
	// 2 retry in 2s: backoff
	// 3 stop: attempts_exhausted (3 of 3)
}

func ExampleSet_Explain() {
	set := policy.DefaultSet()
	set.Global = policy.Layer{MaxAttempts: new(4), EmitFeedback: new(false)}
	set.Tools = map[string]policy.Layer{"book_room": {MaxAttempts: new(2)}}

	booking := policy.Target{Tool: "book_room"}
	p, why := set.Policy(booking), set.Explain(booking)
	fmt.Println(p.MaxAttempts, p.EmitFeedback)
	for _, row := range why[:4] {
		fmt.Printf("%s: %s\n", row.Field, row.Layer)
	}
	// Output:
	// 2 false
	// max_attempts: tool book_room
	// backoff: default
	// retryable_errors: default
	// emit_feedback: global
}

func ExampleRetryPolicy_BackoffOf() {
	p, _ := policy.Preset("provider")
	waits := p.BackoffOf(fault.Timeout)
	for failed := 1; failed < p.MaxAttempts; failed++ {
		least, most := waits.Bounds(failed)
		fmt.Printf("after attempt %d: %v (%v to %v)\n", failed, waits.After(failed, backoff.Key{}), least, most)
	}
	// Output:
	// after attempt 1: 1s (800ms to 1.2s)
	// after attempt 2: 2s (1.6s to 2.4s)
	// after attempt 3: 4s (3.2s to 4.8s)
}
