//go:build (!unix && !windows) || solaris || aix

package journal

import (
	"errors"
	"os"
)

// isReadOnly reports whether a file could not be opened because it is read-only.
func isReadOnly(err error) bool { return errors.Is(err, os.ErrPermission) }

// movesOpenFiles reports whether open files can be renamed and removed.
const movesOpenFiles = true

// lock refuses: this system has no lock that ends with the file's descriptor.
func lock(*os.File) error { return ErrNoLocks }

// held reports that no writer holds a journal: without locks nobody writes.
func held(*os.File) (bool, error) { return false, nil }
