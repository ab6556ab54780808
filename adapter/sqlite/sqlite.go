package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	driver "modernc.org/sqlite"

	"github.com/retake-go/retake/journal"
)

// Store is a [journal.Store] in a database, and a [journal.Inbox]. Make it with [Open]. It is safe for
// concurrent use, by several processes too.
type Store struct {
	path string
	db   *sql.DB
	// is is the file when it was opened for writing. logs is set if SQLite had its log beside it.
	is   os.FileInfo
	logs bool
	// frozen is set while db is one that SQLite takes for a file that does not change: the file as it was
	// when it was opened. reopening guards both; they are read by [Store.reading].
	frozen    os.FileInfo
	reopening sync.RWMutex
	// owner is the name of the store in its leases; lease is their length.
	owner string
	lease time.Duration
	now   func() time.Time
	// readOnly is the reason why the database is read-only; nil if it is not.
	readOnly error
	// closing ends the renewal of leases.
	closing chan struct{}
	closed  sync.Once
	keeping sync.WaitGroup

	mu sync.Mutex
	// lost are logs that could not be closed, and hold their journals for nobody.
	lost []*log
}

// schema has one row for each append: an offset exists once. It is made last, so that who finds it finds the
// others.
const schema = `
CREATE TABLE IF NOT EXISTS retake_journal (
	session TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	lines   BLOB    NOT NULL,
	PRIMARY KEY (session, at)
) WITHOUT ROWID`

// Open opens the database in the file at path, and creates it if it does not exist, with mode 0600, as
// SQLite's files beside it. A read-only database is opened for reading: see [journal.ErrReadOnly]. Close
// it after the last session.
func Open(ctx context.Context, path string) (*Store, error) { return OpenWith(ctx, path, Settings{}) }

// OpenWith is [Open] with settings.
func OpenWith(ctx context.Context, path string, s Settings) (*Store, error) {
	store, err := open(ctx, path, s, time.Now)
	if err == nil && store.readOnly == nil {
		store.keeping.Go(func() { store.keep(time.NewTicker(store.lease / renewals)) })
	}
	return store, err
}

// renewals is how often a lease is renewed during its length.
const renewals = 3

