// Package sqlite keeps the journals of many sessions in one SQLite database: a [journal.Store] for runtimes
// that would rather have one file to back up than one for each session.
//
// It is modernc.org/sqlite, so that no C compiler is needed. Processes may share a database: each journal has
// one owner at a time, by a lease that the owner renews. A second one is refused by name, and takes over once
// the lease of an owner that died has ended.
package sqlite
