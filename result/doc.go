// Package result holds what an agent's run came to, as data: a [Result] is a success, an error or work in
// progress, with confidence, warnings and what it cost; errors are values here, and nothing is thrown across
// the boundary.
//
// One type in memory, four wire forms: [ResultEnvelope], [AgentResult], [AgentResponse]
// and [ModelResponse]. [Encode] and [Decode] map between them without loss:
//
//   - what a form has no member for stands in one extension member, "retake", and only there; readers of
//     that form who do not know it lose nothing they had. Where the form's own member and the extension
//     disagree, the form's member wins: somebody changed it on the way.
//   - what a document has and Result has no field for, at any depth, is kept in [Meta].Extra by its JSON
//     Pointer and written back to the same place of the same form; through another form it travels in
//     the extension. So is a value's own way of being written ("429" for 429, a code of the sender's
//     own), as long as it still says what the field says.
//   - absent stays absent. A null member means the same as an absent one, and is not written back.
//   - added are only members a form requires: "message" (empty) and "limited" (false), and a code for an
//     error without one.
//   - secrets (authorization, cookies, keys, tokens) are never kept: not in raw headers, nor in what is
//     kept unread.
//
// Besides nulls and secrets, only the case of header names and the grouping of their values are not kept as
// written.
//
// What cannot be is refused with an [*InvalidError] that names each place and what would be right.
//
// The package is pure. Timing a run and retrying it belong to package loop; [Execution.Plus] and [Total] are
// the arithmetic of it. All types are plain values and may be read concurrently.
package result

//go:generate go test -run TestSchemas$ . -args -rewrite
