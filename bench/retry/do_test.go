package retry

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	avast "github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v7"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/sethvargo/go-retry"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
)

var (
	sinkInt   int
	errFailed = errors.New("failed")
	// errInvalid is a failure of the correction plane, which is retried at once.
	errInvalid = error(&fault.ToolValidationError{Tool: "book_room", Issues: []fault.Issue{
		{Pointer: "/nights", Rule: "type", Expected: "integer", Got: fault.String},
	}})
)

// failing fails the first n times in each loop, and then returns 42.
type failing struct {
	n, tried int
	err      error
}

func (f *failing) try() (int, error) {
	if f.tried++; f.tried <= f.n {
		return 0, f.err
	}
	return 42, nil
}

// byHand is the usual loop by hand: attempts, a context, and no timer if there is no wait.
func byHand(ctx context.Context, attempts int, delay time.Duration, try func(context.Context) (int, error)) (int, error) {
	var last error
	for range attempts {
		v, err := try(ctx)
		if err == nil {
			return v, nil
		}
		last = err
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if delay > 0 {
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(delay):
			}
		}
	}
	return 0, last
}

// BenchmarkDo succeeds at once. BenchmarkDoFailing fails twice first, without delays. Policies are made
// before.
func BenchmarkDo(b *testing.B)        { benchmarkDo(b, 0) }
func BenchmarkDoFailing(b *testing.B) { benchmarkDo(b, 2) }

func benchmarkDo(b *testing.B, failures int) {
	f := &failing{n: failures, err: errFailed}
	ctx := context.Background()
	type row struct {
		name string
		do   func() (int, error)
	}
	rows := []row{
		{"floor", floor(ctx, f)},
		{"ours", oursDo(ctx, f, false)},
		{"avast", avastDo(f)},
		{"sethvargo", sethvargoDo(ctx, f)},
		{"cenkalti", cenkaltiDo(ctx, f)},
		{"failsafe", failsafeDo(ctx, f)},
	}
	if failures > 0 {
		rows = append(rows, row{"ours_read", oursDo(ctx, f, true)})
	}
	for _, row := range rows {
		b.Run(row.name, func(b *testing.B) {
			f.err = errFailed
			if strings.HasPrefix(row.name, "ours") {
				f.err = errInvalid
			}
			b.ReportAllocs()
			for b.Loop() {
				f.tried = 0
				v, err := row.do()
				if err != nil || v != 42 || f.tried != failures+1 {
					b.Fatal(v, err, f.tried)
				}
				sinkInt += v
			}
		})
	}
}

func floor(ctx context.Context, f *failing) func() (int, error) {
	try := func(context.Context) (int, error) { return f.try() }
	return func() (int, error) { return byHand(ctx, 4, 0, try) }
}

// oursDo is our Do. With reads each try reads its feedback, for which all attempts are recorded.
func oursDo(ctx context.Context, f *failing, reads bool) func() (int, error) {
	action := loop.ToolCall("book_room")
	action.Policy.MaxAttempts = 4
	try := func(_ context.Context, a loop.Attempt) (int, error) {
		if reads {
			sinkInt += len(a.Feedback().Message)
		}
		return f.try()
	}
	return func() (int, error) { return loop.Do(ctx, nil, action, try) }
}

func avastDo(f *failing) func() (int, error) {
	r := avast.NewWithData[int](avast.Attempts(4), avast.Delay(0), avast.DelayType(avast.FixedDelay))
	return func() (int, error) { return r.Do(f.try) }
}

// sethvargoDo makes its policy in each call, because it cannot be used twice.
func sethvargoDo(ctx context.Context, f *failing) func() (int, error) {
	try := func(context.Context) (int, error) {
		v, err := f.try()
		if err != nil {
			return v, retry.RetryableError(err)
		}
		return v, nil
	}
	zero := retry.BackoffFunc(func() (time.Duration, bool) { return 0, false })
	return func() (int, error) { return retry.DoValue(ctx, retry.WithMaxRetries(3, zero), try) }
}

func cenkaltiDo(ctx context.Context, f *failing) func() (int, error) {
	zero := &backoff.ZeroBackOff{}
	return func() (int, error) {
		return backoff.Retry(ctx, f.try, backoff.WithBackOff(zero), backoff.WithMaxTries(4))
	}
}

func failsafeDo(ctx context.Context, f *failing) func() (int, error) {
	executor := failsafe.With(retrypolicy.NewBuilder[int]().WithMaxAttempts(4).Build()).WithContext(ctx)
	return func() (int, error) { return executor.Get(f.try) }
}
