package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// Of a member that is not allowed the model is told the name that it probably meant, first of all: of very
// many names only the first are listed.
func TestTheNameThatWasMeantComesFirst(t *testing.T) {
	var many strings.Builder
	for n := range 20 {
		fmt.Fprintf(&many, `"a%d": {}, `, n)
	}
	closed := func(members string) string {
		return `{"type":"object","properties":{` + members + `},"additionalProperties":false}`
	}
	for name, c := range map[string]struct{ schema, document, want string }{
		"slip": {closed(many.String() + `"nights":{}`), `{"nigths":1}`,
			"nights (the nearest name), a0, a1, a10, a11, a12, a13, a14, a15, a16, a17, a18 and 9 more"},
		"case":        {closed(many.String() + `"room":{}`), `{"Room":1}`, "room (the nearest name), a0, a1, a10, a11, a12, a13, a14, a15, a16, a17, a18 and 9 more"},
		"separators":  {closed(`"at":{},"checkInDate":{}`), `{"check_in_date":1}`, "checkInDate (the nearest name), at"},
		"within":      {closed(`"a":{"items":` + closed(`"first":{},"second":{}`) + `}`), `{"a":[{"frist":1}]}`, "first (the nearest name), second"},
		"odd_name":    {closed(`"room size":{},"at":{}`), `{"room_size":1}`, `"room size" (the nearest name), at`},
		"unevaluated": {`{"properties":{"alpha":{}},"allOf":[{"properties":{"beta":{}}}],"unevaluatedProperties":false}`, `{"bata":1}`, "beta (the nearest name), alpha"},
		"only_one":    {closed(`"rivers":{}`), `{"river":1}`, "rivers"},
		"too_short":   {closed(`"x":{},"y":{}`), `{"z":1}`, "x, y"},
		"sent":        {closed(`"path":{},"query":{}`), `{"paths":1,"path":2}`, "path, query"},
		"far":         {closed(`"city":{},"nights":{}`), `{"price":1}`, "city, nights"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(c.schema))
			require.NoError(t, err)
			issues := s.Check([]byte(c.document))
			require.Len(t, issues, 1)
			names, ok := issues[0].Allowed()
			require.True(t, ok)
			assert.Equal(t, c.want, names)
		})
	}
}

// Where very many names would have to be compared, they are listed as they are.
func TestVeryManyNamesAreNotCompared(t *testing.T) {
	var allowed []string
	for n := range 5000 {
		allowed = append(allowed, fmt.Sprintf(`"name%04d":{}`, n))
	}
	s, err := schema.Compile([]byte(`{"properties":{` + strings.Join(allowed, ",") + `},"additionalProperties":false}`))
	require.NoError(t, err)
	issues := s.Check([]byte(`{"nmae1234":1}`))
	require.Len(t, issues, 1)
	assert.NotContains(t, issues[0].Expected, "nearest")
}
