package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// elsewhere is a type whose own issues name places that its documents do not have.
type elsewhere struct {
	City   string   `json:"city" retake:"echo"`
	Nights []int    `json:"nights,omitempty" retake:"echo"`
	Inner  struct{} `json:"inner,omitempty" retake:"echo"`
}

func (elsewhere) Issues() (issues []fault.Issue) {
	for _, place := range []string{"/hotel", "/city/street", "/nights/7", "/nights/x", "/inner/a/b", "/", "//", "/~2", "~"} {
		for _, rule := range []string{"type", "anyOf", "required", "own"} {
			issues = append(issues, fault.Issue{Pointer: place, Rule: rule, Expected: "something else", Got: fault.String})
		}
	}
	return issues
}

// An issue of a type's own method may name a place that does not exist: nothing is echoed, and nothing
// panics.
func TestAnIssueMayNameAPlaceThatDoesNotExist(t *testing.T) {
	typed, err := schema.For[elsewhere]()
	require.NoError(t, err)
	for _, doc := range []string{`{"city":"Lisbon"}`, `{"city":"Lisbon","nights":[1,2],"inner":{}}`} {
		_, issues := typed.Decode([]byte(doc))
		require.Len(t, issues, 36)
		for _, i := range issues {
			assert.Empty(t, i.Value)
		}
	}
}
