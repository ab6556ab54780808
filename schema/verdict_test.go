package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/schema"
)

// byLibrary is the verdict of the library alone. judges is false where it cannot be compared with ours.
func byLibrary(text, doc []byte) (good, judges bool) {
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return false, false
	}
	if strings.Contains(string(text), `"regex"`) {
		return false, false // a format that it asserts in old drafts, whatever it is told
	}
	c := jsonschema.NewCompiler()
	for _, format := range formatNames(tree) {
		c.RegisterFormat(&jsonschema.Format{Name: format, Validate: func(any) error { return nil }})
	}
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

// formatNames lists the texts of all members named format.
func formatNames(tree any) (names []string) {
	switch at := tree.(type) {
	case map[string]any:
		if name, ok := at["format"].(string); ok {
			names = append(names, name)
		}
		for _, v := range at {
			names = append(names, formatNames(v)...)
		}
	case []any:
		for _, v := range at {
			names = append(names, formatNames(v)...)
		}
	}
	return names
}

// sameVerdict compares our verdict with that of the library, and reports whether it could.
func sameVerdict(t require.TestingT, text, doc []byte) (compared bool) {
	s, err := schema.Compile(text)
	if err != nil || schema.Strict(doc, schema.DefaultLimits()) != nil {
		return false
	}
	issues := s.Check(doc)
	require.Equal(t, issues, s.Check(doc))
	if written, err := canon.JSON(doc); err == nil && len(issues) < 100 { // of more those are told that are found first
		require.Equal(t, issues, s.Check(written), "as it is recorded\n%s\n%s", text, doc)
	}
	good, judges := byLibrary(text, doc)
	if judges {
		require.Equal(t, good, len(issues) == 0, "the library finds it good: %v; we find %v\n%s\n%s", good, issues, text, doc)
	}
	return judges
}

func TestVerdicts(t *testing.T) {
	all, compared := 0, 0
	defer func() { assert.Greater(t, compared, all*6/10, "of %d pairs", all) }()
	rapid.Check(t, func(t *rapid.T) {
		draft := rapid.SampledFrom(drafts).Draw(t, "draft")
		root := drawSchema(t, draft, 3)
		root["$defs"] = map[string]any{"x": drawSchema(t, draft, 2)}
		root["$schema"] = draft
		text, err := json.Marshal(root)
		require.NoError(t, err)
		for range 5 {
			all++
			if sameVerdict(t, text, []byte(drawDocument(t, 3))) {
				compared++
			}
		}
	})
}

// FuzzVerdict compares our verdict with that of the library, for any document and schema. It leaves out what
// the library would take long for.
func FuzzVerdict(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	for _, draft := range drafts {
		text := fmt.Appendf(nil, `{"$schema":%q,"properties":{"a":{"format":"email"}},"additionalProperties":{"format":"date"}}`, draft)
		doc := []byte(`{"a":"no address","b":"no date"}`)
		require.True(f, sameVerdict(f, text, doc))
		f.Add(text, doc)
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
