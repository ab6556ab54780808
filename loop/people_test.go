package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// transfer are the arguments of the tool pay, and payments its calls.
type transfer struct {
	To     string `json:"to" validate:"required"`
	Amount int    `json:"amount" validate:"min=1"`
}

type payments struct {
	calls []transfer
	keys  []string
}

// transferred is the result of the tool pay.
type transferred struct {
	Paid int `json:"paid"`
}

// tool returns the tool, for which a person approves payments above 100.
func (p *payments) tool(opts ...tool.Option) *tool.Tool {
	opts = append([]tool.Option{tool.NeedsApproval(func(a transfer) bool { return a.Amount > 100 })}, opts...)
	return tool.New("pay", "Pays.", func(ctx context.Context, a transfer) (transferred, error) {
		p.calls = append(p.calls, a)
		p.keys = append(p.keys, tool.IdempotencyKey(ctx))
		return transferred{a.Amount}, nil
	}, opts...)
}

func (p *payments) config(t testing.TB, opts ...tool.Option) loop.Config {
	tools, err := tool.NewSet(p.tool(opts...))
	require.NoError(t, err)
	return loop.Config{Tools: tools}
}

func payCall(id, arguments string) looptest.Turn {
	return looptest.Call(message.Call{ID: id, Name: "pay", Arguments: arguments})
}

// answering is an approver that remembers what it was asked.
func answering(asked *[]loop.PersonQuestion, answers ...machine.Response) loop.Option {
	return loop.WithApprover(func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		*asked = append(*asked, q)
		return answers[len(*asked)-1], nil
	})
}

func TestAPersonApprovesACall(t *testing.T) {
	var made payments
	var asked []loop.PersonQuestion
	model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Paid."))
	result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay Ann."}, made.config(t),
		answering(&asked, machine.Response{Verdict: machine.Approve, By: "bob"}))
	require.NoError(t, err)
	assert.Equal(t, []transfer{{"Ann", 500}}, made.calls)
	require.Len(t, asked, 1)
	assert.JSONEq(t, `{"to":"Ann","amount":500}`, string(asked[0].Arguments))
	assert.Equal(t, policy.ApproveDeclared, asked[0].Rule)
	assert.Len(t, result.Attempts, 2, "nothing is charged for the wait")
}

// Whoever lists the sessions of a store sees which of them wait for a person, and until when.
func TestASessionThatWaitsForAPersonAsks(t *testing.T) {
	var made payments
	var listed []journal.Summary
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	approver := func(ctx context.Context, q loop.PersonQuestion) (machine.Response, error) {
		for _, at := range []time.Time{q.Deadline.Add(-1), q.Deadline} {
			for s, err := range journal.Summaries(ctx, store, journal.Filter{States: []journal.SessionState{journal.SessionAsks}}, at) {
				assert.NoError(t, err)
				listed = append(listed, s)
			}
		}
		return machine.Response{Verdict: machine.Refuse}, nil
	}
	model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Not paid."))
	in := loop.Input{Prompt: "Pay Ann.", Deadline: looptest.Epoch.Add(time.Hour)}
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), in, made.config(t), loop.WithApprover(approver),
		loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NotEmpty(t, listed)
	assert.Equal(t, "approval", listed[0].Why)
	assert.Equal(t, in.Deadline, listed[0].Until)
	assert.Len(t, listed, 2, "its writer is there to take the default after the deadline")
}

// A journal has what the arguments have to be, once and before the question, for those who answer in another
// process; and nothing more where nobody is asked.
func TestTheFormOfAQuestionIsRecordedOnce(t *testing.T) {
	var made payments
	var asked []loop.PersonQuestion
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	no := machine.Response{Verdict: machine.Refuse}
	model := looptest.NewModel(payCall("c0", `{"to":"Ann","amount":5}`), payCall("c1", `{"to":"Ann","amount":500}`),
		payCall("c2", `{"to":"Ann","amount":600}`), looptest.Say("Not paid."))
	_, err = fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Pay Ann."}, made.config(t), answering(&asked, no, no))
	require.NoError(t, err)
	text := string(store.Text("order-42"))
	assert.Equal(t, 1, strings.Count(text, `{"note":{"kind":"form"`))
	assert.Greater(t, strings.Index(text, `"kind":"form"`), strings.Index(text, `"c0"`))
	assert.Less(t, strings.Index(text, `"kind":"form"`), strings.Index(text, `"kind":"ask"`))
	last, err := journal.Last(t.Context(), store, "order-42")
	require.NoError(t, err)
	assert.JSONEq(t, string(made.tool().Parameters()), string(last.Form("pay")))
	assert.Nil(t, last.Form("search"))
}

