package loop_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// broken is a store one of whose functions fails with an error of its own.
type broken struct {
	*looptest.Store
	at  string
	err error
}

// or returns the error of the store instead of err, if it is of the function that fails.
func (b broken) or(at string, err error) error {
	if at == b.at {
		return b.err
	}
	return err
}

func (b broken) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := b.Store.Open(ctx, session)
	return brokenLog{log, b}, b.or("open", err)
}

func (b broken) Stats(ctx context.Context, known ...journal.Stat) ([]journal.Stat, error) {
	all, err := b.Store.Stats(ctx, known...)
	return all, b.or("stats", err)
}

func (b broken) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	in, err := b.Store.Peek(ctx, session)
	return brokenText{in, b}, b.or("peek", err)
}

func (b broken) Put(ctx context.Context, session string, item journal.Item) error {
	return b.or("put", b.Store.Put(ctx, session, item))
}

func (b broken) Items(ctx context.Context, session string) ([]journal.Item, error) {
	all, err := b.Store.Items(ctx, session)
	return all, b.or("items", err)
}

func (b broken) Load(context.Context, string) (limiter.Record, error) {
	return limiter.Record{Now: time.Now()}, b.or("load", nil)
}

func (b broken) Swap(context.Context, string, int64, []byte) (bool, error) {
	return true, b.or("swap", nil)
}

type brokenLog struct {
	journal.Log
	of broken
}

func (l brokenLog) Read(ctx context.Context) (io.ReadCloser, error) {
	in, err := l.Log.Read(ctx)
	return brokenText{in, l.of}, l.of.or("log", err)
}

func (l brokenLog) Replace(ctx context.Context, at int64, lines []byte) error {
	return l.of.or("replace", l.Log.Replace(ctx, at, lines))
}

type brokenText struct {
	io.ReadCloser
	of broken
}

func (t brokenText) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	return n, t.of.or("text", err)
}

// An error of a store that wraps itself hangs nothing that asks the store.
func TestAnErrorOfAStoreThatWrapsItselfHangsNothing(t *testing.T) {
	words := session.Words{Text: "Hello.", At: time.Now()}
	ended := func() *looptest.Store {
		store := new(looptest.Store)
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, err)
		_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Done.")), fixture.In(nil, j), loop.Input{Prompt: "Go."}, loop.Config{})
		require.NoError(t, errors.Join(err, j.Close()))
		return store
	}
	asking := func() *looptest.Store {
		store := new(looptest.Store)
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, err)
		ctx, suspend := context.WithCancelCause(t.Context())
		suspend(loop.ErrSuspended)
		_, err = fixture.Run(ctx, looptest.NewModel(), fixture.In(nil, j), loop.Input{Prompt: "Go."}, loop.Config{})
		require.ErrorIs(t, err, loop.ErrSuspended)
		require.NoError(t, j.Close())
		return store
	}
	always := journal.Retention{Older: time.Nanosecond}
	later := time.Now().Add(time.Hour)
	for way, does := range map[string]struct {
		store func() *looptest.Store
		work  func(s broken) error
		fails []string
	}{
		"open": {ended, func(s broken) error {
			_, err := journal.Open(t.Context(), s, "order-42", journal.Settings{})
			return err
		}, []string{"open", "log", "text"}},
		"last": {ended, func(s broken) error {
			_, err := journal.Last(t.Context(), s, "order-42")
			return err
		}, []string{"peek", "text"}},
		"list": {ended, func(s broken) (all error) {
			for _, err := range journal.Summaries(t.Context(), s, journal.Filter{}, later) {
				all = errors.Join(all, err)
			}
			return all
		}, []string{"stats", "peek", "text"}},
		"delete":  {ended, func(s broken) error { return journal.Delete(t.Context(), s, "order-42") }, []string{"open", "log", "text", "items", "replace"}},
		"compact": {ended, func(s broken) error { return journal.Compact(t.Context(), s, "order-42", nil) }, []string{"open", "log", "text", "replace"}},
		"prune": {ended, func(s broken) (all error) {
			err := journal.Prune(t.Context(), s, always, later, func(p journal.Pruned) bool { all = errors.Join(all, p.Err); return true })
			return errors.Join(all, err)
		}, []string{"open", "log", "text", "stats", "items", "replace"}},
		"seal": {ended, func(s broken) error {
			k, err := sealed.AES(make([]byte, 32))
			require.NoError(t, err)
			return sealed.Seal(t.Context(), s, "order-42", k)
		}, []string{"open", "log", "text", "replace"}},
		"say":     {asking, func(s broken) error { return inbox.Say(t.Context(), s, "order-42", words) }, []string{"peek", "text", "put"}},
		"pending": {asking, func(s broken) error { _, err := inbox.PendingOf(t.Context(), s, "order-42", time.Now()); return err }, []string{"peek", "text", "items"}},
		"answer": {asking, func(s broken) error {
			_, err := mail.PutAnswer(t.Context(), s, "order-42", machine.Response{Question: "q", Verdict: machine.Approve, At: time.Now()})
			return err
		}, []string{"put"}},
		"limiter": {ended, func(s broken) error {
			lost := make(chan error, 1)
			l, err := limiter.New(limiter.Config{Limit: limit.Config{Concurrency: 1}, Store: s, Notice: func(n limiter.Notice) {
				select {
				case lost <- n.Err:
				default:
				}
			}})
			require.NoError(t, err)
			_, err = l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
			require.NoError(t, err)
			return <-lost
		}, []string{"load", "swap"}},
	} {
		for _, at := range does.fails {
			t.Run(way+"/"+at, func(t *testing.T) {
				for _, err := range []error{endless{}, circle{}} {
					got := does.work(broken{does.store(), at, err})
					looks(t, got)
					assert.Contains(t, got.Error(), err.Error())
				}
			})
		}
	}
}
