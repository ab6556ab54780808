package turns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// add is a reply of n calls. Every second one has bad arguments and does not run.
func add(n int) message.Reply {
	var reply message.Reply
	for i := range n {
		arguments := fmt.Sprintf(`{"n": %d}`, i)
		if i%2 == 1 {
			arguments = `{"n": "one"}`
		}
		reply.Calls = append(reply.Calls, message.Call{ID: fmt.Sprintf("c%d", i), Name: "add", Arguments: arguments})
	}
	return reply
}

// asked is a run whose model is asked, with the tool add.
func asked(t testing.TB, set *policy.Set) *turns.Run {
	return begun(t, turns.Config{Settings: turns.Settings{Policy: set}})
}

func begun(t testing.TB, cfg turns.Config) *turns.Run {
	s, err := session.New(session.Config{ID: "many"})
	require.NoError(t, err)
	cfg.Clock = looptest.NewClock()
	run, err := turns.New(s, cfg)
	require.NoError(t, err)
	said := func() []message.Message { return []message.Message{{Role: message.User, Text: "Add."}} }
	require.NoError(t, run.Next(t.Context(), addTools(t), said))
	return run
}

func addTools(t testing.TB) *tool.Set {
	var shelf turns.Shelf
	tools, err := shelf.Set([]turns.Offered{{
		Name: "add", Parameters: `{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`,
	}})
	require.NoError(t, err)
	return tools
}

// runCalls drives a run through one reply without a bound on calls. The tool returns its arguments. It
// returns the numbers of executed and refused calls.
func runCalls(t testing.TB, reply message.Reply) (ran, refused int) {
	ctx, free := t.Context(), policy.Unlimited
	set := policy.DefaultSet()
	set.MaxCalls, set.Budgets = free, policy.Budgets{Tool: free, Run: free, UnknownTools: free}
	run := asked(t, &set)
	_, err := run.Reply(ctx, reply)
	require.NoError(t, err)
	for _, c := range reply.Calls {
		call, _ := run.Claim(c.ID, c.Name, c.Arguments)
		text, no, err := call.Refused()
		require.NoError(t, err)
		if no {
			require.NotEmpty(t, text)
			refused++
			continue
		}
		answer, err := call.End(ctx, call.Invoke(ctx, func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			return args, nil
		}))
		require.NoError(t, err)
		require.True(t, answer.Own)
		ran++
	}
	return ran, refused
}

func TestEachOfManyCallsIsRunOrRefused(t *testing.T) {
	ran, refused := runCalls(t, add(40))
	assert.Equal(t, 20, ran)
	assert.Equal(t, 20, refused)
}

// A runtime that cannot ask a model again makes the calls of a reply with too many of them. The feedback
// leaves some out; these have an answer, too.
func TestEachOfTooManyCallsIsRefused(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	set := policy.DefaultSet()
	set.MaxCalls = 3
	run, reply := asked(t, &set), add(5)
	verdict, err := run.Reply(ctx, reply)
	require.NoError(t, err)
	require.True(t, verdict.Again)
	for _, c := range reply.Calls {
		call, _ := run.Claim(c.ID, c.Name, c.Arguments)
		call.Wait(ctx)
		text, refused, err := call.Refused()
		require.NoError(t, err)
		assert.True(t, refused)
		assert.Contains(t, text, "Not run: the reply as a whole could not be used.")
		assert.True(t, call.Failed())
	}
}

// Four times as many calls in a reply need four times the memory, not sixteen times.
func TestManyCallsTakeMemoryInProportion(t *testing.T) {
	taken := func(n int) float64 {
		reply := add(n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		runCalls(t, reply)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	taken(50) // what is made once
	assert.Less(t, taken(200)/taken(50), 6.0, "4 times as many calls")
}

// BenchmarkManyCalls runs a reply of many calls. Twice as many cost twice as much: compare ns/call.
func BenchmarkManyCalls(b *testing.B) {
	for _, n := range []int{125, 250, 500, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			reply := add(n)
			for b.Loop() {
				runCalls(b, reply)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
		})
	}
}
