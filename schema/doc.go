// Package schema checks untrusted JSON against a JSON Schema or a Go type and says everything that is wrong with it, as
// [fault.Issue] values that are the same, in the same order, in every run.
//
// The library (santhosh-tekuri/jsonschema) compiles a schema: drafts, references, metaschemas. One evaluator of ours walks what it
// compiled, and finds every issue: the value that is refused, by which rule, and what would be right. It asks each schema about each value
// once, so that work is bounded by the size of the schema times that of the document, and a [Budget] bounds the work of all checks of a
// reply. The official test suite is the judge of its verdicts, and the library's own verdict the oracle of a fuzz target. No text of a
// decoder or validator ever enters an issue; all phrases are made here from the schema.
//
// A check of a Go type goes on: what the schema was asked about is put into a variable, and the validator holds that to its `validate`
// tags. It says what JSON Schema cannot say; of what the schema has said already, it is not told again.
//
// [Compile] takes a JSON Schema (Draft 2020-12 unless it says otherwise). `format` is an annotation there, as the
// standard has it by default; numbers are compared exactly, and 1.0 is an integer. [For] takes a Go type: the schema says
// the rules of its `validate` tags, so that a model is told every rule it will be held to, and [Typed.Decode] holds it to them.
//
// What a Go type means as JSON:
//
//   - names are exact; unknown members are refused; a member is required where its absence (the zero value) breaks its rules
//   - null stands only where Go has a pointer or an interface, and only where the rules let it be nil
//   - 2.0 and 2e0 are integers; a number must fit its Go type
//   - an int or uint has the same schema on every machine; the decoder holds it to the bits that it has there (32 on 386)
//   - structs reached through slices and maps are held to their rules only where `dive` says so, as the validator does
//   - a type with a JSON or text decoder of its own is judged by that decoder; a method JSONSchema describes it to models
//   - a constraint in a `jsonschema` tag is held too; both the schema and the rules then judge
//   - `retake:"echo"` on a field lets issues show the value that was received there (at most 100 bytes)
//   - `retake:"secret"` on a field says that its values are not to be kept: see [Schema.Secrets]
//   - a method Issues() []fault.Issue on the type adds rules that tags cannot say
//
// Rules that JSON Schema has no exact words for (email, datetime, eqfield, required_if, …) are told to models by a format or in a
// description, and the validator alone judges them. Rules that compare fields are not told where one of a document's values cannot be read.
package schema
