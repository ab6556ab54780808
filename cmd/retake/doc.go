// Command retake shows what the packages of this module decide, without a model: the waits of a policy,
// whether a model's reply can be used and what the model would be told, whole runs over recorded replies, and
// what became of the runs that journals hold.
//
// Each command reads what its flags name, or the journals that it is given, writes its answer to standard
// output (with -json as JSON, else for people) and everything else to standard error. The exit status is 0
// when the question was answered, 1 where the answer is "not ok" (check -tool; replay and diff, where
// anything differs; show, where a line is not what was written), and 2 where the question or its inputs
// cannot be used. The same input gives the same output.
//
// "retake help" lists the commands.
package main
