// Package sqlite keeps the journals of many sessions in one SQLite database: a [journal.Store] for runtimes that would rather
// have one file to back up than one for each session.
//
// It is modernc.org/sqlite, so that no C compiler is needed. Two processes may share a database: a second writer of the same
// session is refused by name at its first append.
package sqlite
