// Package seq is a persistent append-only sequence: appending gives a new value and never changes an old one,
// at the price of an ordinary append.
//
// Every state that a run has gone through holds its transcript and its logs, and each state may be stepped
// again. A [Log] lets all of them share one array: the first to append at its end claims the place, and
// whoever comes second goes on in a copy.
package seq