// open opens a store without the renewal of leases.
func open(ctx context.Context, path string, s Settings, now func() time.Time) (*Store, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	if path == "" {
		return nil, errors.New("sqlite: the path is empty; give the path of a file")
	}
	if abs, err := filepath.Abs(path); err == nil { // the process may go elsewhere
		path = abs
	}
	store := &Store{path: path, owner: newOwner(), lease: cmp.Or(s.Lease, usualLease), now: now,
		closing: make(chan struct{})}
	if err := namingDisk(path, store.open(ctx, s.ReadOnly)); err != nil {
		return nil, fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	return store, nil
}

func (s *Store) open(ctx context.Context, toRead bool) (err error) {
	if toRead {
		s.readOnly = journal.ErrReadOnly
		s.db, s.frozen, err = openToRead(ctx, s.path)
		return err
	}
	if s.db, err = openToWrite(ctx, s.path, "", leases, inboxes, schema); err == nil {
		if s.is, err = os.Stat(s.path); err != nil {
			return errors.Join(err, s.db.Close())
		}
		_, missing := os.Stat(logOf(s.path))
		s.logs = missing == nil
		return nil
	}
	if !isReadOnly(err) {
		return err
	}
	s.readOnly = fmt.Errorf("%w: %w", journal.ErrReadOnly, err)
	if s.db, s.frozen, err = openToRead(ctx, s.path); err != nil {
		err = fmt.Errorf("%w; and it cannot be read: %w", s.readOnly, err)
	}
	return err
}

// openToWrite opens the file with more of a query of the driver, and makes tables.
func openToWrite(ctx context.Context, path, query string, tables ...string) (*sql.DB, error) {
	if is, err := os.Stat(path); err == nil && is.IsDir() { // SQLite would say that memory is out
		return nil, errors.New("it is a folder: give the path of a file")
	}
	if err := makeFile(path); err != nil { // SQLite would make it readable for others
		return nil, err
	}
	// Transactions lock the database at their beginning: one that begins by reading might not be able to
	// write later.
	// What is deleted is overwritten: journals before they were sealed or compacted, and items of inboxes.
	return openDB(ctx, path, "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=secure_delete(ON)"+query, append([]string{"PRAGMA journal_mode = WAL"}, tables...)...)
}

// openDB opens the file with a query of the driver, and executes statements.
func openDB(ctx context.Context, path, query string, statements ...string) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	// One connection: pragmas apply to it, and SQLite has one writer at a time anyway.
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if err := unlessBusy(ctx, db, statement); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// unlessBusy repeats a statement while other processes open the database, for as long as statements wait.
// The change to WAL needs the whole file, and does not wait for it.
func unlessBusy(ctx context.Context, db *sql.DB, statement string) error {
	for tries := time.Duration(0); ; tries++ {
		_, err := db.ExecContext(ctx, statement)
		var failed *driver.Error
		if !errors.As(err, &failed) || failed.Code()&0xff != busy || tries*busyPause >= busyTimeout {
			return err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// busy is SQLITE_BUSY. Statements wait for busyTimeout. Those that do not wait by themselves are repeated
// after busyPause.
const (
	busy        = 5
	busyTimeout = 10 * time.Second
	busyPause   = 10 * time.Millisecond
)

// Close releases all open journals and closes the database. A second call does nothing.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		close(s.closing)
		s.keeping.Wait()
		if s.readOnly == nil {
			_, err = s.db.Exec(`UPDATE retake_lease SET until = 0 WHERE owner = ?`, s.owner)
		}
		s.reopening.RLock()
		defer s.reopening.RUnlock()
		err = errors.Join(err, s.db.Close())
	})
	return err
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// List implements [journal.Store].
func (s *Store) List(ctx context.Context) ([]string, error) {
	ids, err := s.sessionsIn(ctx, "retake_journal")
	if err != nil {
		return nil, fmt.Errorf("sqlite: listing sessions: %w", err)
	}
	return ids, nil
}

// sessionsIn returns the sessions that have a row in a table.
func (s *Store) sessionsIn(ctx context.Context, table string) (ids []string, err error) {
	err = s.readingTable(ctx, table, func(db *sql.DB) (err error) {
		ids, err = column(ctx, db, `SELECT DISTINCT session FROM `+table+` ORDER BY session`)
		return err
	})
	return ids, err
}

// Open implements [journal.Store]. It fails for a journal that has an owner, until the owner closes it or
// its lease ends.
func (s *Store) Open(ctx context.Context, session string) (journal.Log, error) {
	l := &log{store: s, db: s.db, session: session}
	begin := l.take
	if s.readOnly != nil {
		begin = l.find
	}
	err := begin(ctx)
	if errors.Is(err, errNotThere) {
		err = fmt.Errorf("%w and cannot be created: %w", err, s.readOnly)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// log is the journal of one session.
type log struct {
	store   *Store
	db      *sql.DB
	session string
	// fence is the owner's number. Once another owner has a higher one, writes fail.
	fence int64
}

// Close releases the journal, if this owner still holds it.
func (l *log) Close() error {
	if l.store.readOnly != nil {
		return nil
	}
	err := l.release(context.Background())
	if err == nil || l.store.isClosed() {
		return nil // the store has let it go
	}
	l.store.lose(l)
	return l.failed(err)
}

func (l *log) release(ctx context.Context) error {
	_, err := l.db.ExecContext(ctx, `UPDATE retake_lease SET until = 0 WHERE session = ? AND fence = ?`, l.session, l.fence)
	return err
}

// Append implements [journal.Log]. A transaction is atomic, so that a line is only torn if a torn one was
// appended.
func (l *log) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	return l.write(ctx, durable, func(tx *sql.Tx) error {
		if err := l.makeRoom(ctx, tx, at); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO retake_journal (session, at, lines) VALUES (?, ?, ?)`, l.session, at, lines)
		return err
	})
}

// Replace implements [journal.Log]. What it replaces or deletes is overwritten, and SQLite's log, which has
// it, is emptied.
func (l *log) Replace(ctx context.Context, at int64, lines []byte) error {
	err := l.write(ctx, true, func(tx *sql.Tx) error {
		if err := l.makeRoom(ctx, tx, at); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM retake_journal WHERE session = ?`, l.session); err != nil {
			return err
		}
		if len(lines) == 0 {
			_, err := tx.ExecContext(ctx, `DELETE FROM retake_lease WHERE session = ?`, l.session)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO retake_journal (session, at, lines) VALUES (?, 0, ?)`, l.session, lines)
		return err
	})
	if err != nil {
		return err
	}
	_, err = l.db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return l.failed(err)
}

// write runs one transaction.
func (l *log) write(ctx context.Context, durable bool, do func(*sql.Tx) error) error {
	return l.failed(l.store.write(ctx, durable, do))
}

// write runs one transaction, which locks the database from its beginning.
func (s *Store) write(ctx context.Context, durable bool, do func(*sql.Tx) error) error {
	if s.readOnly != nil {
		return s.readOnly
	}
	return namingDisk(s.path, s.transact(ctx, durable, do))
}

func (s *Store) transact(ctx context.Context, durable bool, do func(*sql.Tx) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// In WAL mode a commit survives a power failure with FULL, and only the death of the process with
	// NORMAL.
	level := "NORMAL"
	if durable {
		level = "FULL"
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = "+level); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err = s.inPlace(); err == nil {
		err = do(tx)
	}
	if err != nil {
		return errors.Join(err, unlessDone(tx.Rollback()))
	}
	return tx.Commit()
}

// inPlace returns an error if the file is no longer the one that was opened, for its leases then keep nobody
// out, or if SQLite's log is gone: what is written to it is lost with the process, and others do not see it.
// It is called in a transaction, which has the log open.
func (s *Store) inPlace() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.is) {
		return fmt.Errorf("%w: %s was removed or replaced while it was open", journal.ErrConflict, s.path)
	}
	if err == nil && s.logs {
		if _, err = os.Stat(logOf(s.path)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s was removed while it was open", journal.ErrConflict, logOf(s.path))
		}
	}
	return err
}

// unlessDone is the error of a rollback, but nil where there is nothing to roll back: after some errors, such
// as that of a full disk, SQLite has done it by itself.
func unlessDone(err error) error {
	const noTransaction = 1
	if failed, is := errors.AsType[*driver.Error](err); errors.Is(err, sql.ErrTxDone) ||
		is && failed.Code() == noTransaction {
		return nil
	}
	return err
}

// namingDisk adds the path of the database to an error of SQLite about a full disk.
func namingDisk(path string, err error) error {
	const full = 13
	if failed, is := errors.AsType[*driver.Error](err); is && failed.Code()&0xff == full {
		return fmt.Errorf("the disk of %s is full: %w (%w)", path, syscall.ENOSPC, err)
	}
	return err
}

// failed adds the session to an error.
func (l *log) failed(err error) error {
	if err == nil || errors.Is(err, journal.ErrConflict) {
		return err
	}
	return fmt.Errorf("sqlite: journal of session %q: %w", l.session, err)
}

// makeRoom renews the lease and removes a torn line at offset at. If anything else is there, or nothing
// before it, another writer has written.
func (l *log) makeRoom(ctx context.Context, tx *sql.Tx, at int64) error {
	if err := l.renewWithin(ctx, tx); err != nil {
		return err
	}
	var start, size int64
	var last []byte
	err := tx.QueryRowContext(ctx,
		`SELECT at, length(lines), lines FROM retake_journal WHERE session = ? ORDER BY at DESC LIMIT 1`, l.session).Scan(&start, &size, &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	end := start + size
	if end == at {
		return nil
	}
	keep := at - start
	if at > end || keep < 0 || bytes.IndexByte(last[keep:], '\n') >= 0 {
		return &journal.ConflictError{Session: l.session, Want: at, Found: end}
	}
	if keep == 0 {
		_, err = tx.ExecContext(ctx, `DELETE FROM retake_journal WHERE session = ? AND at = ?`, l.session, start)
	} else {
		_, err = tx.ExecContext(ctx, `UPDATE retake_journal SET lines = ? WHERE session = ? AND at = ?`, last[:keep], l.session, start)
	}
	return err
}

// Read implements [journal.Log]. It holds no transaction between reads, so it may or may not read what is
// appended meanwhile. A missing row before others is an error of [journal.ErrCorrupt].
func (l *log) Read(ctx context.Context) (io.ReadCloser, error) {
	return &reader{ctx: ctx, log: l, last: -1, line: 1}, nil
}

// reader reads a journal row by row. It is an [io.Seeker] for those that go on where they stopped.
type reader struct {
	ctx context.Context
	log *log
	// last is the start of the latest row, next its end. line counts the lines so far, from 1.
	last, next, line int64
	rest             []byte
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.nextRow(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// nextRow reads the next row.
func (r *reader) nextRow() error {
	var at int64
	var lines []byte
	err := r.log.store.reading(r.ctx, func(db *sql.DB) error {
		return db.QueryRowContext(r.ctx, `SELECT at, lines FROM retake_journal WHERE session = ? AND at > ? ORDER BY at LIMIT 1`,
			r.log.session, r.last).Scan(&at, &lines)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return io.EOF
	case err != nil:
		return r.log.failed(err)
	case at != r.next:
		return r.log.failed(&journal.CorruptError{Line: r.line, Offset: r.next, Why: fmt.Sprintf(
			"the row that begins here is missing or was changed: the next row of the database begins at byte %d", at)})
	}
	r.rest, r.last, r.next = lines, at, at+int64(len(lines))
	r.line += int64(bytes.Count(lines, []byte{'\n'}))
	return nil
}

// Seek leads to an offset from the beginning.
func (r *reader) Seek(to int64, whence int) (int64, error) {
	if whence != io.SeekStart || to < 0 {
		return 0, r.log.failed(fmt.Errorf("seeking to %d from %d: %w", to, whence, errors.ErrUnsupported))
	}
	var at int64
	err := r.log.store.reading(r.ctx, func(db *sql.DB) error {
		return db.QueryRowContext(r.ctx, `SELECT coalesce(max(at), 0) FROM retake_journal WHERE session = ? AND at <= ?`,
			r.log.session, to).Scan(&at)
	})
	if err != nil {
		return 0, r.log.failed(err)
	}
	r.last, r.next, r.rest = at-1, at, nil
	_, err = io.CopyN(io.Discard, r, to-at)
	return to, err
}

func (r *reader) Close() error { return nil }
