package loop_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// work is what a process does with the journal until its context ends, or to its end if it was left before.
// waits is called within the model call, or within the try.
var works = map[string]func(ctx context.Context, j *journal.Journal, waits func(context.Context) error) (string, error){
	"run": func(ctx context.Context, j *journal.Journal, waits func(context.Context) error) (string, error) {
		r, err := fixture.Run(ctx, waitingModel(waits), fixture.In(nil, j), loop.Input{Prompt: "Hello.", RequestID: "one"}, loop.Config{})
		return r.Text, err
	},
	"do": func(ctx context.Context, j *journal.Journal, waits func(context.Context) error) (string, error) {
		return loop.Do(ctx, fixture.In(nil, j), named("one"), func(ctx context.Context, a loop.Attempt) (string, error) {
			return fmt.Sprint("done, in doubt: ", a.InDoubt), waits(ctx)
		})
	},
	"attempts": func(ctx context.Context, j *journal.Journal, waits func(context.Context) error) (string, error) {
		text, tries := "", loop.Attempts(ctx, fixture.In(nil, j), named("one"))
		for try := range tries.All() {
			text = fmt.Sprint("done, in doubt: ", try.InDoubt)
			try.End(waits(ctx))
		}
		return text, tries.Err()
	},
	"pool": func(ctx context.Context, j *journal.Journal, waits func(context.Context) error) (string, error) {
		text, failed := "", errors.New("the run has not ended")
		p, err := loop.NewPool(loop.PoolConfig{Model: waitingModel(waits), Done: func(_ *session.Session, r loop.Result, err error) {
			text, failed = r.Text, err
		}})
		if err != nil {
			return "", err
		}
		s, err := session.New(session.Config{})
		if err != nil {
			return "", err
		}
		if _, err := p.Add(fixture.In(s, j), loop.Input{Prompt: "Hello."}); err != nil {
			return "", err
		}
		if err := p.Run(ctx, 2); err != nil {
			return "", err
		}
		return text, failed
	},
}

func waitingModel(waits func(context.Context) error) loop.ModelFunc {
	return func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		return message.Reply{Text: "Hello yourself.", Finish: message.Stop}, waits(ctx)
	}
}

// TestTheProcessOfAShutdown is the other process of TestAProcessThatIsStoppedGoesOnWhenItIsStarted. It says
// "waiting" when it can be stopped, and at its end what came of the work.
func TestTheProcessOfAShutdown(t *testing.T) {
	what, dir := os.Getenv("RETAKE_SHUTDOWN"), os.Getenv("RETAKE_SHUTDOWN_DIR")
	if what == "" {
		t.Skip("it is started by another test")
	}
	ctx, stop := loop.NotifyShutdown(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	j, err := journal.Open(ctx, journal.Dir(dir), "order-42", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	text, err := works[what](ctx, j, func(ctx context.Context) error {
		if os.Getenv("RETAKE_SHUTDOWN_WAITS") == "" {
			return nil
		}
		fmt.Println("waiting")
		<-ctx.Done()
		return ctx.Err()
	})
	fmt.Printf("end: %q, suspended: %v, cancelled: %v, error: %v\n", text, errors.Is(err, loop.ErrSuspended), errors.Is(err, policy.ReasonCancelled), err)
}

// A polite stop loses nothing: the next process goes on with what the one before was at.
func TestAProcessThatIsStoppedGoesOnWhenItIsStarted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send SIGTERM to another on Windows")
	}
	for what := range works {
		for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
			t.Run(what+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				start := func(waits string) *exec.Cmd {
					cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheProcessOfAShutdown$")
					cmd.Env = append(os.Environ(), "RETAKE_SHUTDOWN="+what, "RETAKE_SHUTDOWN_DIR="+dir, "RETAKE_SHUTDOWN_WAITS="+waits)
					cmd.Stderr = os.Stderr
					return cmd
				}
				for range 2 { // it may be stopped more than once
					cmd := start("yes")
					out, err := cmd.StdoutPipe()
					require.NoError(t, err)
					require.NoError(t, cmd.Start())
					said := bufio.NewReader(out)
					line, err := said.ReadString('\n')
					require.NoError(t, err)
					require.Equal(t, "waiting\n", line)
					require.NoError(t, cmd.Process.Signal(sig))
					rest, err := io.ReadAll(said)
					require.NoError(t, err)
					require.NoError(t, cmd.Wait(), "it ends by itself: %s", rest)
					assert.Contains(t, string(rest), `, suspended: true, cancelled: false`)
				}
				rest, err := start("").Output()
				require.NoError(t, err)
				want := map[bool]string{true: "Hello yourself.", false: "done, in doubt: true"}[what == "run" || what == "pool"]
				assert.Contains(t, string(rest), fmt.Sprintf("end: %q, suspended: false, cancelled: false, error: <nil>", want))
			})
		}
	}
}