func TestACallBelowTheBoundRunsUnasked(t *testing.T) {
	var made payments
	model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":100}`), looptest.Say("Paid."))
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay Ann."}, made.config(t))
	require.NoError(t, err)
	assert.Len(t, made.calls, 1)
}

func TestARefusalIsToldToTheModelAndChargesNothing(t *testing.T) {
	var made payments
	var asked []loop.PersonQuestion
	model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Not payments."))
	result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay Ann."}, made.config(t),
		answering(&asked, machine.Response{Verdict: machine.Refuse, Words: `Ask "finance" first; my key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789`}))
	require.NoError(t, err)
	assert.Empty(t, made.calls)
	told := model.Requests()[1].Messages[2]
	assert.True(t, told.IsError)
	assert.Contains(t, told.Text, `Not run: a person refused this call. They say: "Ask \"finance\" first; my key is `)
	assert.NotContains(t, told.Text, "abcdefghijklmnopqrstuvwxyz")
	for _, a := range result.Attempts {
		assert.Empty(t, a.Class)
	}
}

func TestChangedArgumentsAreCheckedAndToldWithAKeyOfTheirOwn(t *testing.T) {
	ask := func(arguments string) ([]string, *looptest.Model, error) {
		var made payments
		var asked []loop.PersonQuestion
		model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Paid."))
		_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay Ann."}, made.config(t),
			answering(&asked, machine.Response{Verdict: machine.Approve, Arguments: json.RawMessage(arguments)}))
		if err == nil {
			require.Len(t, made.calls, 1)
		}
		return made.keys, model, err
	}
	same, _, err := ask("")
	require.NoError(t, err)
	spelt, _, err := ask(`{"amount": 500.0, "to": "Ann"}`)
	require.NoError(t, err)
	assert.Equal(t, same, spelt, "they are the same arguments")
	other, model, err := ask(`{"to": "Ann", "amount": 400}`)
	require.NoError(t, err)
	assert.NotEqual(t, same, other)
	assert.Equal(t, "A person changed the arguments of this call before it ran, to \"{\\\"amount\\\":400,\\\"to\\\":\\\"Ann\\\"}\". "+
		"What follows is of the call with these.\n{\"paid\":400}", model.Requests()[1].Messages[2].Text)

	_, _, err = ask(`{"to": "Ann", "amount": 0}`)
	var misfit *machine.AnswerError
	require.ErrorAs(t, err, &misfit)
	require.ErrorIs(t, err, machine.ErrMisfit)
	require.Len(t, misfit.Issues, 1)
	assert.Equal(t, "/amount", misfit.Issues[0].Pointer)
}

// Whoever answers does not say as which call the changed arguments count: they would have the key of another
// payment, and the model would not be told.
func TestAnAnswerDoesNotSayAsWhichCallItsArgumentsCount(t *testing.T) {
	const eve, ann = `{"to":"Eve","amount":80}`, `{"amount":500,"to":"Ann"}`
	pay := func(answer machine.Response) (keys []string, told string) {
		var made payments
		var asked []loop.PersonQuestion
		answer.Verdict, answer.Arguments = machine.Approve, json.RawMessage(eve)
		model := looptest.NewModel(payCall("c1", ann), looptest.Say("Paid."))
		_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay Ann."}, made.config(t), answering(&asked, answer))
		require.NoError(t, err)
		return made.keys, model.Requests()[1].Messages[2].Text
	}
	keys, told := pay(machine.Response{})
	forged, toldThen := pay(machine.Response{Identity: json.RawMessage(ann), Exact: json.RawMessage(ann), Call: &machine.Call{Tool: "other"}})
	assert.Equal(t, keys, forged)
	assert.Equal(t, told, toldThen)
}

