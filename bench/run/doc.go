// Package run measures whole runs with models in memory: bad arguments, feedback, good arguments, result,
// answer. Everything is in its tests.
package run
