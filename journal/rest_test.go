package journal_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/journal/sealed"
)

// A journal that rests is held by nobody. It is taken again if it ends as it did; else it has another writer.
func TestAJournalThatRestsIsTakenAgainAsItWas(t *testing.T) {
	for name, other := range map[string]struct {
		does      func(t *testing.T, log journal.Log, text []byte)
		conflicts bool
	}{
		"nothing": {func(*testing.T, journal.Log, []byte) {}, false},
		"a torn line": {func(t *testing.T, log journal.Log, text []byte) {
			require.NoError(t, log.Append(t.Context(), int64(len(text)), []byte(`{"hash":"`), false))
		}, false},
		"a line": {func(t *testing.T, log journal.Log, text []byte) {
			require.NoError(t, log.Append(t.Context(), int64(len(text)), []byte("other\n"), false))
		}, true},
		"another of that length": {func(t *testing.T, log journal.Log, text []byte) {
			require.NoError(t, log.Replace(t.Context(), int64(len(text)), bytes.ReplaceAll(text, []byte("a"), []byte("b"))))
		}, true},
		"a shorter one": {func(t *testing.T, log journal.Log, text []byte) {
			require.NoError(t, log.Replace(t.Context(), int64(len(text)), []byte("other\n")))
		}, true},
		"none": {func(t *testing.T, log journal.Log, text []byte) {
			require.NoError(t, log.Replace(t.Context(), int64(len(text)), nil))
		}, true},
	} {
		for kind, fresh := range map[string]func(t *testing.T) journal.Store{
			"folder": func(t *testing.T) journal.Store { return journal.Dir(t.TempDir()) },
			"sealed": func(t *testing.T) journal.Store {
				key, err := sealed.AES(bytes.Repeat([]byte("k"), 32))
				require.NoError(t, err)
				s, err := sealed.New(journal.Dir(t.TempDir()), key)
				require.NoError(t, err)
				return s
			},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				s := fresh(t)
				_, err := journaltest.Drive(s, theSession, func(string) {})
				require.NoError(t, err)
				j, err := journal.Open(t.Context(), s, theSession, journal.Settings{})
				require.NoError(t, err)
				defer j.Close()
				j.Rest()
				log, err := s.Open(t.Context(), theSession)
				require.NoError(t, err, "nobody holds it")
				in, err := log.Read(t.Context())
				require.NoError(t, err)
				text, err := io.ReadAll(in)
				require.NoError(t, err)
				require.NoError(t, in.Close())
				other.does(t, log, text)
				require.NoError(t, log.Close())
				if other.conflicts {
					require.ErrorIs(t, j.Wake(), journal.ErrConflict)
					return
				}
				require.NoError(t, j.Wake())
				_, err = s.Open(t.Context(), theSession)
				require.ErrorIs(t, err, journal.ErrConflict, "it is held again")
				j.Rest()
				require.NoError(t, j.Note(journal.Note{Kind: journal.MaybePaid, At: time.Now(), Text: "It takes it itself."}))
				_, err = s.Open(t.Context(), theSession)
				require.ErrorIs(t, err, journal.ErrConflict)
			})
		}
	}
}

// While another writer has a journal that rests, it is not taken again.
func TestAJournalThatRestsIsNotTakenFromAnother(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	_, err := journaltest.Drive(dir, theSession, func(string) {})
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), dir, theSession, journal.Settings{})
	require.NoError(t, err)
	j.Rest()
	other, err := dir.Open(t.Context(), theSession)
	require.NoError(t, err)
	require.ErrorIs(t, j.Wake(), journal.ErrConflict)
	require.NoError(t, other.Close())
	require.ErrorIs(t, j.Wake(), journal.ErrConflict, "its run has ended")
	assert.NoError(t, j.Close())
}