func TestNobodyAnswersInTime(t *testing.T) {
	for name, c := range map[string]struct {
		approval policy.Approval
		told     string
	}{
		"refused":  {policy.Approval{Timeout: time.Hour}, "nobody answered in time"},
		"approved": {policy.Approval{Timeout: time.Hour, Default: policy.DefaultApprove}, `{"paid":500}`},
	} {
		t.Run(name, func(t *testing.T) {
			var made payments
			clock := looptest.NewClock()
			model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Done."))
			result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay Ann."},
				made.config(t, tool.Approval(c.approval)), loop.WithClock(clock))
			require.NoError(t, err)
			assert.Contains(t, model.Requests()[1].Messages[2].Text, c.told)
			assert.Zero(t, result.Waited, "the wait counts in no budget")
		})
	}
}

// The deadline of a run ends its question, too, and the result says that nobody had answered.
func TestNoQuestionOutlastsItsRun(t *testing.T) {
	var made payments
	clock := looptest.NewClock()
	model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`))
	r, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay Ann.", Deadline: clock.Now().Add(time.Minute)},
		made.config(t, tool.Approval(policy.Approval{Timeout: time.Hour, Default: policy.DefaultApprove})), loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonDeadline)
	assert.Empty(t, made.calls)
	assert.Equal(t, []string{"nobody answered by the deadline: approve pay (declared)"}, r.Warnings)
}

// asks returns the questions of the last run of a journal, as a reader sees them.
func asks(t testing.TB, dir journal.Dir, settings journal.Settings) []machine.Ask {
	j, err := journal.Open(t.Context(), dir, "order-42", settings)
	require.NoError(t, err)
	defer j.Close()
	past, err := j.Past()
	require.NoError(t, err)
	return past.State.Asks()
}

// A run that is left while it asks goes on asking, with the same question; the answer is recorded, and is
// taken once.
func TestAPoolTakesAnAnswerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		dir := journal.Dir(t.TempDir())
		question := ""
		for n, answer := range []machine.Ruling{"", machine.Approve} {
			j := recorded(t, dir)
			pool, ends := pooled(t, loop.PoolConfig{Model: looptest.NewModel(map[bool]looptest.Turn{
				true: payCall("c1", `{"to":"Ann","amount":500}`), false: looptest.Say("Paid.")}[n == 0]), Config: made.config(t)})
			_, err := pool.Add(fixture.In(newSession(t), j), loop.Input{Prompt: "Pay Ann."})
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- pool.Run(ctx, 2) }()
			synctest.Wait()
			assert.Equal(t, 1, pool.Len())
			if answer != "" {
				ask := machine.Response{Question: question, Verdict: answer}
				other := ask
				other.Question = question[:len(question)-1] + "g"
				require.ErrorIs(t, pool.Answer("order-42", other), machine.ErrOtherArguments)
				other.Question = "7.1.1-00"
				require.ErrorIs(t, pool.Answer("order-42", other), machine.ErrNotAsked)
				require.ErrorIs(t, pool.Answer("order-43", ask), loop.ErrNobodyAsks)
				require.ErrorIs(t, pool.Answer("order-42", machine.Response{Question: question, Verdict: "yes"}), machine.ErrMisfit)
				require.NoError(t, pool.Answer("order-42", ask))
				err := pool.Answer("order-42", ask)
				require.Error(t, err)
				require.NoError(t, <-done)
				require.Len(t, ends(), 1)
				require.NoError(t, ends()[0].err)
				require.ErrorIs(t, pool.Answer("order-42", ask), loop.ErrNobodyAsks)
			}
			stop()
			left := pool.Close()
			require.NoError(t, j.Close())
			if answer != "" {
				continue
			}
			require.Len(t, left, 1)
			require.ErrorIs(t, pool.Answer("order-42", machine.Response{}), loop.ErrPoolClosed)
			open := asks(t, dir, journal.Settings{})
			require.Len(t, open, 1)
			question = open[0].ID
		}
		assert.Equal(t, []transfer{{"Ann", 500}}, made.calls)
		_, err := journal.Replay(strings.NewReader(lines(t, dir)), nil)
		require.NoError(t, err)
	})
}

// A redacted journal shows another digest. Both names of the question are taken, and it replays.
func TestAQuestionOfARedactedJournalCanBeAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		dir := journal.Dir(t.TempDir())
		settings := journal.Settings{Redact: &journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{"/to"}, Result: []string{""}}},
			Transcripts: &kept{texts: map[string]string{}}}}
		j, err := journal.Open(t.Context(), dir, "order-42", settings)
		require.NoError(t, err)
		pool, _ := pooled(t, loop.PoolConfig{Model: looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Done.")),
			Config: made.config(t)})
		_, err = pool.Add(fixture.In(newSession(t), j), loop.Input{Prompt: "Pay somebody."})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- pool.Run(t.Context(), 1) }()
		synctest.Wait()
		text := lines(t, dir)
		_, id, _ := strings.Cut(text, `"id":"1.1.1-`)
		id = "1.1.1-" + id[:32]
		require.NoError(t, pool.Answer("order-42", machine.Response{Question: id, Verdict: machine.Approve,
			Arguments: json.RawMessage(`{"to":"Secretia","amount":7}`), Words: "hush"}))
		require.NoError(t, <-done)
		assert.Equal(t, []transfer{{"Secretia", 7}}, made.calls)
		require.NoError(t, j.Close())
		text = lines(t, dir)
		assert.NotContains(t, text, "Secretia")
		assert.NotContains(t, text, "hush")
		j, err = journal.Open(t.Context(), dir, "order-42", settings)
		require.NoError(t, err, "what was left out is found again")
		require.NoError(t, j.Close())
		_, err = journal.Replay(strings.NewReader(text), nil)
		require.NoError(t, err)
	})
}

