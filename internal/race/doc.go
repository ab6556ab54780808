// Package race says to tests that count memory or take long whether the race detector is on, which allocates
// and takes time for itself.
package race
