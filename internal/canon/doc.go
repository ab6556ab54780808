// Package canon writes JSON in one form only: the same value is always the same bytes, in every process and
// on every machine, so that it can be hashed, compared and journaled.
//
// The form is that of RFC 8785 (members sorted by the UTF-16 code units of their names, no white space,
// shortest escapes), except that numbers stay as they were written: rewriting them through a float would lose
// digits. Duplicate names, invalid UTF-8 and data after the value are refused.
//
// Go types are read and written as encoding/json does it ("omitempty", nil slices as null, durations as
// nanoseconds), except that member names match exactly.
package canon
