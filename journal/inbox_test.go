package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func answerTo(key string) Item {
	return Item{Kind: AnswerItem, Key: key, Body: json.RawMessage(`"yes"`), By: "Ada", At: time.Unix(1e9, 1).UTC()}
}

// filesIn lists the files and folders below a folder.
func filesIn(t *testing.T, dir string) (names []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

func TestAnItemIsAFileOfTheUserAloneAndLeavesNothing(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "runs"))
	require.NoError(t, dir.Put(t.Context(), "order/42", answerTo("pay 7")))
	assert.Equal(t, []string{".inbox", ".inbox/order%2F42", ".inbox/order%2F42/answer.pay%207.json"}, filesIn(t, string(dir)))
	for name, mode := range map[string]fs.FileMode{
		".inbox": fs.ModeDir | 0o700, ".inbox/order%2F42": fs.ModeDir | 0o700, ".inbox/order%2F42/answer.pay%207.json": 0o600,
	} {
		info, err := os.Stat(filepath.Join(string(dir), name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), name)
	}
	require.NoError(t, dir.Remove(t.Context(), "order/42", answerTo("pay 7")))
	assert.Empty(t, filesIn(t, string(dir)))
}

// Files that no Put made are of any number: no more of them are read at once than one inbox may have.
func TestOfTooManyItemsSomeWait(t *testing.T) {
	dir := Dir(t.TempDir())
	require.NoError(t, dir.Put(t.Context(), "order-42", answerTo("q")))
	in := filepath.Join(string(dir), inboxOf("order-42"))
	text, err := os.ReadFile(filepath.Join(in, itemName(answerTo("q"))))
	require.NoError(t, err)
	for n := range 2*MaxItems + 3 {
		i := answerTo(fmt.Sprint("q", n))
		text := strings.Replace(string(text), `"key":"q"`, fmt.Sprintf(`"key":%q`, i.Key), 1)
		require.NoError(t, os.WriteFile(filepath.Join(in, itemName(i)), []byte(text), 0o600))
	}
	items, err := dir.Items(t.Context(), "order-42")
	require.ErrorContains(t, err, `the inbox of session "order-42": 4 files are left for later: there are more than 512`)
	require.Len(t, items, 2*MaxItems)
	for _, i := range items {
		require.NoError(t, dir.Remove(t.Context(), "order-42", i))
	}
	items, err = dir.Items(t.Context(), "order-42")
	require.NoError(t, err)
	require.Len(t, items, 4)
}

// dying is a disk whose process dies before its nth step: what a panic leaves is what a crash leaves, because
// nothing is tidied up in a deferred call.
func dying(steps int) *disk {
	on := systemDisk
	step := func() {
		if steps--; steps < 0 {
			panic(errDisk)
		}
	}
	on.sync = func(f *os.File) error { step(); return f.Sync() }
	on.lock = func(f *os.File) error { step(); return lock(f) }
	on.link = func(in *os.Root, from, to string) error { step(); return in.Link(from, to) }
	on.remove = func(in *os.Root, name string) error { step(); return in.Remove(name) }
	return &on
}

// died calls what a process does, and reports whether it died.
func died(do func() error) (dead bool, err error) {
	defer func() { dead = recover() != nil }()
	return false, do()
}

func TestACrashAtAnyStepLosesNothingAndLeavesNothing(t *testing.T) {
	for steps := range 40 {
		dir := Dir(t.TempDir())
		putDied, err := died(func() error { return dir.putOn(t.Context(), dying(steps), "order-42", answerTo("q1")) })
		require.NoError(t, err)
		items, err := dir.Items(t.Context(), "order-42")
		require.NoError(t, err)
		if len(items) > 0 || !putDied {
			require.Equal(t, []Item{answerTo("q1")}, items, "it is there whole or not at all")
		}
		if err := dir.Put(t.Context(), "order-42", answerTo("q1")); len(items) > 0 {
			require.ErrorIs(t, err, ErrAnswered)
		} else {
			require.NoError(t, err, "step %d", steps)
		}
		removeDied, err := died(func() error { return dir.removeOn(dying(steps), "order-42", answerTo("q1")) })
		require.NoError(t, err)
		require.NoError(t, dir.Remove(t.Context(), "order-42", answerTo("q1")))
		if removeDied {
			require.NoError(t, dir.Put(t.Context(), "order-42", answerTo("q2")))
			require.NoError(t, dir.Remove(t.Context(), "order-42", answerTo("q2")))
		}
		assert.Empty(t, filesIn(t, string(dir)), "step %d", steps)
		if !putDied && !removeDied {
			assert.Greater(t, steps, 5)
			return
		}
	}
	t.Fatal("it always dies")
}

