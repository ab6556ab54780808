package backoff_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-go/retake/backoff"
)

func Example() {
	s := backoff.Exponential(500*time.Millisecond, 2*backoff.One)
	s.Cap = 5 * time.Second
	s.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")}

	key := backoff.NewKey("order-42", "book_room")
	fmt.Println(s)
	for attempt := 1; attempt <= 5; attempt++ {
		lo, hi := s.Bounds(attempt)
		fmt.Printf("after attempt %d: %v (%v to %v)\n", attempt, s.After(attempt, key).Round(time.Millisecond), lo, hi)
	}
	// Output:
	// exponential 500ms ×2, cap 5s, jitter ±20%
	// after attempt 1: 510ms (400ms to 600ms)
	// after attempt 2: 1.181s (800ms to 1.2s)
	// after attempt 3: 1.821s (1.6s to 2.4s)
	// after attempt 4: 4.332s (3.2s to 4.8s)
	// after attempt 5: 4.483s (4s to 5s)
}

func ExampleLinear() {
	s := backoff.Linear(time.Second, 500*time.Millisecond)
	for attempt := 1; attempt <= 4; attempt++ {
		fmt.Print(s.After(attempt, backoff.Key{}), " ")
	}
	// Output: 1s 1.5s 2s 2.5s
}

func ExampleList() {
	s := backoff.List(2*time.Second, 8*time.Second, 16*time.Second, 35*time.Second)
	for attempt := 1; attempt <= 6; attempt++ {
		fmt.Print(s.After(attempt, backoff.Key{}), " ")
	}
	// Output: 2s 8s 16s 35s 35s 35s
}

func ExampleBackoffStrategy_Validate() {
	s := backoff.Exponential(0, backoff.Dec("0.5"))
	s.Step = time.Second
	fmt.Println(s.Validate())
	// Output:
	// step: not a field of exponential backoff, which takes base and factor
	// base: want a duration above 0, got 0s
	// factor: want 1 to 1000000, got 0.5
}

func ExampleBackoffStrategy_UnmarshalJSON() {
	var s backoff.BackoffStrategy
	err := json.Unmarshal([]byte(`{"kind":"exponential","base":"500ms","factor":1.5,"cap":"30s"}`), &s)
	fmt.Println(s, err)

	err = json.Unmarshal([]byte(`{"kind":"constant","delay":"fast"}`), &s)
	fmt.Println(err)
	// Output:
	// exponential 500ms ×1.5, cap 30s <nil>
	// delay: "fast" is no duration; write one such as 500ms, 2s or 1m30s
}
