// Package limittest tests implementations of [limiter.Store]: [Store] its methods, and [Fleet] with eight
// processes and a server, of which some are killed.
package limittest
