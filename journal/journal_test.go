package journal_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// watched is a store that counts appends, and fails from some append on.
type watched struct {
	journal.Store
	appends, durable int
	// failFrom is the first append that fails; 0 for none.
	failFrom int
	with     error
}

func (w *watched) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := w.Store.Open(ctx, session)
	return &watchedLog{log, w}, err
}

type watchedLog struct {
	journal.Log
	of *watched
}

func (l *watchedLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	w := l.of
	if w.appends++; w.failFrom > 0 && w.appends >= w.failFrom {
		return w.with
	}
	if durable {
		w.durable++
	}
	return l.Log.Append(ctx, at, lines, durable)
}

// recordIn runs the story with a wait in a store.
func recordIn(t *testing.T, store journal.Store, settings journal.Settings) (loop.Result, error) {
	t.Helper()
	j, err := journal.Open(t.Context(), store, theSession, settings)
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	st := stories(t)["corrected"]
	return fixture.Run(t.Context(), looptest.NewModel(st.model...), fixture.In(s, j), loop.Input{Prompt: "Hi."}, st.cfg, loop.WithClock(looptest.NewClock()))
}

func TestSyncIsAChoice(t *testing.T) {
	for sync, durable := range map[journal.Sync]int{"": 3, journal.SyncWaits: 3, journal.SyncRecords: 9, journal.SyncNever: 0} {
		t.Run(string(sync), func(t *testing.T) {
			w := &watched{Store: journal.Dir(t.TempDir())}
			_, err := recordIn(t, w, journal.Settings{Sync: sync})
			require.NoError(t, err)
			assert.Equal(t, 9, w.appends, "one for each step, and one for the call that begins")
			assert.Equal(t, durable, w.durable, "waits are two, and there is one end")
		})
	}
}

func TestAJournalThatCannotBeWritten(t *testing.T) {
	full := errors.New("no space left")
	for name, tt := range map[string]struct {
		on    journal.OnError
		with  error
		stops bool
	}{
		"stops the run by default":            {"", full, true},
		"stops the run":                       {journal.StopRun, full, true},
		"is a warning":                        {journal.GoOn, full, false},
		"another writer always stops the run": {journal.GoOn, &journal.ConflictError{Session: theSession, Want: 1, Found: 2}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := &watched{Store: journal.Dir(dir), failFrom: 4, with: tt.with}
			result, err := recordIn(t, w, journal.Settings{OnError: tt.on})
			if tt.stops {
				require.ErrorIs(t, err, journal.ErrUnwritable)
				require.ErrorIs(t, err, tt.with)
			} else {
				require.NoError(t, err)
				assert.Equal(t, "Booked.", result.Text)
				require.Len(t, result.Warnings, 1)
				assert.Regexp(t, `^the run is not recorded beyond byte [0-9]+ of its journal: .*no space left$`, result.Warnings[0])
				assert.Equal(t, 4, w.appends, "after a gap nothing more is written")
			}
			text, err := os.ReadFile(filepath.Join(dir, journal.FileName(theSession)))
			require.NoError(t, err)
			report, err := replay(text)
			require.NoError(t, err)
			assert.Equal(t, int64(3), report.Events, "what was written is whole")
		})
	}
}

func TestFilesAreTheUsersAloneAndNamedAfterTheirSessions(t *testing.T) {
	for id, name := range map[string]string{
		"order-42": "order-42.jsonl", "a/../b": "a%2F..%2Fb.jsonl", ".hidden": "%2Ehidden.jsonl", "Ä": "%C3%84.jsonl", "a b%": "a%20b%25.jsonl",
	} {
		assert.Equal(t, name, journal.FileName(id))
	}
	long := journal.FileName(strings.Repeat("x", 300))
	assert.LessOrEqual(t, len(long), 255)
	assert.NotEqual(t, long, journal.FileName(strings.Repeat("x", 301)))

	dir := filepath.Join(t.TempDir(), "made", "here")
	_, err := recordIn(t, journal.Dir(dir), journal.Settings{})
	require.NoError(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "there is nothing beside it")
	info, err := entries[0].Info()
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestTheSecondWriterOfAFileIsRefusedByName(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	first, err := journal.Open(t.Context(), dir, theSession, journal.Settings{})
	require.NoError(t, err)
	_, err = journal.Open(t.Context(), dir, theSession, journal.Settings{})
	require.ErrorIs(t, err, journal.ErrConflict)
	require.ErrorContains(t, err, `the journal of session "order-42" is held by another writer`)
	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "closed again, it does nothing")
	again, err := journal.Open(t.Context(), dir, theSession, journal.Settings{})
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

// Notes do not affect decisions. They are beside the chain, each with its own hash.
func TestNotesStandOutsideTheChain(t *testing.T) {
	text := kept(t, "parallel_tools")
	records := recordsOf(t, text)
	var chain [][]byte
	for _, raw := range records {
		if !bytes.HasPrefix(raw, []byte(`{"note":`)) {
			chain = append(chain, raw)
		}
	}
	require.Less(t, len(chain), len(records), "results landed early")
	lines := func(text []byte) map[string]bool {
		all := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			all[line] = true
		}
		return all
	}
	with, without := lines(text), lines(journal.Chain(chain...))
	for line := range without {
		assert.True(t, with[line], "without notes the hashes are the same: %.80s", line)
	}
	changed := bytes.Replace(text, []byte(`"progress":"booking `), []byte(`"progress":"Booking `), 1)
	require.NotEqual(t, text, changed)
	_, err := replay(changed)
	require.ErrorIs(t, err, journal.ErrCorrupt, "a note that was changed is found out")
}

