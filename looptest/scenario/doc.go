// Package scenario runs stories: files with what happens in a run, line by line, and below each line what the
// loop does. The same story always ends in the same way. [Run] lists the verbs.
//
// It drives a [github.com/retake-go/retake/loop/engine.Runner], so that nothing waits and nothing is faked.
// It is for tests: it registers the flag -rewrite of github.com/cockroachdb/datadriven.
package scenario
