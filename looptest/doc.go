// Package looptest tests loops without a real model, without waiting and without randomness. The same script
// always gives the same run.
//
// [Model] replies from a script and records its requests. [Clock] skips waits and times out calls that hang.
// [AssertAttempts], [AssertAnswer] and [AssertStopped] report differences, and [Store] keeps journals in
// memory. Package [github.com/retake-go/retake/looptest/scenario] runs scenario files.
package looptest
