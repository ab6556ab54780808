package loop_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

// named is the action of paying, with an ID.
func named(id string) *loop.Action {
	a := loop.ToolCall("pay")
	a.ID, a.Policy.MaxAttempts, a.Policy.Backoff = id, 2, backoff.Constant(0)
	a.Transport.Backoff = backoff.Constant(0)
	return a
}

// onJournal calls do with the journal of a folder, opened again.
func onJournal(t *testing.T, dir string, set journal.Settings, do func(*session.Session)) {
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", set)
	require.NoError(t, err)
	do(fixture.In(nil, j))
	require.NoError(t, j.Close())
}

// never is an attempt that must not be made.
func never[T any](t *testing.T) func(context.Context, loop.Attempt) (T, error) {
	return func(context.Context, loop.Attempt) (none T, err error) {
		t.Error("what has ended is done again")
		return none, errors.New("done again")
	}
}

func compact(t *testing.T, dir string) {
	require.NoError(t, journal.Compact(t.Context(), journal.Dir(dir), "order-42", nil))
}

func TestAnActionThatHasEndedIsNotMadeAgain(t *testing.T) {
	for name, between := range map[string]func(string){
		"opened_again": func(string) {}, "compacted": func(dir string) { compact(t, dir) },
		"compacted_twice": func(dir string) { compact(t, dir); compact(t, dir) },
		"compacted_as_the_next_began": func(dir string) {
			onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
				_, err := loop.Do(t.Context(), s, named("next"), func(context.Context, loop.Attempt) (int, error) { return 1, nil })
				require.NoError(t, err)
			})
			path := filepath.Join(dir, journal.FileName("order-42"))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			header := bytes.LastIndex(text, []byte(`"record":{"header":`))
			end := header + bytes.IndexByte(text[header:], '\n') + 1
			require.NoError(t, os.WriteFile(path, text[:end], 0o600))
			compact(t, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			paid := receipt{Number: "R-1<&>"}
			var failed error
			onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
				got, err := loop.Do(t.Context(), s, named("one"), func(context.Context, loop.Attempt) (receipt, error) { return paid, nil })
				require.NoError(t, err)
				assert.Equal(t, paid, got)
				_, failed = loop.Do(t.Context(), s, named("two"), func(context.Context, loop.Attempt) (receipt, error) {
					return receipt{}, &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/sum", Rule: "type", Expected: "integer"}}}
				})
				require.ErrorIs(t, failed, policy.ReasonAttemptsExhausted)
				_, err = loop.Do(t.Context(), s, named(""), func(context.Context, loop.Attempt) (int, error) { return 1, nil })
				require.NoError(t, err, "another action, with which the last run is no more that of the others")
			})
			between(dir)
			onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
				got, err := loop.Do(t.Context(), s, named("one"), never[receipt](t))
				require.NoError(t, err)
				assert.Equal(t, paid, got)
				_, again := loop.Do(t.Context(), s, named("two"), never[receipt](t))
				requireSameEnd(t, failed, again)
				tries := loop.Attempts(t.Context(), s, named("one"))
				for range tries.All() {
					t.Error("what has ended is done again")
				}
				require.NoError(t, tries.Err())
				tries = loop.Attempts(t.Context(), s, named("two"))
				for range tries.All() {
					t.Error("what has ended is done again")
				}
				requireSameEnd(t, failed, tries.Err())
			})
		})
	}
}

// requireSameEnd compares the recorded error with the one that was returned.
func requireSameEnd(t *testing.T, then, now error) {
	var was, is *loop.RetryExhaustedError
	require.ErrorAs(t, then, &was)
	require.ErrorAs(t, now, &is)
	assert.Zero(t, was.Recorded)
	require.NotZero(t, is.Recorded)
	assert.Equal(t, strings.ReplaceAll(then.Error(), "\n", " ")+
		" (the recorded end of "+is.Recorded.Format(time.RFC3339)+"; nothing was done now)", now.Error(), "what is recorded is one line")
	assert.Equal(t, was.Reason, is.Reason)
	assert.Equal(t, was.Failure, is.Failure)
	assert.Equal(t, was.Attempts, is.Attempts)
	assert.Equal(t, was.Usage, is.Usage)
	assert.Equal(t, was.Seed, is.Seed)
	assert.Equal(t, was.Policy, is.Policy)
	assert.Equal(t, was.Explanation, is.Explanation)
}

// An engine with its own clock gets the recorded end, too.
func TestAnEngineIsNotGivenAnActionThatHasEnded(t *testing.T) {
	onJournal(t, t.TempDir(), journal.Settings{}, func(s *session.Session) {
		_, err := loop.Do(t.Context(), s, named("invoice-7"), func(context.Context, loop.Attempt) (int, error) { return 1, nil })
		require.NoError(t, err)
		_, err = fixture.ActionRunner(s, named("invoice-7"), nil)
		require.ErrorContains(t, err, `action "invoice-7" has ended: take its recorded end`)
	})
}

