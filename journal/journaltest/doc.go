// Package journaltest tests implementations of [journal.Store].
package journaltest
