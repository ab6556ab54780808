package journaltest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// resting returns a log with a line, which its writer has let rest; nil if logs of the store cannot.
func resting(t *testing.T, s journal.Store, session string) journal.Rester {
	log, rests := open(t, s, session).(journal.Rester)
	if rests {
		require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), false))
		err := log.Rest()
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		require.NoError(t, err)
		require.NoError(t, log.Rest())
	}
	return log
}

// testRest tests logs that are a [journal.Rester].
func testRest(t *testing.T, s journal.Store) {
	log := resting(t, s, "alone")
	if log == nil {
		return
	}
	assert.Equal(t, "one\n", read(t, log))
	require.NoError(t, log.Rest())
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	require.NoError(t, log.Rest())
	require.NoError(t, log.Wake())
	require.NoError(t, log.Wake())
	_, err := s.Open(t.Context(), "alone")
	require.ErrorIs(t, err, journal.ErrConflict, "one that is awake is held")
	require.NoError(t, log.Rest())
	require.NoError(t, log.Close())
	assert.Equal(t, "one\ntwo\n", read(t, open(t, s, "alone")))

	log = resting(t, s, "taken")
	other := open(t, s, "taken")
	require.ErrorIs(t, log.Wake(), journal.ErrConflict)
	require.ErrorIs(t, log.Append(t.Context(), 4, []byte("mine\n"), false), journal.ErrConflict)
	require.NoError(t, other.Close())
	require.NoError(t, log.Wake(), "the other has changed nothing")

	log = resting(t, s, "written")
	other = open(t, s, "written")
	require.NoError(t, other.Append(t.Context(), 4, []byte("other\n"), false))
	require.NoError(t, other.Close())
	require.ErrorIs(t, log.Wake(), journal.ErrConflict)
	require.ErrorIs(t, log.Append(t.Context(), 4, []byte("mine\n"), false), journal.ErrConflict)
	require.NoError(t, log.Close())
	assert.Equal(t, "one\nother\n", read(t, open(t, s, "written")))

	log = resting(t, s, "replaced")
	other = open(t, s, "replaced")
	require.NoError(t, other.Replace(t.Context(), 4, []byte("two\n")))
	require.NoError(t, other.Close())
	require.ErrorIs(t, log.Wake(), journal.ErrConflict, "it is as long")

	log = resting(t, s, "deleted")
	if d, can := open(t, s, "deleted").(journal.Deleter); can {
		require.NoError(t, d.Delete(t.Context(), 4))
		require.NoError(t, d.Close())
		require.ErrorIs(t, log.Wake(), journal.ErrConflict)
		if k, keeps := s.(journal.Keeper); keeps {
			_, err := k.Peek(t.Context(), "deleted")
			require.ErrorIs(t, err, journal.ErrNoRun, "it does not come back")
		}
	}
}
