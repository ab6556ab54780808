package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// postbox is a store that counts the looks into it, and that may fail to remove an item.
type postbox struct {
	looptest.Store
	items, with atomic.Int64
	stuck       bool
	// looking is called when somebody looks into the inbox of a session; may be nil.
	looking func()
	// looked is called when they have looked; may be nil.
	looked func()
	// lost is set if another writer has the journals.
	lost atomic.Bool
}

func (p *postbox) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := p.Store.Open(ctx, session)
	return lostLog{log, p}, err
}

// lostLog is a journal that another writer may have taken over.
type lostLog struct {
	journal.Log
	in *postbox
}

func (l lostLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if l.in.lost.Load() {
		return &journal.ConflictError{Session: "order-42"}
	}
	return l.Log.Append(ctx, at, lines, durable)
}

func (p *postbox) Items(ctx context.Context, session string) ([]journal.Item, error) {
	p.items.Add(1)
	if p.looking != nil {
		p.looking()
	}
	if p.looked != nil {
		defer p.looked()
	}
	return p.Store.Items(ctx, session)
}

func (p *postbox) WithItems(ctx context.Context) ([]string, error) {
	p.with.Add(1)
	return p.Store.WithItems(ctx)
}

func (p *postbox) Remove(ctx context.Context, session string, i journal.Item) error {
	if p.stuck {
		return errors.New("it died")
	}
	return p.Store.Remove(ctx, session, i)
}

func (p *postbox) open(t testing.TB, session string) *journal.Journal {
	j, err := journal.Open(t.Context(), p, session, journal.Settings{})
	require.NoError(t, err)
	return j
}

// pending returns what waits in the store.
func (p *postbox) pending(t testing.TB) (all []inbox.Question) {
	for q, err := range inbox.Pending(t.Context(), p, time.Now()) {
		require.NoError(t, err)
		all = append(all, q)
	}
	return all
}

func (p *postbox) answer(t testing.TB, q inbox.Question, verdict machine.Ruling) error {
	return inbox.Answer(t.Context(), p, q.Session, machine.Response{Question: q.ID, Verdict: verdict, By: "bob", At: time.Now()})
}

func (p *postbox) empty(t testing.TB) {
	left, err := p.WithItems(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func askedPayer() *looptest.Model {
	return looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Done."))
}

// pay begins a run that asks about a payment, and returns its end.
func (p *payments) pay(t *testing.T, store *postbox) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := fixture.Run(t.Context(), askedPayer(), fixture.In(nil, store.open(t, "order-42")), loop.Input{Prompt: "Pay."}, p.config(t))
		done <- err
	}()
	return done
}

// The words of another process reach a run that is live, within a second.
func TestALiveRunTakesAnAnswerFromItsInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store := new(postbox)
		done := made.pay(t, store)
		time.Sleep(time.Hour)
		began := time.Now()
		require.NoError(t, store.answer(t, store.pending(t)[0], machine.Approve))
		require.NoError(t, <-done)
		assert.LessOrEqual(t, time.Since(began), time.Second)
		assert.Len(t, made.calls, 1)
		assert.Contains(t, string(store.Text("order-42")), `"by":"bob"`)
		store.empty(t)
	})
}

// A process that slept while another took its session over looks into the inbox: what is there is for the
// other one. It learns that it has lost the journal, and leaves the inbox as it is.
func TestARunThatHasLostItsJournalTakesNothingFromTheInbox(t *testing.T) {
	for _, item := range []journal.Item{
		{Kind: journal.AnswerItem, Key: "2.1.1-asked-later", Body: json.RawMessage(`{"verdict":"approve"}`)},
		{Kind: journal.MessageItem, Key: "m1", Body: json.RawMessage(`{"text":"By train."}`)},
	} {
		t.Run(string(item.Kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made payments
				store := new(postbox)
				done := made.pay(t, store)
				time.Sleep(time.Hour)
				store.lost.Store(true)
				item.At = time.Now().UTC()
				require.NoError(t, store.Put(t.Context(), "order-42", item))
				select {
				case err := <-done:
					require.ErrorIs(t, err, journal.ErrConflict)
				case <-time.After(time.Minute):
					require.Fail(t, "the run does not notice")
				}
				left, err := store.Items(t.Context(), "order-42")
				require.NoError(t, err)
				assert.Equal(t, []journal.Item{item}, left)
				assert.Empty(t, made.calls)
			})
		})
	}
}

func TestAnAnswerWaitsForARunThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store, model := new(postbox), askedPayer()
		j := store.open(t, "order-42")
		ctx, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { leave(loop.ErrSuspended) })
		_, err := fixture.Run(ctx, model, fixture.In(nil, j), loop.Input{Prompt: "Pay."}, made.config(t))
		require.ErrorIs(t, err, loop.ErrSuspended)
		require.NoError(t, j.Close())
		q := store.pending(t)[0]
		require.NoError(t, store.answer(t, q, machine.Approve))
		require.ErrorIs(t, store.answer(t, q, machine.Refuse), machine.ErrAnswered)

		store.stuck = true // the process dies after it has recorded the answer
		j = store.open(t, "order-42")
		result, err := fixture.Resume(t.Context(), model, fixture.In(nil, j), made.config(t))
		require.NoError(t, err)
		assert.Empty(t, result.Warnings)
		require.NoError(t, j.Close())
		require.ErrorIs(t, store.answer(t, q, machine.Refuse), machine.ErrAnswered)
		store.stuck = false
		j = store.open(t, "order-42")
		result, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), fixture.In(nil, j), loop.Input{Prompt: "Hello?"}, made.config(t))
		require.NoError(t, err)
		assert.Len(t, made.calls, 1)
		assert.Empty(t, result.Warnings, "the run before has taken it")
		assert.NotContains(t, string(store.Text("order-42")), `"kind":"undelivered"`)
		store.empty(t)
	})
}

// The answer was given in time, but the run was not there to take it.
func TestAnAnswerThatWasGivenInTimeCountsWheneverItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store, model := new(postbox), askedPayer()
		cfg := made.config(t)
		cfg.Policy = approvalWithin(time.Hour)
		j := store.open(t, "order-42")
		ctx, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { leave(loop.ErrSuspended) })
		_, err := fixture.Run(ctx, model, fixture.In(nil, j), loop.Input{Prompt: "Pay."}, cfg)
		require.ErrorIs(t, err, loop.ErrSuspended)
		require.NoError(t, j.Close())
		q := store.pending(t)[0]
		require.NoError(t, store.answer(t, q, machine.Approve))
		time.Sleep(2 * time.Hour)
		require.ErrorIs(t, store.answer(t, q, machine.Refuse), machine.ErrTooLate)
		_, err = fixture.Resume(t.Context(), model, fixture.In(nil, store.open(t, "order-42")), cfg)
		require.NoError(t, err)
		assert.Len(t, made.calls, 1)
	})
}

// A message that stops takes the question back, also if the run finds it when the question's deadline is
// over.
func TestAMessageTakesAQuestionBackAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store, model := new(postbox), askedPayer()
		cfg := made.config(t)
		cfg.Policy = approvalWithin(90 * time.Second)
		done := runs(t, false, model, fixture.In(nil, store.open(t, "order-42")), cfg)
		time.Sleep(90*time.Second - time.Millisecond) // the run has looked a moment ago
		stop := session.Words{Text: "Do not pay.", Stop: true, At: time.Now()}
		require.NoError(t, inbox.Say(t.Context(), store, "order-42", stop))
		require.NoError(t, (<-done).err)
		assert.Empty(t, made.calls)
		assert.Equal(t, []string{"Where to?", "Do not pay."}, texts(model.Requests()[1]))
		store.empty(t)
	})
}

