// Package fantasy measures the rows of checks and runs with fantasy, in a module of its own. Everything is in
// its tests.
package fantasy
