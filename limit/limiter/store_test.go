package limiter_test

import (
	"testing"

	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/limit/limittest"
)

func TestMemory(t *testing.T) {
	limittest.Store(t, func(*testing.T) limiter.Store { return limiter.NewMemory(nil) })
}
