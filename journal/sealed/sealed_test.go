package sealed_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// key returns a key.
func key(t *testing.T, secret string) sealed.Sealer {
	t.Helper()
	k, err := sealed.AES([]byte(secret + " is a secret of thirty-two bytes or more"))
	require.NoError(t, err)
	return k
}

func wrap(t *testing.T, in journal.Store, keys ...sealed.Sealer) journal.Store {
	t.Helper()
	s, err := sealed.New(in, keys...)
	require.NoError(t, err)
	return s
}

func TestASealedStoreIsAStore(t *testing.T) {
	for name, in := range map[string]func(t *testing.T) journal.Store{
		"folder": func(t *testing.T) journal.Store { return journal.Dir(t.TempDir()) },
		"memory": func(*testing.T) journal.Store { return &looptest.Store{} },
	} {
		t.Run(name, func(t *testing.T) {
			journaltest.Store(t, func(t *testing.T) journal.Store { return wrap(t, in(t), key(t, "one")) })
		})
	}
}

const secret = "The code is 1234 5678."

// run makes a run of a session, which says a secret.
func run(t *testing.T, s journal.Store, id string) {
	t.Helper()
	j, err := journal.Open(t.Context(), s, id, journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	held, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	l, err := loop.New(looptest.NewModel(looptest.Say(secret)), loop.Config{})
	require.NoError(t, err)
	_, err = l.Run(t.Context(), held, loop.Input{Prompt: secret, NewConversation: true})
	require.NoError(t, err)
}

// write writes the lines of a run into a store, whose text it returns.
func write(t *testing.T, in *looptest.Store, id string, plain []byte, keys ...sealed.Sealer) [][]byte {
	t.Helper()
	log, err := wrap(t, in, keys...).Open(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, plain, true))
	require.NoError(t, log.Close())
	return bytes.SplitAfter(bytes.TrimSuffix(in.Text(id), []byte("\n")), []byte("\n"))
}

// verify reads a sealed journal to its end.
func verify(text []byte, keys ...sealed.Sealer) error {
	_, err := journal.Replay(sealed.NewReader(bytes.NewReader(text), keys...), nil)
	return err
}

func TestNothingOfTheContentsIsInTheFolder(t *testing.T) {
	dir := t.TempDir()
	s := wrap(t, journal.Dir(dir), key(t, "one"))
	run(t, s, "order-42")
	item := journal.Item{Kind: journal.MessageItem, Key: "m1", Body: []byte(`"` + secret + `"`), At: time.Unix(1e9, 0)}
	require.NoError(t, s.(journal.Inbox).Put(t.Context(), "order-42", item))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		assert.NotContains(t, string(text), "1234 5678", path)
		assert.NotContains(t, string(text), "policy", path)
		return err
	}))
	require.NoError(t, journal.Compact(t.Context(), s, "order-42", nil))
	text, err := os.ReadFile(filepath.Join(dir, "order-42.jsonl"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "1234 5678")
	require.NoError(t, verify(text, key(t, "one")))
}

func TestAnotherKeyIsNamed(t *testing.T) {
	in := &looptest.Store{}
	run(t, wrap(t, in, key(t, "one")), "order-42")
	one, two := key(t, "one").KeyID(), key(t, "two").KeyID()
	err := verify(in.Text("order-42"), key(t, "two"))
	require.ErrorIs(t, err, journal.ErrSealed)
	require.EqualError(t, err, `journal: line 1 is sealed with the key whose id is "`+one+`": give that key, too: given is ["`+two+`"]`)
	_, err = journal.Replay(bytes.NewReader(in.Text("order-42")), nil)
	require.EqualError(t, err, `journal: line 1 is sealed with the key whose id is "`+one+`": give that key`, "without any key")
	_, err = journal.Open(t.Context(), wrap(t, in, key(t, "two")), "order-42", journal.Settings{})
	require.ErrorIs(t, err, journal.ErrSealed)
}

