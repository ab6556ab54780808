// Package limittest tests implementations of [limiter.Store].
package limittest
