package loop

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/chain"
)

// NotifyShutdown returns a context for runs of a process that signals end, in place of
// [signal.NotifyContext]. When one of the signals arrives, the context is cancelled with the cause
// [ErrSuspended]: runs with a journal are left to be resumed by the next process. Without signals these are
// os.Interrupt and SIGTERM. The end, the cause, the deadline and the values of parent pass through as they
// are, and end runs as they always do.
//
// stop releases the signals, which then end the process as before, and the context. Runs that still use it
// are left to be resumed, too. Call it when the runs are over, usually by defer. Both are safe for concurrent
// use.
func NotifyShutdown(parent context.Context, signals ...os.Signal) (ctx context.Context, stop func()) {
	if len(signals) == 0 {
		signals = []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	ctx, end := context.WithCancelCause(parent)
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	go func() {
		select {
		case <-came:
			end(ErrSuspended)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		end(ErrSuspended)
		signal.Stop(came)
	}
}

// doneError is why a context has ended: its cause, which is also the end itself ([context.Canceled] or
// [context.DeadlineExceeded]). Its class is that of the end, whatever the cause is or says.
type doneError struct {
	end, cause error
	text       string
}

// Error returns the text of the cause.
func (e *doneError) Error() string { return e.text }

// Unwrap returns the end and the cause.
func (e *doneError) Unwrap() []error { return []error{e.end, e.cause} }

// Failure returns the end as the core sees it.
func (e *doneError) Failure() fault.Failure {
	class := fault.Cancelled
	if e.end == context.DeadlineExceeded {
		class = fault.DeadlineExceeded
	}
	return fault.Failure{Class: class, Message: fault.Scrub(e.text)}
}

// whyDone returns why a context has ended; nil if it has not. kept reports that a run that is left can be
// resumed.
func whyDone(ctx context.Context, kept bool) error {
	end, cause := ctx.Err(), chain.Bounded(context.Cause(ctx))
	switch {
	case cause == nil || cause == context.Canceled || cause == context.DeadlineExceeded:
		return cause
	case end == context.DeadlineExceeded:
		return &doneError{end, cause, end.Error() + ": " + cause.Error()}
	case !kept && errors.Is(cause, ErrSuspended):
		return &doneError{end, cause, "the process shuts down, and without a journal nothing is left to be resumed"}
	}
	return &doneError{end, cause, cause.Error()}
}
