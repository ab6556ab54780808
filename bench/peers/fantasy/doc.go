// Package fantasy measures the rows of checks and runs with fantasy, in its own module. Everything is in
// its tests.
package fantasy
