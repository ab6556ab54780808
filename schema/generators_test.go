package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// generators has schemas that generators wrote, with good and bad replies of models. `go test ./schema -run
// Generators -rewrite` rewrites the issues of each. Read every text as a model would before you commit it.
const generators = "testdata/generators"

func TestGenerators(t *testing.T) {
	datadriven.Walk(t, generators, func(t *testing.T, path string) {
		var s *schema.Schema
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			doc := []byte(d.Input)
			if d.Cmd == "compile" {
				var err error
				if s, err = schema.Compile(doc); err != nil {
					return err.Error()
				}
				return "ok"
			}
			require.Equal(t, "check", d.Cmd, d.Pos)
			issues := s.Check(doc)
			assert.Equal(t, byTheLibrary(t, s, doc), len(issues) == 0, d.Pos)
			if len(issues) == 0 {
				return "good"
			}
			return strings.Join(lines(issues), "\n")
		})
	})
}

// byTheLibrary is the verdict of the library alone.
func byTheLibrary(t *testing.T, s *schema.Schema, doc []byte) bool {
	c := jsonschema.NewCompiler()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.JSON()))
	require.NoError(t, err)
	require.NoError(t, c.AddResource("mem:///schema", tree))
	compiled, err := c.Compile("mem:///schema")
	require.NoError(t, err)
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	return dec.Decode(&v) == nil && compiled.Validate(v) == nil
}
