package journaltest_test

import (
	"testing"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/looptest"
)

// A test of a store of your own. Each call of the function makes a fresh one.
func ExampleStore() {
	_ = func(t *testing.T) {
		journaltest.Store(t, func(*testing.T) journal.Store { return &looptest.Store{} })
	}
	// Output:
}
