// Package degrade replaces steps of a run that are not critical. If such a step fails or panics, a simple
// substitute takes its place, the result has a warning, and the run goes on.
package degrade
