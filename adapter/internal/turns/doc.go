// Package turns drives a run of the core for a runtime that calls the model and runs the tools itself: it is
// told what came of each, and says what is to be done.
//
// Before each model call the runtime calls [Run.Next], after it [Run.Reply] or [Run.Failed]. Each tool call
// of the reply is claimed by [Run.Claim]; what may not be run has its answer at once, what is run ends with
// [Call.End]. Outcomes may come in any order and from any goroutine: they enter the core in call order.
package turns
