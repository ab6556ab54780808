// Package sealed encrypts journals under keys of the user's: a store of [New] seals what another
// [journal.Store] keeps, and a [Reader] opens a file of it.
//
// # Lines
//
// Each line of a journal is sealed by itself, as {"hash":H,"key":ID,"sealed":S}; the first has the session's
// id, too. H is the keyed hash of the line, which holds the hash of the chain, so equal runs have equal
// hashes under one key. S is the line, encrypted and authenticated together with the session and the number
// of the line. So a line that was changed, moved, left out, or taken from another session is found.
//
// # What is hidden
//
// Contents are hidden: prompts, replies, arguments, results, policies, decisions, and the bodies of inbox
// items. Hidden is not: the ids of sessions and keys, the number of lines and their lengths, when they were
// written, and of an inbox item its kind, key, time, and who put it. The key of an answer is the id of its
// question, which has a digest of the arguments that were shown.
//
// Whoever can write to the store can put an older state of a journal in its place, cut complete lines off its
// end, which is what a crash leaves, too, or put back a message that an earlier run of the session took, and
// an answer to the same question of an earlier session with the same id. Keep the hash of the last line
// elsewhere to find the former ([journal.Reader.Hash], "retake verify -json"), and use no id twice.
package sealed