type tenantKey struct{}

func TestWhatAShutdownIsAndIsNot(t *testing.T) {
	t.Run("values_and_deadline_pass_through", func(t *testing.T) {
		parent, cancel := context.WithTimeout(context.WithValue(t.Context(), tenantKey{}, "acme"), time.Hour)
		defer cancel()
		ctx, stop := loop.NotifyShutdown(parent)
		defer stop()
		assert.Equal(t, "acme", ctx.Value(tenantKey{}))
		want, _ := parent.Deadline()
		got, ok := ctx.Deadline()
		assert.True(t, ok)
		assert.Equal(t, want, got)
		require.NoError(t, ctx.Err())
	})
	t.Run("the_parents_end_passes_through", func(t *testing.T) {
		cause := errors.New("the customer hung up")
		parent, cancel := context.WithCancelCause(t.Context())
		ctx, stop := loop.NotifyShutdown(parent)
		defer stop()
		cancel(cause)
		assert.Equal(t, context.Canceled, ctx.Err())
		assert.Equal(t, cause, context.Cause(ctx))
		stop()
		assert.Equal(t, cause, context.Cause(ctx), "the first end counts")
	})
	t.Run("the_parents_deadline_passes_through", func(t *testing.T) {
		parent, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		ctx, stop := loop.NotifyShutdown(parent)
		defer stop()
		<-ctx.Done()
		assert.Equal(t, context.DeadlineExceeded, ctx.Err())
		assert.Equal(t, context.DeadlineExceeded, context.Cause(ctx))
	})
	t.Run("stop_leaves_what_still_runs", func(t *testing.T) {
		ctx, stop := loop.NotifyShutdown(t.Context())
		stop()
		<-ctx.Done()
		assert.ErrorIs(t, context.Cause(ctx), loop.ErrSuspended)
		stop()
	})
}

