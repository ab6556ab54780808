package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// making is held while a database is made: nobody else in this process has it open when its maker closes it.
var making sync.Mutex

// makeFile makes the file of a database, readable for nobody else, unless it is there. It returns an error if
// the file cannot be written.
//
// A file that is there is not opened. The locks of POSIX belong to a process, and go when it closes any file
// of its own at that place: SQLite's locks of other connections would be gone, and another process that
// closes the database would take itself for the last one and delete the log to which this one still writes.
func makeFile(path string) error {
	making.Lock()
	defer making.Unlock()
	err := writable(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return writable(path)
	}
	if err != nil {
		return err
	}
	return made.Close()
}

// waitForMaker returns once nobody in this process makes a database.
func waitForMaker() {
	making.Lock()
	defer making.Unlock()
}
