package console_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

// anyHost is a console whose host is whatever it is asked for.
type anyHost struct{ *console.Console }

func (c anyHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Host = "127.0.0.1:8080"
	c.Console.ServeHTTP(w, r)
}

// stream opens a stream of a console, and returns what says its next event.
func stream(t testing.TB, c *console.Console, path string) (next func() string) {
	t.Helper()
	server := httptest.NewServer(anyHost{c})
	t.Cleanup(server.Close)
	client := &http.Client{Timeout: 30 * time.Second}
	r, err := client.Get(server.URL + path + "&token=" + token)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Body.Close() })
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 1<<20)
	return func() string {
		for in.Scan() {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				return data
			}
		}
		require.NoError(t, in.Err(), "the stream ended")
		return ""
	}
}

// A session that is deleted while its page is open is gone from there, and one row less in the list.
func TestASessionThatIsDeletedIsTold(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"a", "b", "c"} {
		put(t, dir, id+".jsonl", named(t, id, 4))
	}
	list, page := stream(t, open(t, dir), "/events?sort=session"), stream(t, open(t, dir), "/events?id=c")
	var said struct{ Order []string }
	require.NoError(t, json.Unmarshal([]byte(list()), &said))
	require.Equal(t, []string{"s0-a", "s0-b", "s0-c"}, said.Order)
	require.Contains(t, page(), `"lines":4`)
	require.NoError(t, os.Remove(filepath.Join(dir, "c.jsonl")))
	for heard := page(); heard != "null"; heard = page() {
		assert.Contains(t, heard, `"lines":4`)
	}
	later := func() []string {
		for said.Order = nil; said.Order == nil; {
			require.NoError(t, json.Unmarshal([]byte(list()), &said))
		}
		return said.Order
	}
	assert.Equal(t, []string{"s0-a", "s0-b"}, later())
	put(t, dir, "0.jsonl", named(t, "0", 4))
	assert.Equal(t, []string{"s0-0", "s0-a", "s0-b"}, later())
}

// slow is a store whose session z is read only once it is let go.
type slow struct {
	journal.Dir
	letGo chan struct{}
}

func (s slow) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	if session == "z" {
		<-s.letGo
	}
	return s.Dir.Peek(ctx, session)
}

// While many journals are read for the first time, a session that was read can be looked at.
func TestTheFirstReadingKeepsNobodyWaiting(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"a", "z"} {
		put(t, dir, id+".jsonl", named(t, id, 4))
	}
	store := slow{journal.Dir(dir), make(chan struct{})}
	c := open(t, dir, func(s *console.Settings) { s.Stores[0].Store = store })
	for page := ""; !strings.Contains(page, "s0-a"); {
		page = body(t, ask(t, c, "GET", "/"))
	}
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/session?id=a").StatusCode)
	close(store.letGo)
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/session?id=z").StatusCode)
}

// A page that does not wait for the stores to be read again says when they were read.
func TestThePageSaysWhenTheStoresWereRead(t *testing.T) {
	dir, clock := t.TempDir(), byHand{new(atomic.Int64)}
	put(t, dir, "a.jsonl", named(t, "a", 4))
	store := slow{journal.Dir(dir), make(chan struct{})}
	c := open(t, dir, func(s *console.Settings) { s.Stores[0].Store, s.Clock = store, clock })
	assert.Contains(t, body(t, ask(t, c, "GET", "/")), "as of 00:00:05 UTC")
	clock.passed.Add(int64(time.Minute))
	put(t, dir, "z.jsonl", named(t, "z", 4)) // it is not read while the page is asked for
	assert.Contains(t, body(t, ask(t, c, "GET", "/")), "as of 00:00:05 UTC")
	close(store.letGo)
}

// byHand is a clock that goes on where a test says so.
type byHand struct{ passed *atomic.Int64 }

func (c byHand) Now() time.Time {
	return time.Date(2000, 1, 1, 0, 0, 5, 0, time.UTC).Add(time.Duration(c.passed.Load()))
}
func (byHand) After(d time.Duration) <-chan time.Time { return time.After(d) }

