// Package scenario runs stories of a run: files in which each line says what happens and, below it, what the
// loop does, so that the same story always ends the same way. [Run] has the verbs.
//
// It drives a [github.com/retake-go/retake/loop.Runner], so that nothing waits and nothing is faked. It is
// for tests: it registers the flag -rewrite of github.com/cockroachdb/datadriven.
package scenario
