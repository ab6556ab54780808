package looptest_test

import (
	"testing"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/looptest"
)

func TestTheStoreInMemoryIsAStore(t *testing.T) {
	journaltest.Store(t, func(*testing.T) journal.Store { return &looptest.Store{} })
}
