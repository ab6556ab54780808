package loop_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// What an action was compiled to is remembered: each use is under the policy of the action as it is.
func TestACopyOfAnActionIsHeldToItsOwnPolicy(t *testing.T) {
	three := loop.ToolCall("book_room")
	two := *three
	two.Policy.MaxAttempts = 2
	for range 2 {
		for want, a := range map[int]*loop.Action{3: three, 2: &two} {
			made := 0
			_, err := loop.Do(t.Context(), newSession(t), a, func(context.Context, loop.Attempt) (int, error) {
				made++
				return 0, nights("type")
			})
			require.ErrorIs(t, err, policy.AttemptsExhausted)
			assert.Equal(t, want, made)
		}
	}
}

// A config of which nothing is said but its seed is not compiled anew.
func TestASeedIsThatOfItsRun(t *testing.T) {
	standard := policy.DefaultSet()
	for _, seed := range []string{"", "one", "two", "one"} {
		var told []string
		for _, cfg := range []loop.Config{{Seed: seed}, {Seed: seed, Policy: &standard}} {
			dir := journal.Dir(t.TempDir())
			j := recorded(t, dir)
			model := looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Timeout}), looptest.Say("done"))
			_, err := loop.Run(t.Context(), model, newSession(t), "Book.", cfg, loop.WithJournal(j), loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			require.NoError(t, j.Close())
			told = append(told, lines(t, dir))
		}
		assert.Equal(t, told[1], told[0])
		assert.Equal(t, seed != "", strings.Contains(told[0], `"seed":"`+seed+`"`))
	}
}

// A policy is that of the run as it stands when the run begins: what it was compiled to before is for that of the same values.
func TestAPolicyThatChangesBetweenRunsIsCompiledAnew(t *testing.T) {
	set := policy.DefaultSet()
	set.Tools = map[string]policy.Layer{"book_room": {MaxAttempts: new(1)}}
	cfg := loop.Config{Tools: bookRoom(t, booked), Policy: &set}
	bad := looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two"}`))
	attempts := func(cfg loop.Config) int {
		s := newSession(t)
		_, err := loop.Run(t.Context(), looptest.NewModel(bad, bad, bad, bad, bad), s, "Book.", cfg)
		require.ErrorIs(t, err, policy.AttemptsExhausted)
		return s.State().Attempts().Len()
	}
	for range 2 {
		for want := range 4 {
			*set.Tools["book_room"].MaxAttempts = want + 1
			require.Equal(t, want+1, attempts(cfg))
			require.Equal(t, want+1, attempts(cfg))
		}
	}
}

// TestOneCompiledConfigForRunsAtOnce is for the race detector.
func TestOneCompiledConfigForRunsAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			set := policy.DefaultSet()
			set.Transport.MaxAttempts = new(2 + n%8)
			limits := feedback.DefaultLimits()
			cfg := loop.Config{Policy: &set, Limits: &limits, Seed: fmt.Sprint(n % 3)}
			fails := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				return message.Reply{}, &fault.ProviderError{Class: fault.Timeout}
			})
			s := newSession(t)
			_, err := loop.Run(t.Context(), fails, s, "Book.", cfg, loop.WithClock(looptest.NewClock()))
			assert.ErrorIs(t, err, policy.AttemptsExhausted)
			assert.Equal(t, 2+n%8, s.State().Attempts().Len())
		})
	}
	all.Wait()
}

// TestWhatIsRememberedOfAConfig changes each thing alone that the core is told of, and compares what it is told with what it is told
// where nothing is remembered.
func TestWhatIsRememberedOfAConfig(t *testing.T) {
	set, other := policy.DefaultSet(), policy.DefaultSet()
	other.MaxTurns = 7
	base := loop.Config{Policy: &set, System: "Be brief.", Feedback: "No.", Limits: new(feedback.DefaultLimits()), Seed: "seed"}
	for name, change := range map[string]func(*loop.Config){
		"nothing":    func(*loop.Config) {},
		"calls only": func(c *loop.Config) { c.CallsOnly = true },
		"policy":     func(c *loop.Config) { c.Policy = &other },
		"seed":       func(c *loop.Config) { c.Seed = "another" },
		"system":     func(c *loop.Config) { c.System = "Be long." },
		"feedback":   func(c *loop.Config) { c.Feedback = "Yes." },
		"limits":     func(c *loop.Config) { c.Limits = &feedback.Limits{MaxIssues: 1, MaxBytes: 512} },
		"no limits":  func(c *loop.Config) { c.Limits = nil },
		"deadline":   func(c *loop.Config) { c.Deadline = looptest.Epoch.Add(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			changed := base
			change(&changed)
			for _, cfg := range []loop.Config{base, changed, base} {
				want, err := cfg.Machine()
				require.NoError(t, err)
				r, err := loop.NewRunner(newSession(t), cfg, nil)
				require.NoError(t, err)
				got := *r.State().Config
				require.Equal(t, want, got)
			}
		})
	}
}

// vocal is an engine that cannot be compared.
type vocal struct {
	feedback.Engine
	words []string
}

func TestAnEngineNeedsNotBeComparable(t *testing.T) {
	set := policy.DefaultSet()
	cfg := loop.Config{Policy: &set, System: `Be {{"brief"}}.`, Templates: vocal{feedback.GoTemplates(), []string{"um"}}}
	for range 2 {
		model := looptest.NewModel(looptest.Say("Done."))
		_, err := loop.Run(t.Context(), model, newSession(t), "Book.", cfg)
		require.NoError(t, err)
		require.Equal(t, "Be brief.", model.Requests()[0].System)
	}
}

// A run under a policy that was compiled before begins with as little as one without a policy.
func TestAPolicyIsCompiledOnce(t *testing.T) {
	begin := func(cfg loop.Config) float64 {
		return testing.AllocsPerRun(100, func() {
			s, err := session.New(session.Config{ID: "order-42"})
			require.NoError(t, err)
			_, err = loop.NewRunner(s, cfg, nil)
			require.NoError(t, err)
		})
	}
	set := policy.DefaultSet()
	set.MaxTurns = 7
	assert.LessOrEqual(t, begin(loop.Config{Policy: &set}), begin(loop.Config{})+1)
}

// Actions that are made anew for each use are compiled once where they say the same, whatever becomes of the lists of one of them.
func TestActionsThatSayTheSameAreNoOneElses(t *testing.T) {
	attempts := func(a *loop.Action) int {
		made := 0
		_, err := loop.Do(t.Context(), newSession(t), a, func(context.Context, loop.Attempt) (int, error) {
			made++
			return 0, nights("type")
		})
		require.Error(t, err)
		return made
	}
	spoiled := loop.ToolCall("book_room")
	for range 2 {
		assert.Equal(t, 3, attempts(spoiled))
	}
	for n := range spoiled.Policy.RetryableErrors {
		spoiled.Policy.RetryableErrors[n] = "spoiled"
	}
	for want := range 12 {
		for range 3 {
			a := loop.ToolCall("book_room")
			assert.Equal(t, 3, attempts(a))
			a.Policy.MaxAttempts = want + 1 // though it has been used
			assert.Equal(t, want+1, attempts(a))
			assert.Equal(t, want+1, attempts(a))
		}
	}
	none := loop.ToolCall("book_room")
	none.Policy.RetryableErrors = []fault.Class{fault.Refusal}
	assert.Equal(t, 1, attempts(none))
}
