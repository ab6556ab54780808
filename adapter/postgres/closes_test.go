package postgres_test

import (
	"testing"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"

	"github.com/stretchr/testify/require"
)

func TestAStoreThatIsClosedLosesNoAnswer(t *testing.T) {
	journaltest.Closes(t, func(t *testing.T) func() (journal.Store, func()) {
		url := urlOf(t)
		return func() (journal.Store, func()) {
			pool := connect(t, url)
			s, err := postgres.New(t.Context(), pool, postgres.Settings{})
			require.NoError(t, err)
			return s, func() {
				_ = s.Close()
				pool.Close()
			}
		}
	})
}
