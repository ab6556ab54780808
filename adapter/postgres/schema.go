package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Schema makes the tables of a store in the first schema of the search path, unless they are there. [New]
// does so; it needs no right to create anything where somebody did it before.
const Schema = `-- One row for each session: how long its journal is, and who holds it until when.
CREATE TABLE IF NOT EXISTS retake_session (
	session text        COLLATE "C" PRIMARY KEY,
	size    bigint      NOT NULL DEFAULT 0,
	changed timestamptz NOT NULL DEFAULT now(),
	holder  text,
	owner   text,
	until   timestamptz,
	lease   interval
);
CREATE INDEX IF NOT EXISTS retake_session_owner ON retake_session (owner) WHERE owner IS NOT NULL;

-- One row for each append: the lines, and the byte of the journal where they begin.
CREATE TABLE IF NOT EXISTS retake_line (
	session text   COLLATE "C",
	at      bigint,
	lines   bytea  NOT NULL,
	PRIMARY KEY (session, at)
);

-- One row for each item of an inbox. Its time is in nanoseconds since 1970.
CREATE TABLE IF NOT EXISTS retake_item (
	session text   COLLATE "C",
	kind    text   COLLATE "C",
	key     text   COLLATE "C",
	body    bytea  NOT NULL,
	by      text   NOT NULL,
	at      bigint NOT NULL,
	PRIMARY KEY (session, kind, key)
);

-- One row for each scope of a limiter, and the minute in which it was replaced last.
CREATE TABLE IF NOT EXISTS retake_limit (
	scope   text        COLLATE "C" PRIMARY KEY,
	version bigint      NOT NULL,
	used    timestamptz NOT NULL,
	value   bytea       NOT NULL
);
CREATE INDEX IF NOT EXISTS retake_limit_used ON retake_limit (used);
`

// making is the key of the advisory lock of those that make the tables: two that make one at once would fail.
const making = 0x7265_7461_6b65 // "retake"

// prepare makes the tables unless they are there, and refuses a server that would lose what it said is
// written. One that isolates more would fail statements that meet: the renewal of all leases with any append.
func prepare(ctx context.Context, pool *pgxpool.Pool, readOnly bool) error {
	if pool == nil {
		return errors.New("the pool is nil: make one with pgxpool.New")
	}
	var there bool
	var commit, isolation string
	err := pool.QueryRow(ctx, `SELECT to_regclass('retake_session') IS NOT NULL AND to_regclass('retake_line') IS NOT NULL AND
		to_regclass('retake_item') IS NOT NULL AND to_regclass('retake_limit') IS NOT NULL, current_setting('synchronous_commit'),
		current_setting('default_transaction_isolation')`).
		Scan(&there, &commit, &isolation)
	if err != nil {
		return refused(err)
	}
	if commit == "off" {
		return errors.New("synchronous_commit is off, so that lines could be lost: set it to on for the role, or in the pool's connection string")
	}
	if !readOnly && isolation != "read committed" && isolation != "read uncommitted" { // they are the same
		return fmt.Errorf("default_transaction_isolation is %s, so that leases could not be renewed while journals are "+
			"written: set it to read committed for the role, or in the pool's connection string", isolation)
	}
	if there {
		return nil
	}
	if readOnly {
		return errors.New("the database has no tables of a store in its search path")
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, making); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, Schema)
		return err
	})
	if err != nil {
		return fmt.Errorf("making the tables: %w", refused(err))
	}
	return nil
}
