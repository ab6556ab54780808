// Package examples has programs to read and run, in its own module. README.md lists them.
package examples
