// Package session holds what a run of an agent knows: typed slices of state that only reducers change, and
// the logs of its attempts, feedback and reducer errors. One event is one transaction, and nothing is ever
// swallowed.
//
// A slice has a stable name, a Go type and one of two kinds. A state slice ([StateSlice]) may be replaced and
// cleared; a log slice ([LogSlice]) is only ever added to. Three logs are built in: [FeedbackLog],
// [AttemptsLog], [ReducerErrorsLog].
//
// A reducer is bound to a slice and an event by [On]. The reducers of an event run in order of registration,
// and each sees what those before it did to its slice. If one fails or panics, no slice changes at all; the
// [fault.ReducerError] is added to its log, the session's callback is called at once, and the caller gets it
// as an error.
//
// A run dispatches events of its own ([ToolResult], [StructuredOutput]), and tells the reducers of all that
// happens in it: replies, failed attempts with their feedback, tools that failed, exhaustion, its end. These
// notices ([AttemptFailed] and the others) come before the next prompt is made, so that the prompt can show
// what the reducers made of them.
//
// A [State] is what a session holds at one moment, as an immutable value: the pure core steps it, branches it
// and records it without knowing any Go type or calling any reducer. A [Session] is the mutable holder of the
// newest State, safe for concurrent use; reading it never waits. A run takes it for itself with
// [Session.Acquire].
//
// Values live as canonical JSON: what a reducer made is encoded once, when it is applied, and decoded afresh
// for each reader. So a resumed run sees exactly what a live one saw, and readers may do with a value as they
// please. The built-in logs hold Go values, which readers share and must not write to.
package session
