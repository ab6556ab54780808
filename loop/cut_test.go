package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// cutAfter returns a store with the journal of "s" up to the first line that contains a text, which the whole
// journal must have.
func cutAfter(t *testing.T, whole *looptest.Store, text string) *looptest.Store {
	t.Helper()
	held := string(whole.Text("s"))
	at := strings.Index(held, text)
	require.Positive(t, at, held)
	at += strings.IndexByte(held[at:], '\n') + 1
	cut := &looptest.Store{}
	log, err := cut.Open(t.Context(), "s")
	require.NoError(t, err)
	require.NoError(t, errors.Join(log.Append(t.Context(), 0, []byte(held[:at]), false), log.Close()))
	return cut
}

// inJournal makes a call with the journal of "s".
func inJournal(t *testing.T, store *looptest.Store, rules *journal.Redaction, call func(j *journal.Journal)) {
	t.Helper()
	j, err := journal.Open(t.Context(), store, "s", journal.Settings{Redact: rules})
	require.NoError(t, err)
	call(j)
	require.NoError(t, j.Close())
}

// The process dies when the try has succeeded and the reducers have not been told of the end: the value is
// recorded, and is returned.
func TestTheValueOfATryBeforeACrashIsReturned(t *testing.T) {
	do := func(store *looptest.Store, a *loop.Action) (n int, err error) {
		tries := 0
		inJournal(t, store, nil, func(j *journal.Journal) {
			n, err = loop.Do(t.Context(), fixture.In(hearing(t, nil, session.EventRunEnded), j), a, func(context.Context, loop.Attempt) (int, error) {
				tries++
				return 42, nil
			})
		})
		assert.LessOrEqual(t, tries, 1)
		return n, err
	}
	named, whole := loop.ToolCall("pay"), &looptest.Store{}
	named.ID = "invoice-1"
	_, err := do(whole, named)
	require.NoError(t, err)
	n, err := do(cutAfter(t, whole, `"kind":"tried"`), named)
	require.NoError(t, err)
	assert.Equal(t, 42, n)

	whole = &looptest.Store{}
	_, err = do(whole, loop.ToolCall("pay"))
	require.NoError(t, err)
	_, err = do(cutAfter(t, whole, `"kind":"tried"`), loop.ToolCall("pay"))
	assert.ErrorContains(t, err, "give the action an ID", "a value that was not recorded is not zero")
}

// A journal may end after the header of a run: the run has not begun, and the same request begins it.
func TestARequestWhoseRunHasOnlyAHeader(t *testing.T) {
	run := func(store *looptest.Store) (text string) {
		inJournal(t, store, nil, func(j *journal.Journal) {
			r, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Done.")), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Go.", RequestID: "r-1"}, loop.Config{})
			require.NoError(t, err)
			text = r.Text
		})
		return text
	}
	whole := &looptest.Store{}
	run(whole)
	assert.Equal(t, "Done.", run(cutAfter(t, whole, `"header"`)))
}

// The outcome of a call that came before its turn enters a resumed run as it was.
func TestAnOutcomeThatLandedIsRecordedAsItWas(t *testing.T) {
	landed := make(chan struct{})
	pay := tool.New("pay", "Pay.", func(_ context.Context, a struct{ N int }) (string, error) {
		if a.N == 1 {
			<-landed
			return "paid", nil
		}
		return "", tool.TryLater(errors.New("the till is closed"), time.Second)
	}, tool.Idempotent())
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	var calls []message.Call
	for _, n := range []string{"1", "2"} {
		calls = append(calls, message.Call{ID: "c" + n, Name: "pay", Arguments: `{"N": ` + n + `}`})
	}
	store := watched{&looptest.Store{}, func(text string) {
		if strings.Contains(text, `"landed"`) {
			close(landed)
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j, err := journal.Open(ctx, store, "s", journal.Settings{})
	require.NoError(t, err)
	turns := []looptest.Turn{looptest.Call(calls...), looptest.Say("Done.")}
	set := policy.DefaultSet()
	set.Transport.MaxAttempts = new(1)
	cfg := loop.Config{Tools: tools, Policy: &set}
	_, _ = fixture.Run(ctx, looptest.NewModel(turns...), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay."}, cfg, loop.WithClock(looptest.NewClock()))
	require.NoError(t, j.Close())
	trace := func(of *looptest.Store) (text string) {
		var b strings.Builder
		require.NoError(t, journal.Trace(strings.NewReader(string(of.Text("s"))), &b))
		return b.String()
	}
	again := cutAfter(t, store.Store, `"landed"`)
	inJournal(t, again, nil, func(j *journal.Journal) {
		_, _ = fixture.Resume(t.Context(), looptest.NewModel(turns[1:]...), fixture.In(newSessionNamed(t, "s"), j), cfg, loop.WithClock(looptest.NewClock()))
	})
	assert.Equal(t, trace(store.Store), trace(again))
}

// watched is a store that tells of what is appended.
type watched struct {
	*looptest.Store
	appended func(text string)
}

func (w watched) Open(ctx context.Context, id string) (journal.Log, error) {
	log, err := w.Store.Open(ctx, id)
	return watchedLog{log, w.appended}, err
}

type watchedLog struct {
	journal.Log
	appended func(text string)
}

func (w watchedLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	err := w.Log.Append(ctx, at, lines, durable)
	w.appended(string(lines))
	return err
}

// A name that the model made up is left out of a journal, so it does not decide how long the run waits; and
// what is repaired is left out as what is not.
func TestWhatIsLeftOutDoesNotDecide(t *testing.T) {
	set := policy.DefaultSet()
	wait := backoff.Constant(time.Minute)
	wait.Jitter = backoff.Jitter{Kind: backoff.Full}
	set.Global.Backoff, set.Global.TextRepairs = &wait, policy.RepairsRefuse
	turns := []looptest.Turn{
		looptest.Call(message.Call{ID: "c1", Name: "pay S3CR3T", Arguments: `{"card": "S3CR3T"}`}),
		looptest.Say(`<tool_call>{"name": "pay", "arguments": {'city': 'S3CR3T', 'card': 'S3CR3T',}}</tool_call>`), looptest.Say("Done."),
	}
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, payment) (string, error) { return "paid", nil }))
	require.NoError(t, err)
	run := func(rules *journal.Redaction) (waited time.Duration, text string) {
		store := &looptest.Store{}
		inJournal(t, store, rules, func(j *journal.Journal) {
			r, err := fixture.Run(t.Context(), looptest.NewModel(turns...), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: &set}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			waited = r.Waited
		})
		return waited, string(store.Text("s"))
	}
	plain, _ := run(nil)
	left, text := run(&journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{""}}}})
	assert.Equal(t, plain, left)
	assert.NotContains(t, text, "S3CR3T")
	_, err = journal.Replay(strings.NewReader(text), nil)
	require.NoError(t, err)
}

// Calls without ids of their own are answered by the ids that they have in the conversation.
func TestCallsWithoutIDsAreAnswered(t *testing.T) {
	model := looptest.NewModel(looptest.Call(message.Call{Name: "book_room", Arguments: lisbon}, message.Call{ID: "c1", Name: "book_room", Arguments: lisbon},
		message.Call{ID: "c1", Name: "book_room", Arguments: lisbon}), looptest.Say("Done."))
	r, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)})
	require.NoError(t, err)
	for n, c := range r.Transcript[1].Calls {
		assert.Equal(t, r.Transcript[2+n].CallID, c.ID)
		assert.NotEmpty(t, c.ID)
	}
	assert.NotEqual(t, r.Transcript[2].CallID, r.Transcript[3].CallID)
}
