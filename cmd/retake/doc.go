// Command retake shows what the packages of this module decide, without a model: the waits of a policy,
// whether a model's reply can be used and what the model would be told, whole runs over recorded replies,
// and what became of the runs that journals hold.
//
// Each command reads what its flags name, or the journals that it is given, writes its answer to standard
// output (with -json as JSON, else for people) and everything else to standard error. The same input gives
// the same output.
//
// "retake help" lists the commands and the exit statuses. "retake completion" makes a shell complete them.
package main
