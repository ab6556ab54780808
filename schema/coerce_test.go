package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// A value of another type is refused and explained; no value is turned into another. A list has no wrapper.
func TestNothingIsCoerced(t *testing.T) {
	type order struct {
		Count int      `json:"count,omitempty"`
		Price float64  `json:"price,omitempty"`
		Paid  bool     `json:"paid,omitempty"`
		Note  string   `json:"note,omitempty"`
		Tags  []string `json:"tags,omitempty"`
	}
	s, err := schema.For[order]()
	require.NoError(t, err)
	for document, want := range map[string]string{
		`{"count": "2"}`:    "count: expected integer, got string",
		`{"count": 2.5}`:    "count: expected integer, got number",
		`{"price": "2.5"}`:  "price: expected number, got string",
		`{"paid": "true"}`:  "paid: expected boolean, got string",
		`{"paid": 1}`:       "paid: expected boolean, got integer",
		`{"note": 5}`:       "note: expected string, got integer",
		`{"tags": "a"}`:     "tags: expected array of strings, got string",
		`{"Count": 2}`:      "Count: expected no member of this name (allowed: count (the nearest name), note, paid, price, tags), got integer",
		`{"count": 2.0}`:    "",
		`{"count": 1e2}`:    "",
		`{"note": " two "}`: "",
	} {
		value, issues := s.Decode([]byte(document))
		if want == "" {
			assert.Empty(t, issues, document)
			assert.NotZero(t, value, document)
			continue
		}
		if assert.Len(t, issues, 1, document) {
			assert.Equal(t, want, issues[0].String(), document)
		}
	}
	list, err := schema.For[[]string]()
	require.NoError(t, err)
	value, issues := list.Decode([]byte(`["a"]`))
	assert.Empty(t, issues)
	assert.Equal(t, []string{"a"}, value)
	_, issues = list.Decode([]byte(`{"items": ["a"]}`))
	assert.Len(t, issues, 1, "the members of a wrapper are not looked for")
}