func TestAnActionWithoutAnIDIsANewOneEachTime(t *testing.T) {
	onJournal(t, t.TempDir(), journal.Settings{}, func(s *session.Session) {
		for n := range 3 {
			got, err := loop.Do(t.Context(), s, named(""), func(context.Context, loop.Attempt) (int, error) { return n, nil })
			require.NoError(t, err)
			assert.Equal(t, n, got)
		}
	})
}

func TestAnIDDoesNothingWithoutAJournal(t *testing.T) {
	for n := range 2 {
		got, err := loop.Do(t.Context(), newSession(t), named("one"), func(context.Context, loop.Attempt) (func() int, error) {
			return func() int { return n }, nil
		})
		require.NoError(t, err)
		assert.Equal(t, n, got())
	}
}

func TestARecordedValueThatDoesNotFitIsSaidSo(t *testing.T) {
	onJournal(t, t.TempDir(), journal.Settings{}, func(s *session.Session) {
		_, err := loop.Do(t.Context(), s, named("one"), func(context.Context, loop.Attempt) (receipt, error) { return receipt{Number: "R-1"}, nil })
		require.NoError(t, err)
		_, err = loop.Do(t.Context(), s, named("one"), never[int](t))
		require.ErrorContains(t, err, `action "one" succeeded, but its recorded value does not fit int`)
		_, err = loop.Do(t.Context(), s, named("one"), never[struct{ Room int }](t))
		require.ErrorContains(t, err, "does not fit", "a member that is not known is not dropped")

		got, err := loop.Do(t.Context(), s, named("within"), func(context.Context, loop.Attempt) ([]chan int, error) { return make([]chan int, 1), nil })
		require.ErrorContains(t, err, `action "within" succeeded, but its value cannot be recorded`)
		assert.Len(t, got, 1, "it is not lost")
		_, err = loop.Do(t.Context(), s, named("within"), never[[]chan int](t))
		require.ErrorContains(t, err, `action "within" succeeded, but its journal has no value`)

		other := named("one")
		other.Tool = "refund"
		_, err = loop.Do(t.Context(), s, other, never[receipt](t))
		require.ErrorContains(t, err, `the ID "one" belongs to the action "pay" in the journal, but now to "refund"`)
		for _, bad := range []string{"a\nb", string(make([]byte, 300)), "\xff"} {
			_, err = loop.Do(t.Context(), s, named(bad), never[int](t))
			require.ErrorContains(t, err, "action_id: ")
		}
	})
}

// A process that dies in an attempt leaves it in doubt, whether or not the action has an ID.
func TestATryWithoutAnOutcomeIsToldInDoubt(t *testing.T) {
	for _, id := range []string{"", "one"} {
		dir := t.TempDir()
		onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
			ctx, leave := context.WithCancelCause(t.Context())
			_, err := loop.Do(ctx, s, named(id), func(_ context.Context, a loop.Attempt) (int, error) {
				assert.False(t, a.InDoubt)
				if a.Number == 2 {
					leave(loop.ErrSuspended)
				}
				return 0, &fault.ToolValidationError{Tool: "pay"}
			})
			require.ErrorIs(t, err, loop.ErrSuspended)
			if id != "" {
				other := named(id)
				other.Tool = "refund"
				_, err = loop.Do(t.Context(), s, other, never[int](t))
				require.ErrorContains(t, err, `"pay" in the journal, but now to "refund"`)
			}
			_, err = loop.Do(t.Context(), s, named("another"), never[int](t))
			require.ErrorIs(t, err, journal.ErrConflict, "the first has not ended")
		})
		if id != "" {
			compact(t, dir)
		}
		onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
			var seen []loop.Attempt
			a := named(id)
			_, err := loop.Do(t.Context(), s, a, func(_ context.Context, a loop.Attempt) (int, error) {
				seen = append(seen, a)
				if len(seen) == 1 {
					return 0, &fault.ProviderError{Class: fault.Overloaded, RetryAfter: 1}
				}
				return 7, nil
			})
			require.NoError(t, err)
			require.Len(t, seen, 2)
			assert.True(t, seen[0].InDoubt)
			assert.Equal(t, 2, seen[0].Number)
			assert.False(t, seen[1].InDoubt, "what came of the try before is known")
		})
	}
}

func TestACancelledActionHasEndedToo(t *testing.T) {
	dir := t.TempDir()
	onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := loop.Do(ctx, s, named("one"), func(context.Context, loop.Attempt) (int, error) {
			cancel()
			return 0, ctx.Err()
		})
		require.ErrorIs(t, err, policy.ReasonCancelled)
		_, err = loop.Do(t.Context(), s, named("one"), never[int](t))
		require.ErrorIs(t, err, policy.ReasonCancelled)
	})
}

