package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// inboxes is the folder of all inboxes in a [Dir]. Each session with items has a folder in it, and each item
// a file there. An item that is being put has a file that ends in temporary, locked by who puts it.
const (
	inboxes    = ".inbox"
	itemSuffix = ".json"
)

// inboxOf returns the folder of a session's inbox.
func inboxOf(session string) string {
	return path.Join(inboxes, strings.TrimSuffix(FileName(session), suffix))
}

// itemName returns the name of an item's file.
func itemName(i Item) string {
	return string(i.Kind) + "." + strings.TrimSuffix(FileName(i.Key), suffix) + itemSuffix
}

// Put implements [Inbox]: a file is written and linked into place. The folder's file system needs hard links.
func (d Dir) Put(ctx context.Context, session string, item Item) error {
	return d.putOn(ctx, &systemDisk, session, item)
}

func (d Dir) putOn(ctx context.Context, on *disk, session string, item Item) error {
	if err := errors.Join(d.named(), item.Check(session)); err != nil {
		return err
	}
	text, err := encodeItem(session, item)
	if err != nil {
		return err
	}
	for range 1000 {
		if err = ctx.Err(); err != nil {
			break
		}
		err = d.link(on, session, itemName(item), text)
		// Another process may have removed the empty inbox, or the new file before it was locked.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errLocked) {
			break
		}
	}
	switch {
	case err == nil || errors.Is(err, ErrAnswered):
		return err
	case isReadOnly(err):
		err = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	_ = d.removeEmpty(on, session) // what was made for an item that is not there
	return fmt.Errorf("journal: putting an item into the inbox of session %q: %w", session, err)
}

// link writes a new file and links it to its name. What a crash leaves of it, sweep removes.
func (d Dir) link(on *disk, session, name string, text []byte) error {
	unsynced := newFolders(filepath.Join(string(d), inboxOf(session)))
	if err := on.makeAll(string(d), 0o700); err != nil {
		return err
	}
	in, err := d.openInbox(on, inboxOf(session), true)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := in.sweep(); err != nil {
		return err
	}
	names, err := in.entries(itemSuffix)
	if err != nil {
		return err
	}
	if len(names) >= MaxItems && !slices.Contains(names, name) {
		return ErrInboxFull
	}
	made := name + "." + rand.Text() + temporary
	if err = in.write(made, text); err == nil {
		err = on.link(in.Root, made, name)
	}
	gone := in.removeFile(made)
	for ; err == nil && len(unsynced) > 0; unsynced = unsynced[1:] {
		err = unlessGone(on.syncFolder(unsynced[0])) // the item may have been taken, and its inbox removed
	}
	if !errors.Is(err, fs.ErrExist) {
		return errors.Join(err, gone)
	}
	_, first, err := in.read(name)
	if err != nil {
		return err
	}
	return &AnsweredError{Session: session, First: first}
}

// inbox is the folder of a session's inbox on a disk. Links that lead out of it are refused.
type inbox struct {
	*os.Root
	on *disk
}

// openInbox opens the folder of an inbox. Without create it must exist.
func (d Dir) openInbox(on *disk, folder string, create bool) (inbox, error) {
	root, err := d.root()
	if err != nil {
		return inbox{}, err
	}
	defer root.Close()
	if create {
		err := root.MkdirAll(folder, 0o700)
		// It exists as a file, or did until another process removed it just now: opening it tells which.
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return inbox{}, err
		}
	}
	in, err := root.OpenRoot(folder)
	return inbox{in, on}, err
}

// write writes a new file durably, locked so that it is not swept.
func (in inbox) write(name string, text []byte) error {
	f, err := in.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = in.on.lock(f); err != nil {
		return err
	}
	if _, err = f.Write(text); err != nil {
		return err
	}
	return in.on.sync(f)
}

// removeFile removes a file that may be gone already.
func (in inbox) removeFile(name string) error { return unlessGone(in.on.remove(in.Root, name)) }

// unlessGone returns an error of the file system, but nil where there is no such file.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// entries returns the names of the files that end in an ending, in ascending order; none of a folder that was
// removed meanwhile.
func (in inbox) entries(ending string) (names []string, err error) {
	f, err := in.Open(".")
	if err != nil {
		return nil, unlessGone(err)
	}
	defer f.Close()
	all, err := f.ReadDir(-1)
	for _, e := range all {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ending) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, unlessGone(err)
}