// Who writes the journal may take an item before who puts it has returned. It is not put a second time.
func TestAnItemThatIsTakenAtOnceIsPutOnce(t *testing.T) {
	dir, on, links := Dir(t.TempDir()), systemDisk, 0
	on.link = func(in *os.Root, from, to string) error {
		links++
		return errors.Join(in.Link(from, to), dir.Remove(t.Context(), "order-42", answerTo("q1")))
	}
	require.NoError(t, dir.putOn(t.Context(), &on, "order-42", answerTo("q1")))
	assert.Equal(t, 1, links)
	assert.Empty(t, filesIn(t, string(dir)))
}

// A deletion that a crash ends leaves the whole journal or none, and the next one leaves nothing.
func TestACrashWhileAJournalIsDeletedLeavesAllOfItOrNothing(t *testing.T) {
	for steps := range 10 {
		dir := Dir(t.TempDir())
		path := filepath.Join(string(dir), FileName("order-42"))
		require.NoError(t, os.WriteFile(path, []byte("one\ntwo\n"), 0o600))
		require.NoError(t, os.WriteFile(path+temporary, []byte("one\n"), 0o600))
		require.NoError(t, os.MkdirAll(filepath.Join(string(dir), inboxOf("order-42")), 0o700))
		on := dying(steps + 2) // two locks open it
		log, err := dir.openOn(on, "order-42")
		require.NoError(t, err)
		dead, err := died(func() error { return log.Replace(t.Context(), 8, nil) })
		require.NoError(t, err)
		if f := log.(*file).f; f != nil { // the system closes what a dead process had open
			require.NoError(t, f.Close())
		}
		text, err := os.ReadFile(path)
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
			require.Equal(t, "one\ntwo\n", string(text))
			require.NoError(t, Delete(t.Context(), dir, "order-42"))
		}
		assert.Empty(t, filesIn(t, string(dir)), "step %d", steps)
		if !dead {
			assert.Greater(t, steps, 2)
			return
		}
	}
	t.Fatal("it always dies")
}

func TestAnItemWhoseDiskFailsIsAnError(t *testing.T) {
	for name, fail := range map[string]func(*disk){
		"sync":   func(on *disk) { on.sync = func(*os.File) error { return errDisk } },
		"link":   func(on *disk) { on.link = func(*os.Root, string, string) error { return errDisk } },
		"remove": func(on *disk) { on.remove = func(*os.Root, string) error { return errDisk } },
		"locks":  func(on *disk) { on.lock = func(*os.File) error { return ErrNoLocks } },
	} {
		on, dir := systemDisk, Dir(t.TempDir())
		fail(&on)
		err := dir.putOn(t.Context(), &on, "order-42", answerTo("q1"))
		require.ErrorContains(t, err, `putting an item into the inbox of session "order-42"`, name)
		if name != "remove" {
			assert.Empty(t, filesIn(t, string(dir)), "%s: what was not put leaves no folder", name)
		}
		require.NoError(t, dir.Remove(t.Context(), "order-42", answerTo("q1")))
		assert.Empty(t, filesIn(t, string(dir)), name)
	}
}

func TestAFolderThatIsReadOnlyTakesNoItems(t *testing.T) {
	on, dir := systemDisk, Dir(t.TempDir())
	on.makeAll = func(string, fs.FileMode) error { return fs.ErrPermission }
	require.ErrorIs(t, dir.putOn(t.Context(), &on, "order-42", answerTo("q1")), ErrReadOnly)
	_, err := Dir("").Items(t.Context(), "order-42")
	require.Error(t, err)
}

// Links lead nowhere else, neither in place of a folder nor of a file.
func TestNoLinkLeadsOutOfAnInbox(t *testing.T) {
	outside := t.TempDir()
	elsewhere := Dir(outside)
	require.NoError(t, elsewhere.Put(t.Context(), "order-42", answerTo("q1")))
	before := filesIn(t, outside)
	for name, plant := range map[string]func(dir string) error{
		".inbox": func(dir string) error {
			return os.Symlink(filepath.Join(outside, ".inbox"), filepath.Join(dir, ".inbox"))
		},
		".inbox/order-42": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, ".inbox"), 0o700),
				os.Symlink(filepath.Join(outside, ".inbox", "order-42"), filepath.Join(dir, ".inbox", "order-42")))
		},
	} {
		dir := Dir(t.TempDir())
		require.NoError(t, plant(string(dir)))
		require.Error(t, dir.Put(t.Context(), "order-42", answerTo("q2")), name)
		items, _ := dir.Items(t.Context(), "order-42")
		assert.Empty(t, items, name)
		_ = dir.Remove(t.Context(), "order-42", answerTo("q1"))
		assert.Equal(t, before, filesIn(t, outside), name)
	}
	dir := Dir(t.TempDir())
	require.NoError(t, dir.Put(t.Context(), "order-42", answerTo("q2")))
	folder := filepath.Join(string(dir), ".inbox", "order-42")
	require.NoError(t, os.Symlink(filepath.Join(outside, ".inbox/order-42/answer.q1.json"), filepath.Join(folder, "answer.q1.json")))
	items, err := dir.Items(t.Context(), "order-42")
	require.NoError(t, err)
	assert.Equal(t, []Item{answerTo("q2")}, items, "a link is no item")
}

