package result_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/result"
)

// compiled are the schemas by name.
func compiled(t *testing.T) map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, name := range append(result.Forms(), "one_shot_output", "conversational_output") {
		s, err := jsonschema.NewCompiler().Compile("schemas/" + string(name) + ".json")
		require.NoError(t, err)
		all[string(name)] = s
	}
	return all
}

// check requires that a document fits a schema.
func check(t require.TestingT, s *jsonschema.Schema, doc string) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(doc)))
	require.NoError(t, err)
	require.NoError(t, s.Validate(v), doc)
}

// The schemas refuse invalid documents, as the readers do.
func TestSchemasRefuse(t *testing.T) {
	schemas := compiled(t)
	for _, c := range []struct{ name, good, bad string }{
		{"result_envelope", `{"status":"success","data":1,"x":1}`, `{"status":"sucess","data":1}`},
		{"result_envelope", `{"status":"error","error":"breed-not-found"}`, `{"status":"error"}`},
		{"result_envelope", `{"status":"success","confidence":1}`, `{"status":"success","confidence":2}`},
		{"result_envelope", `{"status":"in-progress","metadata":[]}`, `{"status":"success","data":1,"error":"llm-timeout"}`},
		{"result_envelope", `{"status":"success","execution":{"retryCount":0}}`, `{"status":"success","execution":{"retryCount":-1}}`},
		{"agent_result", `{"cost":0.1,"usage":{}}`, `{"cost":{"input":"x"}}`},
		{"agent_result", `{"error":{"code":"timeout","message":""}}`, `{"error":{"code":"timeout"}}`},
		{"agent_result", `{"rate_limit":{"limited":false,"windows":[{"name":"a","resource":"b"}]}}`, `{"rate_limit":{"limited":false,"windows":[{"name":"a"}]}}`},
		{"agent_response", `{"success":false,"error":"TIMEOUT","message":""}`, `{"success":false,"error":"timeout","message":""}`},
		{"agent_response", `{"success":true,"result":null,"message":""}`, `{"success":true,"result":1}`},
		{"model_response", `{"success":false,"error":"X","message":"","retryAfterMs":0}`, `{"success":false,"error":"X","message":"","result":1}`},
		{"one_shot_output", `{"result":{"status":"success"}}`, `{"result":{"status":"in-progress"}}`},
		{"conversational_output", `{"reply":"","result":{"status":"in-progress"}}`, `{"result":{"status":"in-progress"}}`},
	} {
		check(t, schemas[c.name], c.good)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(c.bad)))
		require.NoError(t, err)
		assert.Error(t, schemas[c.name].Validate(v), c.bad)
	}
}
