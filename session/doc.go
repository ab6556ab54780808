// Package session holds the state of an agent's runs: typed slices that only reducers change, and logs of
// attempts, feedback and reducer errors. Each event is one transaction.
//
// A slice has a stable name, a Go type and a kind. A state slice ([StateSlice]) may be replaced and cleared;
// a log slice ([LogSlice]) only grows. Three logs are built in, which [State.Feedback], [State.Attempts] and
// [State.ReducerErrors] read.
//
// [On] binds a reducer to a slice and an event. The reducers of an event run in the order of registration;
// each sees what the ones before it changed. If one fails or panics, no slice changes. The
// [fault.ReducerError] is then added to its log, passed to the session's callback, and returned to the
// caller.
//
// A run dispatches its own events ([EventToolResult], [EventStructuredOutput]). It also sends notices:
// replies, failed attempts with their feedback, failed tools, exhaustion and its end (see
// [EventAttemptFailed]). Reducers receive a notice before the next prompt is made, so the prompt can show
// what they changed.
//
// A [State] is an immutable snapshot of the session's slices and logs. The core uses it without knowing Go
// types or calling reducers. A [Session] holds the newest State and is safe for concurrent use; reading it
// never blocks. A run takes the session with [Driver.Acquire].
//
// Values are kept as canonical JSON. A reducer's value is encoded once, and decoded anew for each reader. So
// a resumed run sees what a live run saw, and readers may change what they read. The built-in logs hold Go
// values that readers share and must not write to.
package session
