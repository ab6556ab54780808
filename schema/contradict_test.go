package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

func TestRulesThatNoValueCanKeepAreErrors(t *testing.T) {
	type byRules struct {
		A int `json:"a" validate:"min=1,max=0"`
	}
	lost[byRules](t, "schema: byRules.A: no value can be at least 1 and at most 0: mend the rules")
	type ofLength struct {
		A string `json:"a" validate:"omitempty,min=5,max=2"`
	}
	lost[ofLength](t, "schema: ofLength.A: no value can be at least 5 characters and at most 2 characters: mend the rules")
	type ofItems struct {
		A []int `json:"a" validate:"dive,min=3"`
		B []int `json:"b" validate:"min=3,len=2"`
	}
	lost[ofItems](t, "schema: ofItems.B: no value can be at least 3 items and at most 2 items: mend the rules")
	type ofKeys struct {
		A map[string]int `json:"a" validate:"dive,keys,min=3,max=1,endkeys"`
	}
	lost[ofKeys](t, "schema: ofKeys.A[key]: no value can be at least 3 characters and at most 1 character: mend the rules")
	type empty struct {
		A string `json:"a" validate:"required,len=0"`
	}
	lost[empty](t, "schema: empty.A: no value can be at least 1 character and at most 0 characters: mend the rules")
	type exclusive struct {
		A float64 `json:"a" validate:"gt=1,lt=1"`
	}
	lost[exclusive](t, "schema: exclusive.A: no value can be more than 1 and less than 1: mend the rules")
	type unsigned struct {
		A uint `json:"a" validate:"lt=0"`
	}
	lost[unsigned](t, "schema: unsigned.A: no value can be at least 0 and less than 0: mend the rules")
	type beyond struct {
		A int8 `json:"a" validate:"min=300"`
	}
	lost[beyond](t, "schema: beyond.A: no value can be at least 300 and at most 127: mend the rules")
	type byTag struct {
		A int `json:"a" validate:"min=1" jsonschema:"maximum=0"`
	}
	lost[byTag](t, "schema: byTag.A: no value can be at least 1 and at most 0: mend the rules")
}

func TestRulesThatFewValuesKeepAreNone(t *testing.T) {
	type few struct {
		A int      `json:"a" validate:"min=1,max=1"`
		B string   `json:"b" validate:"min=3,max=2|min=1"`
		C float64  `json:"c" validate:"gt=1,lt=2"`
		D string   `json:"d" validate:"max=3,oneof=abcd efg"`
		E int      `json:"e" validate:"required,oneof=0 1"`
		F []string `json:"f" validate:"len=0"`
		G string   `json:"g" validate:"min=2,omitempty,max=2"`
		H int      `json:"h" validate:"gt=1,lt=3"`
		I [2]int   `json:"i" validate:"min=1"`
		J uint8    `json:"j" validate:"eq=255"`
	}
	_, err := schema.For[few]()
	assert.NoError(t, err)
}

// A bound that the Go type does not reach is not told: its own is.
func TestBoundsAreThoseThatTheTypeCanHold(t *testing.T) {
	type small struct {
		A int8   `json:"a" validate:"max=1000"`
		B int8   `json:"b" validate:"min=-1000,lt=300"`
		C uint8  `json:"c" validate:"lt=300"`
		D int8   `json:"d" validate:"gt=-5,lt=5"`
		E uint8  `json:"e" validate:"gt=0"`
		F int16  `json:"f" validate:"omitempty,max=70000"`
		H uint64 `json:"h" validate:"max=18446744073709551615"`
		I uint   `json:"i" validate:"gt=0"`
	}
	typed, err := schema.For[small]()
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["a","b","c","d","e","h","i"],"properties":{
		"a":{"type":"integer","minimum":-128,"maximum":127},"b":{"type":"integer","minimum":-128,"maximum":127},
		"c":{"type":"integer","minimum":0,"maximum":255},"d":{"type":"integer","exclusiveMinimum":-5,"exclusiveMaximum":5},
		"e":{"type":"integer","exclusiveMinimum":0,"maximum":255},"f":{"type":"integer","minimum":-32768,"maximum":32767},
"h":{"type":"integer","minimum":0,"maximum":18446744073709551615},
		"i":{"type":"integer","exclusiveMinimum":0}}}`, string(typed.Schema().JSON()))
}

func TestAMediaTypeIsNamed(t *testing.T) {
	type in struct {
		A string `json:"a" validate:"mimetype"`
	}
	lost[in](t, `schema: in.A: validate rule "mimetype" needs a parameter: write mimetype=…`)
}
