// Package observe tells what happens in runs: an [Observer] gets a [Notice] of each attempt, a [Tracer]
// follows work from its beginning to its end. Ready-made are structured logs, counters, and callbacks for
// user interfaces. An observer never changes an outcome.
package observe
