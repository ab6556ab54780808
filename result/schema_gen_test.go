package result

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

var rewrite = flag.Bool("rewrite", false, "write the schemas anew; look at every difference before you commit it")

// The committed schemas are those of the structs that describe the documents.
func TestSchemas(t *testing.T) {
	files, err := filepath.Glob("schemas/*.json")
	require.NoError(t, err)
	schemas := map[string]*jsonschema.Schema{
		"result_envelope": schemaOf("result_envelope", envelope{}, true), "agent_result": schemaOf("agent_result", agentResult{}, true),
		"agent_response": schemaOf("agent_response", agentResponse{}, true), "model_response": schemaOf("model_response", modelResponse{}, true),
		"one_shot_output": schemaOf("one_shot_output", oneShot{}, false), "conversational_output": schemaOf("conversational_output", conversation{}, false),
	}
	assert.Len(t, files, len(schemas), "a file for each schema, and no other")
	for name, s := range schemas {
		var text bytes.Buffer
		out := json.NewEncoder(&text)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		require.NoError(t, out.Encode(s))
		path := filepath.Join("schemas", name+".json")
		if *rewrite {
			require.NoError(t, os.WriteFile(path, text.Bytes(), 0o644))
		}
		committed, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text.String(), string(committed), "%s is out of date: go generate ./result", path)
	}
}

// rules are the rules of a form about several members.
var rules = map[string]string{
	"result_envelope": `[
		{"properties":{"status":{"const":"success"},"error":false}},
		{"properties":{"status":{"const":"error"},"data":false},"required":["error"]},
		{"properties":{"status":{"const":"in-progress"},"data":false,"error":false}}]`,
	"agent_response": responseRules, "model_response": responseRules,
}

const responseRules = `[
	{"properties":{"success":{"const":true},"error":false}},
	{"properties":{"success":{"const":false},"result":false},"required":["error"]}]`

// schemaOf returns the schema of a document. Only the documents of forms have the extension.
func schemaOf(name string, document any, extended bool) *jsonschema.Schema {
	s := reflected(document)
	s.Title = name
	if extended {
		s.Properties.Set("retake", reflected(extension{}))
	}
	if r := rules[name]; r != "" {
		if err := json.Unmarshal([]byte(r), &s.OneOf); err != nil {
			panic(err)
		}
	}
	inner, _ := s.Properties.Get("result")
	if name == "one_shot_output" || name == "conversational_output" {
		whole := schemaOf("result_envelope", envelope{}, true)
		whole.Version, whole.Title, whole.Description = "", "", inner.Description
		s.Properties.Set("result", whole)
	}
	if name == "one_shot_output" {
		result, _ := s.Properties.Get("result")
		status, _ := result.Properties.Get("status")
		status.Enum = status.Enum[:2] // a single turn is never in progress
	}
	return s
}

func reflected(document any) *jsonschema.Schema {
	r := jsonschema.Reflector{DoNotReference: true, ExpandedStruct: true, Anonymous: true, AllowAdditionalProperties: true, Mapper: schemaOfType}
	r.LookupComment = func(of reflect.Type, field string) string { return comments()[of.Name()+"."+field] }
	s := r.Reflect(document)
	if reflect.TypeOf(document) == reflect.TypeFor[extension]() {
		s.Version = ""
		failed, _ := s.Properties.Get("error")
		retryable, _ := failed.Properties.Get("retryable") // null means unknown
		retryable.Type, retryable.Extras = "", map[string]any{"type": []string{"boolean", "null"}}
	}
	return s
}

// comments returns the comments of this package's struct fields, by "struct.field".
var comments = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, name := range []string{"wire.go", "output.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, _ := n.(*ast.TypeSpec)
			if spec == nil {
				return true
			}
			if of, is := spec.Type.(*ast.StructType); is {
				for _, field := range of.Fields.List {
					for _, called := range field.Names {
						all[spec.Name.Name+"."+called.Name] = strings.TrimSpace(field.Doc.Text())
					}
				}
			}
			return false
		})
	}
	return all
})

// schemaOfType returns the schema of a type with a JSON form of its own; nil for other types.
func schemaOfType(of reflect.Type) *jsonschema.Schema {
	text := map[reflect.Type]string{
		reflect.TypeFor[Status]():          `{"type":"string","enum":["success","error","in-progress"]}`,
		reflect.TypeFor[success]():         `{"type":"boolean"}`,
		reflect.TypeFor[bool]():            `{"type":"boolean"}`,
		reflect.TypeFor[float64]():         `{"type":"number","minimum":0,"maximum":1}`,
		reflect.TypeFor[int]():             `{"type":"integer","minimum":0}`,
		reflect.TypeFor[int64]():           `{"type":"integer","minimum":0}`,
		reflect.TypeFor[tokens]():          `{"type":"integer","minimum":0}`,
		reflect.TypeFor[ratelimit.Count](): `{"type":"integer","minimum":0}`,
		reflect.TypeFor[httpStatus]():      `{"type":"integer","minimum":100,"maximum":999}`,
		reflect.TypeFor[millis]():          `{"type":"number","minimum":0}`,
		reflect.TypeFor[waitMillis]():      `{"type":"number","minimum":0}`,
		reflect.TypeFor[ratelimit.Span]():  `{"type":"number","minimum":0}`,
		reflect.TypeFor[ratelimit.Date]():  `{"type":"number","minimum":0}`,
		reflect.TypeFor[total]():           `{"type":"number","minimum":0}`,
		reflect.TypeFor[json.RawMessage](): `{}`,
		reflect.TypeFor[original]():        `{}`,
		reflect.TypeFor[object]():          `{"type":"object"}`,
		reflect.TypeFor[said]():            `{"type":"string"}`,
		reflect.TypeFor[content]():         `{"type":"string"}`,
		reflect.TypeFor[contentRole]():     `{"type":"string","enum":["text","both"]}`,
		reflect.TypeFor[fault.Class]():     `{"type":"string","minLength":1}`,
		reflect.TypeFor[Extra]():           `{"type":"object","additionalProperties":{"type":"object"}}`,
	}[of]
	s := &jsonschema.Schema{}
	switch of {
	case reflect.TypeFor[Cost]():
		parts := reflected(costParts{})
		parts.Version = ""
		for part := parts.Properties.Oldest(); part != nil; part = part.Next() {
			part.Value.Minimum, part.Value.Maximum = "0", "" // no fraction, as other numbers are
		}
		s.OneOf = []*jsonschema.Schema{{Type: "number", Minimum: "0"}, parts}
		return s
	case reflect.TypeFor[kebabCode]():
		return codes(func(n fault.Names) string { return n.ResultEnvelope })
	case reflect.TypeFor[snakeCode]():
		return codes(func(n fault.Names) string { return n.AgentResult })
	case reflect.TypeFor[upperCode]():
		s = codes(func(n fault.Names) string { return n.AgentError })
		s.Pattern = "^[A-Z0-9_]+$"
		return s
	}
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		panic(err)
	}
	return s
}

// codes returns the schema of an error code. The built-in names are examples: an agent may have its own.
func codes(name func(fault.Names) string) *jsonschema.Schema {
	one := uint64(1)
	s := &jsonschema.Schema{Type: "string", MinLength: &one}
	seen := map[string]bool{}
	for _, class := range append(fault.Transport.Classes(), fault.Correction.Classes()...) {
		if n := name(class.Names()); !seen[n] {
			seen[n] = true
			s.Examples = append(s.Examples, n)
		}
	}
	return s
}
