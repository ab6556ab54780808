package core

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

var small = work.Small()

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// recorded is a run of the core: its first state and each step.
type recorded struct {
	before machine.State
	steps  []step
}

type step struct {
	ev      machine.Event
	effects []machine.Effect
	after   machine.State
}

// run drives a Runner through a run and keeps its events: first the bad calls, then the good ones with
// their results, one in each reply, and the answer.
func run(t testing.TB, bad, good int) recorded {
	calls := append(slices.Repeat([]string{small.Bad}, bad), slices.Repeat([]string{small.Good}, good)...)
	return drive(t, unbounded(), calls)
}

// drive is run for calls by their arguments, under any policy. Each reply reports its usage if that counts.
func drive(t testing.TB, set *policy.Set, calls []string) recorded {
	book := tool.New(small.Tool, small.Description, func(_ context.Context, _ work.Booking) (work.Receipt, error) { return work.Done(), nil })
	tools, err := tool.NewSet(book)
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	var r recorded
	m, err := loop.Config{Tools: tools, Policy: set, Models: map[string]machine.ModelInfo{"": {Name: "m"}}}.Machine()
	require.NoError(t, err)
	compiled, err := machine.Compile(&m)
	require.NoError(t, err)
	runner, err := engine.New(engine.RunnerConfig{Session: s, Machine: compiled, Offer: engine.Offer{Tools: tools},
		Input: &engine.Input{Prompt: small.Prompt, RequestID: requestID},
		Record: func(ev machine.Event, effects []machine.Effect, st machine.State) {
			r.steps = append(r.steps, step{ev, effects, st})
		}})
	require.NoError(t, err)
	defer runner.Close()
	r.before = runner.State()
	now := noon
	_, err = runner.Start(now)
	require.NoError(t, err)
	say := func(reply message.Reply) []machine.Effect {
		now = now.Add(time.Second)
		if set.Meters() {
			reply.Usage = message.Usage{InputTokens: 500, OutputTokens: 50, APICalls: 1}
		}
		effects, err := runner.Reply(now, reply)
		require.NoError(t, err)
		return effects
	}
	for n, arguments := range calls {
		effects := say(called(n, arguments))
		for _, c := range effects[len(effects)-1].Tools {
			_, err = runner.ToolEnded(now, c, tool.Outcome{Result: []byte(`{"number":"R-1"}`)})
			require.NoError(t, err)
		}
	}
	effects := say(message.Reply{Text: small.Answer, Finish: message.Stop})
	require.Equal(t, machine.Stop, effects[len(effects)-1].Kind)
	return r
}

func called(n int, arguments string) message.Reply {
	call := message.Call{ID: fmt.Sprintf("c%d", n), Name: small.Tool, Arguments: arguments}
	return message.Reply{Calls: []message.Call{call}, Finish: message.ToolUse}
}

// unbounded is the default policy without bounds, for runs of any length.
func unbounded() *policy.Set {
	set := policy.DefaultSet()
	free := policy.Unlimited
	set.Global.MaxAttempts = &free
	set.Global.Progress = &policy.Progress{Nudge: free, Planner: free, Stop: free}
	set.Budgets = policy.Budgets{Tool: free, Run: free, UnknownTools: free}
	set.MaxTurns = free
	return &set
}

// BenchmarkStep steps the events of whole runs through the pure core; one operation is a run. It uses the
// run of the row "run" (five events, one of them a failure), and a run with a hundred bad calls, in which
// almost every event makes feedback. The floor does the same by hand.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name string
		bad  int
	}{{"run", 1}, {"failures", 100}} {
		r := run(b, c.bad, 1)
		r.requireSame(b)
		b.Run("floor_"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h := hand{session: "order-42"}
				for i := range r.steps {
					h.step(&r.steps[i].ev)
				}
				if h.answer == "" {
					b.Fatal("no answer")
				}
			}
			b.ReportMetric(float64(len(r.steps)), "events/op")
		})
		b.Run("ours_"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				st := r.before
				for i := range r.steps {
					if _, err := machine.Step(&st, &r.steps[i].ev); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(len(r.steps)), "events/op")
		})
	}
}

