//go:build unix && !solaris && !aix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// isReadOnly reports whether a file could not be opened because it, or the disk, is not to be written to.
func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// lock takes a file for this writer; the lock goes with the file's descriptor, so that a killed process
// leaves none.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
