// Package sqlite keeps the journals of many sessions in one SQLite database. It is a [journal.Store] for
// programs that prefer one file to back up over one file for each session.
//
// It uses modernc.org/sqlite and needs no C compiler. Processes may share a database: each journal has one
// owner at a time, by a lease that the owner renews. A second owner gets an error that names the first, and
// may take over once the lease of an owner that died has ended.
//
// [Limits] keeps the records of a limiter that the processes of one machine share.
package sqlite
