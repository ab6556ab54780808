// Package seq is a persistent append-only sequence: appending returns a new value and does not change the old
// one, at about the cost of an ordinary append.
//
// Every state of a run holds its transcript and logs, and each state may be continued in several ways. All of
// them share memory through a [Log]: the first append at the end of a log uses the shared memory, and a
// second one continues in a copy.
package seq
