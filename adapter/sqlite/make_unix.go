//go:build unix

package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// writable returns an error if there is no file at path, or it cannot be written.
func writable(path string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK|unix.W_OK, unix.AT_EACCESS); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}
