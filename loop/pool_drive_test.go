package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
)

// doneAfter is a model that answers after a time.
func doneAfter(d time.Duration) loop.Model {
	return loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		<-time.After(d)
		return message.Reply{Text: "done", Finish: message.Stop}, nil
	})
}

func TestEveryDriverOfAPoolReturns(t *testing.T) {
	tests := map[string]struct {
		drive func(*loop.Pool, context.Context, int) error
		close bool
		want  error
	}{
		"all runs have ended":                   {drive: (*loop.Pool).Run},
		"the pool is closed under those of Run": {drive: (*loop.Pool).Run, close: true, want: loop.ErrPoolClosed},
		"the pool is closed":                    {drive: (*loop.Pool).Serve, close: true, want: loop.ErrPoolClosed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := pooled(t, loop.PoolConfig{Model: doneAfter(time.Second)})
				_, err := p.Add(newSession(t), loop.Input{Prompt: "Hello."})
				require.NoError(t, err)
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				const drivers = 3
				over := make(chan error, drivers)
				for range drivers {
					go func() { over <- test.drive(p, ctx, 2) }()
				}
				synctest.Wait()
				if test.close {
					p.Close()
				}
				<-time.After(time.Minute)
				synctest.Wait()
				stop(errors.New("it has not returned"))
				for range drivers {
					require.ErrorIs(t, <-over, test.want)
				}
			})
		})
	}
}

// TestADriverThatLeavesTakesNoWakeAlong adds a run while one of two waiting drivers stops. The other must
// wake up.
func TestADriverThatLeavesTakesNoWakeAlong(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			p, told := pooled(t, loop.PoolConfig{Model: doneAfter(0)})
			leaves, stop := context.WithCancel(t.Context())
			go func() { _ = p.Serve(leaves, 1) }()
			synctest.Wait()
			stays, end := context.WithCancel(t.Context())
			defer end()
			go func() { _ = p.Serve(stays, 1) }()
			synctest.Wait()
			_, err := p.Add(newSession(t), loop.Input{Prompt: "Hello."})
			stop()
			require.NoError(t, err)
			synctest.Wait()
			require.Len(t, told(), 1)
		})
	}
}

func TestABusyDriverKeepsNoRunFromAnIdleOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		p, told := pooled(t, loop.PoolConfig{Model: loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
			if r.Messages[0].Text == "long" {
				<-free
			}
			return message.Reply{Text: "done", Finish: message.Stop}, nil
		})})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for _, prompts := range [][]string{{"long"}, {"short", "short", "short"}} {
			go func() { _ = p.Serve(ctx, 1) }()
			synctest.Wait()
			for n, prompt := range prompts {
				_, err := p.Add(newSessionNamed(t, fmt.Sprint(prompt, n)), loop.Input{Prompt: prompt})
				require.NoError(t, err)
				synctest.Wait()
			}
		}
		assert.Len(t, told(), 3, "of the short ones")
		close(free)
		synctest.Wait()
		assert.Len(t, told(), 4)
	})
}

// TestWaitsThatAreOverAreNotStarved adds runs faster than one worker executes them, while a wait of an hour
// ends.
func TestWaitsThatAreOverAreNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, model := patient()
		p := poolOf(t, cfg, loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
			<-time.After(10 * time.Second)
			return model.Reply(ctx, r)
		}))
		drive, stop := context.WithCancel(t.Context())
		go func() { _ = p.Serve(drive, 1) }()
		first := awaits(t.Context(), p, newSessionNamed(t, "first"), "first", nil)
		<-time.After(30 * time.Minute)
		feed, end := context.WithCancel(t.Context())
		go func() {
			for n := 0; feed.Err() == nil; n++ {
				awaits(feed, p, newSessionNamed(t, "other"), fmt.Sprint("other ", n), nil)
				<-time.After(9 * time.Second)
			}
		}()
		<-time.After(2 * time.Hour)
		synctest.Wait()
		assert.Len(t, first, 1)
		end()
		stop()
		<-time.After(time.Minute) // the call under way
	})
}

func TestRunsAreGoneOnWithInTheOrderInWhichTheyWereDue(t *testing.T) {
	var asked []string
	clock := looptest.NewClock()
	exact := policy.DefaultSet()
	exact.Transport = exactly()
	p, told := pooled(t, loop.PoolConfig{Model: after(&asked), Config: loop.Config{Policy: &exact}, Options: []loop.Option{loop.WithClock(clock)}})
	add := func(wait string) *loop.PoolRun {
		seat, err := p.Add(newSessionNamed(t, wait), loop.Input{Prompt: wait})
		require.NoError(t, err)
		return seat
	}
	add("10s")
	add("30s")
	cancelled := add("4m")
	require.Equal(t, 3, p.Due(clock.Now()))
	clock.Add(20 * time.Second)
	add("1m")
	clock.Add(5 * time.Second)
	cancelled.Cancel(nil)
	at, ok := p.Next()
	require.True(t, ok)
	require.Zero(t, at, "there is something to do at once, beside what was due before")
	clock.Add(15 * time.Second)
	asked = append(asked, "|")
	require.Equal(t, 4, p.Due(clock.Now()))
	assert.Equal(t, []string{"10s", "30s", "4m", "|", "10s", "1m", "30s"}, asked)
	require.Len(t, told(), 3)
	assert.Equal(t, "4m", told()[1].session.ID(), "it ends in its turn")
	at, _ = p.Next()
	assert.Equal(t, clock.Now().Add(time.Minute), at)
}