// The question ends with its run. A person who says in time what became of a call has said it, though the run
// looks when its time is up.
func TestAnAnswerCountsThatWasGivenBeforeTheRunsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store := new(postbox)
		done := make(chan loop.Result, 1)
		go func() {
			result, err := fixture.Run(t.Context(), askedPayer(), fixture.In(nil, store.open(t, "order-42")),
				loop.Input{Prompt: "Pay.", Deadline: time.Now().Add(90 * time.Second)}, made.config(t))
			assert.ErrorIs(t, err, policy.ReasonDeadline)
			done <- result
		}()
		time.Sleep(90*time.Second - time.Millisecond) // the run has looked a moment ago
		require.NoError(t, store.answer(t, store.pending(t)[0], machine.Approve))
		result := <-done
		assert.Empty(t, result.Warnings, "the answer was in time")
		assert.Empty(t, made.calls, "nothing is done after the deadline")
		assert.Contains(t, string(store.Text("order-42")), `"by":"bob"`)
		store.empty(t)
	})
}

func TestAnAnswerForARunThatMovedOnIsAClearError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store := new(postbox)
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, leave)
		done := make(chan error, 1)
		go func() {
			_, err := fixture.Run(ctx, askedPayer(), fixture.In(nil, store.open(t, "order-42")), loop.Input{Prompt: "Pay."}, made.config(t))
			done <- err
		}()
		time.Sleep(time.Second)
		q := store.pending(t)[0]
		require.Error(t, <-done)
		require.ErrorIs(t, store.answer(t, q, machine.Approve), machine.ErrMovedOn)
		assert.Empty(t, store.pending(t))
		store.empty(t)
	})
}

// One look a second serves all sessions of a pool, and wakes those alone that have something.
func TestAPoolTakesAnswersWithOneLookForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions = 20
		var made payments
		store := new(postbox)
		turns := make([]looptest.Turn, 0, 2*sessions)
		for n := range 2 * sessions {
			if n < sessions {
				turns = append(turns, payCall("c1", `{"to":"Ann","amount":500}`))
			} else {
				turns = append(turns, looptest.Say("Done."))
			}
		}
		pool, ends := pooled(t, loop.PoolConfig{Model: looptest.NewModel(turns...), Config: made.config(t)})
		for n := range sessions {
			_, err := pool.Add(fixture.In(nil, store.open(t, fmt.Sprintf("order-%02d", n))), loop.Input{Prompt: "Pay."})
			require.NoError(t, err)
		}
		done := make(chan error, 1)
		go func() { done <- pool.Run(t.Context(), 1) }()
		time.Sleep(time.Second / 2)
		items, with := store.items.Load(), store.with.Load()
		time.Sleep(time.Minute)
		assert.Equal(t, items, store.items.Load(), "no inbox was looked into alone")
		assert.Equal(t, with+60, store.with.Load())
		all := store.pending(t)
		require.Len(t, all, sessions)
		for n, q := range all {
			require.NoError(t, store.answer(t, q, map[bool]machine.Ruling{true: machine.Approve, false: machine.Refuse}[n%2 == 0]))
		}
		began := time.Now()
		require.NoError(t, <-done)
		assert.LessOrEqual(t, time.Since(began), time.Second)
		assert.Len(t, ends(), sessions)
		assert.Len(t, made.calls, sessions/2)
		store.empty(t)
	})
}

// Of an answer in the process and one from elsewhere the first counts, wherever it was given: who comes
// second is told so, and nothing that was called taken becomes a warning.
func TestAnAnswerInTheProcessGoesThroughTheInbox(t *testing.T) {
	for _, pooled := range []bool{false, true} {
		for _, elsewhere := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var made payments
				store := new(postbox)
				answer, done := answerable(t, pooled, askedPayer(), fixture.In(nil, store.open(t, "order-42")), made.config(t))
				time.Sleep(300 * time.Millisecond) // between two looks into the inbox
				synctest.Wait()
				q := store.pending(t)[0]
				here := func() error {
					return answer("order-42", machine.Response{Question: q.ID, Verdict: machine.Refuse, By: "Ann"})
				}
				there := func() error { return store.answer(t, q, machine.Approve) }
				first, second := here, there
				if elsewhere {
					first, second = there, here
				}
				require.NoError(t, first())
				require.ErrorIs(t, second(), machine.ErrAnswered)
				end := <-done
				require.NoError(t, end.err)
				assert.Empty(t, end.Warnings)
				assert.Len(t, made.calls, map[bool]int{true: 1}[elsewhere])
				store.empty(t)
			})
		}
	}
}

