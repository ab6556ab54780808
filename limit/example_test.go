package limit_test

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// A limiter learns from the first response that five requests a second are allowed. It spreads them while
// others wait; the last one need not wait.
func Example() {
	st, _ := limit.New(limit.Config{})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	step := func(ev limit.Event) {
		ev.At = now
		var effects []limit.Effect
		st, effects = limit.Step(st, ev)
		for _, e := range effects {
			fmt.Println(now.Format("05.000"), e.Kind, e.Share.ID)
		}
	}
	for id := range int64(4) {
		step(limit.Event{Kind: limit.Ask, ID: id + 1})
	}
	now = now.Add(100 * time.Millisecond)
	five := ratelimit.Window{Name: "requests_per_second", Resource: "requests", Limit: ratelimit.Of(5)}
	step(limit.Event{
		Kind: limit.Settle, ID: 1, Outcome: limit.Served,
		Limits: &ratelimit.State{Windows: []ratelimit.Window{five}},
	})
	for {
		next, waits := st.Next()
		if !waits {
			break
		}
		now = next
		step(limit.Event{Kind: limit.Tick})
	}
	// Output:
	// 00.000 grant 1
	// 00.500 grant 2
	// 00.702 grant 3
	// 00.702 grant 4
}