func TestANewKeySealsAndOldOnesOpen(t *testing.T) {
	in := &looptest.Store{}
	one, two := key(t, "one"), key(t, "two")
	run(t, wrap(t, in, one), "order-42")
	lines := bytes.Count(in.Text("order-42"), []byte("\n"))
	run(t, wrap(t, in, two, one), "order-42")
	assert.Equal(t, lines, bytes.Count(in.Text("order-42"), []byte(one.KeyID())))
	require.NoError(t, verify(in.Text("order-42"), one, two))
	require.ErrorIs(t, verify(in.Text("order-42"), one), journal.ErrSealed)
	require.NoError(t, sealed.Seal(t.Context(), in, "order-42", two, one))
	assert.NotContains(t, string(in.Text("order-42")), one.KeyID())
	require.NoError(t, verify(in.Text("order-42"), two))
}

func TestAJournalIsSealedThatWasBegunWithout(t *testing.T) {
	in := &looptest.Store{}
	run(t, in, "order-42")
	plain := in.Text("order-42")
	s := wrap(t, in, key(t, "one"))
	_, err := journal.Open(t.Context(), s, "order-42", journal.Settings{})
	require.ErrorIs(t, err, journal.ErrCorrupt, "who can write to the store could put a plain journal there")
	require.ErrorContains(t, err, "no line of a sealed journal")
	require.NoError(t, sealed.Seal(t.Context(), in, "order-42", key(t, "one")))
	text, err := io.ReadAll(sealed.NewReader(bytes.NewReader(in.Text("order-42")), key(t, "one")))
	require.NoError(t, err)
	assert.Equal(t, string(plain), string(text))
	run(t, s, "order-42")
	require.ErrorIs(t, sealed.Seal(t.Context(), in, "order-43", key(t, "one")), journal.ErrNoRun)
}

func TestEqualRunsHaveEqualHashesUnderOneKey(t *testing.T) {
	plain, one := &looptest.Store{}, key(t, "one")
	run(t, plain, "order-42")
	a := write(t, &looptest.Store{}, "order-42", plain.Text("order-42"), one)
	b := write(t, &looptest.Store{}, "order-42", plain.Text("order-42"), one)
	c := write(t, &looptest.Store{}, "order-42", plain.Text("order-42"), key(t, "two"))
	for n := range a {
		assert.NotEqual(t, string(a[n]), string(b[n]), "nonces are random")
		assert.Equal(t, string(a[n][:41]), string(b[n][:41]))
		assert.NotEqual(t, string(a[n][:41]), string(c[n][:41]))
	}
}

func TestWhatWasChangedIsFound(t *testing.T) {
	plain, one := &looptest.Store{}, key(t, "one")
	run(t, plain, "order-42")
	lines := write(t, &looptest.Store{}, "order-42", plain.Text("order-42"), one)
	other := write(t, &looptest.Store{}, "order-43", plain.Text("order-42"), one)
	again := write(t, &looptest.Store{}, "order-42", plain.Text("order-42"), one)
	require.NoError(t, verify(bytes.Join(lines, nil), one))
	flipped := func(line []byte, at int) []byte {
		line = bytes.Clone(line)
		if line[at]++; line[at] == 'f'+1 || line[at] == '9'+1 {
			line[at] = '0'
		}
		return line
	}
	sealedAt := bytes.Index(lines[1], []byte(`"sealed":"`)) + 20
	for name, text := range map[string][][]byte{
		"a hash":                        {lines[0], flipped(lines[1], 12)},
		"a byte of the sealed text":     {lines[0], flipped(lines[1], sealedAt)},
		"a line from another session":   {lines[0], other[1]},
		"the lines of another session":  {lines[0], other[1], other[2]},
		"a line from another place":     {lines[0], lines[2], lines[1]},
		"a line left out":               {lines[0], lines[2]},
		"the first line left out":       lines[1:],
		"a line twice":                  {lines[0], lines[1], lines[1]},
		"a plain line":                  {lines[0], []byte(`{"hash":"` + strings.Repeat("0", 32) + "\",\"record\":{}}\n")},
		"the id of the session":         {bytes.Replace(lines[0], []byte("order-42"), []byte("order-43"), 1), lines[1]},
		"the first line in its middle":  {lines[0], lines[0]},
		"a line of nothing":             {lines[0], []byte("\n")},
		"a session in the second line":  {lines[0], bytes.Replace(lines[1], []byte(`","sealed`), []byte(`","session":"order-42","sealed`), 1)},
		"the id of a key that is known": {lines[0], bytes.Replace(lines[1], []byte(one.KeyID()), []byte(key(t, "two").KeyID()), 1)},
	} {
		err := verify(bytes.Join(text, nil), one, key(t, "two"))
		require.ErrorIs(t, err, journal.ErrCorrupt, name)
	}
	require.NoError(t, verify(bytes.Join([][]byte{lines[0], again[1], lines[2]}, nil), one), "it is the same line")
	renamed := &looptest.Store{}
	log, err := renamed.Open(t.Context(), "order-43")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, bytes.Join(lines, nil), true))
	require.NoError(t, log.Close())
	_, err = journal.Open(t.Context(), wrap(t, renamed, one), "order-43", journal.Settings{})
	require.ErrorContains(t, err, `it is of the journal of session "order-42", not of "order-43"`)
}

