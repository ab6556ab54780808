package schema_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

type sizes struct {
	Int    int            `json:"int"`
	Uint   uint           `json:"uint"`
	Ptr    *int           `json:"ptr"`
	List   []uint         `json:"list,omitempty"`
	ByName map[string]int `json:"by_name,omitempty"`
	Capped int            `json:"capped,omitempty" validate:"max=5000000000"`
	Small  int32          `json:"small,omitempty"`
}

// The digest of a schema is the same on every machine, so a run can continue on another one.
func TestASchemaIsTheSameOnEveryMachine(t *testing.T) {
	typed, err := schema.For[sizes]()
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["int","uint"],"properties":{
		"int":{"type":"integer"},"uint":{"type":"integer","minimum":0},"ptr":{"type":["integer","null"]},
		"list":{"type":"array","items":{"type":"integer","minimum":0}},
		"by_name":{"type":"object","additionalProperties":{"type":"integer"}},
		"capped":{"type":"integer","maximum":5000000000},
		"small":{"type":"integer","minimum":-2147483648,"maximum":2147483647}}}`, string(typed.Schema().JSON()))
}

// A value that is too large for the machine's int is an issue. It never becomes another value.
func TestAnIntIsHeldToTheBitsOfTheMachine(t *testing.T) {
	typed, err := schema.For[sizes]()
	require.NoError(t, err)
	most, mostUint := strconv.Itoa(math.MaxInt), strconv.FormatUint(math.MaxUint, 10)
	v, issues := typed.Decode([]byte(`{"int":` + most + `,"uint":` + mostUint + `,"ptr":` + most + `}`))
	require.Empty(t, issues)
	assert.Equal(t, math.MaxInt, v.Int)
	assert.Equal(t, uint(math.MaxUint), v.Uint)

	beyond := "1" + most // one digit more
	_, issues = typed.Decode([]byte(`{"int":` + beyond + `,"uint":1` + mostUint + `,"ptr":-` + beyond +
		`,"list":[1` + mostUint + `],"by_name":{"a":` + beyond + `}}`))
	require.Len(t, issues, 5)
	for n, want := range []fault.Issue{
		{Pointer: "/by_name/a", Rule: "maximum", Expected: "at most " + most},
		{Pointer: "/int", Rule: "maximum", Expected: "at most " + most},
		{Pointer: "/list/0", Rule: "maximum", Expected: "at most " + mostUint},
		{Pointer: "/ptr", Rule: "minimum", Expected: "at least " + strconv.Itoa(math.MinInt)},
		{Pointer: "/uint", Rule: "maximum", Expected: "at most " + mostUint},
	} {
		want.Got, want.Source, want.Sent = "integer", fault.FromSchema, issues[n].Sent
		assert.Equal(t, want, issues[n])
	}
}
