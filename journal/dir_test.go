package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
)

func TestDir(t *testing.T) {
	journaltest.Store(t, func(t *testing.T) journal.Store { return journal.Dir(t.TempDir()) })
}

// A file whose journal is known is not opened until it has changed.
func TestAFolderDoesNotOpenWhatIsKnown(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	_, err := journaltest.Drive(dir, "order-42", func(string) {})
	require.NoError(t, err)
	known, err := dir.Stats(t.Context())
	require.NoError(t, err)
	require.Len(t, known, 1)

	path := filepath.Join(string(dir), journal.FileName("order-42"))
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("\n"), int(known[0].Bytes)), 0o600)) // to open it is an error
	require.NoError(t, os.Chtimes(path, known[0].Changed, known[0].Changed))
	again, err := dir.Stats(t.Context(), known...)
	require.NoError(t, err)
	assert.Equal(t, known, again)
	later := known[0].Changed.Add(time.Second)
	require.NoError(t, os.Chtimes(path, later, later))
	_, err = dir.Stats(t.Context(), known...)
	require.ErrorContains(t, err, "order-42.jsonl")
}

// A process that dies while it compacts leaves a file beside the journal. Who opens the journal next removes
// it, but nobody while another process may be writing it.
func TestWhatAKilledCompactionLeavesGoesWhenTheJournalIsOpened(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	log, err := dir.Open(t.Context(), theSession)
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("{}\n"), false))
	left := filepath.Join(string(dir), journal.FileName(theSession)+".new")
	require.NoError(t, os.WriteFile(left, []byte("{"), 0o600))
	_, err = dir.Open(t.Context(), theSession)
	require.ErrorIs(t, err, journal.ErrConflict)
	require.FileExists(t, left)
	require.NoError(t, log.Close())
	log, err = dir.Open(t.Context(), theSession)
	require.NoError(t, err)
	require.NoFileExists(t, left)
	require.NoError(t, log.Close())
}

func TestALinkThatLeadsOutOfAFolderIsNamed(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	path := filepath.Join(string(dir), journal.FileName(theSession))
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere.jsonl"), path); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	_, err := dir.Open(t.Context(), theSession)
	require.ErrorContains(t, err, path+" is a link, and none leads out of its folder: open the journal where it is")
	_, err = dir.Peek(t.Context(), theSession)
	require.ErrorContains(t, err, " is a link, and none leads out of its folder")
}

// A copy of a journal under another name is no second journal of its session: nobody opens it.
func TestACopyOfAJournalIsNotListed(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	_, err := journaltest.Drive(dir, "order-42", func(string) {})
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(string(dir), journal.FileName("order-42")))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(dir), "order-42 of yesterday.jsonl"), text, 0o600))
	ids, err := dir.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"order-42"}, ids)
	_, err = dir.Stats(t.Context())
	require.ErrorContains(t, err, `order-42 of yesterday.jsonl: it is the journal of session "order-42", whose file is called order-42.jsonl`)
}

// A file that cannot be read hides no other one, known or not.
func TestAFileThatCannotBeReadHidesNoOther(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	for _, id := range []string{"a", "b", "c"} {
		_, err := journaltest.Drive(dir, id, func(string) {})
		require.NoError(t, err)
	}
	all, err := dir.Stats(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(dir), "a.jsonl"), []byte("spoilt\n"), 0o600))
	for _, known := range [][]journal.Stat{nil, all} {
		left, err := dir.Stats(t.Context(), known...)
		require.ErrorContains(t, err, "a.jsonl: journal: line 1")
		assert.NotContains(t, err.Error(), "b.jsonl")
		assert.Equal(t, all[1:], left)
	}
}
