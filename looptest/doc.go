// Package looptest runs loops in tests without a model, without waiting and without chance: the same script
// always gives the same run.
//
// [Model] replies from a script and remembers what it was asked. [Clock] moves to the end of every wait as
// soon as it is asked for. [AssertAttempts], [AssertAnswer] and [AssertStopped] say what is other than
// wanted, and [Store] keeps journals. The engine for scenario files is
// [github.com/retake-go/retake/looptest/scenario].
package looptest
