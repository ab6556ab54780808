package loop_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// BenchmarkRun is a whole run with a model without latency: bad arguments, feedback, good arguments,
// result, answer.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	tools, err := tool.NewSet(tool.New("book_room", "Book a hotel room.", booked))
	require.NoError(b, err)
	turns := []looptest.Turn{
		looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two"}`)),
		looptest.Call(call("book_room", lisbon)),
		looptest.Say("done"),
	}
	cfg := loop.Config{Tools: tools}
	for b.Loop() {
		s, err := session.New(session.Config{ID: "bench"})
		require.NoError(b, err)
		_, err = fixture.Run(b.Context(), looptest.NewModel(turns...), s, loop.Input{Prompt: "Book."}, cfg)
		require.NoError(b, err)
	}
}

// BenchmarkPool makes a hundred runs of one call each in a pool, without a limiter and with the one that a
// pool has by default.
func BenchmarkPool(b *testing.B) {
	const runs = 100
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{Text: "done", Finish: message.Stop}, nil
	})
	for name, options := range map[string][]loop.Option{"alone": {loop.WithLimiter(nil)}, "default": nil} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			lost := 0
			for b.Loop() {
				p, err := loop.NewPool(loop.PoolConfig{Model: model, Options: options, Done: func(_ *session.Session, _ loop.Result, err error) {
					if err != nil {
						lost++
					}
				}})
				require.NoError(b, err)
				for range runs {
					_, err := p.Add(sessionOf(b), loop.Input{Prompt: "Where?"})
					require.NoError(b, err)
				}
				for p.Len() > 0 {
					p.Due(time.Time{})
				}
			}
			require.Zero(b, lost)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runs, "ns/run")
		})
	}
}

// lessThan3 is an attempt that fails twice, then passes.
func lessThan3() func(context.Context, loop.Attempt) (int, error) {
	n, wrong := 0, nights("type")
	return func(context.Context, loop.Attempt) (int, error) {
		if n++; n%3 != 0 {
			return 0, wrong
		}
		return n, nil
	}
}

// BenchmarkDoRecorded makes two failures and a success in a new session, with feedback and a reducer. The
// action is used again.
func BenchmarkDoRecorded(b *testing.B) {
	b.ReportAllocs()
	a, try := loop.ToolCall("book_room"), lessThan3()
	for b.Loop() {
		_, _ = loop.Do(b.Context(), sessionOf(b), a, try)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/3, "ns/attempt")
}

func sessionOf(t testing.TB) *session.Session {
	s, err := session.New(session.Config{ID: "bench"})
	require.NoError(t, err)
	return s
}

// BenchmarkGrowth makes many attempts in one session. Ten times the attempts cost ten times as much.
func BenchmarkGrowth(b *testing.B) {
	for _, attempts := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(attempts), func(b *testing.B) {
			b.ReportAllocs()
			a, wrong := loop.ToolCall("book_room"), nights("type")
			a.Policy.MaxAttempts = policy.Unlimited
			for b.Loop() {
				n := 0
				_, err := loop.Do(b.Context(), sessionOf(b), a, func(context.Context, loop.Attempt) (int, error) {
					if n++; n < attempts {
						return 0, wrong
					}
					return n, nil
				})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(attempts), "ns/attempt")
		})
	}
}

// BenchmarkTurns is one run of many turns, each with a good call. A late turn costs what an early one does:
// compare ns/turn of both.
func BenchmarkTurns(b *testing.B) {
	const turns, some = 5000, 100
	free := policy.Unlimited
	set := policy.DefaultSet()
	set.MaxTurns, set.MaxCalls, set.Budgets = free, free, policy.Budgets{Tool: free, Run: free, UnknownTools: free}
	tools, err := tool.NewSet(tool.New("book_room", "Book a hotel room.", booked))
	require.NoError(b, err)
	b.ReportAllocs()
	var early, late time.Duration
	for b.Loop() {
		var at [turns + 1]time.Time
		n := 0
		model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			at[n] = time.Now()
			if n++; n > turns {
				return message.Reply{Text: "done", Finish: message.Stop}, nil
			}
			arguments := strings.Replace(lisbon, "Lisbon", "Lisbon "+strconv.Itoa(n), 1) // another call each turn
			c := message.Call{ID: "c" + strconv.Itoa(n), Name: "book_room", Arguments: arguments}
			return message.Reply{Calls: []message.Call{c}, Finish: message.ToolUse}, nil
		})
		_, err := fixture.Run(b.Context(), model, sessionOf(b), loop.Input{Prompt: "Book."}, loop.Config{Tools: tools, Policy: &set})
		require.NoError(b, err)
		early += at[2*some].Sub(at[some])
		late += at[turns].Sub(at[turns-some])
	}
	b.ReportMetric(float64(early.Nanoseconds())/float64(b.N)/some, "ns/early-turn")
	b.ReportMetric(float64(late.Nanoseconds())/float64(b.N)/some, "ns/late-turn")
}
