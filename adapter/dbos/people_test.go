package dbos

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// paying is an agent that pays each of these amounts, if a person approves it within a time; 0 is any. It
// tells done what it paid.
func paying(t *testing.T, within time.Duration, done func(int), amounts ...string) Agent {
	type args struct {
		Amount int `json:"amount"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, in args) (string, error) {
		done(in.Amount)
		return "paid", nil
	}, tool.Approval(policy.Approval{When: policy.ApproveAlways, Timeout: within})))
	require.NoError(t, err)
	script := make([]looptest.Turn, 0, len(amounts)+1)
	for n, amount := range amounts {
		script = append(script, looptest.Call(message.Call{ID: string(rune('a' + n)), Name: "pay", Arguments: `{"amount":` + amount + `}`}))
	}
	return Agent{Config: loop.Config{Tools: tools}, Model: looptest.NewModel(append(script, looptest.Say("Paid."))...)}
}

// asked waits for the question of a run.
func asked(t *testing.T, c sdk.Context, id string) machine.Ask {
	asks, err := Asking(c, id, time.Minute)
	require.NoError(t, err)
	require.Len(t, asks, 1)
	return asks[0]
}

// A person's answer is a message. Who sends one that the run does not take is told why, and its question
// stays open.
func TestAPersonApprovesACall(t *testing.T) {
	var paid []int
	c, r := launched(t, "people", paying(t, 0, func(n int) { paid = append(paid, n) }, "1"))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	q := asked(t, c, "order-42").ID
	for name, wrong := range map[string]struct {
		answer machine.Response
		want   error
	}{
		"another question": {machine.Response{Question: "9.9.9-x", Verdict: machine.Approve}, machine.ErrNotAsked},
		"other arguments":  {machine.Response{Question: q + "x", Verdict: machine.Approve}, machine.ErrOtherArguments},
		"a wrong verdict":  {machine.Response{Question: q, Verdict: machine.WasDone}, machine.ErrMisfit},
		"wrong arguments":  {machine.Response{Question: q, Verdict: machine.Approve, Arguments: []byte(`{"amount":"x"}`)}, machine.ErrMisfit},
	} {
		err := Answer(c, "order-42", wrong.answer, time.Minute)
		var refused *machine.AnswerError
		require.ErrorAs(t, err, &refused, name)
		require.ErrorIs(t, err, wrong.want, name)
		assert.Equal(t, wrong.answer.Question, refused.Question)
		assert.Equal(t, name == "wrong arguments", len(refused.Issues) > 0)
	}
	assert.Empty(t, paid)
	require.NoError(t, Answer(c, "order-42", machine.Response{Question: q, Verdict: machine.Approve}, time.Minute))
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Paid.", result.Text)
	assert.Equal(t, []int{1}, paid)
	err = Answer(c, "order-42", machine.Response{Question: q, Verdict: machine.Approve}, time.Minute)
	require.ErrorIs(t, err, loop.ErrNobodyAsks)
	require.Error(t, Answer(c, "order-43", machine.Response{Question: q}, time.Minute), "there is no such run")
}

// Of several who answer at once one is told that the answer was taken, and the others that there was one,
// while the run works and when it asks again.
func TestOneOfSeveralAnswersCounts(t *testing.T) {
	goOn := make(chan bool)
	c, r := launched(t, "several", paying(t, 0, func(n int) {
		if n == 1 {
			<-goOn
		}
	}, "1", "2"))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	q := asked(t, c, "order-42").ID
	const people = 4
	told := make([]error, people)
	var all sync.WaitGroup
	for n := range told {
		all.Go(func() {
			told[n] = Answer(c, "order-42", machine.Response{Question: q, Verdict: machine.Approve}, time.Minute)
		})
	}
	all.Wait() // the call that was approved does not end before
	taken := 0
	for _, err := range told {
		if err == nil {
			taken++
			continue
		}
		require.ErrorIs(t, err, machine.ErrAnswered)
	}
	assert.Equal(t, 1, taken)
	goOn <- true
	for { // the letters of the others are open when the run asks again
		asks, err := Asking(c, "order-42", time.Minute)
		require.NoError(t, err)
		if len(asks) == 1 && asks[0].ID != q {
			q = asks[0].ID
			break
		}
	}
	require.NoError(t, Answer(c, "order-42", machine.Response{Question: q, Verdict: machine.Refuse}, time.Minute))
	_, err = run.Result()
	require.NoError(t, err)
}

// What nobody answered is closed, and so it is told.
func TestAnAnswerAfterTheDeadlineIsTooLate(t *testing.T) {
	asks := make(chan bool)
	a := paying(t, time.Second, func(int) {}, "1")
	model, n := a.Model, 0
	a.Model = loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		if n++; n == 2 {
			<-asks
		}
		return model.Reply(ctx, req)
	})
	c, r := launched(t, "late2", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	q := asked(t, c, "order-42")
	require.Eventually(t, func() bool {
		asks, err := Asking(c, "order-42", time.Minute)
		return err == nil && len(asks) == 0
	}, time.Minute, 10*time.Millisecond)
	err = Answer(c, "order-42", machine.Response{Question: q.ID, Verdict: machine.Approve}, time.Minute)
	require.ErrorIs(t, err, machine.ErrTooLate)
	asks <- true
	_, err = run.Result()
	require.NoError(t, err)
}

// An answer for a run that no process has waits in the database, and counts when one goes on with the run.
func TestAnAnswerWaitsForAProcess(t *testing.T) {
	c, err := newContext(database(t), "absent")
	require.NoError(t, err)
	a := paying(t, 0, func(int) { t.Error("paid in the first process") }, "1")
	r, err := Register(c, a)
	require.NoError(t, err)
	require.NoError(t, sdk.Launch(c))
	_, err = r.Start(c, "order-42", loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	q := asked(t, c, "order-42").ID
	require.NoError(t, sdk.Shutdown(c, time.Minute))

	paid := 0
	next := contextOf(t, "absent")
	_, err = Register(next, Agent{Config: paying(t, 0, func(int) { paid++ }).Config, Model: looptest.NewModel(looptest.Say("Paid."))})
	require.NoError(t, err)
	err = Answer(next, "order-42", machine.Response{Question: q, Verdict: machine.Approve}, time.Millisecond)
	require.ErrorIs(t, err, ErrNotTaken)
	require.NoError(t, sdk.Launch(next))
	run, err := Get(next, "order-42")
	require.NoError(t, err)
	_, err = run.Result()
	require.NoError(t, err)
	assert.Equal(t, 1, paid)
}

// deaf is a process that begins to listen for messages late: once hears is closed.
type deaf struct{ hears chan struct{} }

func (d deaf) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(q.SQL, "LISTEN") {
		<-d.hears
	}
	return ctx
}

func (deaf) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// DBOS wakes nobody for a letter that comes while a run waits and its process does not listen yet. The run
// takes it soon after the process does, whether or not its sender still waits.
func TestAnAnswerIsTakenByAProcessThatListensLate(t *testing.T) {
	cfg, err := pgxpool.ParseConfig(database(t))
	require.NoError(t, err)
	d := deaf{make(chan struct{})}
	cfg.ConnConfig.Tracer = d
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	defer pool.Close()
	c, err := sdk.NewContext(context.Background(), sdk.Config{
		AppName: "retake", SystemDBPool: pool, DatabaseSchema: "deaf", ApplicationVersion: "test", ExecutorID: "test",
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	defer func() { _ = sdk.Shutdown(c, 10*time.Second) }()
	r, err := Register(c, paying(t, 0, func(int) {}, "1"))
	require.NoError(t, err)
	require.NoError(t, sdk.Launch(c))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	q := asked(t, c, "order-42").ID
	waits := func() bool { // in Recv, which has looked for letters
		var slept int
		err := pool.QueryRow(t.Context(), "SELECT count(*) FROM deaf.operation_outputs WHERE function_name = 'DBOS.sleep' "+
			"AND function_id > (SELECT max(function_id) FROM deaf.operation_outputs WHERE function_name = 'DBOS.setEvent')").Scan(&slept)
		return err == nil && slept > 0
	}
	require.Eventually(t, waits, time.Minute, 10*time.Millisecond)
	err = Answer(c, "order-42", machine.Response{Question: q, Verdict: machine.Approve}, 10*time.Millisecond)
	require.ErrorIs(t, err, ErrNotTaken)
	close(d.hears)
	ended := make(chan error, 1)
	go func() {
		_, err := run.Result()
		ended <- err
	}()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the run has not taken the answer")
	}
}
