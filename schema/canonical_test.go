package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	`[` + strings.Repeat(`1,`, 100_001) + `1]`,
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
	want, _ := canon.JSON([]byte(doc))
	for _, s := range []*schema.Schema{all, deeper} {
		assert.Equal(t, string(want), string(s.Read(nil, []byte(doc)).JSON), "%.99q", doc)
	}
}
