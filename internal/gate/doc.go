// Package gate holds the repo to its architecture: which packages are pure, and which way imports point.
//
// The rules are data with reasons ([Layers], [Pure], [BannedImports], [BannedCalls]); [Check] reads the
// source of the module and returns what breaks them. The test of this package runs it over the repo, and over
// planted faults to show that it would find them.
package gate
