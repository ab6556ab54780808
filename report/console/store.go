package console

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-go/retake/journal"
)

// Store is what a console reads journals from, while other processes write them. It takes no lock, and must be
// safe for concurrent use.
type Store interface {
	// Journals lists the journals in no order.
	Journals(ctx context.Context) ([]Journal, error)
	// Read returns a journal from an offset on, as it is now. The caller closes it.
	Read(ctx context.Context, name string, from int64) (io.ReadCloser, error)
}

// Journal is a journal in a [Store], as it was when it was listed.
type Journal struct {
	// Name names the journal in the store. It need not be the id of its session.
	Name string
	// Size is its length in bytes. A journal with the same Version only grows; another one is read anew.
	Size    int64
	Version string
	// Held says whether a writer has the journal.
	Held Held
	// Changed is when it was written; zero if nobody knows.
	Changed time.Time
}

// Held says whether a writer has a journal.
type Held int

// Whether a writer has a journal. The zero value means that nobody can tell.
const (
	HeldUnknown Held = iota
	HeldByWriter
	HeldByNobody
)

// Folder is a [Store] of the files of a [journal.Dir].
type Folder string

// journalSuffix is the end of the names of journals in a folder.
const journalSuffix = ".jsonl"

// Journals implements [Store]. A folder that does not exist has none. Whether a file is held is known on Linux.
func (f Folder) Journals(ctx context.Context) ([]Journal, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locked, known := lockedFiles()
	var all []Journal
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !strings.HasSuffix(e.Name(), journalSuffix) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it was removed meanwhile
		}
		j := Journal{Name: e.Name(), Size: info.Size(), Changed: info.ModTime()}
		var id string
		if id, j.Version = fileID(info); known {
			if j.Held = HeldByNobody; locked[id] {
				j.Held = HeldByWriter
			}
		}
		all = append(all, j)
	}
	return all, nil
}

// Read implements [Store].
func (f Folder) Read(_ context.Context, name string, from int64) (io.ReadCloser, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(filepath.Base(name))
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Dir returns the folder as the store of its writers.
func (f Folder) Dir() journal.Dir { return journal.Dir(f) }