func TestOpeningAJournalSaysWhatIsWrong(t *testing.T) {
	const copied, version = "put a copy of the journal in its place", "with the version that recorded it"
	whole := kept(t, "compacted")
	first := bytes.IndexByte(whole, '\n') + 1
	second := first + bytes.IndexByte(whole[first:], '\n')
	for name, tt := range map[string]struct {
		text []byte
		want error
		todo string
	}{
		"a hash that is wrong":       {kept(t, "bad-hash-changed"), journal.ErrCorrupt, copied},
		"a decision that is another": {kept(t, "bad-decision-changed"), journal.ErrDiffers, version},
		"an event that does not fit": {kept(t, "bad-event-misfit"), journal.ErrDiffers, version},
		"a file of another kind":     {[]byte(`{"answer":42}`), journal.ErrCorrupt, copied},
		"a later format":             {kept(t, "bad-unknown-format"), journal.ErrDiffers, "a later version"},
		"a snapshot that is gone":    {whole[:first], journal.ErrCorrupt, copied},
		"a snapshot that is torn":    {whole[:second], journal.ErrCorrupt, copied},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, journal.FileName(theSession))
			require.NoError(t, os.WriteFile(path, tt.text, 0o600))
			_, err := journal.Open(t.Context(), journal.Dir(dir), theSession, journal.Settings{})
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, `opening the journal of session "order-42": journal: line `)
			require.ErrorContains(t, err, tt.todo)
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(tt.text), string(now))
		})
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, journal.FileName("other")), kept(t, "corrected"), 0o600))
	_, err := journal.Open(t.Context(), journal.Dir(dir), "other", journal.Settings{})
	require.ErrorContains(t, err, `it is that of session "order-42", not of "other"`)
	_, err = journal.Open(t.Context(), journal.Dir(dir), "", journal.Settings{})
	require.ErrorContains(t, err, "the session needs an id")
	_, err = journal.Open(t.Context(), nil, theSession, journal.Settings{})
	require.ErrorContains(t, err, "the store is nil")
	require.ErrorContains(t, journal.Compact(t.Context(), nil, theSession, nil), "the store is nil")
	_, err = journal.Open(t.Context(), journal.Dir(""), theSession, journal.Settings{})
	require.ErrorContains(t, err, "a Dir needs a name")
	_, err = journal.Open(t.Context(), journal.Dir(dir), theSession, journal.Settings{Sync: "often", OnError: "weep"})
	require.ErrorContains(t, err, `sync: "often": must be`)
	require.ErrorContains(t, err, `on_error: "weep": must be`)
	require.EqualError(t, journal.Settings{Redact: &journal.Redaction{Key: []byte("short"), MaxBytes: -1}}.Validate(),
		"redact: key: 5 bytes can be guessed: give 16 or more\nredact: max_bytes: -1: give 0 or more")
}

func TestNoLogHasTheKeyOfARedaction(t *testing.T) {
	r := journal.Redaction{Key: []byte("a key of many bytes"), Prompts: true}
	text := fmt.Sprintf("%v %+v %#v %s", r, r, &r, r)
	for _, form := range []string{"%v", "%s", "%#v"} {
		assert.NotContains(t, text, fmt.Sprintf(form, r.Key))
	}
	said, err := json.Marshal(r)
	require.NoError(t, err)
	assert.NotContains(t, string(said), base64.StdEncoding.EncodeToString(r.Key))
	assert.Contains(t, text, "Prompts:true")
}

// A torn line is kept in a note, and the missing decision is written.
func TestATornLineIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, journal.FileName(theSession))
	torn := kept(t, "bad-torn")
	require.NoError(t, os.WriteFile(path, torn, 0o600))
	j, err := journal.Open(t.Context(), journal.Dir(dir), theSession, journal.Settings{})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	report, err := replay(text)
	require.NoError(t, err)
	assert.True(t, report.Ended)
	assert.Zero(t, report.Torn)
	r := journal.NewReader(bytes.NewReader(text))
	var kept []byte
	for rec, err := r.Next(); err != io.EOF; rec, err = r.Next() {
		require.NoError(t, err)
		if rec.Note != nil && rec.Note.Kind == journal.Torn {
			kept = rec.Note.Torn
		}
	}
	assert.Equal(t, torn[bytes.LastIndexByte(torn, '\n')+1:], kept)
}

