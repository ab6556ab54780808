package dbos

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// talker is a model that is asked by a test, which makes its replies.
type talker struct {
	asked   chan []string
	replies chan message.Reply
}

func newTalker() *talker { return &talker{make(chan []string), make(chan message.Reply)} }

// Reply tells the test what the user has said so far, and waits for its reply.
func (m *talker) Reply(ctx context.Context, r loop.Request) (message.Reply, error) {
	var said []string
	for _, m := range r.Messages {
		if m.Role == message.User {
			said = append(said, m.Text)
		}
	}
	m.asked <- said
	select {
	case reply := <-m.replies:
		return reply, nil
	case <-ctx.Done():
		return message.Reply{}, context.Cause(ctx)
	}
}

func words(text string) session.Words {
	return session.Words{ID: "id of " + text, Text: text, By: "Ann"}
}

// unread is how many letters wait for the runs of a schema.
func unread(t *testing.T, schema string) (n int) {
	conn, err := pgx.Connect(t.Context(), database(t))
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+schema+".notifications WHERE NOT consumed").Scan(&n))
	return n
}

// A message is heard before the next call of the model, once, whether it came while the model thinks, while a
// tool runs or while the run waits. What the model answers meanwhile is not the last answer.
func TestAUserSpeaksToARun(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	work := tool.New("work", "Works.", func(context.Context, struct{}) (string, error) {
		begun <- true
		<-goOn
		return "done", nil
	})
	m := newTalker()
	c, r := launched(t, "say", Agent{Model: m, Config: loop.Config{Tools: toolsOf(t, work)}})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Work."})
	require.NoError(t, err)
	want := []string{"Work."}
	assert.Equal(t, want, <-m.asked)
	for _, text := range []string{"Sooner.", "Later."} {
		require.NoError(t, Say(c, "order-42", words(text), time.Minute), "the model thinks")
	}
	require.NoError(t, Say(c, "order-42", words("Later."), time.Minute), "once more, after an error")
	m.replies <- message.Reply{Calls: []message.Call{{ID: "c1", Name: "work", Arguments: "{}"}}}

	<-begun
	require.ErrorIs(t, Say(c, "order-42", words("Or not."), time.Millisecond), ErrNotTaken, "the tool runs")
	goOn <- true
	want = append(want, "Sooner.", "Later.", "Or not.")
	assert.Equal(t, want, <-m.asked)
	require.NoError(t, Say(c, "order-42", words("Or not."), time.Minute), "it has been taken")

	require.NoError(t, Say(c, "order-42", words("Wait."), time.Minute))
	m.replies <- message.Reply{Text: "Done.", Finish: message.Stop}
	assert.Equal(t, append(want, "Wait."), <-m.asked)
	m.replies <- message.Reply{Text: "Waited.", Finish: message.Stop}
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Waited.", result.Text)
	assert.Empty(t, result.Warnings)
	require.NoError(t, Say(c, "order-42", words("Wait."), time.Minute), "it was heard")
	require.ErrorIs(t, Say(c, "order-42", words("Thanks."), time.Minute), session.ErrNotHeld)
	require.ErrorContains(t, Say(c, "order-42", session.Words{Text: " "}, time.Minute), "text: must not be empty")
	require.Error(t, Say(c, "order-43", words("Hello?"), time.Minute), "there is no such run")
}

// A message that stops leaves the call of the model, which is made again with it.
func TestAUserStopsTheModel(t *testing.T) {
	m := newTalker()
	c, r := launched(t, "stop", Agent{Model: m})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Think."})
	require.NoError(t, err)
	assert.Equal(t, []string{"Think."}, <-m.asked)
	stop := words("Stop.")
	stop.Stop = true
	require.NoError(t, Say(c, "order-42", stop, time.Minute))
	assert.Equal(t, []string{"Think.", "Stop."}, <-m.asked)
	m.replies <- message.Reply{Text: "Stopped.", Finish: message.Stop}
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Stopped.", result.Text)
}

