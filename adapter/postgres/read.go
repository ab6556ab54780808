package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/retake-go/retake/journal"
)

// chunk is how many bytes of a journal one statement reads, and the rest of its last row besides. The first
// of a Peek reads less: who follows a journal seeks next.
const (
	chunk      = 1 << 20
	firstChunk = 1 << 16
)

// Read implements [journal.Log]. No connection is held between two reads. A journal is read as long as it was
// at first; a missing row is an error of [journal.ErrCorrupt].
func (l *log) Read(ctx context.Context) (io.ReadCloser, error) {
	r, err := l.read(ctx, chunk)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// read reads a journal; the first statement reads so many bytes.
func (l *log) read(ctx context.Context, first int64) (*reader, error) {
	r := &reader{ctx: ctx, log: l, ahead: first, size: -1, line: 1}
	if err := r.fill(); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, journal.ErrCorrupt) {
		return nil, err
	}
	return r, nil
}

// Peek implements [journal.Keeper].
func (s *Store) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	r, err := (&log{store: s, session: session}).read(ctx, firstChunk)
	if err != nil {
		return nil, err
	}
	if r.size == 0 {
		return nil, journal.ErrNoRun
	}
	return r, nil
}

// Stats implements [journal.Keeper]. A journal is held until its lease ends, also by a process that has died.
func (s *Store) Stats(ctx context.Context, _ ...journal.Stat) ([]journal.Stat, error) {
	statOf := func(row pgx.CollectableRow) (stat journal.Stat, err error) {
		err = row.Scan(&stat.Session, &stat.Bytes, &stat.Changed, &stat.Held)
		stat.Changed = stat.Changed.UTC()
		return stat, err
	}
	all, err := collect(ctx, s, statOf, `SELECT session, size, changed, coalesce(until, '-infinity') > now()
		FROM retake_session WHERE size > 0 ORDER BY session`)
	if err != nil {
		return nil, fmt.Errorf("postgres: listing sessions: %w", err)
	}
	return all, nil
}

// reader reads a journal in chunks. It is an [io.Seeker] for those that go on where they stopped.
type reader struct {
	ctx context.Context
	log *log
	// ahead is how many bytes the next statement reads.
	ahead int64
	// next is where the next row begins, and size where the journal ended when it was first looked at; -1
	// before that. line counts the lines so far, from 1.
	next, size, line int64
	rest             []byte
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Seek leads to an offset from the beginning. An error after it counts the lines from there; its offset is
// right.
func (r *reader) Seek(to int64, whence int) (int64, error) {
	if whence != io.SeekStart || to < 0 {
		return 0, r.log.failed(fmt.Errorf("seeking to %d from %d: %w", to, whence, errors.ErrUnsupported))
	}
	s := r.log.store
	var at int64
	err := s.patiently(r.ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT coalesce(max(at), 0) FROM retake_line WHERE session = $1 AND at <= $2`,
			r.log.session, to).Scan(&at)
	})
	if err != nil {
		return 0, r.log.failed(err)
	}
	r.next, r.line, r.rest = at, 1, nil
	_, err = io.CopyN(io.Discard, r, to-at)
	return to, err
}

func (r *reader) Close() error { return nil }

// fill reads the next chunk.
func (r *reader) fill() error {
	if r.size >= 0 && r.next >= r.size {
		return io.EOF
	}
	size, rows, err := r.rows()
	if err != nil {
		return r.log.failed(err)
	}
	r.ahead = chunk
	if r.size < 0 {
		r.size = size
	}
	for _, w := range rows {
		if w.at != r.next || r.next >= r.size {
			break
		}
		r.rest = append(r.rest, w.lines...)
		r.next += int64(len(w.lines))
		r.line += int64(bytes.Count(w.lines, []byte{'\n'}))
	}
	if len(r.rest) > 0 {
		return nil
	}
	if r.next >= r.size {
		return io.EOF
	}
	why := "the row that begins here is missing or was changed"
	if len(rows) > 0 {
		why += fmt.Sprintf(": the next row of the database begins at byte %d", rows[0].at)
	}
	return r.log.failed(&journal.CorruptError{Line: r.line, Offset: r.next, Why: why})
}

// row is a row of lines.
type row struct {
	at    int64
	lines []byte
}

// rows returns the rows that begin in the next chunk, and where the journal ends.
func (r *reader) rows() (size int64, all []row, err error) {
	s := r.log.store
	err = s.patiently(r.ctx, func(ctx context.Context, _ bool) error {
		size, all = 0, nil
		found, err := s.pool.Query(ctx, `SELECT s.size, coalesce(l.at, -1), l.lines FROM retake_session s
			LEFT JOIN retake_line l ON l.session = s.session AND l.at >= $2 AND l.at < $2::bigint + $3
			WHERE s.session = $1 ORDER BY l.at`, r.log.session, r.next, r.ahead)
		if err != nil {
			return err
		}
		var one row
		_, err = pgx.ForEachRow(found, []any{&size, &one.at, &one.lines}, func() error {
			if one.at >= 0 {
				all = append(all, row{one.at, bytes.Clone(one.lines)})
			}
			return nil
		})
		return err
	})
	return size, all, err
}
