// Package reducer says how a slice of state may change: a [Func] is a pure function of a read-only [View] and
// an event to one [Change], or an error.
//
// It knows nothing of inference, sessions or models. A reducer must depend on its arguments alone, and must
// write to nothing it was given: then it can be run, tested and reasoned about anywhere.
//
// A [Change] is typed, for the code that makes it. An [Op] is the same as data, its values as canonical JSON,
// for the code that records and applies it without knowing the types: a journal replays operations and calls
// no reducer.
//
// Ready-made are [Appending], [Latest], [Upserting] by a key, [Counting], and a bounded [Window].
package reducer
