package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// oneAtATime is a limiter that grants one call at a time, and ten in a second.
func oneAtATime(t *testing.T) *limiter.Limiter {
	return newLimiter(t, limiter.Config{Limit: limit.Config{
		Concurrency: 1, Windows: []limit.Window{{Resource: "requests", Limit: 10, Period: time.Second}},
	}})
}

// inOneScope has all calls take from the limits of "a".
var inOneScope = loop.WithScope(func(loop.Request) string { return "a" })

// free checks that a limiter has no grant out, and that nobody waits for one.
func free(t *testing.T, l *limiter.Limiter) {
	t.Helper()
	for _, s := range l.Scopes() {
		assert.Zero(t, s.State.InFlight, "a grant was kept")
		assert.Zero(t, s.State.Waiting(), "an ask was kept")
	}
}

// A run that meets a refusal, a bad call and a good one dies after each line of its journal, and before each.
// The next process goes on with a limiter of its own: no line is lost, no payment is made twice, no attempt
// is charged for the death, and no grant is kept.
func TestARunThatDiesBetweenAskAndGrantAndCallGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		paid := 0
		tools, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, a transfer) (transferred, error) {
			paid++
			return transferred{a.Amount}, nil
		}, tool.Idempotent()))
		require.NoError(t, err)
		replies := func(r loop.Request) (message.Reply, error) {
			switch last := r.Messages[len(r.Messages)-1]; {
			case last.Role == message.Tool && strings.Contains(last.Text, "500"):
				return looptest.Say("Done.").Reply, nil
			case last.Role == message.Tool:
				return looptest.Call(message.Call{ID: "c2", Name: "pay", Arguments: `{"to":"bob","amount":500}`}).Reply, nil
			}
			return looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"to":"bob"}`}).Reply, nil
		}
		run := func(text []byte) (string, loop.Result) {
			store, l, calls := &looptest.Store{}, oneAtATime(t), 0
			if text != nil {
				log, err := store.Open(t.Context(), "s")
				require.NoError(t, err)
				require.NoError(t, errors.Join(log.Append(t.Context(), 0, text, false), log.Close()))
			}
			model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
				if calls++; calls == 1 && !strings.Contains(string(text), "rate_limit") {
					return message.Reply{}, &fault.TransportError{Class: fault.RateLimit, Cause: errors.New("429")}
				}
				return replies(r)
			})
			var result loop.Result
			inJournal(t, store, nil, func(j *journal.Journal) {
				p, told := pooled(t, loop.PoolConfig{Model: model, Config: loop.Config{Tools: tools}, Options: []loop.Option{loop.WithLimiter(l)}})
				_, err := p.Add(fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay.", RequestID: "r-1"})
				require.NoError(t, err)
				require.NoError(t, p.Run(t.Context(), 1))
				require.Len(t, told(), 1)
				require.NoError(t, told()[0].err)
				result = told()[0].result
			})
			free(t, l)
			return string(store.Text("s")), result
		}
		whole, want := run(nil)
		require.Contains(t, whole, `"kind":"grant"`)
		require.Equal(t, 1, paid)
		lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
		grants := 0
		for n := range lines {
			if strings.Contains(lines[n], `"kind":"grant`) {
				grants++
			}
			had := strings.Join(lines[:n+1], "")
			if n+1 < len(lines) {
				had += lines[n+1][:len(lines[n+1])/2] // it died while it wrote
			}
			before := paid
			_, got := run([]byte(had))
			assert.Equal(t, want.Text, got.Text, "after line %d", n+1)
			assert.Len(t, got.Attempts, len(want.Attempts), "after line %d", n+1)
			assert.LessOrEqual(t, paid-before, 1)
		}
		assert.Greater(t, grants, 3)
	})
}

