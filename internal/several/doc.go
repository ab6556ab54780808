// Package several writes a number with a noun: "1 event", "2 events". It is pure.
package several