// A call in doubt after a crash is put to a person.
func TestAPersonSaysWhatBecameOfACall(t *testing.T) {
	for _, c := range []struct {
		answer machine.Response
		calls  int
		told   string
		doubts int
	}{
		{machine.Response{Verdict: machine.WasDone, Result: json.RawMessage(`{"paid": 50}`)}, 0, `{"paid":50}`, 0},
		{machine.Response{Verdict: machine.WasNotDone, Words: "The bank says no."}, 0, `had no effect. They say: "The bank says no."`, 0},
		{machine.Response{Verdict: machine.RunAgain}, 1, `{"paid":50}`, 0},
		{machine.Response{Verdict: machine.NobodyKnows}, 0, "its effect may or may not have happened", 1},
	} {
		t.Run(string(c.answer.Verdict), func(t *testing.T) {
			dir := journal.Dir(t.TempDir())
			approval := tool.Approval(policy.Approval{InDoubt: policy.DoubtAsk})
			ctx, die := context.WithCancelCause(t.Context())
			stuck := tool.New("pay", "Pays.", func(ctx context.Context, _ transfer) (transferred, error) {
				die(loop.ErrSuspended)
				<-ctx.Done()
				return transferred{}, ctx.Err()
			}, approval)
			tools, err := tool.NewSet(stuck)
			require.NoError(t, err)
			j := recorded(t, dir)
			_, err = fixture.Run(ctx, looptest.NewModel(payCall("c1", `{"to":"Ann","amount":50}`)), fixture.In(newSession(t), j),
				loop.Input{Prompt: "Pay Ann."}, loop.Config{Tools: tools})
			require.ErrorIs(t, err, loop.ErrSuspended)
			require.NoError(t, j.Close())

			var made payments
			var asked []loop.PersonQuestion
			j = recorded(t, dir)
			model := looptest.NewModel(looptest.Say("Done."))
			result, err := fixture.Resume(t.Context(), model, fixture.In(newSession(t), j), made.config(t, approval), answering(&asked, c.answer))
			require.NoError(t, err)
			require.NoError(t, j.Close())
			require.Len(t, asked, 1)
			assert.Equal(t, machine.AskDoubt, asked[0].Kind)
			assert.Len(t, made.calls, c.calls)
			if c.calls > 0 {
				assert.Equal(t, asked[0].Key, made.keys[0], "under the same key")
			}
			assert.Contains(t, model.Requests()[0].Messages[2].Text, c.told)
			assert.Len(t, result.InDoubt, c.doubts)
			_, err = journal.Replay(strings.NewReader(lines(t, dir)), nil)
			require.NoError(t, err)
		})
	}
}

