// Package flat writes and reads values of flat Go types in one pass: what package canon makes of them, to the byte.
//
// A flat type is a text, a number, a boolean, or a struct of such, that says nothing of how it is written but by names and omissions in its
// tags. A value of one that can be written reads back as itself: nobody has to look.
//
// Everything else is left to package canon, and so is each text that is not quite as it would be written. Tests hold both equal.
package flat
