// Package seq is a persistent append-only sequence: appending gives a new value and never changes an old one, at the price
// of an ordinary append.
//
// A transcript, a log slice or a list of attempts is held by every state a run has gone through, and each state may be
// stepped again. A [Log] lets all of them share its blocks of memory: the first to append at a block's end claims the place,
// and whoever comes second goes on in a block of its own. A block that is full is never copied: the next one follows it.
package seq