// A call that has ended in doubt, about which a person is to be asked, is not under way. So a run that is
// cancelled before the question says the same of it in every process.
func TestACallInDoubtIsToldTheSameAfterACrash(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	for n, cause := range []error{loop.ErrSuspended, context.Canceled} {
		ctx, end := context.WithCancelCause(t.Context())
		broken := tool.New("pay", "Pays.", func(context.Context, transfer) (transferred, error) { return transferred{}, errors.New("cut off") },
			tool.Approval(policy.Approval{InDoubt: policy.DoubtAsk}))
		look := tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (string, error) {
			end(cause)
			return "", ctx.Err()
		}, tool.ReadOnly())
		tools, err := tool.NewSet(broken, look)
		require.NoError(t, err)
		turn := payCall("c1", `{"to":"Ann","amount":50}`)
		turn.Reply.Calls = append(turn.Reply.Calls, message.Call{ID: "c2", Name: "look", Arguments: "{}"})
		j := recorded(t, dir)
		s, cfg := fixture.In(newSession(t), j), loop.Config{Tools: tools}
		if n == 0 {
			_, err = fixture.Run(ctx, looptest.NewModel(turn), s, loop.Input{Prompt: "Pay Ann."}, cfg, loop.WithParallel(1))
		} else {
			_, err = fixture.Resume(ctx, looptest.NewModel(), s, cfg, loop.WithParallel(1))
		}
		require.ErrorIs(t, err, cause)
		require.NoError(t, j.Close())
		if n == 1 {
			assert.Contains(t, lines(t, dir), "The call failed, and its effect may or may not have happened.")
		}
	}
}

func TestRulesThatAsk(t *testing.T) {
	for name, c := range map[string]struct {
		approval policy.Approval
		opts     []tool.Option
		amounts  []string
		asked    []string
	}{
		"never":      {policy.Approval{When: policy.ApproveNever}, nil, []string{"500"}, nil},
		"always":     {policy.Approval{When: policy.ApproveAlways}, nil, []string{"5"}, []string{"always"}},
		"first":      {policy.Approval{When: policy.ApproveFirst}, nil, []string{"5", "6", "500"}, []string{"first", "declared"}},
		"undeclared": {policy.Approval{When: policy.ApproveUndeclared}, []tool.Option{tool.Idempotent()}, []string{"5"}, nil},
		"above":      {policy.Approval{When: policy.ApproveAbove, Argument: "amount", Above: new(9 * backoff.One)}, nil, []string{"9", "10"}, []string{"above"}},
	} {
		t.Run(name, func(t *testing.T) {
			var made payments
			var turns []looptest.Turn
			for _, amount := range c.amounts {
				turns = append(turns, payCall("c"+amount, `{"to":"Ann","amount":`+amount+`}`))
			}
			var asked []loop.PersonQuestion
			yes := machine.Response{Verdict: machine.Approve}
			_, err := fixture.Run(t.Context(), looptest.NewModel(append(turns, looptest.Say("Paid."))...), newSession(t),
				loop.Input{Prompt: "Pay Ann."}, made.config(t, append(c.opts, tool.Approval(c.approval))...), answering(&asked, yes, yes))
			require.NoError(t, err)
			var rules []string
			for _, q := range asked {
				rules = append(rules, string(q.Rule))
			}
			assert.Equal(t, c.asked, rules)
			assert.Len(t, made.calls, len(c.amounts))
		})
	}
}

