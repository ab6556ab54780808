// Package gate checks the architecture of the repo: which packages must be pure, and in which direction
// packages import each other.
//
// The rules are data with reasons: [Layers], [Pure], [BannedImports], [BannedCalls]. [Check] reads the source
// of the module and returns the violations. The test of this package runs it on the repo, and on planted
// faults to show that it finds them.
package gate
