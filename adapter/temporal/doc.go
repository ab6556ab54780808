// Package temporal makes runs of retake on Temporal: for the same replies and seed it decides what [loop.Run] decides in
// process, and its runs outlive the workers and servers that they are made on.
package temporal
