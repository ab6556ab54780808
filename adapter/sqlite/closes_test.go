package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
)

func TestAStoreThatIsClosedLosesNoAnswer(t *testing.T) {
	journaltest.Closes(t, func(t *testing.T) func() (journal.Store, func()) {
		path := filepath.Join(t.TempDir(), "journals.db")
		return func() (journal.Store, func()) {
			s := open(t, path)
			return s, func() { _ = s.Close() }
		}
	})
}
