// Package journal records the runs of a session as lines of JSON and reads them back: to resume a run, to
// replay it, to compare it with another, and to compute what another policy would have done.
//
// # Lines
//
// A line is {"hash":H,"record":R}. R is canonical JSON with one member, which names its kind:
//
//   - header begins a run: the format, the session, and the config of the core: seed, policy, templates.
//   - event is an input of the core: see package machine.
//   - decision is the core's answer to the event before it: the effects, the messages that they added, and
//     the digest of the prompt if the model is called.
//   - note is what happened beside the run: a tool that began, a result that came early, progress, a
//     resumption. Notes decide nothing and are never compared.
//   - snapshot replaces everything before it in a compacted journal.
//
// H is a hash in hex: the first half of the SHA-256 of the previous hash and the bytes of R. The previous
// hash of the first line is 32 zeros. For other lines it is the hash of the last line that is not a note. So
// every note has its own hash, and journals of equal runs have equal hashes whatever notes they contain.
//
// # After a crash
//
// An event and its decision are appended by one write, before the effects are carried out. The last line may
// be torn: it has no line feed. The event of a torn line did not happen; a note keeps its text. If the
// decision on the last event is missing, it is made again. Any other line with a wrong hash is an error.
package journal
