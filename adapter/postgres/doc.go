// Package postgres keeps the journals of many sessions in PostgreSQL, for a fleet: any number of processes on
// any number of machines share them. It is a [journal.Store], a [journal.Inbox] and a [journal.Keeper].
//
// Each journal has one owner at a time, by a lease that the owner renews and that the server's clock
// measures. A second owner gets an error that names the first, and may take over once the lease of an owner
// that died has ended. An append is one statement, which also checks that the owner is still the owner.
//
// [Limits] keeps the records of a limiter that processes share, in the same database or in another one.
package postgres