// A run outside a pool waits for an answer as well. Several questions are answered in any order, and the
// calls run in theirs.
func TestALoopTakesAnswersInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		var asked []loop.PersonQuestion
		both := looptest.Call(message.Call{ID: "a", Name: "pay", Arguments: `{"to":"Ann","amount":500}`},
			message.Call{ID: "b", Name: "pay", Arguments: `{"to":"Bob","amount":500}`})
		l, err := loop.New(looptest.NewModel(both, looptest.Say("Paid.")), made.config(t), loop.WithParallel(1),
			answering(&asked, machine.Response{}, machine.Response{}))
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() {
			_, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "Pay both."})
			done <- err
		}()
		synctest.Wait()
		require.Len(t, asked, 2)
		yes := machine.Response{Question: asked[1].ID, Verdict: machine.Approve}
		require.NoError(t, l.Answer("order-42", yes))
		require.ErrorIs(t, l.Answer("order-42", yes), machine.ErrAnswered)
		synctest.Wait()
		assert.Empty(t, made.calls)
		yes.Question = asked[0].ID
		require.NoError(t, l.Answer("order-42", yes))
		require.NoError(t, <-done)
		assert.Equal(t, []transfer{{"Ann", 500}, {"Bob", 500}}, made.calls)
		require.ErrorIs(t, l.Answer("order-42", yes), loop.ErrNobodyAsks)
	})
}

// approvalWithin is the default policy with a deadline for questions.
func approvalWithin(d time.Duration) *policy.Set {
	set := policy.DefaultSet()
	set.Global.Approval = &policy.Approval{Timeout: d}
	return &set
}

// Of many sessions that wait for people in a pool, those that are answered wake, in the order of the answers,
// and no other, however long it takes.
func TestNoSessionWakesBeforeItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions = 100
		var made payments
		calls, questions := 0, map[string]string{}
		left := loop.WithApprover(func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
			questions[q.Session] = q.ID
			return machine.Response{}, nil
		})
		pool, ends := pooled(t, loop.PoolConfig{Config: made.config(t), Options: []loop.Option{left}, Model: loop.ModelFunc(
			func(_ context.Context, r loop.Request) (message.Reply, error) {
				if calls++; len(r.Messages) > 1 {
					return message.Reply{Text: r.Session, Finish: message.Stop}, nil
				}
				return message.Reply{Finish: message.ToolUse, Calls: []message.Call{
					{ID: "c1", Name: "pay", Arguments: `{"to":"Ann","amount":500}`}}}, nil
			})})
		for n := range sessions {
			_, err := pool.Add(newSessionNamed(t, fmt.Sprint(n)), loop.Input{Prompt: "Pay."})
			require.NoError(t, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- pool.Run(ctx, 1) }()
		time.Sleep(30 * 24 * time.Hour)
		synctest.Wait()
		require.Equal(t, sessions, calls, "each has asked the model once")
		for _, id := range []string{"70", "3", "42"} {
			require.NoError(t, pool.Answer(id, machine.Response{Question: questions[id], Verdict: machine.Approve}))
		}
		time.Sleep(30 * 24 * time.Hour)
		synctest.Wait()
		stop()
		<-over
		var ended []string
		for _, e := range ends() {
			ended = append(ended, e.result.Text)
		}
		assert.Equal(t, []string{"70", "3", "42"}, ended)
		assert.Equal(t, sessions+3, calls)
		assert.Len(t, made.calls, 3)
	})
}

// The context of an approver says why it has ended, and when it will: at the question's deadline or at the
// run's, also where the two are one.
func TestTheContextOfAnApproverEndsByItsDeadline(t *testing.T) {
	for name, c := range map[string]struct{ question, run time.Duration }{
		"the question's": {time.Minute, time.Hour},
		"the run's":      {time.Hour, time.Minute},
		"both":           {time.Minute, time.Minute},
		"no run's":       {time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made payments
				cfg, set := made.config(t), policy.DefaultSet()
				set.Global.Approval = &policy.Approval{Timeout: c.question}
				cfg.Policy = &set
				in := loop.Input{Prompt: "Pay Ann."}
				if c.run > 0 {
					in.Deadline = time.Now().Add(c.run)
				}
				var ended error
				var at time.Time
				until := time.Now().Add(time.Minute)
				approver := func(ctx context.Context, _ loop.PersonQuestion) (machine.Response, error) {
					at, _ = ctx.Deadline()
					<-ctx.Done()
					ended = ctx.Err()
					return machine.Response{}, ended
				}
				model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Not paid."))
				_, _ = fixture.Run(t.Context(), model, newSession(t), in, cfg, loop.WithApprover(approver))
				synctest.Wait()
				assert.Equal(t, context.DeadlineExceeded, ended)
				assert.True(t, until.Equal(at), "%v", at)
				assert.Empty(t, made.calls)
			})
		})
	}
}
