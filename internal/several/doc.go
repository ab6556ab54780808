// Package several says how many there are of something: "1 event", "2 events". It is a pure function and
// never fails. What models are shown is worded elsewhere.
package several
