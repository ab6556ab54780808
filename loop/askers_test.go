package loop

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop/machine"
)

// Who answers while a run is about to wait for people is not told that it has moved on.
func TestAnAnswerWaitsForARunThatIsAboutToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs askers
		run, answered := runs.of("order-42"), make(chan error, 1)
		go func() { answered <- runs.answer("order-42", machine.Response{Question: "q1"}) }()
		synctest.Wait()
		assert.Empty(t, answered)
		run.set(func(machine.Response) error { return nil })
		runs.setAsking("order-42", true)
		require.NoError(t, <-answered)
	})
}
