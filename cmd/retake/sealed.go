package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/journal/sealed"
)

// unsealing is a part of tasks that read sealed journals.
type unsealing struct {
	SealKeys string `flag:"seal-key FILE" help:"the keys of sealed journals, one a line: FILE; by default $RETAKE_SEAL_KEYS"`
}

// sealKeysVar names the variable of the environment that has the keys themselves.
const sealKeysVar = "RETAKE_SEAL_KEYS"

// readSealKeys reads the keys of sealed journals for a command that has a flag for them; there may be none.
func readSealKeys(fs *flag.FlagSet) ([]sealed.Sealer, error) {
	given := fs.Lookup("seal-key")
	if given == nil {
		return nil, nil
	}
	name, text := "$"+sealKeysVar, []byte(os.Getenv(sealKeysVar))
	if path := given.Value.String(); path != "" {
		var err error
		if text, err = readPlaced("-seal-key", path); err != nil {
			return nil, err
		}
		name = "-seal-key: " + plain(path)
	} else if len(text) == 0 {
		return nil, nil
	}
	keys, err := sealed.ParseKeys(text)
	if err != nil {
		return nil, misused("%s: %w", name, err)
	}
	return keys, nil
}

// unsealed is a journal that was sealed.
type unsealed struct {
	*sealed.Reader
	io.Closer
	in io.Reader
}

// unseal opens a journal that is sealed, and returns any other as it is.
func (e *env) unseal(in io.ReadCloser) (io.ReadCloser, error) {
	if len(e.keys) == 0 {
		return in, nil
	}
	whole := bufio.NewReader(in)
	start, err := whole.Peek(sealedStart)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, in.Close())
	}
	if isSealed(start) {
		return unsealed{sealed.NewReader(whole, e.keys...), in, in}, nil
	}
	if s, can := in.(io.Seeker); can {
		if _, err := s.Seek(0, io.SeekStart); err == nil {
			return in, nil
		}
	}
	return begun{whole, in}, nil
}

// begun is a journal whose start was looked at.
type begun struct {
	*bufio.Reader
	io.Closer
}

// sealedStart is how many bytes tell a sealed journal from others.
const sealedStart = len(`{"hash":"`) + 32 + len(`","key":`)

// isSealed reports whether a journal begins as a sealed one.
func isSealed(start []byte) bool {
	return len(start) == sealedStart && bytes.HasSuffix(start, []byte(`","key":`))
}

// sealing returns a store that opens sealed journals and inboxes, beside others that are not, if there are
// keys.
func (e *env) sealing(s inbox.Store) (inbox.Store, error) {
	if len(e.keys) == 0 {
		return s, nil
	}
	whole, err := sealed.New(s, e.keys...)
	if err != nil {
		return nil, err
	}
	return eitherStore{s, whole.(inbox.Store)}, nil
}

// eitherStore is a store with journals that are sealed, and others. An inbox is as the journal beside it.
type eitherStore struct {
	inbox.Store
	sealed inbox.Store
}

// of returns the store that opens a journal. One that cannot be read counts as sealed, so that nothing is put
// beside it in the clear.
func (s eitherStore) of(ctx context.Context, session string) inbox.Store {
	in, err := s.Store.Peek(ctx, session)
	if err != nil {
		return s.sealed
	}
	defer in.Close()
	start := make([]byte, sealedStart)
	if _, err := io.ReadFull(in, start); err == nil && !isSealed(start) {
		return s.Store
	}
	return s.sealed
}

// Open implements [journal.Store].
func (s eitherStore) Open(ctx context.Context, session string) (journal.Log, error) {
	return s.of(ctx, session).Open(ctx, session)
}

// Peek implements [journal.Keeper].
func (s eitherStore) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	return s.of(ctx, session).Peek(ctx, session)
}

// Put implements [journal.Inbox].
func (s eitherStore) Put(ctx context.Context, session string, item journal.Item) error {
	return s.of(ctx, session).Put(ctx, session, item)
}

// Items implements [journal.Inbox].
func (s eitherStore) Items(ctx context.Context, session string) ([]journal.Item, error) {
	return s.of(ctx, session).Items(ctx, session)
}
