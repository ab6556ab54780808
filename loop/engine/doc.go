// Package engine has the parts of a driver without a clock and I/O of their own. It is for engines that keep
// the state of the core themselves and step it with [machine.Step], for example workflow engines that rerun
// code from its history. [Call] makes a call within its limits: it starts a goroutine, and is given the
// clock.
package engine
