package journal_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// replaced is a store whose journal is compacted while it is read for the first time: a database gives the
// rows that it has when they are asked for.
type replaced struct {
	journal.Keeper
	texts [][]byte
}

func (r *replaced) Peek(context.Context, string) (io.ReadCloser, error) {
	text := r.texts[0]
	r.texts = r.texts[1:]
	return io.NopCloser(bytes.NewReader(text)), nil
}

// Who looks at a journal that another process compacts is not told that it is damaged.
func TestAJournalThatIsReplacedWhileItIsReadIsReadAgain(t *testing.T) {
	before, after := kept(t, "corrected"), kept(t, "compacted")
	first := bytes.IndexByte(before, '\n') + 1
	half := append(bytes.Clone(before[:first]), after[bytes.IndexByte(after, '\n')+1:]...)
	_, err := journal.Last(t.Context(), &replaced{texts: [][]byte{half, after}}, theSession)
	require.NoError(t, err)
	_, err = journal.Last(t.Context(), &replaced{texts: [][]byte{half, half}}, theSession)
	require.ErrorIs(t, err, journal.ErrCorrupt, "it is so")
}
