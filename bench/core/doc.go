// Package core measures what no peer has: attempts that are recorded in a session, steps of the pure core,
// journals, and sessions that grow; the journal beside what one would write by hand. Everything is in its
// tests.
package core