func TestAnAgentThatHasEndedIsNotRunAgain(t *testing.T) {
	dir := t.TempDir()
	named := func(id string) *agent.Agent {
		a := agent.New("booker")
		a.ID, a.Transport.MaxAttempts, a.Transport.Backoff = id, 2, backoff.Constant(0)
		return a
	}
	var good, bad result.Result[receipt]
	onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
		good = agent.Retry(t.Context(), s, named("good"), func(_ context.Context, a loop.Attempt) result.Result[receipt] {
			if a.Number == 1 {
				return result.Failure[receipt](fault.Overloaded, "busy")
			}
			r := result.Success(receipt{Number: "R-1"})
			r.Meta = r.Warn("a warning")
			r.Execution.Usage.Usage = message.Usage{InputTokens: 10, OutputTokens: 5}
			return r
		}, loop.WithClock(looptest.NewClock()))
		require.True(t, good.IsSuccess())
		bad = agent.Retry(t.Context(), s, named("bad"), func(context.Context, loop.Attempt) result.Result[receipt] {
			return result.Failure[receipt](fault.Overloaded, "busy")
		}, loop.WithClock(looptest.NewClock()))
		require.True(t, bad.IsError())
	})
	compact(t, dir)
	onJournal(t, dir, journal.Settings{}, func(s *session.Session) {
		run := func(context.Context, loop.Attempt) result.Result[receipt] {
			t.Error("what has ended is done again")
			return result.Failure[receipt](fault.Overloaded, "again")
		}
		now := agent.Retry(t.Context(), s, named("good"), run, loop.WithClock(looptest.NewClock()))
		then, err := result.Encode(result.ResultEnvelope, good)
		require.NoError(t, err)
		again, err := result.Encode(result.ResultEnvelope, now)
		require.NoError(t, err)
		assert.Equal(t, string(then), string(again))
		assert.Equal(t, good.Data, now.Data)
		assert.Equal(t, good.Warnings, now.Warnings)
		assert.Equal(t, good.Execution.RetryCount, now.Execution.RetryCount)
		gone := agent.Retry(t.Context(), s, named("bad"), run, loop.WithClock(looptest.NewClock()))
		require.True(t, gone.IsError())
		assert.Equal(t, bad.Error.Class, gone.Error.Class)
	})
}

// A value that was left out of the journal is returned only if it was kept. The action is not repeated in
// either case.
func TestARedactedEndIsGivenWhereItWasKept(t *testing.T) {
	for name, transcripts := range map[string]*kept{"kept": {texts: map[string]string{}}, "gone": nil} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rules := &journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Result: []string{"/number"}}}}
			if transcripts != nil {
				rules.Transcripts = transcripts
			}
			set := journal.Settings{Redact: rules}
			pay := func(context.Context, loop.Attempt) (receipt, error) { return receipt{Number: "R-secret"}, nil }
			onJournal(t, dir, set, func(s *session.Session) {
				for _, try := range []func(context.Context, loop.Attempt) (receipt, error){pay, never[receipt](t)} {
					got, err := loop.Do(t.Context(), s, named("one"), try)
					require.NoError(t, err)
					assert.Equal(t, "R-secret", got.Number)
				}
			})
			text, err := os.ReadFile(storyFile(dir))
			require.NoError(t, err)
			assert.NotContains(t, string(text), "R-secret")
			onJournal(t, dir, set, func(s *session.Session) {
				for range 2 {
					got, err := loop.Do(t.Context(), s, named("one"), never[receipt](t))
					if transcripts == nil {
						require.ErrorIs(t, err, journal.ErrRedacted)
					} else {
						require.NoError(t, err)
						assert.Equal(t, "R-secret", got.Number)
					}
					_, err = loop.Do(t.Context(), s, named(""), pay)
					require.NoError(t, err)
				}
			})
		})
	}
}

// durable counts the appends that must survive a power failure.
type durable struct {
	journal.Store
	n *int
}

type durableLog struct {
	journal.Log
	n *int
}

func (d durable) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := d.Store.Open(ctx, session)
	return durableLog{log, d.n}, err
}

func (d durableLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if durable {
		*d.n++
	}
	return d.Log.Append(ctx, at, lines, durable)
}

// An attempt that a power failure erased from the journal would not be in doubt.
func TestATryIsDurableBeforeItIsMade(t *testing.T) {
	n := 0
	j, err := journal.Open(t.Context(), durable{journal.Dir(t.TempDir()), &n}, "order-42", journal.Settings{})
	require.NoError(t, err)
	_, err = loop.Do(t.Context(), fixture.In(nil, j), named(""), func(_ context.Context, a loop.Attempt) (int, error) {
		assert.Equal(t, a.Number, n, "an append for each try so far")
		if a.Number == 1 {
			return 0, &fault.ToolValidationError{Tool: "pay"}
		}
		return 1, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 3, n, "and one for the end")
	require.NoError(t, j.Close())
}
