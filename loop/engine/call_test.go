package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// The limit that ended a call is its error, whatever is exceeded afterwards.
func TestTheFirstLimitThatEndsACallIsItsError(t *testing.T) {
	limits := map[time.Duration]func(){}
	after := func(d time.Duration, f func()) func() { limits[d] = f; return func() {} }
	lim := engine.LimitsOf(&machine.ModelCall{Timeout: time.Minute, FirstToken: time.Second})
	_, err := engine.Call(t.Context(), lim, after, func(ctx context.Context, _ engine.Tell) (int, error) {
		limits[time.Second]()
		limits[time.Minute]()
		return 0, ctx.Err()
	})
	var late *fault.TransportError
	require.ErrorAs(t, err, &late)
	assert.Equal(t, "timeout: nothing of the model's reply arrived for 1s", late.Error())
}
