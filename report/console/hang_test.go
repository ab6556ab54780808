package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

// hanging is a store that lists its sessions only once it is let go, where it hangs, and counts who asks for
// items.
type hanging struct {
	journal.Dir
	hangs  chan chan struct{}
	listed chan struct{}
	fails  *atomic.Bool
	asked  *atomic.Int64
}

func hangingAt(dir string) hanging {
	return hanging{journal.Dir(dir), make(chan chan struct{}, 1), make(chan struct{}, 1), new(atomic.Bool), new(atomic.Int64)}
}

func (s hanging) Stats(ctx context.Context, settled ...journal.Stat) ([]journal.Stat, error) {
	select {
	case letGo := <-s.hangs:
		s.listed <- struct{}{}
		select {
		case <-letGo:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	default:
	}
	if s.fails.Load() {
		return nil, errors.New("connection refused")
	}
	return s.Dir.Stats(ctx, settled...)
}

func (s hanging) WithItems(ctx context.Context) ([]string, error) {
	s.asked.Add(1)
	return s.Dir.WithItems(ctx)
}

func (s hanging) Items(ctx context.Context, session string) ([]journal.Item, error) {
	s.asked.Add(1)
	return s.Dir.Items(ctx, session)
}

// Who leaves while a store is read does not end that for others: they are not told that it cannot be read.
func TestWhoLeavesEndsNoReadingOfOthers(t *testing.T) {
	dir, clock := t.TempDir(), byHand{new(atomic.Int64)}
	put(t, dir, "b.jsonl", named(t, "b", 4))
	store := hangingAt(dir)
	c := open(t, dir, func(s *console.Settings) { s.Stores[0].Store, s.Clock = store, clock })
	require.Equal(t, http.StatusOK, ask(t, c, "GET", "/api/sessions").StatusCode)
	clock.passed.Add(int64(time.Second))
	letGo := make(chan struct{})
	store.hangs <- letGo
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		r := httptest.NewRequestWithContext(ctx, "GET", "http://127.0.0.1:8080/inbox?token="+token, nil)
		c.ServeHTTP(httptest.NewRecorder(), r)
	}()
	<-store.listed
	leave()
	<-left
	page := make(chan string)
	go func() { page <- body(t, ask(t, c, "GET", "/inbox")) }()
	close(letGo)
	assert.NotContains(t, <-page, "Not all stores can be read: ")
}

// hasty is a clock whose waits are a tenth as long.
type hasty struct{ byHand }

func (hasty) After(d time.Duration) <-chan time.Time { return time.After(d / 10) }

// A store that does not answer is named, and keeps nobody waiting who looks at another.
func TestAStoreThatDoesNotAnswer(t *testing.T) {
	good, bad, clock := t.TempDir(), t.TempDir(), hasty{byHand{new(atomic.Int64)}}
	put(t, good, "a.jsonl", named(t, "a", 4))
	put(t, bad, "b.jsonl", asked(t, "b", acme, 0, pay(always)))
	store := hangingAt(bad)
	c := open(t, good, func(s *console.Settings) {
		s.Stores[0].Name = "good"
		s.Stores, s.Clock = append(s.Stores, console.Named{Name: "bad", Store: store}), clock
	})
	require.Contains(t, body(t, ask(t, c, "GET", "/inbox")), "pay")
	letGo := make(chan struct{})
	store.hangs <- letGo
	clock.passed.Add(int64(time.Second))
	put(t, good, "c.jsonl", named(t, "c", 4))
	all := body(t, ask(t, c, "GET", "/api/sessions"))
	assert.Contains(t, all, `"unread":"bad: no answer since 2000-01-01 00:00:06 UTC"`)
	assert.Contains(t, all, `{"id":"c"`, "the other is read")
	assert.Contains(t, all, `{"id":"b"`, "what was known stays")
	asked := store.asked.Load()
	for target, want := range map[string]string{
		"/": "bad: no answer since", "/inbox": "bad: no answer since", "/session?id=c": "<title>c – retake report</title>", "/session?id=b": "the journal cannot be read: bad: no answer since",
	} {
		assert.True(t, strings.Contains(body(t, ask(t, c, "GET", target)), want), target)
	}
	assert.Contains(t, stream(t, c, "/events?id=c")(), `"lines":4`, "the page of a session tells of its own store")
	assert.Contains(t, stream(t, c, "/events?id=b")(), "bad: no answer since")
	r := send(t, c, url.Values{"id": {"b"}, "store": {"bad"}, "verdict": {"approve"}})
	assert.Contains(t, body(t, r), "Yours was not sent.")
	assert.Equal(t, asked, store.asked.Load(), "its inbox is not waited for either")
	close(letGo)
	for page := "no answer"; strings.Contains(page, "no answer"); {
		clock.passed.Add(int64(time.Second))
		page = body(t, ask(t, c, "GET", "/"))
	}
}

// The inbox of a store that cannot be read is not asked for, session by session.
func TestAStoreThatFailsIsNotAskedForEachSession(t *testing.T) {
	dir, clock := t.TempDir(), byHand{new(atomic.Int64)}
	for _, id := range []string{"a", "b", "c"} {
		put(t, dir, id+".jsonl", asked(t, id, acme, 0, pay(always)))
	}
	store := hangingAt(dir)
	c := open(t, dir, func(s *console.Settings) { s.Stores[0].Store, s.Clock = store, clock })
	require.Contains(t, body(t, ask(t, c, "GET", "/inbox")), "may pay run?")
	assert.EqualValues(t, 1, store.asked.Load(), "one question for all of its sessions")
	store.fails.Store(true)
	clock.passed.Add(int64(time.Second))
	for _, target := range []string{"/inbox", "/"} {
		assert.Contains(t, body(t, ask(t, c, "GET", target)), "Not all stores can be read: connection refused")
	}
	assert.EqualValues(t, 1, store.asked.Load())
}
