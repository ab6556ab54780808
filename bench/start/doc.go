// Package start measures what a minimal embed of retake weighs: the size of its binary and the time of its init functions,
// beside a program that uses the same packages by hand. Everything is in its tests; the programs are in its folders.
package start
