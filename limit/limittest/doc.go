// Package limittest tests implementations of [limiter.Store]: [Store] its methods, [Lister] what tells of the
// limits in it, and [Fleet] with eight processes and a server, of which some are killed.
package limittest
