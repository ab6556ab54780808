package sealed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/journal"
)

// New returns a store that seals with the first key what it keeps in another store, and opens with any of the
// keys. It is a [journal.Inbox] and a [journal.Keeper] if the other store is. A journal that is not sealed is
// refused: see [Seal].
func New(in journal.Store, with ...Sealer) (journal.Store, error) {
	k := keys(with)
	if in == nil {
		return nil, errors.New("sealed: the store is nil: give one, such as a journal.Dir")
	}
	if err := k.check(); err != nil {
		return nil, err
	}
	s := store{in, k}
	i, hasInbox := in.(journal.Inbox)
	kept, keeps := in.(journal.Keeper)
	switch {
	case hasInbox && keeps:
		return struct {
			keeper
			inbox
		}{keeper{s, kept}, inbox{i, k}}, nil
	case hasInbox:
		return struct {
			store
			inbox
		}{s, inbox{i, k}}, nil
	case keeps:
		return keeper{s, kept}, nil
	}
	return s, nil
}

// Seal seals a journal of a store with the first key, whether it is sealed with any of the keys or not at
// all. So journals are sealed that were begun without, and an old key is no longer needed. The journal is
// held in memory. It returns [journal.ErrConflict] while a writer holds the journal, [journal.ErrNoRun] if it
// is empty, and an error that names the item if its inbox has one that the first key does not open: the run
// could not take it any more, so it has to take it before. A journal that is not sealed is believed, whoever
// wrote it: where others can write to the store, change keys only of journals that a [Reader] opens.
func Seal(ctx context.Context, in journal.Store, session string, with ...Sealer) (err error) {
	k := keys(with)
	if err := k.check(); err != nil {
		return err
	}
	l, err := in.Open(ctx, session)
	if err != nil {
		return chain.Bounded(err)
	}
	defer func() { err = errors.Join(chain.Bounded(err), chain.Bounded(l.Close())) }()
	stored, err := l.Read(ctx)
	if err != nil {
		return err
	}
	defer stored.Close()
	text, err := io.ReadAll(stored)
	if err != nil {
		return err
	}
	end := int64(bytes.LastIndexByte(text, '\n') + 1)
	if text = text[:end]; end == 0 {
		return journal.ErrNoRun
	}
	_, err = journal.NewReader(bytes.NewReader(text)).Next()
	if errors.Is(err, journal.ErrSealed) {
		opened := NewReader(bytes.NewReader(text), k...)
		opened.session = session
		text, err = io.ReadAll(opened)
	}
	if err != nil {
		return err
	}
	if i, has := in.(journal.Inbox); has {
		if _, err := (inbox{i, k[:1]}).Items(ctx, session); err != nil {
			return fmt.Errorf("sealed: resume the run first, which takes it: %w", err)
		}
	}
	sealed := log{keys: k, session: session}
	lines, _, err := sealed.seal(position{}, text)
	if err != nil {
		return err
	}
	return l.Replace(ctx, end, lines)
}

type store struct {
	in   journal.Store
	keys keys
}

// List implements [journal.Store].
func (s store) List(ctx context.Context) ([]string, error) { return s.in.List(ctx) }

// Open implements [journal.Store].
func (s store) Open(ctx context.Context, session string) (journal.Log, error) {
	in, err := s.in.Open(ctx, session)
	if err != nil {
		return nil, err
	}
	return &log{in: in, keys: s.keys, session: session}, nil
}

// keeper is a store that tells of its journals.
type keeper struct {
	store
	kept journal.Keeper
}

// Stats implements [journal.Keeper]. Bytes are those of the sealed journals.
func (k keeper) Stats(ctx context.Context, known ...journal.Stat) ([]journal.Stat, error) {
	return k.kept.Stats(ctx, known...)
}

// Peek implements [journal.Keeper].
func (k keeper) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	in, err := k.kept.Peek(ctx, session)
	if err != nil {
		return nil, err
	}
	r := NewReader(in, k.keys...)
	r.session = session
	return opened{r, in, nil}, nil
}

// opened is a reader and what it closes.
type opened struct {
	*Reader
	in io.Closer
	// log is the log that is read; nil if there is none.
	log *log
}

// Read implements [io.Reader]. At the end the log knows where it ends.
func (o opened) Read(b []byte) (int, error) {
	n, err := o.Reader.Read(b)
	if o.log != nil && errors.Is(err, io.EOF) && o.at.sealed >= o.log.end.sealed {
		o.log.end, o.log.known = o.at, true
	}
	return n, err
}

func (o opened) Close() error { return o.in.Close() }

// log is a sealed journal. Its offsets are those of the journal that is sealed.
type log struct {
	in      journal.Log
	keys    keys
	session string
	// end is where the journal ends, once it is known.
	end   position
	known bool
}

// Read implements [journal.Log].
func (l *log) Read(ctx context.Context) (io.ReadCloser, error) {
	in, err := l.in.Read(ctx)
	if err != nil {
		return nil, err
	}
	r := NewReader(in, l.keys...)
	r.session = l.session
	return opened{r, in, l}, nil
}

// sealedAt returns where the sealed journal ends, if the journal ends at at.
func (l *log) sealedAt(ctx context.Context, at int64) (int64, error) {
	if !l.known {
		in, err := l.Read(ctx)
		if err == nil {
			_, err = io.Copy(io.Discard, in)
			err = errors.Join(err, in.Close())
		}
		if err != nil {
			return 0, err
		}
	}
	if at != l.end.plain {
		return 0, &journal.ConflictError{Session: l.session, Want: at, Found: l.end.plain}
	}
	return l.end.sealed, nil
}

// seal seals lines that follow a position, and returns their end. A last line without a line feed is none
// yet.
func (l *log) seal(end position, lines []byte) (sealed []byte, _ position, err error) {
	for len(lines) > 0 {
		text, rest, whole := bytes.Cut(lines, []byte{'\n'})
		begin := len(sealed)
		if sealed, err = l.keys.seal(sealed, l.session, end.lines+1, text); err != nil {
			return nil, end, err
		}
		if lines = rest; whole {
			sealed = append(sealed, '\n')
			end.lines, end.plain, end.sealed = end.lines+1, end.plain+int64(len(text))+1, end.sealed+int64(len(sealed)-begin)
		}
	}
	return sealed, end, nil
}

// Append implements [journal.Log].
func (l *log) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	in, err := l.sealedAt(ctx, at)
	if err != nil {
		return err
	}
	sealed, end, err := l.seal(l.end, lines)
	if err == nil {
		err = l.in.Append(ctx, in, sealed, durable)
	}
	if err == nil {
		l.end = end
	}
	return err
}

// Replace implements [journal.Log].
func (l *log) Replace(ctx context.Context, at int64, lines []byte) error {
	in, err := l.sealedAt(ctx, at)
	if err != nil {
		return err
	}
	sealed, end, err := l.seal(position{}, lines)
	if err == nil {
		err = l.in.Replace(ctx, in, sealed)
	}
	if err == nil {
		l.end = end
	}
	return err
}

// Rests implements [journal.Rester].
func (l *log) Rests() bool {
	in, is := l.in.(journal.Rester)
	return is && in.Rests()
}

// Close implements [journal.Log].
func (l *log) Close() error { return l.in.Close() }
