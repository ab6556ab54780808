package loop_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// One loop serves all requests of a server: each has its own id, deadline, history and media.
func TestALoopServesRequestsOfItsOwn(t *testing.T) {
	var keys []string
	tools := bookRoom(t, func(ctx context.Context, _ booking) (receipt, error) {
		keys = append(keys, tool.IdempotencyKey(ctx))
		return receipt{Number: "R-1"}, nil
	})
	var mu sync.Mutex // the model of the third request is left behind at its deadline
	var asked []loop.Request
	model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		mu.Lock()
		asked = append(asked, req)
		mu.Unlock()
		if last := req.Last(); last.Role == message.User && last.Text == "Wait." {
			<-ctx.Done()
			return message.Reply{}, ctx.Err()
		} else if last.Role == message.User {
			return message.Reply{Calls: []message.Call{call("book_room", lisbon)}, Finish: message.ToolUse}, nil
		}
		return message.Reply{Text: "Done.", Finish: message.Stop}, nil
	})
	l, err := loop.New(model, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	store := &looptest.Store{}
	run := func(in loop.Input) (r loop.Result, err error) {
		j, opened := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, opened)
		r, err = l.Run(t.Context(), fixture.In(newSession(t), j), in)
		require.NoError(t, j.Close())
		return r, err
	}
	photo := message.Bytes(message.ImagePart, "image/png", []byte("photo"))
	first, err := run(loop.Input{Prompt: "Book.", RequestID: "1", Attach: []message.Part{photo}})
	require.NoError(t, err)
	_, err = run(loop.Input{Prompt: "Book.", RequestID: "2", NewConversation: true})
	require.NoError(t, err)
	require.Len(t, keys, 2)
	assert.NotEqual(t, keys[0], keys[1])
	assert.Equal(t, []message.Part{photo}, asked[0].Messages[0].Parts)
	assert.Len(t, asked[2].Messages, 1, "a new conversation")

	again, err := run(loop.Input{Prompt: "Book.", RequestID: "1", Attach: []message.Part{photo}})
	require.NoError(t, err)
	assert.NotZero(t, again.Recorded)
	assert.Equal(t, first.Text, again.Text)
	_, err = run(loop.Input{Prompt: "Wait.", RequestID: "3", Deadline: looptest.Epoch.Add(time.Minute)})
	require.ErrorIs(t, err, policy.ReasonDeadline)
	last, err := run(loop.Input{Prompt: "And now?", RequestID: "4"})
	require.NoError(t, err, "the deadline was that of one request")
	assert.Equal(t, "Done.", last.Text)
}

// All that is wrong with an input is told at once, before the session or the model is touched.
func TestAnInvalidInputIsRefusedWhole(t *testing.T) {
	model := looptest.NewModel()
	l, err := loop.New(model, loop.Config{})
	require.NoError(t, err)
	pool, err := loop.NewPool(loop.PoolConfig{Model: model, Done: func(*session.Session, loop.Result, error) {}})
	require.NoError(t, err)
	in := loop.Input{
		Prompt: "Hi.", RequestID: "a\nb", Attach: []message.Part{{Kind: "smell"}},
		History: []message.Message{{Role: "model"}, {Role: message.User, Parts: []message.Part{{Kind: "smell"}}}, {}},
	}
	s := newSession(t)
	for name, take := range map[string]func() error{
		"run":      func() error { _, err := l.Run(t.Context(), s, in); return err },
		"generate": func() error { _, err := loop.Generate[receipt](t.Context(), l, s, in); return err },
		"add":      func() error { _, err := pool.Add(s, in); return err },
		"await":    func() error { _, err := pool.Await(t.Context(), s, in); return err },
	} {
		err := take()
		for _, says := range []string{
			"loop: input: request_id: ", "attach[0].kind: ", "history[0].role: ", "history[1].parts[0].kind: ", "history[2].role: ",
		} {
			assert.ErrorContains(t, err, says, name)
		}
	}
	assert.Empty(t, model.Requests())
	require.NoError(t, session.DriverOf(s).Acquire(), "the session is free")
}

// In a pool, an input without a prompt and media continues what is unfinished; one with media is a request.
func TestAPictureWithoutWordsIsARequest(t *testing.T) {
	store := &looptest.Store{}
	ctx, cancel := context.WithCancelCause(t.Context())
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	left := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		cancel(loop.ErrSuspended)
		return message.Reply{}, ctx.Err()
	})
	_, err = fixture.Run(ctx, left, fixture.In(newSession(t), j), loop.Input{Prompt: "Hi."}, loop.Config{})
	require.ErrorIs(t, err, loop.ErrSuspended)
	picture := loop.Input{Attach: []message.Part{message.Bytes(message.ImagePart, "image/png", []byte("photo"))}}
	p, told := pooled(t, loop.PoolConfig{Model: looptest.NewModel(looptest.Say("Hello."))})
	_, err = p.Add(fixture.In(newSession(t), j), picture)
	require.ErrorIs(t, err, journal.ErrConflict)
	_, err = p.Add(fixture.In(newSession(t), j), loop.Input{})
	require.NoError(t, err)
	require.NoError(t, p.Run(t.Context(), 1))
	assert.Len(t, told(), 1)
}

// A model that is asked nothing would make something up, or say again what it said last.
func TestThereIsSomethingToAnswer(t *testing.T) {
	const nothing = "loop: input: prompt: is empty, and there is nothing else to answer: give a prompt, media, or a History " +
		"that ends with a message of the user or the result of a call"
	model := looptest.NewModel(looptest.Say("Hello."), looptest.Say("Hello."))
	l, err := loop.New(model, loop.Config{})
	require.NoError(t, err)
	p, _ := pooled(t, loop.PoolConfig{Model: model})
	s := newSession(t)
	refused := func() {
		_, err := l.Run(t.Context(), s, loop.Input{})
		require.EqualError(t, err, nothing)
		_, err = p.Add(s, loop.Input{})
		require.EqualError(t, err, nothing)
		_, err = l.Run(t.Context(), s, loop.Input{NewConversation: true, History: []message.Message{{Role: message.System, Text: "Be brief."}}})
		require.EqualError(t, err, nothing)
	}
	refused()
	r, err := l.Run(t.Context(), s, loop.Input{History: []message.Message{{Role: message.User, Text: "Hi."}}})
	looptest.AssertAnswer(t, r, err, "Hello.")
	refused()
	assert.Len(t, model.Requests(), 1)
}

// A server gives the sessions of its store to a pool when it starts. Those that have ended are not asked
// again.
func TestAnInputWithoutAPromptTellsTheEndAgain(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), fixture.In(newSession(t), j),
		loop.Input{Prompt: "Hi.", RequestID: "1"}, loop.Config{})
	require.NoError(t, err)
	p, told := pooled(t, loop.PoolConfig{Model: looptest.NewModel()})
	_, err = p.Add(fixture.In(newSession(t), j), loop.Input{})
	require.NoError(t, err)
	require.NoError(t, p.Run(t.Context(), 1))
	require.Len(t, told(), 1)
	looptest.AssertAnswer(t, told()[0].result, told()[0].err, "Hello.")
}
