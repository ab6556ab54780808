package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// testInbox tests stores that are a [journal.Inbox]. Each call of fresh returns a new, empty store.
func testInbox(t *testing.T, fresh func(t *testing.T) journal.Store) {
	t.Helper()
	each(t, fresh, map[string]func(*testing.T, inboxStore){
		"an_item_is_put_read_and_removed":               testItem,
		"the_second_of_a_key_finds_the_first":           testSecondItem,
		"of_many_that_answer_at_once_one_is_the_first":  testAnswerRace,
		"an_item_is_put_while_a_writer_has_the_journal": testPutBesideWriter,
		"items_come_in_the_order_of_their_times":        testItemOrder,
		"sessions_and_kinds_are_kept_apart":             testItemsApart,
		"putting_and_removing_race_and_lose_nothing":    testPutRemoveRace,
		"what_no_inbox_takes_is_refused":                testBadItems,
		"a_full_inbox_takes_no_more":                    testFullInbox,
	})
}

type inboxStore interface {
	journal.Store
	journal.Inbox
}

// when is the time of the tests' items.
var when = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func answer(key, body string) journal.Item {
	return journal.Item{Kind: journal.AnswerItem, Key: key, Body: json.RawMessage(body), By: "Ada Ä", At: when}
}

func put(t *testing.T, inbox journal.Inbox, session string, items ...journal.Item) {
	t.Helper()
	for _, i := range items {
		require.NoError(t, inbox.Put(t.Context(), session, i))
	}
}

func items(t *testing.T, inbox journal.Inbox, session string) []journal.Item {
	t.Helper()
	all, err := inbox.Items(t.Context(), session)
	require.NoError(t, err)
	return all
}

// keys returns the keys of a session's items.
func keys(t *testing.T, inbox journal.Inbox, session string) (all []string) {
	t.Helper()
	for _, i := range items(t, inbox, session) {
		all = append(all, i.Key)
	}
	return all
}

func withItems(t *testing.T, inbox journal.Inbox) []string {
	t.Helper()
	ids, err := inbox.WithItems(t.Context())
	require.NoError(t, err)
	return ids
}

func testItem(t *testing.T, inbox inboxStore) {
	assert.Empty(t, items(t, inbox, "order-42"))
	assert.Empty(t, withItems(t, inbox))
	i := answer("q1", `{"approve": true, "why": "<ok> & \u00e4"}`)
	i.At = i.At.In(time.FixedZone("elsewhere", 3600))
	put(t, inbox, "order-42", i)
	got := items(t, inbox, "order-42")
	require.Len(t, got, 1)
	assert.JSONEq(t, string(i.Body), string(got[0].Body))
	i.Body, got[0].Body, i.At = nil, nil, when
	assert.Equal(t, i, got[0])
	assert.Equal(t, []string{"order-42"}, withItems(t, inbox))
	ids, err := inbox.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, ids, "an inbox is no journal")
	for range 2 {
		require.NoError(t, inbox.Remove(t.Context(), "order-42", i), "a second time is no error")
		assert.Empty(t, items(t, inbox, "order-42"))
		assert.Empty(t, withItems(t, inbox))
	}
	i.Body = json.RawMessage("2")
	put(t, inbox, "order-42", i)
}

func testSecondItem(t *testing.T, inbox inboxStore) {
	put(t, inbox, "order-42", answer("q1", `"approve"`))
	second := answer("q1", `"refuse"`)
	second.By, second.At = "Bob", when.Add(-time.Hour)
	err := inbox.Put(t.Context(), "order-42", second)
	require.ErrorIs(t, err, journal.ErrAnswered)
	require.ErrorContains(t, err, `session "order-42": answer "q1" was given before by Ada Ä`)
	answered, ok := errors.AsType[*journal.AnsweredError](err)
	require.True(t, ok)
	assert.Equal(t, answer("q1", `"approve"`), answered.First)
	assert.Equal(t, []journal.Item{answer("q1", `"approve"`)}, items(t, inbox, "order-42"), "the first stays")
}

