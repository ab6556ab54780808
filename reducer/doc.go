// Package reducer defines how a slice of state may change. A [Func] is a pure function: it takes a read-only
// [View] and an event, and returns one [Change] or an error.
//
// The package does not know sessions or models. A reducer must depend only on its arguments and must not
// write to them.
//
// A [Change] is typed, for the code that makes it. An [Op] is the same change with its values as canonical
// JSON, for code that records and applies it without the Go types. A journal replays operations and does not
// call reducers.
//
// Ready-made reducers are [Appending] and [Latest].
package reducer
