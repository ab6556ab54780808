package looptest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func TestEveryWaitOnTheClockIsOverAtOnce(t *testing.T) {
	c := looptest.NewClock()
	assert.Equal(t, looptest.Epoch.Add(time.Hour), <-c.After(time.Hour))
	<-c.After(time.Minute)
	c.Add(time.Second)
	assert.Equal(t, time.Hour+time.Minute+time.Second, c.Now().Sub(looptest.Epoch))
}

func TestTheClockIsSetByHand(t *testing.T) {
	c := looptest.NewClock()
	c.Set(looptest.Epoch.Add(3 * time.Hour))
	c.Add(time.Hour)
	assert.Equal(t, 4*time.Hour, c.Since(looptest.Epoch))
}

func TestTheModelRepliesFromItsScript(t *testing.T) {
	lost := errors.New("lost")
	m := looptest.NewModel(looptest.Say("one"), looptest.Fail(lost))
	var streamed string
	reply, err := m.Reply(t.Context(), loop.Request{Stream: func(d loop.Delta) { streamed += d.Text }})
	require.NoError(t, err)
	assert.Equal(t, "one", reply.Text)
	assert.Equal(t, "one", streamed)

	_, err = m.Reply(t.Context(), loop.Request{})
	require.ErrorIs(t, err, lost)
	_, err = m.Reply(t.Context(), loop.Request{})
	require.EqualError(t, err, "config: the script has 2 turns, and the model was asked once more: add a turn")
	_, err = looptest.NewModel().Reply(t.Context(), loop.Request{})
	require.EqualError(t, err, "config: the script has 0 turns, and the model was asked once more: add a turn")
	assert.Len(t, m.Requests(), 3)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.Reply(gone, loop.Request{})
	require.ErrorIs(t, err, context.Canceled)
}

// A script that is too short is a mistake of the test: no policy has it retried, and no error advises that.
func TestTheEndOfAScriptIsNotRetried(t *testing.T) {
	p := policy.DefaultSet()
	p.Transport.RetryableErrors = []fault.Class{fault.Unknown}
	model := looptest.NewModel()
	l, err := loop.New(model, loop.Config{Policy: &p}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "Well?"})
	require.EqualError(t, err, "answer: attempt 1 of 4 on the transport plane: config is not retried: another try does not help: "+
		"config: the script has 0 turns, and the model was asked once more: add a turn")
	assert.Len(t, model.Requests(), 1)
}

func Example() {
	model := looptest.NewModel(
		looptest.Call(message.Call{Name: "no_such_tool", Arguments: "{}"}),
		looptest.Say("Hello."),
	)
	s, _ := session.New(session.Config{ID: "test-1"})
	result, err := fixture.Run(context.Background(), model, s, loop.Input{Prompt: "Say hello."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
	fmt.Println(result.Text, result.Turns, err)
	// Output: Hello. 2 <nil>
}