// However a run that waits for a grant, or has one, leaves the pool, others get what it held.
func TestARunThatLeavesKeepsNoGrant(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, p *loop.Pool, r *loop.PoolRun){
		"it is cancelled":    func(_ *testing.T, p *loop.Pool, r *loop.PoolRun) { r.Cancel(errors.New("enough")); p.Due(time.Now()) },
		"the pool is closed": func(t *testing.T, p *loop.Pool, _ *loop.PoolRun) { assert.Len(t, p.Close(), 1) },
		"it is closed and the run parked in another one, which is closed, too": func(t *testing.T, p *loop.Pool, _ *loop.PoolRun) {
			parked := p.Close()
			require.Len(t, parked, 1)
			other, _ := pooled(t, loop.PoolConfig{Model: looptest.NewModel(looptest.Say("Done.")), Options: []loop.Option{loop.WithLimiter(p.Limiter()), inOneScope}})
			_, err := other.AddParked(parked[0])
			require.NoError(t, err)
			other.Due(time.Now())
			other.Close()
		},
	} {
		for _, granted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", granted: ", granted), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := oneAtATime(t)
					held, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
					require.NoError(t, err)
					p, _ := pooled(t, loop.PoolConfig{
						Model: looptest.NewModel(looptest.Say("Done.")), Options: []loop.Option{loop.WithLimiter(l), inOneScope},
					})
					r, err := p.Add(newSessionNamed(t, "s"), loop.Input{Prompt: "go"})
					require.NoError(t, err)
					p.Due(time.Now())
					if granted { // the answer is there, and nobody has taken it
						l.Settle(held, limiter.Use{Outcome: limit.Served})
						time.Sleep(time.Second)
						l.Tick()
						leave(t, p, r)
					} else {
						leave(t, p, r)
						l.Settle(held, limiter.Use{Outcome: limit.Served})
					}
					time.Sleep(time.Second)
					free(t, l)
				})
			})
		}
	}
}

// A model that panics or ends its goroutine after the grant gives it back.
func TestAModelThatBreaksKeepsNoGrant(t *testing.T) {
	for name, model := range map[string]loop.Model{
		"it panics":               loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { panic("broken") }),
		"it ends its goroutine":   exitingModel,
		"it returns an error":     looptest.NewModel(looptest.Fail(errors.New("broken"))),
		"it is never asked again": looptest.NewModel(looptest.Say("Done.")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := oneAtATime(t)
				p, _ := pooled(t, loop.PoolConfig{Model: model, Options: []loop.Option{loop.WithLimiter(l)}})
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					_, _ = p.Await(t.Context(), newSessionNamed(t, "s"), loop.Input{Prompt: "go"})
				}()
				go func() {
					defer func() { _ = recover() }()
					_ = p.Serve(t.Context(), 1)
				}()
				<-done
				p.Close()
				time.Sleep(time.Second)
				free(t, l)
			})
		})
	}
}

// A call that was made as a probe in vain is made again before those that wait for the first time. No attempt
// is charged for it.
func TestAProbeInVainGoesFirstAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: limit.Config{Failures: 1}})
		down, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
		require.NoError(t, err)
		l.Settle(down, limiter.Use{Outcome: limit.Down})
		model := looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Unavailable}), looptest.Say("Done."))
		store := &looptest.Store{}
		inJournal(t, store, nil, func(j *journal.Journal) {
			s := fixture.In(newSessionNamed(t, "s"), j)
			r, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "go"}, loop.Config{}, loop.WithLimiter(l), inOneScope)
			require.NoError(t, err)
			assert.Len(t, r.Attempts, 1)
		})
		assert.Equal(t, 1, strings.Count(string(store.Text("s")), `"retry":true`))
	})
}

// A call that the limiter lets through too early, while others wait, costs its run neither an attempt nor the
// wait that the refusal asks for: it is made again once calls are served. It is excused once.
func TestARefusalByTheFaultOfTheLimiterIsExcusedOnce(t *testing.T) {
	refused := looptest.Fail(&fault.ProviderError{Class: fault.RateLimit, RetryAfter: 10 * time.Minute})
	for _, refusals := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t, limiter.Config{})
			var others sync.WaitGroup
			for range 20 {
				others.Go(func() {
					g, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a", Turn: 10})
					assert.NoError(t, err)
					time.Sleep(time.Second)
					l.Settle(g, limiter.Use{Outcome: limit.Served})
				})
			}
			synctest.Wait()
			replies := append(slices.Repeat([]looptest.Turn{refused}, refusals), looptest.Say("Done."))
			begun := time.Now()
			r, err := fixture.Run(t.Context(), looptest.NewModel(replies...), newSessionNamed(t, "s"), loop.Input{Prompt: "go"}, loop.Config{}, loop.WithLimiter(l), inOneScope)
			others.Wait()
			if refusals == 1 {
				require.NoError(t, err)
				assert.Less(t, time.Since(begun), time.Minute)
			} else {
				require.ErrorContains(t, err, "the server asks for a longer wait")
			}
			assert.Len(t, r.Attempts, 1)
		})
	}
}
