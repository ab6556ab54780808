// Package schema checks untrusted JSON against a JSON Schema or a Go type and says everything that is wrong
// with it, as [fault.Issue] values that are the same, in the same order, in every run.
//
// The library santhosh-tekuri/jsonschema compiles a schema: drafts, references and metaschemas are its work.
// One evaluator of ours applies the compiled schema and finds every issue: the place, the rule, and what
// would be right. It applies each schema to each value once, so its work is bounded by the size of the schema
// times the size of the document. A [Budget] bounds the work of all checks of one reply. The official test
// suite of JSON Schema tests the verdicts, and a fuzz target compares them with those of the library. No text
// of a decoder or validator ever enters an issue: all phrases are made here, from the schema.
//
// [Compile] takes a JSON Schema, which is Draft 2020-12 unless it says otherwise. `format` is an annotation,
// as the standard has it by default. Numbers are compared exactly, and 1.0 is an integer. [For] takes a Go
// type: its schema tells models every rule, and [Typed.Decode] checks and decodes documents.
//
// # What a Go type means
//
// A member is required to be there. It may be left out where one of these says so:
//
//   - omitempty or omitzero, in the json or the validate tag; omitnil in the validate tag
//   - a pointer; null may stand there too
//   - `jsonschema:"default=…"` (which is told to models, and not filled in) or `jsonschema:"optional"`
//   - `jsonschema:"oneof_required=…"` or "anyof_required=…": the members of a group are to be there
//   - a rule that says when it is to be there, such as required_if, excluded_with or isdefault
//
// The rule `required` overrules all of these. It also refuses the zero value: false, 0 or "", but not the
// zero value of a pointer's target. Other rules hold for members that were sent. For a member that was left
// out, only those rules count that say when it must be given.
//
// A field without a validate tag takes its rules from its tag `binding`, as gin names it.
//
// The rules of a struct hold wherever it stands: in slices, maps and behind pointers, with `dive` or without.
// The tags `validate:"-"` and `validate:"structonly"` switch them off. Rules that compare fields, such as
// gtefield, are checked together with the others; one is skipped if a value that it looks at could not be
// read. A rule that is unknown, or that no value could be held to, is an error of [For] that names the field
// and the rule; [RegisterRule] adds rules.
//
// Where rules are not enough, give the type a method
//
//	func (b Booking) Issues() []fault.Issue
//
// It is called for each value of the type in which nothing else is wrong, and what it says is told if nothing
// else is wrong with the document. Each issue has a Pointer within the value such as "/nights", the name of a
// Rule, and an Expected that reads after "expected".
//
// What a Go type means as JSON:
//
//   - names are exact; unknown members are refused
//   - null stands for an any, and for a pointer without the rule `required` that is not the whole document
//   - an empty list or object is an empty slice or map, and not nil
//   - a []byte or [n]byte is a base64 string
//   - 2.0 and 2e0 are integers; a number must fit its Go type
//   - an int or uint has the same schema on every machine; a value must fit the bits that it has there
//     (32 on 386)
//   - a type with a JSON or text decoder of its own is read by that decoder, from canonical JSON
//   - what the methods JSONSchema and JSONSchemaExtend of a type say is told to models, and holds
//   - constraints in a `jsonschema` tag hold too, beside the rules, and so does the type that it gives to a
//     value with a decoder of its own; a tag of plain words is a description
//   - `retake:"echo"` on a field lets issues show the value that was received (at most 100 bytes)
//   - the model is told the number or boolean that a rule refused ("expected at most 30, got 40");
//     `retake:"noecho"` on a field leaves it at the kind
//   - `retake:"secret"` on a field says that its values must not be kept: see [Schema.Secrets]
//
// JSON Schema has no exact words for some rules, such as email, datetime, eqfield and required_if. The schema
// tells models of these by a format or in a description, and the validator checks them. All other rules are
// checked by the schema.
package schema
