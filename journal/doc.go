// Package journal records what a session does as lines of JSON, and reads them back: to resume a run, to
// replay it, to compare it with another, and to ask what another policy would have made of it.
//
// # Lines
//
// A line is {"hash":H,"record":R}. R is canonical JSON with one member, which names its kind:
//
//   - header begins a run: the format, the session, and all that the core is held to: seed, policy,
//     templates.
//   - event is an input of the core, as package machine has it.
//   - decision is what the core made of the event before it: the effects, the messages that they added, and
//     the digest of the prompt where the model is called.
//   - note is what happened beside the run: a tool that began, a result that came before its turn, progress,
//     a resumption. Notes decide nothing, and no comparison looks at them.
//   - snapshot stands for all that was before it in a compacted journal.
//
// H is a hash in hex: the first half of the SHA-256 of the hash before it and the bytes of R. 32 zeros stand
// before the first line. The hash before a line is that of the last line that is no note. So notes are
// covered by their own hashes, and journals of the same run have the same hashes whatever notes they hold.
//
// # What a crash leaves
//
// An event and its decision are appended by one write, before the effects are carried out. The last line may
// be torn: it has no line feed. A torn line is not guessed at: its event did not happen, and a note keeps the
// text. A missing decision on the last event is made again. Any other line with a wrong hash is an error.
package journal
