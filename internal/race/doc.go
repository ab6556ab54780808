// Package race says to tests that count memory whether the race detector is on, which allocates for itself.
package race
