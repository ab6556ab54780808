// Package start measures two minimal programs with retake, a run and a function under a policy: the size of
// the binary and the time of its init functions, beside programs that do the same by hand. Everything is in
// its tests; the programs are in its folders.
package start
