// Package several writes numbers with nouns and durations in units: "1 event", "2 events", "1m04s". It is
// pure.
package several
