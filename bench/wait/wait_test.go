package wait

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v7"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	sethvargo "github.com/sethvargo/go-retry"

	ours "github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/bench/work"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

var (
	sessions = flag.Int("sessions", 100_000, "how many wait at once")
	// asked is set in the process that measures a line.
	asked = os.Getenv("RETAKE_BENCH_WAIT")
)

const long = time.Hour

var small = work.Small()

var (
	errFailed  = errors.New("failed")
	errInvalid = &fault.ToolValidationError{Tool: small.Tool, Issues: []fault.Issue{{Pointer: "/nights", Rule: "type", Expected: "integer", Got: fault.String}}}
)

// waiter lets n sessions wait for an hour. Its result is kept until the memory is measured. A blocking one
// has a goroutine for each session, which calls tried before its wait.
type waiter struct {
	name     string
	blocking bool
	wait     func(ctx context.Context, n int, tried func()) any
}

var waiters = []waiter{
	{"floor_heap", false, deadlines},
	{"floor_afterfunc", false, afterFuncs},
	{"hand", true, each(func(ctx context.Context, tried func()) error {
		tried()
		t := time.NewTimer(long)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	})},
	{"avast", true, each(func(ctx context.Context, tried func()) error {
		return retry.New(retry.Context(ctx), retry.Delay(long), retry.MaxDelay(long), retry.DelayType(retry.FixedDelay)).Do(func() error {
			tried()
			return errFailed
		})
	})},
	{"sethvargo", true, each(func(ctx context.Context, tried func()) error {
		return sethvargo.Do(ctx, sethvargo.WithMaxRetries(3, sethvargo.NewConstant(long)), func(context.Context) error {
			tried()
			return sethvargo.RetryableError(errFailed)
		})
	})},
	{"cenkalti", true, each(func(ctx context.Context, tried func()) error {
		_, err := backoff.Retry(ctx, func() (int, error) {
			tried()
			return 0, errFailed
		}, backoff.WithBackOff(backoff.NewConstantBackOff(long)), backoff.WithMaxElapsedTime(0))
		return err
	})},
	{"failsafe", true, each(func(ctx context.Context, tried func()) error {
		p := retrypolicy.NewBuilder[int]().WithDelay(long).Build()
		_, err := failsafe.With(p).WithContext(ctx).Get(func() (int, error) {
			tried()
			return 0, errFailed
		})
		return err
	})},
	{"ours_do", true, each(do(nil))},
	{"ours_do_session", true, each(func(ctx context.Context, tried func()) error {
		s, err := session.New(session.Config{ID: "order-42"})
		if err != nil {
			return err
		}
		return do(s)(ctx, tried)
	})},
	{"ours_run", true, each(run)},
	{"ours_await", true, awaited},
	{"ours_parked", false, parked},
	{"ours_asking", false, asking},
}

// each starts a goroutine for every session, and waits until all of them wait.
func each(wait func(ctx context.Context, tried func()) error) func(context.Context, int, func()) any {
	return func(ctx context.Context, n int, tried func()) any {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				if err := wait(ctx, tried); err == nil {
					panic("a wait of an hour is over")
				}
			})
		}
		return &all
	}
}

// hourly is an action with a wait of an hour after a failed attempt. All sessions share it.
var hourly = func() *loop.Action {
	a := loop.ToolCall(small.Tool)
	a.Policy.Backoff, a.Policy.MaxTotalDelay = ours.Constant(long), 3*long
	return a
}()

// do makes such an action with an attempt that fails.
func do(s *session.Session) func(context.Context, func()) error {
	return func(ctx context.Context, tried func()) error {
		_, err := loop.Do(ctx, s, hourly, func(context.Context, loop.Attempt) (int, error) {
			tried()
			return 0, errInvalid
		})
		return err
	}
}

// patient has a transport policy that waits as long as a server asks for.
var patient = func() loop.Config {
	set := policy.DefaultSet()
	most := 3 * long
	set.Transport.MaxRetryAfter, set.Transport.MaxTotalDelay = &most, &most
	return loop.Config{Policy: &set}
}()

// run is a whole run with a model that is overloaded and asks for a wait of an hour.
func run(ctx context.Context, tried func()) error {
	s, err := session.New(session.Config{ID: "order-42"})
	if err != nil {
		return err
	}
	l, err := loop.New(overloaded(tried), patient)
	if err != nil {
		return err
	}
	_, err = l.Run(ctx, s, loop.Input{Prompt: small.Prompt})
	return err
}

func overloaded(tried func()) loop.Model {
	return loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		tried()
		return message.Reply{}, &fault.ProviderError{Class: fault.Overloaded, RetryAfter: long}
	})
}

// parked are the same runs in a pool: waiting runs are states without goroutines.
func parked(_ context.Context, n int, tried func()) any {
	return pooled(n, overloaded(tried), patient)
}