// An answer that comes while the run looks into its inbox waits for the look. If the run still asks, it is
// taken. If the run finds another answer there, it is told so at once, and does not wait for what the run
// does next.
func TestAnAnswerWhileTheRunLooksIntoItsInbox(t *testing.T) {
	for _, pooled := range []bool{false, true} {
		for _, another := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var made payments
				var answer func(string, machine.Response) error
				var q inbox.Question
				var looks atomic.Int64
				answers := make(chan error, 1)
				store := &postbox{looking: func() {
					if looks.Add(-1) == 0 {
						go func() { answers <- answer("order-42", machine.Response{Question: q.ID, Verdict: machine.Approve}) }()
						synctest.Wait()
					}
				}}
				s := fixture.In(nil, store.open(t, "order-42"))
				var done <-chan saidEnd
				answer, done = answerable(t, pooled, &slowly{Model: askedPayer()}, s, made.config(t))
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				q = store.pending(t)[0]
				looks.Store(map[bool]int64{true: 1, false: 2}[pooled]) // who watches the inbox of a run alone looks, too
				began := time.Now()
				if another {
					require.NoError(t, store.answer(t, q, machine.Refuse))
					_, refused := errors.AsType[*machine.AnswerError](<-answers)
					assert.True(t, refused)
				} else {
					require.NoError(t, inbox.Say(t.Context(), store, "order-42", session.Words{Text: "Hurry.", At: began}))
					require.NoError(t, <-answers)
				}
				assert.LessOrEqual(t, time.Since(began), time.Second)
				require.NoError(t, (<-done).err)
				assert.Len(t, made.calls, map[bool]int{false: 1}[another])
				store.empty(t)
			})
		}
	}
}

// Of a person elsewhere and an approver here one is the first, whenever the person answers, and the other is
// told so.
func TestAnApproverAndAPersonAreNotBothHeard(t *testing.T) {
	for _, late := range []bool{false, true} { // in the approver's time, or after the run's last look
		synctest.Test(t, func(t *testing.T) {
			var made payments
			var told []error
			store, back := new(postbox), false
			person := func() {
				if questions := store.pending(t); len(questions) > 0 {
					told = append(told, store.answer(t, questions[0], machine.Refuse))
				}
			}
			store.looked = func() {
				if back && late {
					back = false
					person()
				}
			}
			approves := loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
				if back = true; !late {
					person()
				}
				return machine.Response{Verdict: machine.Approve}, nil
			})
			l, err := loop.New(askedPayer(), made.config(t), approves)
			require.NoError(t, err)
			r, err := l.Run(t.Context(), fixture.In(nil, store.open(t, "order-42")), loop.Input{Prompt: "Pay Ann."})
			require.NoError(t, err)
			assert.Empty(t, r.Warnings)
			if len(told) == 0 { // nobody was asked any more
				assert.Len(t, made.calls, 1)
			} else if told[0] == nil {
				assert.Empty(t, made.calls)
			} else {
				require.ErrorIs(t, told[0], machine.ErrAnswered)
				assert.Len(t, made.calls, 1)
			}
			store.empty(t)
		})
	}
}

// A process that dies after its approver's answer was recorded, and before it left the inbox, leaves nothing
// to be told.
func TestAnApproversAnswerIsTakenOnce(t *testing.T) {
	var made payments
	store := &postbox{stuck: true}
	approves := loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{Verdict: machine.Approve}, nil
	})
	ctx, leave := context.WithCancelCause(t.Context())
	l, err := loop.New(loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		if len(made.calls) == 0 {
			return message.Reply{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: `{"to":"Ann","amount":500}`}}}, nil
		}
		leave(loop.ErrSuspended)
		return message.Reply{Text: "Done."}, nil
	}), made.config(t), approves)
	require.NoError(t, err)
	j := store.open(t, "order-42")
	_, err = l.Run(ctx, fixture.In(nil, j), loop.Input{Prompt: "Pay Ann."})
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.NoError(t, j.Close())
	with, err := store.WithItems(t.Context())
	require.NoError(t, err)
	require.Len(t, with, 1)
	store.stuck = false
	r, err := l.Resume(t.Context(), fixture.In(nil, store.open(t, "order-42")))
	require.NoError(t, err)
	assert.Empty(t, r.Warnings)
	assert.Len(t, made.calls, 1)
	store.empty(t)
}

