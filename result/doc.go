// Package result holds the outcome of an agent's run as data. A [Result] is a success, an error or work in
// progress, with confidence, warnings and costs. Errors are values: nothing is thrown across the boundary.
//
// One type in memory, four wire forms: [ResultEnvelope], [AgentResult], [AgentResponse]
// and [ModelResponse]. [Encode] and [Decode] map between them without loss:
//
//   - A field that a form has no member for is written to one extension member, "retake", and only there.
//     Readers that do not know it lose nothing. If the form's own member and the extension disagree, the
//     form's member wins: somebody changed it on the way.
//   - A member that Result has no field for, at any depth, is kept in [Meta].Extra by its JSON Pointer and
//     written back to the same place of the same form. Through another form it travels in the extension. The
//     spelling of a value ("429" for 429, a code of the sender's own) is kept in the same way, as long as it
//     still says what the field says.
//   - Absent stays absent. A null member means the same as an absent one, and is not written back.
//   - The only members that are added are those that a form requires: "message" (empty), "limited" (false),
//     and a code for an error without one.
//   - Secrets (authorization, cookies, keys, tokens) are never kept, neither in raw headers nor in unknown
//     members.
//
// Apart from nulls and secrets, only the case of header names and the grouping of their values are lost.
//
// An invalid document or Result is refused with an [*InvalidError] that names each place and what would be
// right.
//
// The package is pure. Timing and retrying a run belong to package loop; [Execution.Plus] and [Total] add up
// what runs took. All types are plain values and may be read concurrently.
package result

//go:generate go test -run TestSchemas$ . -args -rewrite
