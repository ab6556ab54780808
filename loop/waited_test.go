package loop_test

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// given is a function of the user in a run.
type given struct {
	// waits says what a run that is over waits for: for the function, or for nothing.
	waits string
	// run makes a run that calls the function. The function calls block, with its context if it gets one of
	// the run.
	run func(t *testing.T, ctx context.Context, in loop.Input, block func(...context.Context)) error
}

// grace is how long a run that is over waits for a piece of a stream that is being handled.
const grace = 100 * time.Millisecond

const (
	yes    = "yes"
	no     = "no"
	aGrace = "for 100 ms"
)

// in makes a run of one reply.
func in(
	set func(t *testing.T, cfg *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option),
) func(*testing.T, context.Context, loop.Input, func(...context.Context)) error {
	return func(t *testing.T, ctx context.Context, given loop.Input, block func(...context.Context)) error {
		var cfg loop.Config
		model, s, opt := set(t, &cfg, block)
		if model == nil {
			model = looptest.NewModel(looptest.Say("Done."))
		}
		opts := []loop.Option{opt}
		if opt == nil {
			opts = nil
		}
		_, err := fixture.Run(ctx, model, s, given, cfg, opts...)
		return err
	}
}

// blockingIssues is the function of the type below.
var blockingIssues func()

type slowlyChecked struct {
	City string `json:"city"`
}

func (slowlyChecked) Issues() []fault.Issue { blockingIssues(); return nil }

// streamsHello streams one piece.
var streamsHello = loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
	if req.Stream != nil {
		req.Stream(loop.Delta{Call: -1, Text: "Hello."})
	}
	return message.Reply{Text: "Hello.", Finish: message.Stop}, nil
})

// reducing is a session with a reducer of the reply.
func reducing(t *testing.T, reduce func() error) *session.Session {
	slice := session.LogSlice[string]("texts")
	s, err := session.New(session.Config{Slices: []session.Declared{slice}, Reducers: []session.Reducer{
		session.On(slice, session.EventReplied, "keep", func(reducer.View[string], session.RepliedEvent) (reducer.Change[string], error) {
			return reducer.Append("said"), reduce()
		}),
	}})
	require.NoError(t, err)
	return s
}

// slowLog is a journal that blocks when a reply is appended.
type slowLog struct {
	journal.Log
	block func(...context.Context)
}

type slowStore struct {
	looptest.Store
	block func(...context.Context)
}

func (s *slowStore) Open(ctx context.Context, id string) (journal.Log, error) {
	log, err := s.Store.Open(ctx, id)
	return &slowLog{log, s.block}, err
}

func (l *slowLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if strings.Contains(string(lines), `"replied"`) {
		l.block()
	}
	return l.Log.Append(ctx, at, lines, durable)
}

// payingTool is a set with a tool that pays, and paysOnce a model that calls it.
func payingTool(t *testing.T, opt tool.Option) *tool.Set {
	set, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", nil }, opt))
	require.NoError(t, err)
	return set
}

func paysOnce() loop.Model {
	return looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Paid."))
}

// limitedBy makes a run with a limiter and another option.
func limitedBy(
	opt func(block func()) loop.Option,
) func(*testing.T, context.Context, loop.Input, func(...context.Context)) error {
	return func(t *testing.T, ctx context.Context, given loop.Input, block func(...context.Context)) error {
		l, err := limiter.New(limiter.Config{})
		require.NoError(t, err)
		_, err = fixture.Run(ctx, looptest.NewModel(looptest.Say("Done.")), nil, given, loop.Config{}, loop.WithLimiter(l),
			opt(func() { block() }))
		return err
	}
}

