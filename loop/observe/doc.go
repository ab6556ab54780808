// Package observe reports what happens in runs. An [Observer] gets a [Notice] of each attempt; a [Tracer]
// follows work from start to end. Ready-made observers write structured logs, count, and call back user
// interfaces. An observer cannot change an outcome.
package observe
