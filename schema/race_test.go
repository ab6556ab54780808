//go:build race

package schema_test

// underRace reports that the race detector is on, which allocates for itself.
const underRace = true