// theGiven are the functions by their rows of the table in the guide to guarantees.
var theGiven = map[string]given{
	"`Model.Reply`": {no, in(func(_ *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		return loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			block(ctx)
			return message.Reply{}, ctx.Err()
		}), nil, nil
	})},
	"a tool": {no, in(func(t *testing.T, cfg *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		var err error
		cfg.Tools, err = tool.NewSet(tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
			block(ctx)
			return "paid", ctx.Err()
		}))
		require.NoError(t, err)
		return looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Paid.")), nil, nil
	})},
	"`WithPrompt`": {no, in(func(_ *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		return nil, nil, loop.WithPrompt(func(ctx context.Context, _ session.State, _ []machine.Position) (string, []message.Message, error) {
			block(ctx)
			return "", nil, ctx.Err()
		})
	})},
	"`WithApprover`": {no, in(func(t *testing.T, cfg *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		cfg.Tools = payingTool(t, tool.NeedsApproval(func(struct{}) bool { return true }))
		return paysOnce(), nil, loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
			block()
			return machine.Response{Verdict: machine.Approve}, nil
		})
	})},
	"`WithSummary`": {no, func(_ *testing.T, ctx context.Context, in loop.Input, block func(...context.Context)) error {
		set := policy.DefaultSet()
		set.Context = policy.Context{Steps: []policy.ContextStep{policy.Summarise}, Keep: new(1)}
		for range 4 {
			in.History = append(in.History, message.Message{Role: message.User, Text: strings.Repeat("word ", 9)},
				message.Message{Role: message.Assistant, Text: strings.Repeat("word ", 999)})
		}
		model := looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.ContextLength}), looptest.Say("Done."))
		_, err := fixture.Run(ctx, model, nil, in, loop.Config{Policy: &set},
			loop.WithSummary(func(ctx context.Context, _ []message.Message) (string, message.Usage, error) {
				block(ctx)
				return "words", message.Usage{}, ctx.Err()
			}))
		return err
	}},
	"`NeedsApproval` of a tool": {yes, in(func(t *testing.T, cfg *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		cfg.Tools = payingTool(t, tool.NeedsApproval(func(struct{}) bool { block(); return false }))
		return paysOnce(), nil, nil
	})},
	"`Config.Estimate`": {yes, in(func(_ *testing.T, cfg *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		set := policy.DefaultSet()
		set.Spending.Run.TotalTokens = new(int64(1_000_000))
		cfg.Policy, cfg.Estimate = &set, func(string, []message.Message) int64 { block(); return 1 }
		return nil, nil, nil
	})},
	"`WithScope`": {yes, limitedBy(func(block func()) loop.Option {
		return loop.WithScope(func(loop.Request) string { block(); return "" })
	})},
	"`WithPriority`": {yes, limitedBy(func(block func()) loop.Option { return loop.WithPriority(func(string) int { block(); return 0 }) })},
	"`Planner.Plan`": {no, in(func(_ *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		return looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Auth})), nil,
			loop.WithPlanner(planner.PlannerFunc(func(ctx context.Context, _ planner.Question) (machine.Plan, error) {
				block(ctx)
				return machine.Plan{Do: machine.Abort}, ctx.Err()
			}))
	})},
	"`WithStream`": {aGrace, in(func(_ *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		return streamsHello, nil, loop.WithStream(func(loop.Delta) { block() })
	})},
	"the function of `Do`": {yes, func(t *testing.T, ctx context.Context, in loop.Input, block func(...context.Context)) error {
		a := loop.ToolCall("pay")
		a.Deadline = in.Deadline
		_, err := loop.Do(ctx, newSession(t), a, func(ctx context.Context, _ loop.Attempt) (int, error) {
			block(ctx)
			return 0, ctx.Err()
		})
		return err
	}},
	"the function of `Do`, without a session": {yes, func(_ *testing.T, ctx context.Context, in loop.Input, block func(...context.Context)) error {
		a := loop.ToolCall("pay")
		a.Deadline = in.Deadline
		_, err := loop.Do(ctx, nil, a, func(ctx context.Context, _ loop.Attempt) (int, error) {
			block(ctx)
			return 0, ctx.Err()
		})
		return err
	}},
	"the function of `Do`, with a timeout": {no, func(t *testing.T, ctx context.Context, in loop.Input, block func(...context.Context)) error {
		a := loop.ToolCall("pay")
		a.Deadline, a.Transport.ModelTimeout = in.Deadline, time.Hour
		_, err := loop.Do(ctx, newSession(t), a, func(ctx context.Context, _ loop.Attempt) (int, error) {
			block(ctx)
			return 0, ctx.Err()
		})
		return err
	}},
	"`WithAdjust`": {yes, in(func(_ *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		return nil, nil, loop.WithAdjust(func(session.State) (policy.Layer, bool) {
			block()
			return policy.Layer{}, false
		})
	})},
	"an observer": {yes, in(func(_ *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		return looptest.NewModel(looptest.Say(""), looptest.Say("Done.")), nil,
			loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
				if n.Kind == observe.Retrying {
					block()
				}
			}))
	})},
	"a reducer": {yes, in(func(t *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		return nil, reducing(t, func() error { block(); return nil }), nil
	})},
	"`OnReducerError`": {yes, in(func(t *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		s := reducing(t, func() error { return assert.AnError })
		s.OnReducerError(func(fault.ReducerError) { block() })
		return nil, s, nil
	})},
	"`Issues` of a Go type": {yes, func(t *testing.T, ctx context.Context, in loop.Input, block func(...context.Context)) error {
		blockingIssues = func() { block() }
		_, err := fixture.Generate[slowlyChecked](ctx, looptest.NewModel(looptest.Say(`{"city":"Lisbon"}`)), nil, in, loop.Config{})
		return err
	}},
	"a store of journals": {yes, in(func(t *testing.T, _ *loop.Config, block func(...context.Context)) (loop.Model, *session.Session, loop.Option) {
		j, err := journal.Open(t.Context(), &slowStore{block: block}, "order-42", journal.Settings{})
		require.NoError(t, err)
		return nil, fixture.In(nil, j), nil
	})},
	"`PoolConfig.Done`": {yes, func(t *testing.T, ctx context.Context, in loop.Input, block func(...context.Context)) error {
		p, err := loop.NewPool(loop.PoolConfig{Model: looptest.NewModel(looptest.Say("Done.")),
			Done: func(*session.Session, loop.Result, error) { block() }})
		require.NoError(t, err)
		_, err = p.Add(newSession(t), in)
		require.NoError(t, err)
		return p.Run(ctx, 1)
	}},
}

