// Command retake-temporal turns histories of runs on Temporal into journals that the command retake reads,
// and replays them.
//
//	retake-temporal export -history FILE [-history FILE ...] [-out FILE]
//	retake-temporal export -address HOST:PORT [-namespace NAME] -id SESSION [-out FILE]
//	retake-temporal replay (-history FILE ... | -address HOST:PORT -id SESSION)
//
// A history is the JSON of "temporal workflow show --output json". If a run continued in new histories, give
// all of them, oldest first. The exit status is 0, 1 if a replay differs, and 2 for any other error.
package main
