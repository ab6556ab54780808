// Command retake shows what this module decides, without calling a model. It computes the waits of a policy,
// checks replies of models, plays whole runs over recorded replies, and shows, replays and compares journals.
//
// The answer goes to standard output, as JSON with -json, and everything else to standard error. The same
// input gives the same output.
//
// "retake help" lists the commands and the exit statuses. "retake completion" writes completion scripts.
package main
