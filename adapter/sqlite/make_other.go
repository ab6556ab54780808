//go:build !unix

package sqlite

import "os"

// writable returns an error if there is no file at path, or it cannot be written. Locks here belong to open
// files, so that one more may be closed.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
