// Package core measures what only retake has: recorded attempts, steps of the pure core, journals, and
// growing sessions. It compares the journal with code by hand. Everything is in its tests.
package core
