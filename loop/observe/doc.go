// Package observe has observers of runs: structured logs, counters, and callbacks for user interfaces. An
// observer never changes an outcome.
package observe
