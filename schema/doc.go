// Package schema checks untrusted JSON against a JSON Schema or a Go type and says everything that is wrong with it, as
// [fault.Issue] values that are the same, in the same order, in every run.
//
// A check has two paths. The fast one decides: a program, made of the compiled schema once, walks the bytes of a document and
// puts what is good straight into the Go value. Only a document that it refuses is walked again to explain, which finds every
// issue: each place that was refused is handed to the library, with the schema of that place. The library stays the judge. A
// program knows the common keywords and rules; a schema, a type or a value that it does not know goes to the library whole,
// and fuzz targets hold the two to the same verdicts, values and issues. No text of a decoder or validator ever enters an
// issue; all phrases are made here from the schema.
//
// [Compile] takes a JSON Schema (Draft 2020-12 unless it says otherwise). `format` is an annotation there, as the
// standard has it by default; numbers are compared exactly, and 1.0 is an integer. [For] takes a Go type: the schema says
// the rules of its `validate` tags, so that a model is told every rule it will be held to, and [Typed.Decode] holds it to them.
//
// What a Go type means as JSON:
//
//   - names are exact; unknown members are refused; a member is required where its absence (the zero value) breaks its rules
//   - null stands only where Go has a pointer or an interface, and only where the rules let it be nil
//   - 2.0 and 2e0 are integers; a number must fit its Go type, and one of floating point is compared as Go rounds it
//   - an int or uint has the same schema on every machine; the decoder holds it to the bits that it has there (32 on 386)
//   - structs reached through slices and maps are held to their rules only where `dive` says so, as the validator does
//   - a type with a JSON or text decoder of its own is judged by that decoder; a method JSONSchema describes it to models
//   - a constraint in a `jsonschema` tag is held too; both the schema and the rules then judge
//   - `retake:"echo"` on a field lets issues show the value that was received there (at most 100 bytes)
//   - `retake:"secret"` on a field says that its values are not to be kept: see [Schema.Secrets]
//   - a method Issues() []fault.Issue on the type adds rules that tags cannot say
//
// Rules that compare fields (eqfield, required_if, unique=Field, …) have no words in JSON Schema: the schema tells them in
// its descriptions, and only the decoder holds a document to them.
package schema
