package retry

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	ours "github.com/retake-go/retake/backoff"
)

// The aims without allocations are checked here, as in the core.
func TestOursAllocatesNothing(t *testing.T) {
	key, s := ours.NewKey("order-42", "book_room"), strategy(ours.Full)
	succeeding := &failing{err: errInvalid}
	once := oursDo(context.Background(), succeeding, false)
	for name, f := range map[string]func(){
		"After": func() { sinkDelay += s.After(5, key) },
		"Do":    func() { succeeding.tried = 0; _, _ = once() },
	} {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
