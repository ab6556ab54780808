package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/schema"
)

// canonicalDocuments are texts, some of which are no strict JSON or nested too deep.
var canonicalDocuments = []string{
	`{}`, `[]`, `null`, ` "a" `, `-0.0e+01`, `{"b":[1,{"d":2,"c":[]}],"a":{ }}`, `[[],{},[1 , 2]]`,
	`{"\u0061":1,"A":"\u00e9\/\ud83d\ude00\n\u001f\u007f\u2028","":"\"\\"}`,
	"{\"\uffff\":1,\"😀\":2,\"😁\":3,\"\ue000\":4,\"a\":5,\"aa\":6}",
	`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":1} 2`, `{"a":`, `["\ud800"]`, "[\"\xff\"]", ``, `[1,]`, `01`,
	strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 513) + strings.Repeat("]", 513),
	`[` + strings.Repeat(`1,`, 100_001) + `1]`, members(18), members(18, 3), members(18, 15), members(18, 16), members(20, 17),
}

// members is an object with so many members of different names, and more with the names of some.
func members(count int, again ...int) string {
	var all []string
	for n := range count {
		all = append(all, fmt.Sprintf(`"m%d":%d`, n, n))
	}
	for _, n := range again {
		all = append(all, fmt.Sprintf(`"\u006d%d":0`, n))
	}
	return "{" + strings.Join(all, ",") + "}"
}

func TestCanonicalFormIsThatOfAllJSON(t *testing.T) {
	for _, doc := range canonicalDocuments {
		checkCanonical(t, doc)
	}
}

// FuzzCanonical holds the canonical form that a check makes of what it has read to that of all JSON.
func FuzzCanonical(f *testing.F) {
	for _, doc := range canonicalDocuments {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) { checkCanonical(t, doc) })
}

func checkCanonical(t *testing.T, doc string) {
	t.Helper()
	all := compile(t, `true`)
	deeper, err := all.WithLimits(schema.Limits{MaxBytes: 1 << 20, MaxDepth: 1000, MaxValues: 1000})
	require.NoError(t, err)
	want, refused := canon.JSON([]byte(doc))
	for _, s := range []*schema.Schema{all, deeper} {
		r := s.Read(nil, doc)
		assert.Equal(t, string(want), string(r.JSON), "%.99q", doc)
		for _, i := range r.Issues {
			isLimit := slices.Contains([]string{fault.RuleSize, fault.RuleDepth, fault.RuleWork}, i.Rule)
			assert.True(t, isLimit || refused != nil, "%.99q is refused: %s", doc, i)
		}
	}
}

// Where any value may stand, it is what the library makes of it.
func TestAnyValueIsThatOfTheLibrary(t *testing.T) {
	typed, err := schema.For[struct{ V any }]()
	require.NoError(t, err)
	for _, doc := range canonicalDocuments {
		doc = `{"V":` + doc + `}`
		got, issues := typed.Decode([]byte(doc))
		if issues == nil {
			var want struct{ V any }
			require.NoError(t, json.Unmarshal([]byte(doc), &want), "%.99q", doc)
			assert.Equal(t, want, got, "%.99q", doc)
		}
	}
}
