// Package examples holds programs to read and run, in a module of their own. README.md lists them.
package examples