// A run that is over waits for some functions of the user and not for others, and the guide says for which.
func TestWhatARunThatIsOverWaitsFor(t *testing.T) {
	for name, g := range theGiven {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				entered, release, over := make(chan bool, 9), make(chan bool), make(chan error, 1)
				go func() {
					over <- g.run(t, ctx, loop.Input{Prompt: "Go."}, func(...context.Context) {
						entered <- true
						<-release
					})
				}()
				<-entered
				cancel()
				if g.waits == aGrace {
					time.Sleep(grace - 1)
					synctest.Wait()
					assert.Empty(t, over)
					time.Sleep(time.Nanosecond)
				}
				synctest.Wait()
				assert.Equal(t, g.waits != yes, len(over) == 1)
				close(release)
				<-over
			})
		})
	}
}

// Every context of a run ends at its deadline, and with it the run.
func TestTheDeadlineOfAnInputEndsEveryContext(t *testing.T) {
	for name, g := range theGiven {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bounded atomic.Bool
				at := time.Now().Add(time.Minute)
				err := g.run(t, t.Context(), loop.Input{Prompt: "Go.", Deadline: at}, func(own ...context.Context) {
					for _, ctx := range own {
						bounded.Store(true)
						deadline, _ := ctx.Deadline()
						assert.True(t, at.Equal(deadline))
						<-ctx.Done()
						assert.Equal(t, context.DeadlineExceeded, ctx.Err())
					}
				})
				if bounded.Load() {
					require.ErrorIs(t, err, policy.ReasonDeadline)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					assert.True(t, at.Equal(time.Now()))
				}
			})
		})
	}
}

// hangs is a model that waits for the end of its context.
var hangs = loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
	<-ctx.Done()
	return message.Reply{}, ctx.Err()
})

func TestTheDeadlineOfAnInputByAFakeClock(t *testing.T) {
	clock := looptest.NewClock()
	at := looptest.Epoch.Add(time.Minute)
	_, err := fixture.Run(t.Context(), hangs, nil, loop.Input{Prompt: "Go.", Deadline: at}, loop.Config{}, loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonDeadline)
	assert.Equal(t, at, clock.Now())
}

func TestTheDeadlineOfAnInputInAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(time.Minute)
		p := poolOf(t, loop.Config{}, hangs)
		serves(t, p)
		_, err := p.Await(t.Context(), newSession(t), loop.Input{Prompt: "Go.", Deadline: at})
		require.ErrorIs(t, err, policy.ReasonDeadline)
		assert.True(t, at.Equal(time.Now()))
	})
}

// A run that is resumed keeps its deadline.
func TestTheDeadlineOfARunThatIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, store := time.Now().Add(time.Minute), &looptest.Store{}
		for n, end := range []error{loop.ErrSuspended, loop.ErrSuspended, policy.ReasonDeadline} {
			j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
			require.NoError(t, err)
			ctx, leave := context.WithCancelCause(t.Context())
			time.AfterFunc(25*time.Second, func() { leave(loop.ErrSuspended) })
			if n == 0 {
				_, err = fixture.Run(ctx, hangs, fixture.In(nil, j), loop.Input{Prompt: "Go.", Deadline: at}, loop.Config{})
			} else {
				_, err = fixture.Resume(ctx, hangs, fixture.In(newSession(t), j), loop.Config{})
			}
			require.ErrorIs(t, err, end)
			require.NoError(t, j.Close())
		}
		assert.True(t, at.Equal(time.Now()))
	})
}

