package result

import (
	"embed"
	"encoding/json"

	"github.com/retake-go/retake/internal/canon"
)

// Schema is the JSON Schema of the documents that are written in a form. Reading is more lenient: see
// [Decode].
type Schema struct {
	// Name is that of its file in the directory schemas, without ".json".
	Name string
	// Doc is canonical JSON.
	Doc json.RawMessage
}

// files are generated from the structs of the documents; a test compares them.
//
//go:embed schemas/*.json
var files embed.FS

// Schemas returns the JSON Schemas (Draft 2020-12) of all forms and of the outputs of the result envelope, in
// a fixed order. The slice is the caller's own.
func Schemas() []Schema {
	var all []Schema
	for _, name := range append(Forms(), "one_shot_output", "conversational_output") {
		s := Schema{Name: string(name)}
		if text, err := files.ReadFile("schemas/" + s.Name + ".json"); err == nil {
			s.Doc, _ = canon.JSON(text)
		}
		all = append(all, s)
	}
	return all
}
