package machine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// The error of an answer is the same in the process of who answered.
func TestTheErrorOfAnAnswerIsTheSameElsewhere(t *testing.T) {
	for _, sentinel := range []machine.AnswerFault{
		machine.ErrAnswered, machine.ErrTooLate, machine.ErrMovedOn, machine.ErrOtherArguments, machine.ErrNotAsked, machine.ErrMisfit,
	} {
		was := &machine.AnswerError{Question: "1.1.1-x", Err: sentinel, Why: "because", Issues: []fault.Issue{{Pointer: "/a", Rule: "type"}}}
		text, err := canon.Marshal(was)
		require.NoError(t, err)
		var got *machine.AnswerError
		require.NoError(t, canon.Unmarshal(text, &got))
		assert.Equal(t, was, got)
	}
}