// A pool that is closed leaves planners and prompt functions, too; they are asked again when the run goes on.
func TestAClosedPoolWaitsForNoPlannerAndNoPrompt(t *testing.T) {
	for _, name := range []string{"`WithPrompt`", "`Planner.Plan`"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, release := 0, make(chan bool)
				block := func() {
					if asked++; asked == 1 {
						<-release
					}
				}
				cfg := loop.PoolConfig{Model: looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Auth})),
					Options: []loop.Option{loop.WithPlanner(planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
						block()
						return machine.Plan{Do: machine.Abort}, nil
					}))}}
				if name == "`WithPrompt`" {
					cfg.Options = []loop.Option{loop.WithPrompt(func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
						block()
						return "", nil, nil
					})}
				}
				p, _ := pooled(t, cfg)
				_, err := p.Add(newSession(t), loop.Input{Prompt: "Go."})
				require.NoError(t, err)
				go func() { _ = p.Serve(t.Context(), 1) }()
				synctest.Wait()
				left := p.Close()
				require.Len(t, left, 1)
				next, told := pooled(t, cfg)
				_, err = next.AddParked(left[0])
				require.NoError(t, err)
				require.NoError(t, next.Run(t.Context(), 1))
				assert.Len(t, told(), 1)
				assert.Equal(t, 2, asked)
				close(release)
			})
		})
	}
}

// A function of WithStream that does not return is not a timeout of the model, which is not asked again.
func TestAStreamThatIsNotReadIsNotTheModelsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, nobody := 0, make(chan loop.Delta)
		set := policy.DefaultSet()
		set.Transport = policy.Layer{ModelTimeout: new(time.Minute), FirstTokenTimeout: new(time.Second), IdleTimeout: new(time.Second)}
		_, err := fixture.Run(t.Context(), loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
			asked++
			return streamsHello(ctx, req)
		}), nil, loop.Input{Prompt: "Go."}, loop.Config{Policy: &set}, loop.WithStream(func(d loop.Delta) { nobody <- d }))
		require.ErrorContains(t, err, "the function that gets the streamed reply has not returned")
		require.ErrorIs(t, err, policy.ReasonNotRetryable)
		assert.Equal(t, 1, asked)
		<-nobody
	})
}

// The time in which a piece is handled is not that of the model.
func TestASlowReaderOfAStreamIsNotAnIdleModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := policy.DefaultSet()
		set.Transport = policy.Layer{FirstTokenTimeout: new(time.Second), IdleTimeout: new(time.Second)}
		result, err := fixture.Run(t.Context(), streamsHello, nil, loop.Input{Prompt: "Go."}, loop.Config{Policy: &set}, loop.WithStream(func(loop.Delta) { time.Sleep(time.Minute) }))
		looptest.AssertAnswer(t, result, err, "Hello.")
	})
}

// The pieces of a reply are handled one at a time, also after a reply that was left behind.
func TestAStreamHasOneReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		readers, most, release := 0, 0, make(chan bool)
		p := poolOf(t, loop.Config{}, streamsHello, loop.WithStream(func(loop.Delta) {
			readers++
			most = max(most, readers)
			<-release
			readers--
		}))
		drive, stop := context.WithCancel(t.Context())
		go func() { _ = p.Serve(drive, 1) }()
		end := awaits(t.Context(), p, newSession(t), "Go.", nil)
		synctest.Wait()
		stop()
		time.Sleep(grace)
		synctest.Wait()
		serves(t, p)
		synctest.Wait()
		close(release)
		got := <-end
		looptest.AssertAnswer(t, got.result, got.err, "Hello.")
		assert.Equal(t, 1, most)
	})
}

// A call that still runs when another call of the reply ends the run is told so.
func TestTheContextOfAToolEndsWithItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		over := make(chan bool)
		tools, err := tool.NewSet(
			tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "", tool.AskAgain() }),
			tool.New("wait", "Wait.", func(ctx context.Context, _ struct{}) (string, error) {
				<-ctx.Done()
				cause = context.Cause(ctx)
				close(over)
				return "", cause
			}))
		require.NoError(t, err)
		set := policy.DefaultSet()
		set.Tools = map[string]policy.Layer{"pay": {MaxAttempts: new(1)}}
		model := looptest.NewModel(looptest.Call(call("pay", `{}`), call("wait", `{}`)))
		_, err = fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: &set})
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
		<-over
		require.ErrorContains(t, cause, "the run has ended")
	})
}

// The guide has a row for each function, and no other.
func TestTheGuideSaysWhatARunWaitsFor(t *testing.T) {
	text, err := os.ReadFile("../docs/guides/guarantees.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "## What a run waits for")
	rows := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]* \| ([^|,]+)(,[^|]*)? \|`).FindAllStringSubmatch(table, -1) {
		rows[row[1]] = row[2]
	}
	delete(rows, "your function")
	want := map[string]string{}
	for name, g := range theGiven {
		want[name] = g.waits
	}
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(rows)))
	assert.Equal(t, want, rows)
}
