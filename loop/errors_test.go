package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

func TestARunThatIsStoppedSaysByWhat(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("the desk has closed"))
	_, err := loop.Run(ctx, looptest.NewModel(looptest.Say("hi")), newSession(t), "Hello.", loop.Config{})
	assert.EqualError(t, err, "run stopped: cancelled: the desk has closed")
}

func TestAnExhaustionWithoutIssuesSaysWhatTheFailureWas(t *testing.T) {
	for _, s := range []*session.Session{nil, newSession(t)} {
		_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), func(context.Context, loop.Attempt) (int, error) {
			return 0, &fault.ProviderError{Class: fault.Refusal, Provider: "openai"}
		})
		assert.EqualError(t, err, "book_room: attempt 1 of 3 on the correction plane: this kind of failure is not retried: refusal from openai")
	}
}