// sweep removes the files of processes that died while they put an item: nobody locks them.
func (in inbox) sweep() error {
	names, err := in.entries(temporary)
	for _, name := range names {
		if err == nil {
			err = in.sweepOne(name)
		}
	}
	return err
}

func (in inbox) sweepOne(name string) error {
	f, err := in.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(in.on.lock(f), f.Close())
	}
	switch {
	case errors.Is(err, errLocked):
		return nil
	case err != nil:
		return unlessGone(err)
	}
	return in.removeFile(name)
}

func (in inbox) read(name string) (session string, i Item, err error) {
	f, err := in.Open(name)
	if err != nil {
		return "", i, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxStored+1))
	if err == nil && len(text) > maxStored {
		err = fmt.Errorf("it has more than %d bytes", maxStored)
	}
	if err == nil {
		session, i, err = decodeItem(text)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return session, i, err
}

// Items implements [Inbox].
func (d Dir) Items(ctx context.Context, session string) ([]Item, error) {
	var items []Item
	err := d.eachItem(ctx, inboxOf(session), func(of string, i Item) bool {
		if of == session {
			items = append(items, i)
		}
		return true
	})
	if err != nil {
		err = fmt.Errorf("journal: the inbox of session %q: %w", session, err)
	}
	SortItems(items)
	return items, err
}

// maxRead is the most items of an inbox that are read at once.
const maxRead = 2 * MaxItems

// eachItem calls use for every item in a folder until it returns false. It skips items that are removed
// meanwhile; those that cannot be read are errors, which are joined.
func (d Dir) eachItem(ctx context.Context, folder string, use func(session string, i Item) bool) error {
	in, err := d.openInbox(&systemDisk, folder, false)
	if err != nil {
		return unlessGone(err)
	}
	defer in.Close()
	names, err := in.entries(itemSuffix)
	if err != nil {
		return err
	}
	var bad []error
	if more := len(names) - maxRead; more > 0 {
		bad, names = append(bad, fmt.Errorf("%d files are left for later: there are more than %d", more, maxRead)),
			names[:maxRead]
	}
	for _, name := range names {
		session, i, err := in.read(name)
		switch {
		case ctx.Err() != nil:
			return errors.Join(append(bad, ctx.Err())...)
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			bad = append(bad, err)
		case !use(session, i):
			return errors.Join(bad...)
		}
	}
	return errors.Join(bad...)
}

// Remove implements [Inbox].
func (d Dir) Remove(_ context.Context, session string, item Item) error {
	return d.removeOn(&systemDisk, session, item)
}

func (d Dir) removeOn(on *disk, session string, item Item) error {
	in, err := d.openInbox(on, inboxOf(session), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(in.removeFile(itemName(item)), in.Close(), d.sweepInbox(on, session))
	}
	if err != nil {
		return fmt.Errorf("journal: removing an item from the inbox of session %q: %w", session, err)
	}
	return nil
}

// removeEmpty removes the folder of an inbox without files, and that of all inboxes if it is the last.
func (d Dir) removeEmpty(on *disk, session string) error {
	root, err := d.root()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, folder := range []string{inboxOf(session), inboxes} {
		err := on.remove(root, folder)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, there := root.Lstat(folder); there != nil {
			continue
		}
		// What kept it from being empty may be gone now: whoever took it removes the folder.
		if left, _ := fs.ReadDir(root.FS(), folder); len(left) > 0 || errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return nil
}

// WithItems implements [Inbox].
func (d Dir) WithItems(ctx context.Context) ([]string, error) {
	root, err := d.root()
	if err != nil {
		return nil, unlessGone(err)
	}
	defer root.Close()
	folders, err := fs.ReadDir(root.FS(), inboxes)
	if err != nil {
		return nil, unlessGone(err)
	}
	var ids []string
	var bad []error
	for _, folder := range folders {
		at := path.Join(inboxes, folder.Name())
		err := d.eachItem(ctx, at, func(session string, _ Item) bool {
			ids = append(ids, session)
			return false
		})
		if err != nil {
			bad = append(bad, fmt.Errorf("journal: %s: %w", at, err))
		}
	}
	slices.Sort(ids)
	return ids, errors.Join(bad...)
}
