// Package journal records what a session does as append-only lines of JSON, and reads them back: to resume a
// run, to replay it, to compare it with another, and to ask what another policy would have made of it.
//
// # Lines
//
// A line is {"hash":H,"record":R}. R is canonical JSON with one member, which names its kind:
//
//   - header begins a run: the format, the session, and all that the core is held to: seed, policy,
//     templates, behaviours.
//   - event is an input of the core, as package machine has it.
//   - decision is what the core made of the event before it: the effects, what they added to the
//     conversation, and the digest of the prompt where the model is called.
//   - note is what happened beside the run: a result that landed before its turn, progress, a resumption.
//     Notes decide nothing, and no comparison looks at them.
//   - snapshot stands for all that was before it in a journal that was compacted.
//
// H is the first half of the SHA-256 of the hash before it and the bytes of R, in hex; so is the hash that
// goes in, and 32 zeros stand before the first line. The hash before a line is that of the last line that is
// no note, so that journals of the same run have the same hashes whatever notes they hold; notes are covered
// by a hash of their own.
//
// # What a crash leaves
//
// A line is written before its effects are carried out. The last line of a file may be torn: it has no line
// feed. A torn line is never guessed: the event was not, and whoever resumes keeps what was torn in a note.
// Any other line whose hash is wrong is an error.
//
// # Order of an append
//
// An event and its decision are appended by one write. Where only the event arrived, the decision is made
// again.
package journal
