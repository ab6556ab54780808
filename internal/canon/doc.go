// Package canon writes canonical JSON: equal values give equal bytes in every process and on every machine,
// so they can be hashed, compared and journaled.
//
// The form is that of RFC 8785: members sorted by the UTF-16 code units of their names, no white space,
// shortest escapes. Numbers are an exception: they stay as written, because a conversion to float would lose
// digits. Duplicate names, invalid UTF-8 and data after the value are refused.
//
// Go types are read and written as by encoding/json ("omitempty", nil slices as null, durations as
// nanoseconds), except that member names match exactly.
package canon