// far is a store whose journals take ten seconds to open.
type far struct {
	journal.Dir
	clock byHand
}

func (s far) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	s.clock.passed.Add(int64(10 * time.Second))
	return s.Dir.Peek(ctx, session)
}

// What took long to read is not taken for new as long.
func TestALineIsReadSoonAfterALongReading(t *testing.T) {
	dir, clock := t.TempDir(), byHand{new(atomic.Int64)}
	put(t, dir, "a.jsonl", named(t, "a", 3))
	c := open(t, dir, func(s *console.Settings) { s.Stores[0].Store, s.Clock = far{journal.Dir(dir), clock}, clock })
	assert.Contains(t, body(t, ask(t, c, "GET", "/api/sessions")), "no process since 2000-01-01 00:00:00 UTC")
	put(t, dir, "a.jsonl", named(t, "a", 5))
	clock.passed.Add(int64(600 * time.Millisecond))
	assert.Contains(t, body(t, ask(t, c, "GET", "/api/sessions")), "overdue since 2000-01-01 00:00:01 UTC")
}

// BenchmarkLineOnScreen writes the steps of a run one by one, and waits after each until the list tells of
// it, among many sessions that no process has. worst-ms is the longest time from a line to the list.
func BenchmarkLineOnScreen(b *testing.B) {
	for _, n := range []int{2_500, 5_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			c, worst, run := many(b, dir, n), time.Duration(0), 0
			for b.Loop() {
				run++
				worst = max(worst, onScreen(b, c, dir, fmt.Sprint("live", run)))
			}
			b.ReportMetric(float64(worst.Milliseconds()), "worst-ms")
		})
	}
}

// onScreen writes a run, and returns the longest time until the list told of one of its steps.
func onScreen(b *testing.B, c *console.Console, dir, id string) (worst time.Duration) {
	log, err := journal.Dir(dir).Open(b.Context(), id)
	require.NoError(b, err)
	at, lines := int64(0), bytes.SplitAfter(named(b, id, 11), []byte("\n"))
	put := func(lines ...[]byte) {
		text := slices.Concat(lines...)
		require.NoError(b, log.Append(b.Context(), at, text, false))
		at += int64(len(text))
	}
	put(lines[:3]...)
	for !strings.Contains(body(b, ask(b, c, "GET", "/api/sessions?q="+id)), id) {
	}
	next := stream(b, c, "/events?q="+id)
	require.Contains(b, next(), "s0-"+id)
	for step := 3; step < 11; step += 2 { // each is an event with its decision, at another time
		begin := time.Now()
		put(lines[step], lines[step+1])
		for !strings.Contains(next(), "s0-"+id) {
		}
		worst = max(worst, time.Since(begin))
	}
	require.NoError(b, log.Close())
	return worst
}

// There is an end to how many streams a console serves. Whoever comes later is told so, and one that leaves
// makes room. A HEAD ends at once.
func TestStreamsHaveALimit(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.jsonl", named(t, "a", 4))
	c := open(t, dir)
	server := httptest.NewServer(anyHost{c})
	t.Cleanup(server.Close)
	get := func(ctx context.Context) *http.Response {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events?token="+token, nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	first, leave := context.WithCancel(t.Context())
	defer leave()
	get(first)
	open := 1
	for ; open < 1_000; open++ {
		if r := get(t.Context()); r.StatusCode != http.StatusOK {
			assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
			assert.Equal(t, "10", r.Header.Get("Retry-After"))
			assert.Contains(t, body(t, r), "100 pages are live already: close one, or reload this page")
			break
		}
	}
	assert.Equal(t, 100, open)
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/api/sessions").StatusCode, "all else is served")
	assert.Equal(t, http.StatusOK, ask(t, c, "HEAD", "/events").StatusCode)
	leave()
	for get(t.Context()).StatusCode != http.StatusOK {
	}
}