// BenchmarkGuards steps the same run of thirty calls without bounds, with the default bounds of cycles, and
// with budgets and a window besides, one after the other. The metrics are what a step of the fastest run
// takes beside one without bounds; budgets and windows have an event more for each model call, the estimate
// of its prompt.
func BenchmarkGuards(b *testing.B) {
	progress, all := unbounded(), unbounded()
	progress.Global.Progress, all.Global.Progress = nil, nil
	all.Prices = policy.Prices{"m": {Input: 1, Output: 1, ContextWindow: new(int64(1 << 40))}}
	all.Spending.Run.Cost, all.Spending.Session.TotalTokens = new(int64(1<<40)), new(int64(1<<40))
	var calls []string
	for n := range 30 {
		calls = append(calls, fmt.Sprintf(`{"city":"Lisbon","nights":%d,"room":"double"}`, n+1))
	}
	var runs []recorded
	for _, set := range []*policy.Set{unbounded(), progress, all} {
		runs = append(runs, drive(b, set, calls))
	}
	took := slices.Repeat([]time.Duration{math.MaxInt64}, len(runs))
	for b.Loop() {
		for n := range runs {
			began := time.Now()
			st := runs[n].before
			for i := range runs[n].steps {
				if _, err := machine.Step(&st, &runs[n].steps[i].ev); err != nil {
					b.Fatal(err)
				}
			}
			took[n] = min(took[n], time.Since(began))
		}
	}
	step := func(n int) float64 { return float64(took[n]) / float64(len(runs[n].steps)) }
	b.ReportMetric(step(1)/step(0), "progress/none")
	b.ReportMetric(step(2)/step(0), "all/none")
}

// BenchmarkGrowth makes one action with many failed attempts in a session.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("ours_%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				attempts(b, n)
			}
		})
	}
}

// wrong is the feedback on each failed attempt.
var wrong = error(&fault.ToolValidationError{Tool: small.Tool, Issues: []fault.Issue{
	{Pointer: "/nights", Rule: "type", Expected: "integer (at least 1, at most 30)", Got: fault.String},
}})

// attempts makes an action of n attempts in a new session and reads each feedback. Only the last attempt
// succeeds.
func attempts(b *testing.B, n int) {
	s, err := session.New(session.Config{ID: "order-42"})
	if err != nil {
		b.Fatal(err)
	}
	action := loop.ToolCall(small.Tool)
	action.Policy.MaxAttempts = n
	action.Policy.NoProgress = 0
	tried, read := 0, 0
	_, err = loop.Do(b.Context(), s, action, func(_ context.Context, a loop.Attempt) (int, error) {
		tried++
		if f := a.Feedback(); len(f.Issues) > 0 {
			read++
		}
		if tried < n {
			return 0, wrong
		}
		return tried, nil
	})
	if err != nil || tried != n || read != n-1 {
		b.Fatal(err, tried, read)
	}
}

var sinkText string

// BenchmarkDoRecorded measures Do in a session with feedback. One operation is a session with one action of
// three attempts, with a hundred such actions, or with a reducer that gets each outcome.
func BenchmarkDoRecorded(b *testing.B) {
	b.Run("ours_short", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			attempts(b, 3)
		}
	})
	b.Run("ours_long", func(b *testing.B) { benchmarkRecorded(b, false) })
	b.Run("ours_reducer", func(b *testing.B) { benchmarkRecorded(b, true) })
	b.Run("floor", benchmarkRecordedByHand)
}

// benchmarkRecordedByHand keeps the same attempts and issues in a slice, and makes a line of text for each
// failure.
func benchmarkRecordedByHand(b *testing.B) {
	type attempt struct {
		tool    string
		n       int
		at, end time.Time
		issues  []fault.Issue
	}
	b.ReportAllocs()
	for b.Loop() {
		var log []attempt
		for range 100 {
			for n := 1; n <= 3; n++ {
				a := attempt{tool: small.Tool, n: n, at: time.Now()}
				if n < 3 {
					a.issues = wrong.(*fault.ToolValidationError).Issues
					sinkText = a.issues[0].Pointer + ": expected " + a.issues[0].Expected
				}
				a.end = time.Now()
				log = append(log, a)
			}
		}
		if len(log) != 300 {
			b.Fatal(len(log))
		}
	}
}
