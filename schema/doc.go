// Package schema checks untrusted JSON against a JSON Schema or a Go type and says everything that is wrong
// with it, as [fault.Issue] values that are the same, in the same order, in every run.
//
// The library (santhosh-tekuri/jsonschema) compiles a schema: drafts, references, metaschemas. One evaluator
// of ours walks what it compiled, and finds every issue: the value that is refused, by which rule, and what
// would be right. It asks each schema about each value once, so that work is bounded by the size of the
// schema times that of the document, and a [Budget] bounds the work of all checks of a reply. The official
// test suite is the judge of its verdicts, and the library's own verdict the oracle of a fuzz target. No text
// of a decoder or validator ever enters an issue; all phrases are made here from the schema.
//
// [Compile] takes a JSON Schema (Draft 2020-12 unless it says otherwise). `format` is an annotation there, as
// the standard has it by default; numbers are compared exactly, and 1.0 is an integer. [For] takes a Go type:
// its schema tells models every rule, and [Typed.Decode] holds documents to them.
//
// # What a Go type means
//
// A member is required to be there. It may be left out where one of these says so:
//
//   - omitempty or omitzero, in the json or the validate tag; omitnil in the validate tag
//   - a pointer; null may stand there too
//   - `jsonschema:"default=…"` (which is told to models, and not filled in) or `jsonschema:"optional"`
//   - a rule that says when it is to be there, such as required_if, excluded_with or isdefault
//
// The rule `required` overrules all of these, and refuses the zero value besides: false, 0, "" (but not the
// one that a pointer leads to). Rules hold for what was sent: of a member that was left out, only the rules
// are asked that say when it must be there.
//
// The rules of a struct hold wherever it stands: in slices, maps and behind pointers, with `dive` or without.
// The tags `validate:"-"` and `validate:"structonly"` stop that. Rules that compare fields, such as gtefield,
// are told beside the others, but for those that look at a value that could not be read. A rule that nobody
// knows is an error of [For] that names field and rule; [RegisterRule] adds rules.
//
// Where rules are not enough, give the type a method
//
//	func (b Booking) Issues() []fault.Issue
//
// It is asked about documents in which nothing else is wrong. Each issue has a Pointer such as "/nights", the
// name of a Rule, and an Expected that reads after "expected".
//
// What a Go type means as JSON:
//
//   - names are exact; unknown members are refused
//   - null stands for a pointer without the rule `required`, or for an any
//   - 2.0 and 2e0 are integers; a number must fit its Go type
//   - an int or uint has the same schema on every machine; the decoder holds it to the bits that it has there
//     (32 on 386)
//   - a type with a JSON or text decoder of its own is judged by that decoder; a method JSONSchema describes
//     it to models
//   - a constraint in a `jsonschema` tag is held too; both the schema and the rules then judge
//   - `retake:"echo"` on a field lets issues show the value that was received there (at most 100 bytes)
//   - a model is told the number or boolean that a rule refused ("expected at most 30, got 40");
//     `retake:"noecho"` on a field keeps it to the kind
//   - `retake:"secret"` on a field says that its values are not to be kept: see [Schema.Secrets]
//
// Rules that JSON Schema has no exact words for (email, datetime, eqfield, required_if, …) are told to models
// by a format or in a description, and the validator alone judges them; what the schema says exactly, the
// schema judges.
package schema
