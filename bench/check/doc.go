// Package check measures the rows of checking a reply of 1 KB: good, against a raw JSON Schema, and bad.
// Everything is in its tests.
package check