func TestAFileThatIsNoItemIsNamedAndHidesNoOther(t *testing.T) {
	dir := Dir(t.TempDir())
	require.NoError(t, dir.Put(t.Context(), "order-42", answerTo("q2")))
	folder := filepath.Join(string(dir), ".inbox", "order-42")
	for _, text := range []string{"", "{}", "null", `{"session":"order-42"`, strings.Repeat(" ", MaxItemBytes+1)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "answer.q1.json"), []byte(text), 0o600))
		items, err := dir.Items(t.Context(), "order-42")
		require.ErrorContains(t, err, `the inbox of session "order-42": answer.q1.json: `)
		assert.Equal(t, []Item{answerTo("q2")}, items)
		ids, err := dir.WithItems(t.Context())
		require.ErrorContains(t, err, ".inbox/order-42: answer.q1.json: ")
		assert.Equal(t, []string{"order-42"}, ids)
	}
}

// putters names the folder that processes of this test put items into.
const putters = "RETAKE_TEST_PUT"

func TestOfManyProcessesThatAnswerAtOnceOneIsTheFirst(t *testing.T) {
	if dir := os.Getenv(putters); dir != "" {
		for n := range 20 {
			i := answerTo(fmt.Sprint("q", n))
			i.By = fmt.Sprint(os.Getpid())
			err := Dir(dir).Put(t.Context(), "order-42", i)
			if late, is := errors.AsType[*AnsweredError](err); is {
				i = late.First
			} else {
				require.NoError(t, err)
			}
			fmt.Println("first", i.Key, i.By)
		}
		return
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	dir, firsts := t.TempDir(), map[string]int{}
	var all [3]*exec.Cmd
	var told [3]strings.Builder
	for n := range all {
		all[n] = exec.Command(exe, "-test.run=^"+t.Name()+"$")
		all[n].Env = append(os.Environ(), putters+"="+dir, "GORACE=atexit_sleep_ms=0")
		all[n].Stdout = &told[n]
		require.NoError(t, all[n].Start())
	}
	for n := range all {
		require.NoError(t, all[n].Wait(), told[n].String())
		for line := range strings.Lines(told[n].String()) {
			if strings.HasPrefix(line, "first ") {
				firsts[line]++
			}
		}
	}
	assert.Len(t, firsts, 20, "all processes see the same first answer: %v", firsts)
	items, err := Dir(dir).Items(t.Context(), "order-42")
	require.NoError(t, err)
	for _, i := range items {
		assert.Equal(t, 3, firsts[fmt.Sprintf("first %s %s\n", i.Key, i.By)])
	}
}

func FuzzDecodeItem(f *testing.F) {
	whole, err := encodeItem("order-42", answerTo("q1"))
	require.NoError(f, err)
	f.Add(string(whole))
	f.Add(`{"session":"a","kind":"message","key":"k","body":{"text":"stop"},"at":"2026-03-01T12:00:00Z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		session, i, err := decodeItem([]byte(text))
		if err != nil {
			return
		}
		again, err := encodeItem(session, i)
		require.NoError(t, err)
		session2, i2, err := decodeItem(again)
		require.NoError(t, err)
		i.At = i.At.UTC()
		require.Equal(t, session, session2)
		require.JSONEq(t, string(i.Body), string(i2.Body))
		i.Body, i2.Body = nil, nil
		require.Equal(t, i, i2)
	})
}

// A folder that was not empty when it was to be removed is left to whoever takes what was put there, although
// that may be gone a moment later.
func TestAnInboxIsLeftToWhoeverTakesTheLastItem(t *testing.T) {
	dir, item := Dir(t.TempDir()), answerTo("q1")
	require.NoError(t, dir.Put(t.Context(), "order-42", item))
	on := systemDisk
	on.remove = func(in *os.Root, name string) error {
		if name != inboxOf("order-42") {
			return in.Remove(name)
		}
		return errors.Join(in.WriteFile(name+"/put", nil, 0o600), in.Remove(name), in.Remove(name+"/put"))
	}
	require.NoError(t, dir.removeOn(&on, "order-42", item))
}

// Whoever takes the last item removes the folder, also while another looks into it.
func TestAnInboxThatIsRemovedMeanwhileIsEmpty(t *testing.T) {
	d := Dir(t.TempDir())
	require.NoError(t, d.Put(t.Context(), "order-42", answerTo("q1")))
	in, err := d.openInbox(&systemDisk, inboxOf("order-42"), false)
	require.NoError(t, err)
	defer in.Close()
	require.NoError(t, d.Remove(t.Context(), "order-42", answerTo("q1")))
	names, err := in.entries(itemSuffix)
	require.NoError(t, err)
	require.Empty(t, names)
	require.NoError(t, in.sweep())
}
