// Package turns drives a run of the core for a runtime that calls the model and runs the tools itself. The
// runtime reports every outcome, and gets the next step.
//
// The runtime calls [Run.Next] before each model call, and [Run.Reply] or [Run.Failed] after it. It claims
// each tool call of the reply by [Run.Claim]. A call that may not run has its answer at once; any other ends
// with [Call.End]. Outcomes may come in any order and from any goroutine: they enter the core in call order.
package turns