// An answer in the process that the run refuses leaves nothing behind, and the question stays open.
func TestAnAnswerThatIsRefusedLeavesNothingInTheInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store := new(postbox)
		answer, done := answerable(t, false, askedPayer(), fixture.In(nil, store.open(t, "order-42")), made.config(t))
		synctest.Wait()
		q := store.pending(t)[0]
		for _, wrong := range []machine.Response{
			{Question: q.ID, Verdict: "maybe"}, {Question: "1.1.1-00", Verdict: machine.Approve},
			{Question: q.ID, Verdict: machine.Approve, Arguments: []byte(`{"amount":"x"}`)},
		} {
			require.Error(t, answer("order-42", wrong))
			store.empty(t)
		}
		require.NoError(t, answer("order-42", machine.Response{Question: q.ID, Verdict: machine.Approve}))
		err := answer("order-42", machine.Response{Question: q.ID, Verdict: machine.Approve})
		if !errors.Is(err, loop.ErrNobodyAsks) { // the run may have gone on already
			require.ErrorIs(t, err, machine.ErrAnswered)
		}
		require.NoError(t, (<-done).err)
		assert.Len(t, made.calls, 1)
		store.empty(t)
	})
}

// dying is a store to which nothing is written any more once it is dead.
type dying struct {
	postbox
	dead bool
}

func (d *dying) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := d.postbox.Open(ctx, session)
	return &dyingLog{log, d}, err
}

type dyingLog struct {
	journal.Log
	of *dying
}

func (l *dyingLog) Append(ctx context.Context, at int64, text []byte, sync bool) error {
	if l.of.dead {
		return errors.New("the process dies")
	}
	return l.Log.Append(ctx, at, text, sync)
}

// A process that dies between an answer and its record leaves it in the inbox, and the run that is resumed
// takes it.
func TestAnAnswerOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store := &dying{postbox: postbox{stuck: true}}
		ctx, leave := context.WithCancelCause(t.Context())
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, err)
		l, err := loop.New(askedPayer(), made.config(t))
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() {
			_, err := l.Run(ctx, fixture.In(nil, j), loop.Input{Prompt: "Pay."})
			done <- err
		}()
		synctest.Wait()
		q := store.pending(t)[0]
		store.dead = true
		require.Error(t, l.Answer("order-42", machine.Response{Question: q.ID, Verdict: machine.Approve}))
		leave(loop.ErrSuspended)
		require.Error(t, <-done)
		_ = j.Close()
		store.stuck = false
		model := looptest.NewModel(looptest.Say("Done."))
		result, err := fixture.Resume(t.Context(), model, fixture.In(nil, store.open(t, "order-42")), made.config(t))
		require.NoError(t, err)
		assert.Empty(t, result.Warnings)
		assert.Len(t, made.calls, 1)
		store.empty(t)
	})
}

// answerable makes a run in a loop or a pool, and returns how it is answered.
func answerable(
	t *testing.T, pooled bool, model loop.Model, s *session.Session, cfg loop.Config,
) (func(string, machine.Response) error, <-chan saidEnd) {
	done := make(chan saidEnd, 1)
	if !pooled {
		l, err := loop.New(model, cfg)
		require.NoError(t, err)
		go func() {
			result, err := l.Run(t.Context(), s, loop.Input{Prompt: "Pay."})
			done <- saidEnd{result, err}
		}()
		return l.Answer, done
	}
	pool, err := loop.NewPool(loop.PoolConfig{Model: model, Config: cfg, Done: func(_ *session.Session, r loop.Result, err error) {
		done <- saidEnd{r, err}
	}})
	require.NoError(t, err)
	_, err = pool.Add(s, loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	go func() { _ = pool.Run(t.Context(), 1) }()
	return pool.Answer, done
}
