package journal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
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

// A journal that rests or is released may be compacted, also several times. What is written next follows the
// snapshot. If another writer wrote after that, it has the journal.
func TestAJournalThatRestsMayBeCompacted(t *testing.T) {
	for name, c := range map[string]struct {
		times     int
		written   bool
		conflicts bool
	}{"once": {1, false, false}, "twice": {2, false, false}, "and written to": {1, true, true}} {
		t.Run(name, func(t *testing.T) {
			dir := journal.Dir(t.TempDir())
			_, err := journaltest.Drive(dir, theSession, func(string) {})
			require.NoError(t, err)
			j, err := journal.Open(t.Context(), dir, theSession, journal.Settings{})
			require.NoError(t, err)
			defer j.Close()
			j.Release()
			for range c.times {
				require.NoError(t, journal.Compact(t.Context(), dir, theSession, nil))
			}
			if c.written {
				other, err := journal.Open(t.Context(), dir, theSession, journal.Settings{})
				require.NoError(t, err)
				require.NoError(t, other.Note(journal.Note{Kind: journal.MaybePaid, At: time.Now(), Text: "Another's."}))
				require.NoError(t, other.Close())
			}
			assert.Equal(t, c.conflicts, j.Lost())
			if err = j.Wake(); c.conflicts {
				require.ErrorIs(t, err, journal.ErrConflict)
				return
			}
			require.NoError(t, err)
			require.NoError(t, j.Note(journal.Note{Kind: journal.MaybePaid, At: time.Now(), Text: "Its own."}))
			require.NoError(t, j.Close())
			text, err := os.ReadFile(filepath.Join(string(dir), journal.FileName(theSession)))
			require.NoError(t, err)
			assert.Contains(t, string(text), "Its own.")
			_, err = journal.Replay(bytes.NewReader(text), nil)
			require.NoError(t, err)
		})
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

// What another process wrote meanwhile is looked at, and not held in memory: it may be of any length.
func TestWhatOthersWroteIsNotHeld(t *testing.T) {
	const foreign = 64 << 20
	for name, text := range map[string][]byte{
		"lines":       bytes.Repeat([]byte("another line\n"), foreign/13),
		"a torn line": bytes.Repeat([]byte("x"), foreign),
		"one line":    append(bytes.Repeat([]byte("x"), foreign), '\n'),
	} {
		for does, look := range map[string]func(t *testing.T, dir journal.Dir, j *journal.Journal) error{
			"wakes": func(_ *testing.T, _ journal.Dir, j *journal.Journal) error { return j.Wake() },
			"deletes": func(t *testing.T, dir journal.Dir, _ *journal.Journal) error {
				require.NoError(t, journal.Delete(t.Context(), dir, theSession))
				return journal.ErrConflict
			},
		} {
			t.Run(does+" "+name, func(t *testing.T) {
				dir := journal.Dir(t.TempDir())
				_, err := journaltest.Drive(dir, theSession, func(string) {})
				require.NoError(t, err)
				j, err := journal.Open(t.Context(), dir, theSession, journal.Settings{})
				require.NoError(t, err)
				defer j.Close()
				j.Rest()
				f, err := os.OpenFile(filepath.Join(string(dir), journal.FileName(theSession)), os.O_WRONLY|os.O_APPEND, 0)
				require.NoError(t, err)
				_, err = f.Write(text)
				require.NoError(t, errors.Join(err, f.Close()))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err = look(t, dir, j)
				runtime.ReadMemStats(&after)
				if name == "a torn line" && does == "wakes" {
					require.NoError(t, err, "a torn line is nothing that was written")
				} else {
					require.ErrorIs(t, err, journal.ErrConflict)
				}
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
			})
		}
	}
}

// A run that was begun and has no event yet is not written, so that its journal may be let go of.
func TestAJournalIsLetGoBeforeTheFirstEvent(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	cfg, err := loop.Config{}.Machine()
	require.NoError(t, err)
	m, err := machine.Compile(&cfg)
	require.NoError(t, err)
	for range 2 {
		r, err := engine.New(engine.RunnerConfig{Session: s, Machine: m, Input: &engine.Input{Prompt: "Hi."}})
		require.NoError(t, err)
		j.Release()
		require.NoError(t, j.Wake())
		_, err = r.Start(time.Now())
		require.NoError(t, err)
		_, err = r.Cancel(time.Now(), nil)
		require.NoError(t, err)
		r.Close()
	}
	require.Empty(t, j.Warning())
}
