package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// TestWhatIsKeptOfOnePlaceIsToldOfAnother has one node stand at many places, which differ in whether a member may be left out.
func TestWhatIsKeptOfOnePlaceIsToldOfAnother(t *testing.T) {
	s, err := schema.Compile([]byte(`{"$defs":{"n":{"type":"integer","minimum":1}},"properties":{
		"a":{"required":["b"],"properties":{"b":{"$ref":"#/$defs/n"},"c":{"$ref":"#/$defs/n"}}},
		"a/b":{"$ref":"#/$defs/n"},"a~1b":{"$ref":"#/$defs/n"},"":{"$ref":"#/$defs/n"},"ab":{"$ref":"#/$defs/n"},
		"list":{"items":{"$ref":"#/$defs/n"}}},"additionalProperties":false}`))
	require.NoError(t, err)
	docs := []string{
		`{"a":{"b":"x"}}`, `{"a/b":"x"}`, `{"a":{"c":"x"}}`, `{"a~1b":"x"}`, `{"":"x"}`, `{"ab":"x","a":{"b":0}}`, `{"list":["x",0,"y"]}`, `{"a/b":0,"x":1}`,
		`{"a":{},"y":1}`, `"x"`,
	}
	for range 2 {
		for _, first := range docs {
			for _, doc := range []string{first, `{"a":{"b":"x","c":0},"list":[1,"x"]}`} {
				sameVerdict(t, s, []byte(doc))
				require.Len(t, s.Check([]byte(first)), len(schema.CheckSlowly(s, []byte(first))))
			}
		}
	}
}

// TestLongNamesAreNotKept has members whose names are as long as a document may be: they are no part of what is kept with a schema.
func TestLongNamesAreNotKept(t *testing.T) {
	for _, text := range []string{`{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":false}`} {
		s, err := schema.Compile([]byte(text))
		require.NoError(t, err)
		sameVerdict(t, s, []byte(`{"`+strings.Repeat("n", 1<<16)+`":"x"}`))
		require.Zero(t, schema.Kept(s), text)
		sameVerdict(t, s, []byte(`{"short":"x"}`))
		require.Positive(t, schema.Kept(s), text)
	}
}