// Only the cause counts: its words never do, and any other cause ends the request, as that of
// signal.NotifyContext does.
func TestTheWordsOfACauseDoNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		cause  error
		reason policy.Reason
		left   bool
	}{
		"a_signal":  {cause: errors.New("interrupt signal received"), reason: policy.ReasonCancelled},
		"deadline":  {cause: errors.New("deadline exceeded"), reason: policy.ReasonCancelled},
		"rate":      {cause: errors.New("429 rate limit exceeded"), reason: policy.ReasonCancelled},
		"the_words": {cause: errors.New(loop.ErrSuspended.Error()), reason: policy.ReasonCancelled},
		"none":      {cause: nil, reason: policy.ReasonCancelled},
		"wrapped":   {cause: fmt.Errorf("deploy: %w", loop.ErrSuspended), left: true},
		"typed":     {cause: &fault.ProviderError{Class: fault.RateLimit}, reason: policy.ReasonCancelled},
	} {
		for what, work := range works {
			if what == "pool" {
				continue // Pool.Run is left by any end
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				j := recorded(t, journal.Dir(t.TempDir()))
				defer j.Close()
				ctx, cancel := context.WithCancelCause(t.Context())
				_, err := work(ctx, j, func(ctx context.Context) error { cancel(c.cause); return ctx.Err() })
				require.ErrorIs(t, err, context.Canceled, "with a cause, too")
				assert.Equal(t, c.left, errors.Is(err, loop.ErrSuspended))
				assert.Equal(t, c.left, j.Unfinished())
				if c.cause != nil {
					require.ErrorIs(t, err, c.cause)
					assert.Contains(t, err.Error(), c.cause.Error())
				}
				if c.left {
					return
				}
				require.ErrorIs(t, err, c.reason)
				_, again := work(t.Context(), j, func(context.Context) error { t.Error("done again"); return nil })
				require.ErrorIs(t, again, c.reason)
				require.ErrorIs(t, again, context.Canceled, "as read from the record")
			})
		}
	}
	t.Run("without_a_session", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := loop.Do(ctx, nil, loop.ToolCall("pay"), func(ctx context.Context, _ loop.Attempt) (int, error) {
			cancel(errors.New("deadline exceeded"))
			return 0, ctx.Err()
		})
		require.ErrorIs(t, err, policy.ReasonCancelled)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Without a journal there is nothing to resume, and the error does not say so.
func TestAShutdownWithoutAJournalIsACancellation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(loop.ErrSuspended)
	_, err := fixture.Run(ctx, looptest.NewModel(), newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{})
	require.EqualError(t, err, "run stopped: cancelled: the process shuts down, and without a journal nothing is left to be resumed")
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.ErrorIs(t, err, policy.ReasonCancelled)
}

// An end that is only read says that it is, and when it was: in the result and in the error.
func TestAnEndThatIsReadSaysSoAndWhenItWas(t *testing.T) {
	for name, between := range map[string]func(string){"as_it_is": func(string) {}, "compacted": func(dir string) { compact(t, dir) }} {
		t.Run(name, func(t *testing.T) {
			dir, clock := t.TempDir(), looptest.NewClock()
			run := func(in loop.Input, turns ...looptest.Turn) (r loop.Result, err error) {
				onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
					r, err = fixture.Run(t.Context(), looptest.NewModel(turns...), s, in, loop.Config{}, loop.WithClock(clock))
				})
				return r, err
			}
			good, bad := loop.Input{Prompt: "Hello.", RequestID: "good"}, loop.Input{Prompt: "And?", RequestID: "bad"}
			clock.Add(time.Hour)
			r, err := run(good, looptest.Say("Hi."))
			require.NoError(t, err)
			assert.Zero(t, r.Recorded)
			clock.Add(time.Hour)
			r, first := run(bad, looptest.Fail(errors.New("odd")))
			require.Error(t, first)
			assert.Zero(t, r.Recorded)
			between(dir)
			clock.Add(time.Hour)

			r, err = run(good)
			require.NoError(t, err)
			assert.Equal(t, looptest.Epoch.Add(time.Hour), r.Recorded)
			r, err = run(bad)
			assert.Equal(t, looptest.Epoch.Add(2*time.Hour), r.Recorded)
			var e *loop.RetryExhaustedError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, looptest.Epoch.Add(2*time.Hour), e.Recorded)
			assert.Equal(t, first.Error()+" (the recorded end of 2030-01-01T02:00:00Z; nothing was done now)", err.Error())
		})
	}
}