// asking are runs in a pool whose model calls a tool that a person has to approve.
func asking(_ context.Context, n int, tried func()) any {
	type payment struct {
		To    string `json:"to"`
		Cents int    `json:"cents"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, payment) (string, error) {
		panic("nobody has approved it")
	}, tool.NeedsApproval(func(payment) bool { return true })))
	if err != nil {
		panic(err)
	}
	call := message.Call{ID: "call-1", Name: "pay", Arguments: `{"to":"ACME","cents":500}`}
	return pooled(n, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		tried()
		return message.Reply{Calls: []message.Call{call}, Finish: message.ToolUse}, nil
	}), loop.Config{Tools: tools})
}

// pooled adds runs to a pool, and goes on with them until they wait.
func pooled(n int, model loop.Model, cfg loop.Config) *loop.Pool {
	pool, err := loop.NewPool(loop.PoolConfig{
		Model: model, Config: cfg, Done: func(*session.Session, loop.Result, error) { panic("a wait is over") },
	})
	if err != nil {
		panic(err)
	}
	for i := range n {
		if _, err := pool.Add(named(number(i)), loop.Input{Prompt: small.Prompt}); err != nil {
			panic(err)
		}
	}
	pool.Due(time.Now())
	return pool
}

func number(n int) string { return "order-" + strconv.Itoa(n) }

// named is not part of its callers, some of which keep their stacks while they wait.
//
//go:noinline
func named(id string) *session.Session {
	s, err := session.New(session.Config{ID: id})
	if err != nil {
		panic(err)
	}
	return s
}

// awaited are the same runs, each with a goroutine that waits for its end.
func awaited(ctx context.Context, n int, tried func()) any {
	pool, err := loop.NewPool(loop.PoolConfig{Model: overloaded(tried), Config: patient})
	if err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	all.Go(func() { _ = pool.Serve(ctx, 2) })
	for i := range n {
		id := number(i)
		all.Go(func() {
			if _, err := pool.Await(ctx, named(id), loop.Input{Prompt: small.Prompt}); err == nil {
				panic("a wait of an hour is over")
			}
		})
	}
	return &all
}

func afterFuncs(_ context.Context, n int, tried func()) any {
	type state struct{ attempt int }
	timers := make([]*time.Timer, n)
	for i := range timers {
		s := &state{1}
		timers[i] = time.AfterFunc(long, func() { s.attempt++ })
		tried()
	}
	return timers
}

// queue is the minimum for waiting: whom to wake, and when.
type queue []due

type due struct {
	at      int64
	session int32
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(due)) }
func (q *queue) Pop() any          { panic("nobody is woken here") }

func deadlines(_ context.Context, n int, tried func()) any {
	q := &queue{}
	for i := range n {
		heap.Push(q, due{at: int64(i) * 7919 % 1_000_003, session: int32(i)})
		tried()
	}
	return q
}

// BenchmarkWait measures the memory of many sessions that wait at the same time, each line in its own
// process, because goroutines of another line would be used again. The time is that of the whole process
// and not important.
func BenchmarkWait(b *testing.B) {
	for _, w := range waiters {
		b.Run(w.name, func(b *testing.B) {
			each := 0.0
			for b.Loop() {
				each = inProcess(b, w.name)
			}
			b.ReportMetric(each, "B/session")
		})
	}
}

func inProcess(t testing.TB, name string) float64 {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-sessions="+strconv.Itoa(*sessions))
	cmd.Env = append(os.Environ(), "RETAKE_BENCH_WAIT="+name)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.Bytes())
	}
	each, err := strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return each
}

func TestMain(m *testing.M) {
	flag.Parse()
	if asked == "" {
		os.Exit(m.Run())
	}
	for _, w := range waiters {
		if w.name == asked {
			fmt.Println(measure(w, *sessions))
		}
	}
}

// measure returns the bytes of heap and stacks per session.
func measure(w waiter, n int) float64 {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var tried atomic.Int64
	before := memory()
	kept := w.wait(ctx, n, func() { tried.Add(1) })
	for tried.Load() < int64(n) || w.blocking && waiting() < n {
		runtime.Gosched()
	}
	bytes := memory() - before
	runtime.KeepAlive(kept)
	cancel()
	if all, ok := kept.(*sync.WaitGroup); ok {
		all.Wait()
	}
	return bytes / float64(n)
}

func memory() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// waiting returns the number of blocked goroutines.
func waiting() int {
	sample := []metrics.Sample{{Name: "/sched/goroutines/waiting:goroutines"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// Every line ends, also with few sessions. Their memory is too small to measure, but goroutines are
// counted.
func TestEveryLine(t *testing.T) {
	for _, w := range waiters {
		if each := measure(w, 2000); w.blocking && each <= 0 {
			t.Error(w.name, each)
		}
	}
}