// A process may die within a line: it is cut at each byte.
func TestALineThatWasCutOffIsThatOfACrash(t *testing.T) {
	whole, one := &looptest.Store{}, key(t, "one")
	run(t, wrap(t, whole, one), "order-42")
	text := whole.Text("order-42")
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for at := last + 1; at < len(text); at += 13 {
		cut := &looptest.Store{}
		log, err := cut.Open(t.Context(), "order-42")
		require.NoError(t, err)
		require.NoError(t, log.Append(t.Context(), 0, text[:at], true))
		require.NoError(t, log.Close())
		report, err := journal.Replay(sealed.NewReader(bytes.NewReader(text[:at]), one), nil)
		require.NoError(t, err)
		assert.Equal(t, at-last, report.Torn)
		j, err := journal.Open(t.Context(), wrap(t, cut, one), "order-42", journal.Settings{})
		require.NoError(t, err)
		require.NoError(t, j.Close())
		report, err = journal.Replay(sealed.NewReader(bytes.NewReader(cut.Text("order-42")), one), nil)
		require.NoError(t, err)
		assert.True(t, report.Ended, "the decision was made again")
		assert.EqualValues(t, 1, report.Notes, "the torn line is kept in a note")
	}
}

func TestItemsOfAnInboxAreSealed(t *testing.T) {
	in, one, two := &looptest.Store{}, key(t, "one"), key(t, "two")
	s := wrap(t, in, one).(journal.Inbox)
	ctx := context.Background()
	item := journal.Item{Kind: journal.AnswerItem, Key: "q1", Body: []byte(`"yes"`), By: "Ada", At: time.Unix(1e9, 0).UTC()}
	plain := item
	plain.Key = "q2"
	require.NoError(t, s.Put(ctx, "order-42", item))
	require.NoError(t, in.Put(ctx, "order-42", plain))
	all, err := s.Items(ctx, "order-42")
	assert.Equal(t, []journal.Item{item}, all)
	require.EqualError(t, err, `journal: session "order-42": answer "q2": it is not sealed: put it with the key`)
	require.NoError(t, in.Remove(ctx, "order-42", plain))

	stored, err := in.Items(ctx, "order-42")
	require.NoError(t, err)
	moved := stored[0]
	moved.By = "Eve"
	require.NoError(t, in.Put(ctx, "order-43", moved))
	_, err = s.Items(ctx, "order-43")
	require.ErrorContains(t, err, "it was changed, or it is another item")

	_, err = wrap(t, in, two).(journal.Inbox).Items(ctx, "order-42")
	require.ErrorIs(t, err, journal.ErrSealed)
	require.ErrorContains(t, err, one.KeyID())
	all, err = wrap(t, in, two, one).(journal.Inbox).Items(ctx, "order-42")
	require.NoError(t, err)
	assert.Equal(t, []journal.Item{item}, all)
	require.ErrorIs(t, wrap(t, in, two).(journal.Inbox).Put(ctx, "order-42", item), journal.ErrSealed,
		"there is an answer, but who says so cannot read it")
}

