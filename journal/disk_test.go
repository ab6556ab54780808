package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errDisk = errors.New("input/output error")

// failing is a disk that records its syncs and fails from the nth on.
type failing struct {
	disk
	left   int
	synced []string
}

func fails(after int) *failing {
	d := &failing{disk: systemDisk, left: after}
	d.disk.sync = func(f *os.File) error {
		if d.left--; d.left < 0 {
			return errDisk
		}
		d.synced = append(d.synced, filepath.Base(f.Name()))
		return nil
	}
	return d
}

func TestAfterASyncThatFailedNothingMoreIsWritten(t *testing.T) {
	for syncs := range 3 { // that of the file, of its folder, of a later append
		dir := Dir(t.TempDir())
		d := fails(syncs)
		log, err := dir.openOn(&d.disk, "order-42")
		require.NoError(t, err)
		at := int64(0)
		if err = log.Append(t.Context(), 0, []byte("one\n"), true); err == nil {
			at = 4
			err = log.Append(t.Context(), at, []byte("two\n"), true)
		}
		require.ErrorIs(t, err, errDisk)
		text, err := os.ReadFile(filepath.Join(string(dir), FileName("order-42")))
		require.NoError(t, err)
		assert.Equal(t, "one\n"[:at], string(text), "what may not be on the disk is cut off")
		d.left = 100
		err = log.Append(t.Context(), at, []byte("2\n"), false)
		require.ErrorIs(t, err, errDisk)
		require.ErrorContains(t, err, "the contents of the disk are unknown since a sync failed: open it again")
		require.ErrorIs(t, log.Replace(t.Context(), at, []byte("2\n")), errDisk)
		require.NoError(t, log.Close())
		again, err := dir.openOn(&d.disk, "order-42")
		require.NoError(t, err)
		require.NoError(t, again.Append(t.Context(), at, []byte("2\n"), true))
		require.NoError(t, again.Close())
	}
}

func TestAnAppendThatCannotBeCutOffIsTheLast(t *testing.T) {
	d := fails(0)
	d.truncate = func(*os.File, int64) error { return errDisk }
	log, err := Dir(t.TempDir()).openOn(&d.disk, "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\ntorn off and long"), false))
	require.ErrorIs(t, log.Append(t.Context(), 4, []byte("two\n"), false), errDisk)
	require.ErrorContains(t, log.Append(t.Context(), 4, []byte("two\n"), false), "a failed append could not be cut off")
	require.NoError(t, log.Close())
}

func TestANewFileIsMadeDurableWithItsFolders(t *testing.T) {
	top := t.TempDir()
	d := fails(100)
	log, err := Dir(filepath.Join(top, "a", "b")).openOn(&d.disk, "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), false))
	assert.Empty(t, d.synced)
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
	assert.Equal(t, []string{"order-42.jsonl", "b", "a", filepath.Base(top)}, d.synced)
	require.NoError(t, log.Append(t.Context(), 8, []byte("three\n"), true))
	assert.Equal(t, []string{"order-42.jsonl"}, d.synced[4:], "once")
	require.NoError(t, log.Close())
}

func TestAJournalThatNothingWasWrittenToLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(t.Context(), Dir(dir), "order-42", Settings{})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.ErrorIs(t, Compact(t.Context(), Dir(dir), "order-42", nil), ErrNoRun)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, files)
}

// ReadOnly is a folder on a read-only disk.
type ReadOnly struct{ Dir }

// Open implements [Store].
func (d ReadOnly) Open(_ context.Context, session string) (Log, error) {
	return d.openOn(d.disk(syscall.EROFS), session)
}

func (d ReadOnly) disk(err error) *disk {
	on := systemDisk
	on.open = func(path string, flag int, mode fs.FileMode) (*os.File, error) {
		if flag != os.O_RDONLY {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return os.OpenFile(path, flag, mode)
	}
	return &on
}

func TestOnADiskThatIsReadOnlyNothingIsLocked(t *testing.T) {
	dir := Dir(t.TempDir())
	log, err := dir.openOn(&systemDisk, "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), false))
	require.NoError(t, log.Close())
	for _, why := range []error{syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		on := ReadOnly{dir}.disk(why)
		for range 2 {
			log, err := dir.openOn(on, "order-42")
			require.NoError(t, err)
			defer log.Close()
			err = log.Append(t.Context(), 4, []byte("two\n"), false)
			require.ErrorIs(t, err, ErrReadOnly)
			require.ErrorIs(t, err, why)
			require.ErrorIs(t, log.Replace(t.Context(), 4, []byte("two\n")), ErrReadOnly)
		}
		_, err = dir.openOn(on, "order-43")
		require.ErrorIs(t, err, why, "what is not there cannot be read")
	}
}
