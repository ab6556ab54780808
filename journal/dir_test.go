package journal_test

import (
	"testing"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
)

func TestDir(t *testing.T) {
	journaltest.Store(t, func(t *testing.T) journal.Store { return journal.Dir(t.TempDir()) })
}
