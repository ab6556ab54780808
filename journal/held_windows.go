package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// marker is a byte beyond that of lock.
func marker() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1<<30 + 1} }

// showHeld shows readers that a locked file is held. A reader shares this lock for a moment, which a writer
// waits for.
func showHeld(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, marker())
}

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
