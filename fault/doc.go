// Package fault says what went wrong, as data: the same failure is always the same value, in the same order,
// and can be printed, compared, journaled and shown to a model.
//
// An [Issue] is one thing wrong with one place of a proposal. A [Class] is the kind of a whole failure and
// decides, through a policy, whether it is retried. A [Plane] says what helps: words ([Correction]) or time
// ([Transport]). The typed errors ([ToolValidationError], [StructuredOutputError], [ReducerError]) carry
// issues across Go code; a [Failure] carries the same across the pure core, where no Go error goes.
//
// No text of a validator, decoder or provider is ever part of an Issue: such texts change between runs and
// versions.
package fault
