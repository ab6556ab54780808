package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/schema"
)

// byLibrary is the verdict of the library alone. judges is false where it cannot be compared with ours.
func byLibrary(text, doc []byte) (good, judges bool) {
	if strings.Contains(string(text), `"format"`) || strings.Contains(string(text), "draft-0") && strings.Contains(string(text), `"$ref"`) {
		return false, false // it asserts formats in old drafts, and takes some of what stands beside a reference
	}
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return false, false
	}
	c := jsonschema.NewCompiler()
	if c.AddResource("mem:///schema", tree) != nil {
		return false, false
	}
	compiled, err := c.Compile("mem:///schema")
	if err != nil {
		return false, false
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
	if err != nil {
		return false, false
	}
	return compiled.Validate(v) == nil, true
}

// sameVerdict compares our verdict with that of the library.
func sameVerdict(t require.TestingT, text, doc []byte) {
	s, err := schema.Compile(text)
	if err != nil || schema.Strict(doc, schema.DefaultLimits()) != nil {
		return
	}
	issues := s.Check(doc)
	require.Equal(t, issues, s.Check(doc))
	if good, judges := byLibrary(text, doc); judges {
		require.Equal(t, good, len(issues) == 0, "the library finds it good: %v; we find %v\n%s\n%s", good, issues, text, doc)
	}
}

func TestVerdicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draft := rapid.SampledFrom(drafts).Draw(t, "draft")
		root := drawSchema(t, draft, 3)
		root["$defs"] = map[string]any{"x": drawSchema(t, draft, 2)}
		root["$schema"] = draft
		text, err := json.Marshal(root)
		require.NoError(t, err)
		for range 5 {
			sameVerdict(t, text, []byte(drawDocument(t, 3)))
		}
	})
}

// FuzzVerdict compares our verdict with that of the library, for any document and schema. It leaves out what
// the library would take long for.
func FuzzVerdict(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, text, doc []byte) {
		if len(text) < 600 && len(doc) < 200 {
			sameVerdict(t, text, doc)
		}
	})
}

// FuzzDecode compares Decode with Check.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(0), []byte(mixedDocument))
	f.Add(uint8(1), orderDocument(f))
	f.Add(uint8(2), []byte(`{"value":1,"kids":[{"value":1}],"left":null}`))
	f.Add(uint8(3), []byte(`[{"name":"a"},{"name":""}]`))
	f.Add(uint8(4), []byte(`{"a":{"name":"b"},"c":null,"a":null}`))
	f.Fuzz(func(t *testing.T, kind uint8, doc []byte) {
		b := mixedTypes[int(kind)%len(mixedTypes)]
		if len(doc) > 4000 {
			return
		}
		agree(t, b, doc)
	})
}
