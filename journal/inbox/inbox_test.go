package inbox_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
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
	"github.com/retake-go/retake/tool"
)

// payment are the arguments of the tool pay.
type payment struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

// office is a store with a session whose run waits for a person, for an hour.
type office struct {
	looptest.Store
	paid  []payment
	model *looptest.Model
}

func (o *office) config(t testing.TB) loop.Config {
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, p payment) (string, error) {
		o.paid = append(o.paid, p)
		return "paid", nil
	}, tool.NeedsApproval(func(p payment) bool { return p.Amount > 100 })))
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.Approval = &policy.Approval{Timeout: time.Hour}
	return loop.Config{Tools: tools, Policy: &set}
}

const asked = `{"amount":500,"to":"Ann"}`

// session opens the session of the run anew.
func (o *office) session(t testing.TB) (*session.Session, *journal.Journal) {
	j, err := journal.Open(t.Context(), o, "order-42", journal.Settings{})
	require.NoError(t, err)
	return fixture.In(nil, j), j
}

// asks begins the run, and leaves it when it has asked.
func asks(t testing.TB) *office {
	o := new(office)
	o.model = looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: asked}), looptest.Say("Well."))
	s, j := o.session(t)
	ctx, leave := context.WithCancelCause(t.Context())
	_, err := o.run(ctx, t, s, loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		leave(loop.ErrSuspended)
		return machine.Response{}, nil
	}))
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.NoError(t, j.Close())
	return o
}

func (o *office) run(ctx context.Context, t testing.TB, s *session.Session, opts ...loop.Option) (loop.Result, error) {
	return fixture.Run(ctx, o.model, s, loop.Input{Prompt: "Pay Ann."}, o.config(t), append(opts, loop.WithClock(looptest.NewClock()))...)
}

var now = looptest.Epoch.Add(time.Minute)

// pending is the one question.
func (o *office) pending(t testing.TB) inbox.Question {
	var all []inbox.Question
	for q, err := range inbox.Pending(t.Context(), o, now) {
		require.NoError(t, err)
		all = append(all, q)
	}
	require.Len(t, all, 1)
	return all[0]
}

func (o *office) answer(t testing.TB, a machine.Response, after time.Duration) error {
	a.At = now.Add(after)
	return inbox.Answer(t.Context(), o, "order-42", a)
}

func TestWhatWaitsIsListedWithoutALock(t *testing.T) {
	o := asks(t)
	_, writer := o.session(t)
	defer writer.Close()
	q := o.pending(t)
	assert.Equal(t, "order-42", q.Session)
	assert.Equal(t, q.ID, q.Call)
	assert.JSONEq(t, asked, string(q.Arguments))
	assert.Contains(t, string(q.Schema), `"properties"`)
	assert.Equal(t, looptest.Epoch.Add(time.Hour), q.Deadline)
	assert.Nil(t, q.Answer)
	text, err := json.Marshal(q)
	require.NoError(t, err)
	assert.Contains(t, string(text), `{"session":"order-42","call":"1.1.1-`)
	require.NoError(t, o.answer(t, machine.Response{Question: q.ID, Verdict: machine.Approve, By: "bob"}, 0))
	assert.Equal(t, "bob", o.pending(t).Answer.By)
	all, err := inbox.PendingOf(t.Context(), o, "order-42", q.Deadline)
	require.NoError(t, err)
	assert.Empty(t, all, "nobody can answer after the deadline")
}

func TestAnAnswerThatDoesNotFitIsAClearError(t *testing.T) {
	o := asks(t)
	id := o.pending(t).ID
	ok := machine.Response{Question: id, Verdict: machine.Approve}
	for name, c := range map[string]struct {
		answer machine.Response
		after  time.Duration
		err    error
	}{
		"late":      {ok, time.Hour, machine.ErrTooLate},
		"not asked": {machine.Response{Question: "1.9.1-00", Verdict: machine.Approve}, 0, machine.ErrNotAsked},
		"other":     {machine.Response{Question: "1.1.1-00", Verdict: machine.Approve}, 0, machine.ErrOtherArguments},
		"verdict":   {machine.Response{Question: id, Verdict: "maybe"}, 0, machine.ErrMisfit},
		"arguments": {machine.Response{Question: id, Verdict: machine.Approve, Arguments: json.RawMessage(`[1]`)}, 0, machine.ErrMisfit},
		"a value":   {machine.Response{Question: id, Verdict: machine.Approve, Arguments: json.RawMessage(`{"to":7,"amount":1}`)}, 0, machine.ErrMisfit},
		"no JSON":   {machine.Response{Question: id, Verdict: machine.Approve, Arguments: json.RawMessage(`{`)}, 0, machine.ErrMisfit},
	} {
		assert.ErrorIs(t, o.answer(t, c.answer, c.after), c.err, name)
	}
	assert.ErrorContains(t, inbox.Answer(t.Context(), o, "order-42", ok), "at: set when")
	ok.At = now
	assert.ErrorIs(t, inbox.Answer(t.Context(), o, "order-43", ok), journal.ErrNoRun)
	left, err := o.WithItems(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestOfAnswersAtOneInstantOneCounts(t *testing.T) {
	o := asks(t)
	id := o.pending(t).ID
	errs := make([]error, 8)
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() {
			errs[n] = o.answer(t, machine.Response{Question: id, Verdict: machine.Approve, By: string(rune('a' + n))}, 0)
		})
	}
	all.Wait()
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
			continue
		}
		assert.ErrorIs(t, err, machine.ErrAnswered)
		assert.ErrorContains(t, err, "the run has not taken it yet")
	}
	assert.Equal(t, 1, taken)
}

// between is a store in which something happens before an item is put.
type between struct {
	*office
	then func()
}

func (b *between) Put(ctx context.Context, session string, i journal.Item) error {
	b.then()
	return b.office.Put(ctx, session, i)
}

func TestAnAnswerThatCameSecondIsTakenBack(t *testing.T) {
	o := asks(t)
	id := o.pending(t).ID
	store := &between{office: o, then: func() { // the run goes on between the look at its journal and the putting
		s, j := o.session(t)
		_, err := o.run(t.Context(), t, s, loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
			return machine.Response{Verdict: machine.Refuse, By: "eve"}, nil
		}))
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}}
	err := inbox.Answer(t.Context(), store, "order-42", machine.Response{Question: id, Verdict: machine.Approve, By: "bob", At: now})
	assert.ErrorIs(t, err, machine.ErrAnswered)
	left, err := o.WithItems(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}
