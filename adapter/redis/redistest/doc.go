// Package redistest starts a Redis server for tests, with its socket in a folder of its own, and kills and
// restarts it.
package redistest
