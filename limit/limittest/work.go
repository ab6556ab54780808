package limittest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/ratelimit"
)

// The environment of a process of a fleet.
const (
	envWork     = "RETAKE_TEST_FLEET_WORK"
	envProvider = "RETAKE_TEST_FLEET_PROVIDER"
)

// attempts is how often a call is made at most, as by the default policy.
const attempts = 4

// What a process says of a call, and of the store.
const (
	saidServed    = "served"
	saidExhausted = "exhausted"
	saidFailed    = "failed"
	saidLost      = "store_lost"
	saidBack      = "store_back"
)

// line is one line that a process writes.
type line struct {
	What    string `json:"what"`
	Session int    `json:"session,omitempty"`
	Err     string `json:"err,omitempty"`
}

// Works reports whether this process is one that [Fleet] or [Killed] started. Then TestMain calls [Work] and
// nothing else.
func Works() bool { return os.Getenv(envWork)+os.Getenv(envRun) != "" }

// Work does what a process was started for, whose limits are in the store.
func Work(store limiter.Store) error {
	if dir := os.Getenv(envRun); dir != "" {
		return runUnderLimit(store, dir, os.Getenv(envDie))
	}
	var left map[int]int // the calls that each session has to make
	if err := json.Unmarshal([]byte(os.Getenv(envWork)), &left); err != nil {
		return err
	}
	go func() { // the test ends, or fails
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	var writing sync.Mutex
	say := func(l line) {
		text, _ := json.Marshal(l) // it has texts and numbers only
		writing.Lock()
		defer writing.Unlock()
		fmt.Println(string(text))
	}
	l, err := limiter.New(limiter.Config{Store: store, Processes: processes, Notice: func(n limiter.Notice) {
		switch n.Kind {
		case limiter.StoreLost:
			say(line{What: saidLost, Err: n.Err.Error()})
		case limiter.StoreBack:
			say(line{What: saidBack})
		}
	}})
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for session, calls := range left {
		all.Go(func() {
			turn := int64(0)
			for range calls {
				what, why := makeCall(l, &turn)
				if say(line{what, session, why}); what != saidServed {
					return
				}
			}
		})
	}
	all.Wait()
	return nil
}

// makeCall makes a call until it is served, and says how it ended.
func makeCall(l *limiter.Limiter, turn *int64) (what, why string) {
	for n := range attempts {
		grant, err := l.Acquire(context.Background(), limiter.Ask{Scope: "a", Turn: *turn, Retry: n > 0})
		if err != nil {
			return saidFailed, err.Error()
		}
		*turn = grant.Turn
		use := limiter.Use{Outcome: limit.Down}
		if resp, err := http.Get(os.Getenv(envProvider)); err == nil {
			_ = resp.Body.Close()
			limits := ratelimit.Parse(resp.Header, time.Now())
			if use = (limiter.Use{Outcome: limit.Served, Limits: &limits}); resp.StatusCode == http.StatusTooManyRequests {
				use.Outcome = limit.Refused
			}
		}
		if l.Settle(grant, use); use.Outcome == limit.Served {
			return saidServed, ""
		}
	}
	return saidExhausted, ""
}
