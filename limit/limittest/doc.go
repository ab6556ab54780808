// Package limittest tests implementations of [limiter.Store]: [Store] its methods, [Lister] what tells of the
// limits in it, [Killed] with a run whose process is killed, and [Fleet] with eight processes and a server,
// of which some are killed.
package limittest
