package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// object of one required member.
func of(member string) string {
	return `{"type":"object","properties":{"a":` + member + `},"required":["a"],"additionalProperties":false}`
}

func TestStrictModeTakesWhatFits(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"scalars", of(`{"type":"integer","minimum":1}`), "="},
		{"a choice", of(`{"enum":["x","y"]}`), "="},
		{"a constant", of(`{"const":"x"}`), "="},
		{"null or a string", of(`{"type":["string","null"],"description":"A."}`), "="},
		{"alternatives", of(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), "="},
		{"a list", of(`{"type":"array","items":{"type":"string"},"minItems":1}`), "="},
		{"an object within", of(of(`{"type":"string"}`)), "="},
		{"recursion", `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`, "="},
		{"a known format", of(`{"type":"string","format":"date-time"}`), "="},
		{"a length", of(`{"type":"string","minLength":1}`), of(`{"type":"string","description":"(minLength 1)"}`)},
		{"remarks", of(`{"type":"string","description":"A.","default":"x","examples":["y"]}`), of(`{"type":"string","description":"A. (default \"x\", examples [\"y\"])"}`)},
		{"an unknown format", of(`{"type":"string","format":"uri"}`), of(`{"type":"string","description":"(format \"uri\")"}`)},
		{"looking around", of(`{"type":"string","pattern":"^(?!x)"}`), of(`{"type":"string","description":"(pattern \"^(?!x)\")"}`)},

		{"digits", of(`{"type":"string","pattern":"^\\d+$"}`), "="},
		{"letters, which Python knows not", of(`{"type":"string","pattern":"^\\p{L}$"}`), of(`{"type":"string","description":"(pattern \"^\\\\p{L}$\")"}`)},

		{"no object", `{"type":"string"}`, ""},
		{"true", `true`, ""},
		{"alternatives at the root", `{"type":"object","anyOf":[{"type":"object"}]}`, ""},
		{"an optional member", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, ""},
		{"another member is required", `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],"additionalProperties":false}`, ""},
		{"further members", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, ""},
		{"a map", of(`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`), ""},
		{"anything", of(`{"description":"Any value."}`), ""},
		{"true within", of(`true`), ""},
		{"a list of anything", of(`{"type":"array","items":{}}`), ""},
		{"a tuple", of(`{"type":"array","prefixItems":[{"type":"string"}]}`), ""},
		{"all of", of(`{"allOf":[{"type":"string"}]}`), ""},
		{"a keyword nobody knows", of(`{"type":"string","x-rule":1}`), ""},
		{"a reference with company", `{"type":"object","properties":{"a":{"$ref":"#","description":"A."}},"required":["a"],"additionalProperties":false}`, ""},
		{"too deep", strings.Repeat(`{"type":"object","properties":{"a":`, 11) + `{"type":"string"}` + strings.Repeat(`},"required":["a"],"additionalProperties":false}`, 11), ""},
		{"a long list of choices", of(`{"enum":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 251), ",") + `]}`), ""},
		{"too many letters", of(`{"const":"` + strings.Repeat("x", maxChars) + `"}`), ""},
	} {
		got, ok := strict(json.RawMessage(c.doc), true)
		want := c.want
		if want == "=" {
			want = c.doc
		}
		assert.Equal(t, want != "", ok, c.name)
		if ok {
			assert.JSONEq(t, want, string(got), c.name)
		}
	}
}

// OpenAI refuses a list without items, and llama.cpp reads {} as an object.
func TestWhatMayBeAnythingSaysSo(t *testing.T) {
	for member, want := range map[string]string{
		`{"type":"array"}`: `{"type":"array","items":{"description":"Any value."}}`,
		`{"type":"array","prefixItems":[{"type":"string"}]}`:               `{"type":"array","prefixItems":[{"type":"string"}],"items":{"description":"Any value."}}`,
		`{"type":"array","prefixItems":[{"type":"string"}],"items":false}`: `{"type":"array","prefixItems":[{"type":"string"}],"items":{"description":"Any value."}}`,
		`{"type":["array","null"]}`:                                        `{"type":["array","null"],"items":{"description":"Any value."}}`,
		`{"type":"object"}`:                                                `{"type":"object","properties":{},"additionalProperties":true}`,
		`{"type":"object","additionalProperties":{}}`:                      `{"type":"object","properties":{},"additionalProperties":{"description":"Any value."}}`,
		`{}`:   `{"description":"Any value."}`,
		`true`: `{"description":"Any value."}`,
	} {
		assert.JSONEq(t, of(want), string(complete(json.RawMessage(of(member)))), member)
	}
	assert.Equal(t, `{"type":"object","properties":{}}`, string(complete(json.RawMessage(`{"type":"object"}`))), "a tool without arguments")
}

func TestTooManyMembersDoNotFit(t *testing.T) {
	var properties, required []string
	for n := range maxProperties + 1 {
		properties = append(properties, fmt.Sprintf(`"a%d":{"type":"string"}`, n))
		required = append(required, fmt.Sprintf(`"a%d"`, n))
	}
	doc := `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`
	_, ok := strict(json.RawMessage(doc), true)
	assert.False(t, ok)
}

// The converted schema accepts everything that the original accepts.
func TestNoSchemaBecomesStricter(t *testing.T) {
	docs := []string{`{"a":"x"}`, `{"a":""}`, `{"a":1}`, `{"a":[]}`, `{"a":["x","x"]}`, `{"a":{"a":null}}`, `{}`, `{"a":null,"b":1}`, `[]`, `3`}
	for _, doc := range []string{
		`{}`, `{"type":"object"}`, of(`{"type":"string","minLength":1}`), of(`{"type":"array"}`), of(`{"type":"array","items":{"type":"string"},"uniqueItems":true}`),
		of(`{"type":["object","null"]}`), `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"array"}]}},"anyOf":[{"required":["a"]}]}`,
		`{"type":"object","patternProperties":{"^a":{"type":"object"}},"$defs":{"x":{"type":"array"}}}`,
	} {
		before, err := schema.Compile([]byte(doc))
		require.NoError(t, err)
		completed := complete(json.RawMessage(doc))
		after, err := schema.Compile(completed)
		require.NoError(t, err)
		for _, d := range docs {
			assert.Equal(t, before.Check([]byte(d)), after.Check([]byte(d)), "%s on %s", doc, d)
		}
		fitting, ok := strict(completed, false)
		if !ok {
			continue
		}
		relaxed, err := schema.Compile(fitting)
		require.NoError(t, err)
		for _, d := range docs {
			if before.Check([]byte(d)) == nil {
				assert.Empty(t, relaxed.Check([]byte(d)), "%s on %s", fitting, d)
			}
		}
	}
}

func FuzzSchema(f *testing.F) {
	for _, doc := range []string{`{}`, `true`, of(`{"type":"array"}`), of(`{"type":"string","minLength":1,"description":"<b>"}`), `{"type":"object","properties":{"properties":{"enum":[1]}}}`, `{"a`, `{"items":[{"type":"array"}]}`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) {
			_ = complete(doc)
			return
		}
		completed := complete(doc)
		require.True(t, json.Valid(completed), "%s", completed)
		assert.Equal(t, string(completed), string(complete(completed)), "completing twice")
		for _, bounded := range []bool{true, false} {
			once, ok := strict(completed, bounded)
			if !ok {
				continue
			}
			require.True(t, json.Valid(once), "%s", once)
			twice, ok := strict(once, bounded)
			require.True(t, ok)
			assert.Equal(t, string(once), string(twice), "strict twice")
		}
	})
}
