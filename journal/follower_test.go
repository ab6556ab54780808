package journal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// A journal that another one has replaced, which is shorter, is not the one that was followed: neither that
// of a reader that can be led beyond its end, as a file can, nor any other.
func TestAShorterJournalIsNotFollowedOn(t *testing.T) {
	store := &memory{}
	st, j := tried(t, store)
	ev := startedNow()
	_, effects := stepOf(t, st, ev)
	require.NoError(t, j.Step(ev, effects, st))
	half := bytes.IndexByte(store.text, '\n') + 1
	for _, shorter := range []interface{ Read([]byte) (int, error) }{
		bytes.NewReader(store.text[:half]), bytes.NewBuffer(store.text[:half]),
	} {
		var f journal.Follower
		require.NoError(t, f.Read(bytes.NewReader(store.text)))
		require.ErrorContains(t, f.Read(shorter), "the journal has become shorter than")
	}
}