// TestDueTakesTheWordOfTheEngine gives a pool times that its clock has not reached.
func TestDueTakesTheWordOfTheEngine(t *testing.T) {
	clock := looptest.NewClock()
	p, told := pooled(t, loop.PoolConfig{Model: overloaded(), Config: patientConfig(), Options: []loop.Option{loop.WithClock(clock)}})
	_, err := p.Add(newSession(t), loop.Input{Prompt: "Hello."})
	require.NoError(t, err)
	require.Equal(t, 1, p.Due(clock.Now()))
	for hours := range 2 {
		at, ok := p.Next()
		require.True(t, ok)
		assert.Equal(t, looptest.Epoch.Add(time.Duration(hours+1)*time.Hour), at)
		assert.Zero(t, p.Due(at.Add(-1)))
		assert.Equal(t, 1, p.Due(at), "once for each time that it is due")
	}
	require.Len(t, told(), 1)
	assert.Equal(t, looptest.Epoch, clock.Now())
	assert.Equal(t, 3, told()[0].session.State().AttemptCount())
}

func TestCloseEndsWhatWasCancelled(t *testing.T) {
	gone := errors.New("gone")
	t.Run("by its seat", func(t *testing.T) {
		p, told := pooled(t, loop.PoolConfig{Model: overloaded(), Config: patientConfig()})
		seat, err := p.Add(newSessionNamed(t, "cancelled"), loop.Input{Prompt: "Hello."})
		require.NoError(t, err)
		_, err = p.Add(newSessionNamed(t, "waits"), loop.Input{Prompt: "Hello."})
		require.NoError(t, err)
		p.Due(time.Now())
		seat.Cancel(gone)
		left := p.Close()
		require.Len(t, left, 1)
		assert.Equal(t, "waits", left[0].Session.ID())
		require.Len(t, told(), 1)
		require.ErrorIs(t, told()[0].err, policy.ReasonCancelled)
		require.ErrorIs(t, told()[0].err, gone)
		require.NoError(t, session.DriverOf(told()[0].session).Acquire(), "it is free")
	})
	t.Run("by its caller", func(t *testing.T) {
		for range 50 {
			synctest.Test(t, func(t *testing.T) {
				p := poolOf(t, patientConfig(), overloaded())
				ctx, leave := context.WithCancelCause(t.Context())
				end := awaits(ctx, p, newSession(t), "Hello.", nil)
				synctest.Wait()
				p.Due(time.Now())
				leave(gone)
				require.Empty(t, p.Close())
				got := <-end
				require.ErrorIs(t, got.err, gone)
				require.NotErrorIs(t, got.err, loop.ErrPoolClosed)
			})
		}
	})
}

// hooked is a clock that calls a function before it tells the time.
type hooked struct {
	*looptest.Clock
	now func()
}

func (h *hooked) Now() time.Time {
	h.now()
	return h.Clock.Now()
}

// Whatever a worker does with a run when it is spoken to, the run hears it before its wait is over.
func TestARunThatIsSpokenToJustBeforeItRestsIsWoken(t *testing.T) {
	fired := true
	for at := 1; fired; at++ {
		require.Less(t, at, 1000)
		cfg, _ := patient()
		var s *session.Session
		armed, asked := false, 0
		fired = false
		clock := &hooked{Clock: looptest.NewClock()}
		clock.now = func() {
			if !armed {
				return
			}
			if asked++; asked == at {
				armed, fired = false, true
				require.NoError(t, s.Say(session.Words{Text: "Rather by train.", At: clock.Clock.Now()}))
			}
		}
		p, _ := pooled(t, loop.PoolConfig{Config: cfg, Options: []loop.Option{loop.WithClock(clock)},
			Model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				armed = true
				return message.Reply{}, &fault.ProviderError{Class: fault.Overloaded, RetryAfter: time.Hour}
			})})
		dir := journal.Dir(t.TempDir())
		j := recorded(t, dir)
		s = fixture.In(newSession(t), j)
		_, err := p.Add(s, loop.Input{Prompt: "Go."})
		require.NoError(t, err)
		p.Due(clock.Clock.Now())
		armed = false
		for next, ok := p.Next(); ok && next.IsZero(); next, ok = p.Next() {
			p.Due(clock.Clock.Now())
		}
		require.NoError(t, j.Close())
		text, err := os.ReadFile(filepath.Join(string(dir), "order-42.jsonl"))
		require.NoError(t, err)
		assert.Equal(t, fired, strings.Contains(string(text), "Rather by train."), "said at look %d at the clock", at)
	}
}
