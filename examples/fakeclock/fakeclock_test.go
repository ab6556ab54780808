package fakeclock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/examples/fakeclock"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

func TestAnHourOfBackoffTakesNoTime(t *testing.T) {
	clock := looptest.NewClock()
	text := strings.Repeat("long ", 5)
	shorter := func(string) string {
		text = text[5:]
		return text
	}
	headline, err := fakeclock.Headline(t.Context(), 5, shorter, loop.WithClock(clock))
	require.NoError(t, err)
	assert.Equal(t, "long ", headline)
	assert.Equal(t, (4+8+16)*time.Minute, clock.Now().Sub(looptest.Epoch))
}

func TestGivesUpAfterFive(t *testing.T) {
	clock := looptest.NewClock()
	_, err := fakeclock.Headline(t.Context(), 5, func(string) string { return "" }, loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	assert.Equal(t, time.Hour, clock.Now().Sub(looptest.Epoch))
}
