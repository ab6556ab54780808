// Package usercode calls what the user gives a run, within its limits, for engines that step the core
// themselves (package loop/engine). An engine calls it where a history or a database keeps the result: in an
// activity or a step. Panics of the user's code are errors.
package usercode