// A log of settings has the id of a key, whatever it is printed with.
func TestAKeyIsPrintedAsItsID(t *testing.T) {
	one := key(t, "one")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		assert.Equal(t, "sealed key "+one.KeyID(), fmt.Sprintf(verb, one), verb)
	}
}

func TestKeysAreChecked(t *testing.T) {
	_, err := sealed.AES([]byte("short"))
	require.EqualError(t, err, "sealed: a key of 5 bytes can be guessed: give 32 random bytes or more")
	_, err = sealed.ParseKeys([]byte("# our keys\n\n" + strings.Repeat("k", 32) + "\nshort\n"))
	require.ErrorContains(t, err, "line 4: sealed: a key of 5 bytes")
	_, err = sealed.ParseKeys([]byte("# none\n"))
	require.ErrorContains(t, err, "there is no key in it")
	keys, err := sealed.ParseKeys([]byte(strings.Repeat("k", 32) + "\r\n  " + strings.Repeat("l", 40)))
	require.NoError(t, err)
	direct, err := sealed.AES([]byte(strings.Repeat("k", 32)))
	require.NoError(t, err)
	require.Len(t, keys, 2)
	assert.Equal(t, direct.KeyID(), keys[0].KeyID())
	for want, give := range map[string][]sealed.Sealer{
		"there is no key": nil, "key 2 is nil": {direct, nil}, "is that of a key before it": {direct, direct},
	} {
		_, err := sealed.New(&looptest.Store{}, give...)
		require.ErrorContains(t, err, want)
	}
	_, err = sealed.New(nil, direct)
	require.ErrorContains(t, err, "the store is nil")
}

// Whatever is read, it ends, and nothing that was not sealed is taken.
func FuzzReader(f *testing.F) {
	k, err := sealed.AES(bytes.Repeat([]byte("k"), 32))
	require.NoError(f, err)
	in := &looptest.Store{}
	s, err := sealed.New(in, k)
	require.NoError(f, err)
	log, err := s.Open(context.Background(), "s")
	require.NoError(f, err)
	require.NoError(f, log.Append(context.Background(), 0, []byte("one\ntwo\n"), false))
	f.Add(in.Text("s"))
	f.Add(in.Text("s")[:200])
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := io.ReadAll(sealed.NewReader(bytes.NewReader(text), k))
		whole, torn := []byte(nil), got
		if at := bytes.LastIndexByte(got, '\n'); at >= 0 {
			whole, torn = got[:at+1], got[at+1:]
		}
		require.True(t, strings.HasPrefix("one\ntwo\n", string(whole)), "%q", got)
		if err == nil {
			require.True(t, bytes.HasSuffix(text, torn))
		}
	})
}

// A journal that is sealed, or gets another key, leaves no item behind that nobody could take any more.
func TestAJournalWithItemsThatStayBehindIsNotSealed(t *testing.T) {
	item := journal.Item{Kind: journal.AnswerItem, Key: "q1", Body: []byte(`"yes"`), By: "Ada", At: time.Unix(1e9, 0).UTC()}
	one, two := key(t, "one"), key(t, "two")
	for name, before := range map[string]func(in journal.Store) journal.Store{
		"not sealed":        func(in journal.Store) journal.Store { return in },
		"under another key": func(in journal.Store) journal.Store { return wrap(t, in, one) },
	} {
		in := &looptest.Store{}
		s := before(in)
		run(t, s, "order-42")
		require.NoError(t, s.(journal.Inbox).Put(t.Context(), "order-42", item))
		was := in.Text("order-42")
		err := sealed.Seal(t.Context(), in, "order-42", two, one)
		require.ErrorContains(t, err, `resume the run first, which takes it: journal: session "order-42": answer "q1": `, name)
		assert.Equal(t, was, in.Text("order-42"))
		require.NoError(t, s.(journal.Inbox).Remove(t.Context(), "order-42", item))
		require.NoError(t, sealed.Seal(t.Context(), in, "order-42", two, one))
		require.NoError(t, wrap(t, in, two).(journal.Inbox).Put(t.Context(), "order-42", item))
		require.NoError(t, sealed.Seal(t.Context(), in, "order-42", two), "it is under the key already")
	}
}