// What a tool returns after the run was left is kept as what it is; only an error that says no more than
// that its context has ended leaves the call in doubt.
func TestAnErrorThatAToolReturnsLateIsKeptAsWhatItIs(t *testing.T) {
	for name, c := range map[string]struct {
		err   func(context.Context) error
		calls int
		want  string
	}{
		"try_later":        {func(context.Context) error { return tool.TryLater(nil, 0) }, 2, `"number":"r-2"`},
		"try_later_of_end": {func(ctx context.Context) error { return tool.TryLater(ctx.Err(), 0) }, 2, `"number":"r-2"`},
		"plain":            {func(context.Context) error { return errors.New("no rooms left") }, 1, "failed"},
		"failed":           {func(context.Context) error { return tool.Fail("no rooms left") }, 1, "no rooms left"},
		"ask_again": {func(context.Context) error {
			return tool.AskAgain(fault.Issue{Pointer: "/nights", Rule: "r", Expected: "fewer nights"})
		}, 1, "fewer nights"},
		"the_end":             {func(ctx context.Context) error { return ctx.Err() }, 1, "not known"},
		"the_end_wrapped":     {func(ctx context.Context) error { return fmt.Errorf("booking: %w", context.Cause(ctx)) }, 1, "not known"},
		"the_end_of_a_client": {func(ctx context.Context) error { return get(ctx) }, 1, "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, calls := journal.Dir(t.TempDir()), 0
				ctx, suspend := context.WithCancelCause(t.Context())
				book, err := tool.NewSet(tool.New("book_room", "Books.", func(ctx context.Context, _ booking) (receipt, error) {
					if calls++; calls > 1 {
						return receipt{Number: fmt.Sprint("r-", calls)}, nil
					}
					suspend(loop.ErrSuspended)
					return receipt{}, c.err(ctx)
				}))
				require.NoError(t, err)
				j := recorded(t, dir)
				_, err = fixture.Run(ctx, looptest.NewModel(looptest.Call(call("book_room", lisbon))), fixture.In(newSession(t), j), loop.Input{Prompt: "Book."}, loop.Config{Tools: book})
				require.ErrorIs(t, err, loop.ErrSuspended)
				synctest.Wait() // until the tool has returned
				require.NoError(t, j.Close())
				j = recorded(t, dir)
				defer j.Close()
				model := looptest.NewModel(looptest.Say("Well."))
				_, err = fixture.Resume(t.Context(), model, fixture.In(newSession(t), j), loop.Config{Tools: book})
				require.NoError(t, err)
				assert.Equal(t, c.calls, calls)
				assert.Contains(t, model.Requests()[0].Last().Text, c.want)
				if c.want == "not known" {
					return
				}
				assert.NotContains(t, model.Requests()[0].Last().Text, "not known")
			})
		})
	}
}

// get is the error of the standard client under a context that has ended.
func get(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1/", nil)
	if err != nil {
		return err
	}
	_, err = http.DefaultClient.Do(req)
	return err
}

// A panic in a try leaves the action to be resumed, as that of a run does.
func TestAPanicInATryLeavesTheActionToBeResumed(t *testing.T) {
	boom := func(context.Context) error { panic("boom") }
	for _, what := range []string{"do", "attempts"} {
		t.Run(what, func(t *testing.T) {
			dir := journal.Dir(t.TempDir())
			j := recorded(t, dir)
			require.PanicsWithValue(t, "boom", func() { _, _ = works[what](t.Context(), j, boom) })
			assert.True(t, j.Unfinished())
			require.PanicsWithValue(t, "boom", func() { _, _ = works[what](t.Context(), j, boom) }, "also in this process")
			require.NoError(t, j.Close())
			j = recorded(t, dir)
			defer j.Close()
			text, err := works[what](t.Context(), j, func(context.Context) error { return nil })
			require.NoError(t, err)
			assert.Equal(t, "done, in doubt: true", text, "it may have had its effect")
		})
	}
	timed := named("timed")
	timed.Transport.ModelTimeout = time.Minute
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	require.Panics(t, func() {
		_, _ = loop.Do(t.Context(), fixture.In(nil, j), timed, func(context.Context, loop.Attempt) (int, error) { panic("boom") })
	})
	assert.True(t, j.Unfinished(), "within a timeout, too")
}

func TestTheRecordedEndOfAnActionSaysWhenItWas(t *testing.T) {
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	for n := range 2 {
		tries := loop.Attempts(t.Context(), fixture.In(nil, j), named("one"), loop.WithClock(looptest.NewClock()))
		for try := range tries.All() {
			try.End(nil)
		}
		require.NoError(t, tries.Err())
		assert.Equal(t, n == 0, tries.Recorded().IsZero())
	}
}
