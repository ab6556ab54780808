// Package engine has the parts of a driver that are functions of values: what engines need that keep the
// state of the core themselves and step it by [machine.Step], such as one whose code is run again from its
// history. None of them has a clock, a goroutine or I/O, but what tools, schemas and reducers do.
package engine