func testAnswerRace(t *testing.T, inbox inboxStore) {
	const racers, questions = 8, 4
	var mu sync.Mutex
	firsts := map[string][]string{}
	var wg sync.WaitGroup
	for racer := range racers {
		wg.Go(func() {
			for n := range questions {
				key, mine := fmt.Sprint("q", n), fmt.Sprint(racer)
				err := inbox.Put(t.Context(), "order-42", answer(key, mine))
				if answered, late := errors.AsType[*journal.AnsweredError](err); late {
					mine = string(answered.First.Body)
				} else if !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				firsts[key] = append(firsts[key], mine)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, i := range items(t, inbox, "order-42") {
		assert.Equal(t, slices.Repeat([]string{string(i.Body)}, racers), firsts[i.Key], "all see the same first")
	}
	assert.Len(t, firsts, questions)
}

func testPutBesideWriter(t *testing.T, inbox inboxStore) {
	log := open(t, inbox, "order-42")
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), false))
	put(t, inbox, "order-42", answer("q1", "1"))
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	assert.Equal(t, []string{"q1"}, keys(t, inbox, "order-42"))
	require.NoError(t, inbox.Remove(t.Context(), "order-42", answer("q1", "1")))
	require.NoError(t, log.Append(t.Context(), 8, []byte("three\n"), false))
	assert.Equal(t, "one\ntwo\nthree\n", read(t, log))
}

func testItemOrder(t *testing.T, inbox inboxStore) {
	for n, key := range []string{"c", "a", "b"} {
		i := answer(key, "1")
		i.At = when.Add(time.Duration(n) * time.Nanosecond)
		put(t, inbox, "order-42", i)
	}
	put(t, inbox, "order-42", answer("also-first", "1"))
	assert.Equal(t, []string{"also-first", "c", "a", "b"}, keys(t, inbox, "order-42"))
}

func testItemsApart(t *testing.T, inbox inboxStore) {
	long := strings.Repeat("very long / ", 40)
	sessions := []string{"a/../x", "b", ".inbox", "Ä 1", long + "1", long + "2"}
	for _, id := range sessions {
		said := answer("q1", "1")
		said.Kind = journal.MessageItem
		put(t, inbox, id, answer("q1", "1"), said, answer("../q2", "1"), answer(long+"1", "1"),
			answer(long+"2", "1"))
	}
	slices.Sort(sessions)
	assert.Equal(t, sessions, withItems(t, inbox))
	for _, id := range sessions {
		assert.Equal(t, []string{"../q2", "q1", long + "1", long + "2", "q1"}, keys(t, inbox, id), id)
		require.NoError(t, inbox.Remove(t.Context(), id, answer("q1", "1")))
		assert.Equal(t, []string{"../q2", long + "1", long + "2", "q1"}, keys(t, inbox, id), id)
	}
}

func testPutRemoveRace(t *testing.T, inbox inboxStore) {
	const each, putters = 8, 4
	var wg sync.WaitGroup
	for putter := range putters {
		wg.Go(func() {
			for n := range each {
				i := answer(fmt.Sprint(putter, "-", n), "1")
				assert.NoError(t, inbox.Put(t.Context(), "order-42", i))
			}
		})
	}
	taken := map[string]int{}
	for len(taken) < each*putters && !t.Failed() {
		for _, i := range items(t, inbox, "order-42") {
			taken[i.Key]++
			require.NoError(t, inbox.Remove(t.Context(), "order-42", i))
		}
	}
	wg.Wait()
	for key, times := range taken {
		assert.Equal(t, 1, times, key)
	}
	assert.Empty(t, withItems(t, inbox))
}

func testBadItems(t *testing.T, inbox inboxStore) {
	for want, change := range map[string]func(*journal.Item){
		"kind: must be \"answer\" or \"message\", not \"note\"": func(i *journal.Item) { i.Kind = "note" },
		"key: must not be empty":                                func(i *journal.Item) { i.Key = "" },
		"key: must be printable UTF-8":                          func(i *journal.Item) { i.Key = "a\nb" },
		"key: must be printable UTF-8 of up to 512 bytes": func(i *journal.Item) {
			i.Key = strings.Repeat("k", 513)
		},
		"by: must be printable UTF-8":     func(i *journal.Item) { i.By = "\xff" },
		"body: must be JSON":              func(i *journal.Item) { i.Body = nil },
		"at: must be a time of the years": func(i *journal.Item) { i.At = time.Time{} },
		"are allowed": func(i *journal.Item) {
			i.Body = json.RawMessage(`"` + strings.Repeat("x", journal.MaxItemBytes) + `"`)
		},
	} {
		i := answer("q1", "1")
		change(&i)
		require.ErrorContains(t, inbox.Put(t.Context(), "order-42", i), want)
	}
	require.ErrorContains(t, inbox.Put(t.Context(), "", answer("q1", "1")), "the session needs an id")
	assert.Empty(t, withItems(t, inbox))
	large := answer(strings.Repeat("k", 512), `"`+strings.Repeat("x", journal.MaxItemBytes-(8<<10)-2)+`"`)
	put(t, inbox, "order-42", large)
	assert.Equal(t, large, items(t, inbox, "order-42")[0])
}

func testFullInbox(t *testing.T, inbox inboxStore) {
	if testing.Short() {
		t.Skip("hundreds of items, each durable")
	}
	for n := range journal.MaxItems {
		put(t, inbox, "order-42", answer(fmt.Sprint(n), "1"))
	}
	require.ErrorIs(t, inbox.Put(t.Context(), "order-42", answer("one more", "1")), journal.ErrInboxFull)
	require.ErrorIs(t, inbox.Put(t.Context(), "order-42", answer("7", "1")), journal.ErrAnswered)
	put(t, inbox, "order-43", answer("one more", "1"))
	require.NoError(t, inbox.Remove(t.Context(), "order-42", answer("7", "1")))
	put(t, inbox, "order-42", answer("one more", "1"))
}