// A message is taken while a person is asked. One that stops takes the question back.
func TestAUserSpeaksWhileAPersonIsAsked(t *testing.T) {
	m := newTalker()
	a := paying(t, 0, func(int) { t.Error("paid") })
	a.Model = m
	c, r := launched(t, "sayasked", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	<-m.asked
	m.replies <- message.Reply{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: `{"amount":1}`}}}
	q := asked(t, c, "order-42")
	require.NoError(t, Say(c, "order-42", words("Is it much?"), time.Minute))
	assert.Equal(t, q, asked(t, c, "order-42"))
	stop := words("Do not pay.")
	stop.Stop = true
	require.NoError(t, Say(c, "order-42", stop, time.Minute))
	assert.Equal(t, []string{"Pay.", "Is it much?", "Do not pay."}, <-m.asked)
	err = Answer(c, "order-42", machine.Response{Question: q.ID, Verdict: machine.Approve}, time.Minute)
	require.ErrorIs(t, err, machine.ErrMovedOn)
	m.replies <- message.Reply{Text: "Not paid.", Finish: message.Stop}
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Not paid.", result.Text)
}

// A message that resets begins the attempts anew. It is taken while the run waits for an hour, and neither
// ends the wait nor is charged.
func TestAUserResetsARunThatWaits(t *testing.T) {
	busy := &fault.ProviderError{Class: fault.Overloaded}
	waits, calls := make(chan bool, 1), 0
	a := Agent{
		Model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			if calls++; calls == 1 {
				return message.Reply{}, busy
			}
			return message.Reply{Text: "Done.", Finish: message.Stop}, nil
		}),
		hooks: hooks{recv: func(ctx sdk.Context, topic string, most time.Duration) (string, error) {
			select {
			case waits <- true:
				return sdk.Recv[string](ctx, topic, most)
			default: // what was said is taken, and the hour is over
				text, err := sdk.Recv[string](ctx, topic, 0)
				return text, err
			}
		}},
	}
	set := policy.DefaultSet()
	hour := backoff.Constant(time.Hour)
	set.Transport.Backoff = &hour
	a.Config.Policy = &set
	c, r := launched(t, "reset", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(waits) == 1 }, time.Minute, time.Millisecond)
	again := words("Try again.")
	again.Reset = true
	require.NoError(t, Say(c, "order-42", again, time.Minute))
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Done.", result.Text)
	assert.True(t, slices.ContainsFunc(result.Transcript, func(m message.Message) bool { return m.Text == "Try again." }))
}

// What was sent to a run that ended before it took it is in the warnings of its result.
func TestAMessageThatComesTooLateIsAWarning(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	work := tool.New("work", "Works.", func(context.Context, struct{}) (string, error) {
		begun <- true
		<-goOn
		return "done", nil
	})
	set := policy.DefaultSet()
	set.MaxTurns = 1
	m := newTalker()
	c, r := launched(t, "toolate", Agent{Model: m, Config: loop.Config{Tools: toolsOf(t, work), Policy: &set}})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Work."})
	require.NoError(t, err)
	<-m.asked
	m.replies <- message.Reply{Calls: []message.Call{{ID: "c1", Name: "work", Arguments: "{}"}}}
	<-begun
	require.ErrorIs(t, Say(c, "order-42", words("Stop."), time.Millisecond), ErrNotTaken)
	told := make(chan error, 1)
	var sent sync.WaitGroup
	sent.Go(func() { told <- Say(c, "order-42", words("Please."), time.Minute) })
	require.Eventually(t, func() bool { return unread(t, "toolate") == 2 }, time.Minute, time.Millisecond)
	goOn <- true
	result, err := run.Result()
	var x *loop.RetryExhaustedError
	require.ErrorAs(t, err, &x)
	assert.Equal(t, []string{"a message by Ann came after the run had ended", "a message by Ann came after the run had ended"},
		result.Warnings)
	require.ErrorIs(t, <-told, session.ErrNotHeld)
	sent.Wait()
}

// A message that comes when a run has read its last letter is not said to wait for it.
func TestAMessageThatARunDoesNotReadIsNotSaidToWait(t *testing.T) {
	heard, goOn := make(chan bool), make(chan bool)
	m := newTalker()
	c, r := launched(t, "closing", Agent{Model: m, hooks: hooks{heard: func() { heard <- true; <-goOn }}})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Think."})
	require.NoError(t, err)
	<-m.asked
	m.replies <- message.Reply{Text: "Done.", Finish: message.Stop}
	<-heard
	told := make(chan error, 1)
	go func() { told <- Say(c, "order-42", words("Wait."), time.Millisecond) }()
	require.Eventually(t, func() bool { return unread(t, "closing") == 1 || len(told) == 1 }, time.Minute, time.Millisecond)
	goOn <- true
	require.ErrorIs(t, <-told, session.ErrNotHeld)
	_, err = run.Result()
	require.NoError(t, err)
}