// A power failure may leave zeros after complete or partial lines. They are cut off, and the run continues.
func TestZerosAtTheEndAreATornLine(t *testing.T) {
	whole, lines := kept(t, "bad-torn"), 0
	whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
	lines = bytes.Count(whole, []byte("\n"))
	for name, test := range map[string]struct {
		text  string
		zeros int64
	}{
		"a_few":                {"", 3},
		"behind_a_part":        {`{"hash":"0123`, 5000},
		"more_than_is_kept":    {`{"hash":"` + strings.Repeat("x", 100<<10), 1},
		"more_than_a_line_has": {`{"hash"`, journal.MaxLineBytes + 5},
		"nothing_but_zeros":    {"", 200 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, journal.FileName(theSession))
			begun := whole
			if name == "nothing_but_zeros" {
				begun = nil
			}
			require.NoError(t, os.WriteFile(path, append(bytes.Clone(begun), test.text...), 0o600))
			size := int64(len(begun)+len(test.text)) + test.zeros
			require.NoError(t, os.Truncate(path, size))
			j, err := journal.Open(t.Context(), journal.Dir(dir), theSession, journal.Settings{})
			require.NoError(t, err)
			if begun == nil {
				require.NoError(t, j.Close())
				_, err = recordIn(t, journal.Dir(dir), journal.Settings{})
				require.NoError(t, err)
			}
			require.NoError(t, j.Close())
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Less(t, len(text), len(begun)+200<<10)
			report, err := replay(text)
			require.NoError(t, err)
			assert.Zero(t, report.Torn)
			note := noteOf(t, text, journal.Torn)
			if size := int64(len(test.text)) + test.zeros; int64(len(note.Torn)) < size {
				assert.Equal(t, fmt.Sprintf("%d bytes were cut off, of which these are kept", size), note.Text)
			}
			assert.True(t, strings.HasPrefix(test.text+strings.Repeat("\x00", 16), string(note.Torn)) || len(note.Torn) < 64<<10+1)
			assert.GreaterOrEqual(t, bytes.Count(text, []byte("\n")), lines)
		})
	}
}

func TestZerosInTheMiddleAreNoEnd(t *testing.T) {
	whole := kept(t, "bad-torn")
	first := bytes.IndexByte(whole, '\n') + 1
	for _, zeros := range []int{1, 40 << 10} {
		_, err := replay(slices.Concat(whole[:first], make([]byte, zeros), whole[first:]))
		require.ErrorIs(t, err, journal.ErrCorrupt)
		require.ErrorContains(t, err, "line 2 (offset ")
		require.ErrorContains(t, err, "it is no line of a journal")
	}
}

// An ended run on a read-only disk can be read, replayed and returned. Writing is refused by name.
func TestAnEndedJournalOnADiskThatIsReadOnly(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	want, err := recordIn(t, dir, journal.Settings{})
	require.NoError(t, err)
	path := filepath.Join(string(dir), journal.FileName(theSession))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	torn := append(bytes.Clone(text), `{"hash":"0123`...)
	for _, text := range [][]byte{text, torn} {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		j, err := journal.Open(t.Context(), journal.ReadOnly{Dir: dir}, theSession, journal.Settings{})
		require.NoError(t, err)
		past, err := j.Past()
		require.NoError(t, err)
		assert.Equal(t, machine.Stopped, past.State.Phase)
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		got, err := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(s, j), stories(t)["corrected"].cfg)
		require.NoError(t, err)
		assert.Equal(t, want.Text, got.Text)
		snapshot, err := past.State.Session.Snapshot()
		require.NoError(t, err)
		s, err = session.Restore(session.Config{}, snapshot)
		require.NoError(t, err)
		_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), fixture.In(s, j), loop.Input{Prompt: "Hi."}, loop.Config{})
		require.ErrorIs(t, err, journal.ErrReadOnly)
		require.ErrorIs(t, err, journal.ErrUnwritable)
		require.NoError(t, j.Close())
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, now)
	}
}

// noteOf returns the first note of a kind.
func noteOf(t *testing.T, text []byte, kind journal.NoteKind) journal.Note {
	t.Helper()
	r := journal.NewReader(bytes.NewReader(text))
	for {
		rec, err := r.Next()
		require.NoError(t, err)
		if rec.Note != nil && rec.Note.Kind == kind {
			return *rec.Note
		}
	}
}

func TestAClosedJournalTakesNoMore(t *testing.T) {
	j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), theSession, journal.Settings{})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Note(journal.Note{Kind: journal.Progressed, At: time.Now()}), journal.ErrUnwritable)
	require.ErrorIs(t, j.Step(machine.Event{Kind: machine.Cancelled}, nil, machine.State{}), journal.ErrUnwritable)
}
