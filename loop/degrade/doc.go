// Package degrade does without the steps of a run that are not critical: each has a plain substitute, and
// leaves a warning in the result. A failure of such a step, a panic too, never ends the run.
package degrade
