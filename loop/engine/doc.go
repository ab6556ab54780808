// Package engine has the parts of a driver without clock, goroutines and I/O, except those of tools, schemas
// and reducers. It is for engines that keep the state of the core themselves and step it with [machine.Step],
// for example workflow engines that rerun code from its history.
package engine
