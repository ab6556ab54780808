//go:build unix && !solaris && !aix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// isReadOnly reports whether a file could not be opened because it or the disk is read-only.
func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// movesOpenFiles reports whether open files can be renamed and removed.
const movesOpenFiles = true

// lock locks a file for this writer. The lock ends with the file's descriptor, so a killed process leaves
// none.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		showHeld(f)
		return nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errLocked
	}
	for _, without := range []error{syscall.ENOLCK, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS} {
		if errors.Is(err, without) {
			return ErrNoLocks
		}
	}
	return err
}
