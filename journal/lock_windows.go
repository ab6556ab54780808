package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// isReadOnly reports whether a file could not be opened because it or the disk is read-only.
func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, windows.ERROR_WRITE_PROTECT)
}

// movesOpenFiles reports whether open files can be renamed and removed.
const movesOpenFiles = false

// lock locks a file for this writer. It locks a byte beyond the end of any journal, because nobody else can
// read what is locked. The lock ends with the handle, so a killed process leaves none. It then locks the
// marker, which shows readers that the file is held. A reader shares that lock for a moment, which a writer
// waits for.
func lock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	beyond := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, beyond)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	if err != nil {
		return err
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, marker())
}

// marker returns a byte beyond that of lock.
func marker() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1<<30 + 1} }

// held reports whether a writer holds a journal. The lock of the writer is left alone.
func held(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, marker())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, marker())
}
