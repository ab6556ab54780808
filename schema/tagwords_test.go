package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// described returns what models are told of the members of a type, beside their types.
func described[T any](t *testing.T) map[string]string {
	t.Helper()
	typed, err := schema.For[T]()
	require.NoError(t, err)
	var doc struct {
		Properties map[string]struct {
			Title, Description string
		}
	}
	require.NoError(t, json.Unmarshal(typed.Schema().JSON(), &doc))
	all := map[string]string{}
	for name, p := range doc.Properties {
		all[name] = p.Title + "|" + p.Description
	}
	return all
}

func TestTheTextsOfTagsAreToldWhole(t *testing.T) {
	type texts struct {
		Plain  string   `json:"plain" jsonschema:"the city, or nothing"`
		Comma  int      `json:"comma" jsonschema:"required,description=a number, of things, e.g. n=3,minimum=1"`
		Title  string   `json:"title" jsonschema:"title=Name, given,description=Who, where,enum=a,enum=b"`
		After  string   `json:"after" jsonschema:"optional,one of a, b"`
		Escape string   `json:"escape" jsonschema:"description=a\\,b"`
		Other  string   `json:"other" jsonschema:"required" jsonschema_description:"Kept, whole"`
		List   []string `json:"list" jsonschema:"the names, in order,minItems=1"`
		Mail   string   `json:"mail" jsonschema:"Where to write" validate:"required_with=List"`
		Twice  string   `json:"twice" jsonschema:"Who? " validate:"required_with=List"`
	}
	assert.Equal(t, map[string]string{
		"plain": "|the city, or nothing", "comma": "|a number, of things, e.g. n=3", "title": "Name, given|Who, where", "after": "|one of a, b",
		"escape": "|a,b", "other": "|Kept, whole", "list": "|the names, in order", "mail": "|Where to write. Must be given when list is given.",
		"twice": "|Who? Must be given when list is given.",
	}, described[texts](t))
}

// lost refuses a type with one field of a tag.
func lost[T any](t *testing.T, want string) {
	t.Helper()
	_, err := schema.For[T]()
	assert.EqualError(t, err, want)
}

func TestAConstraintOfATagThatWouldBeLostIsAnError(t *testing.T) {
	type In struct {
		A string `json:"a" jsonschema:"enum=asc,desc"`
	}
	lost[In](t, `schema: In.A: jsonschema tag: "desc" after enum=asc is no keyword: write enum=asc,enum=desc`)
	{
		type In struct {
			A string `json:"a" jsonschema:"description=Order,enum=asc|desc"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: enum=asc|desc is one value: write enum=asc,enum=desc`)
	}
	{
		type In struct {
			A string `json:"a" jsonschema:"enum=asc,enum=desc description=The order"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "enum=desc description=The order" has no comma before description=: write one`)
	}
	{
		type In struct {
			A string `json:"a" jsonschema:"pattern=^[a-z]{1,3}$"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "3}$" after pattern=^[a-z]{1 is no keyword: write a comma in a value as \\, and a text after description=`)
	}
	{
		type In struct {
			A string `json:"a" jsonschema:"required,min=1"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "min=1" is no keyword of a string: those are minLength, maxLength, pattern, format and enum`)
	}
	{
		type In struct {
			A []int `json:"a" jsonschema:"minLength=1"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "minLength=1" is no keyword of an array of integers: those are minItems, maxItems, uniqueItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf and enum`)
	}
	{
		type In struct {
			A map[string]int `json:"a" jsonschema:"minProperties=1"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "minProperties=1" is no keyword of an object: use a validate rule, or a method JSONSchema of its type`)
	}
	{
		type In struct {
			A [][]int `json:"a" jsonschema:"enum=1"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "enum=1" is no keyword of an array of arrays: those are minItems, maxItems and uniqueItems`)
	}
	{
		type In struct {
			A []int `json:"a" jsonschema:"uniqueItems=false"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "uniqueItems=false" would be read as true: leave it out`)
	}
	{
		type In struct {
			A int `json:"a" jsonschema:"minimum=one"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "minimum=one" needs a number`)
	}
	{
		type In struct {
			A string `json:"a" jsonschema:"minLength=-1"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "minLength=-1" needs a whole number from 0`)
	}
	{
		type In struct {
			A int `json:"a" jsonschema:"enum=1,enum=two"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "enum=two" needs a number`)
	}
	{
		type In struct {
			A *uint32 `json:"a" jsonschema:"oneof_type=string"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "oneof_type=string" is never so, for the value is read from an integer: leave it out`)
	}
	{
		type In struct {
			A float64 `json:"a" jsonschema:"type=integer"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "type=integer" would do nothing, for the value is read from a number: leave it out`)
	}
	{
		type In struct {
			A lenient `json:"a" jsonschema:"type=text"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "type=text" is no type of JSON`)
	}
	{
		type In struct {
			A int `json:"a" jsonschema:"default=few"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "default=few" needs a number`)
	}
	{
		type In struct {
			A bool `json:"a" jsonschema:"default=yes"`
		}
		lost[In](t, `schema: In.A: jsonschema tag: "default=yes" needs true or false`)
	}
}

// lenient is read by its own decoder, from a value of any type.
type lenient struct{ text string }

func (l *lenient) UnmarshalJSON(b []byte) error {
	l.text = string(b)
	return nil
}

func TestATagGivesATypeToWhatHasADecoder(t *testing.T) {
	type In struct {
		A lenient  `json:"a" jsonschema:"type=string,pattern=^[0-9]+s$"`
		B *lenient `json:"b" jsonschema:"type=integer,minimum=1"`
	}
	s, err := schema.For[In]()
	require.NoError(t, err)
	_, issues := s.Decode([]byte(`{"a":"5s","b":null}`))
	assert.Empty(t, issues)
	_, issues = s.Decode([]byte(`{"a":5,"b":"1"}`))
	assert.Equal(t, []string{
		"a: expected string (matching ^[0-9]+s$), got integer", "b: expected integer or null (at least 1), got string",
	}, told(issues))
}

func TestAnnotationsInTagsAreNoErrors(t *testing.T) {
	type annotated struct {
		A string `json:"a" jsonschema:"readOnly=true,deprecated=true,example=x,default=y,anchor=z"`
		B *int   `json:"b" jsonschema:"default=1,nullable"`
		C any    `json:"c" jsonschema:"oneof_type=string;object"`
		D string `json:"d" jsonschema:"enum=|,enum=||"`
		E string `json:"e" jsonschema:"enum=|"`
		F []byte `json:"f" jsonschema:"contentEncoding=base64,contentMediaType=image/png"`
	}
	_, err := schema.For[annotated]()
	assert.NoError(t, err)
}

func TestNullStandsWhereATagSaysSo(t *testing.T) {
	type inner struct {
		X int `json:"x"`
	}
	type Around struct {
		I string `json:"i" jsonschema:"nullable,enum=red"`
	}
	type In struct {
		A string         `json:"a" jsonschema:"nullable,minLength=2"`
		B string         `json:"b" jsonschema:"nullable,enum=red,enum=blue"`
		C []int          `json:"c" jsonschema:"description=Floors, from below,nullable" validate:"max=3"`
		D inner          `json:"d" jsonschema:"nullable"`
		E any            `json:"e" jsonschema:"nullable"`
		F *string        `json:"f" jsonschema:"nullable,enum=red"`
		G *inner         `json:"g" jsonschema:"nullable"`
		H map[string]int `json:"h" jsonschema:"nullable" validate:"required"`
		Around
	}
	s, err := schema.For[In]()
	require.NoError(t, err)
	_, issues := s.Decode([]byte(`{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":{"x":1},"i":null}`))
	assert.Empty(t, issues)
	in, issues := s.Decode([]byte(`{"a":"ab","b":"red","c":[1],"d":{"x":1},"e":2,"f":"red","g":{"x":1},"h":{"x":1},"i":"red"}`))
	assert.Empty(t, issues)
	assert.Equal(t, In{"ab", "red", []int{1}, inner{1}, 2.0, in.F, &inner{1}, map[string]int{"x": 1}, Around{"red"}}, in)

	_, issues = s.Decode([]byte(`{"a":"a","b":"green","c":"x","d":{"x":null},"e":2,"f":"blue","g":1,"h":null,"i":1}`))
	var told []string
	for _, i := range issues {
		told = append(told, i.String())
	}
	assert.Equal(t, []string{
		"a: expected at least 2 characters, got string",
		`b: expected one of "red", "blue", null, got string`,
		"c: expected array of integers or null (at most 3 items), got string",
		"d/x: expected integer, got null",
		`f: expected one of "red", null, got string`,
		"g: expected object (member: x) or null, got integer",
		"h: expected object, got null",
		`i: expected one of "red", null, got integer`,
	}, told)
}

// A pointer may be null, also where a tag lists its values.
func TestAListOfValuesLeavesAPointerNull(t *testing.T) {
	type In struct {
		A *string  `json:"a" jsonschema:"enum=red,enum=blue,default=red"`
		B *int     `json:"b" jsonschema:"enum=1,enum=2" validate:"omitempty,oneof=1 2"`
		C *lenient `json:"c" jsonschema:"type=string,enum=x"`
		D *string  `json:"d" jsonschema:"enum=red" validate:"required"`
		E *string  `json:"e" jsonschema:"enum=red,nullable" validate:"omitempty,oneof=red"`
	}
	s, err := schema.For[In]()
	require.NoError(t, err)
	assert.Contains(t, string(s.Schema().JSON()), `"e":{"enum":["red",null],"type":["string","null"]}`)
	assert.Contains(t, string(s.Schema().JSON()), `"b":{"enum":[1,2,null],"type":["integer","null"]}`)
	_, issues := s.Decode([]byte(`{"a":null,"b":null,"c":null,"d":"red"}`))
	assert.Empty(t, issues)
	_, issues = s.Decode([]byte(`{"a":"x","b":3,"c":"y","d":null}`))
	assert.Equal(t, []string{
		`a: expected one of "red", "blue", null, got string`, "b: expected one of 1, 2, null, got integer",
		`c: expected one of "x", null, got string`, `d: expected "red", got null`,
	}, told(issues))
}

// A list of values for the items of an array is the items' own: beside them, in an allOf that some providers
// refuse, an item of another kind would be told twice.
func TestWhatATagSaysOfItemsIsPartOfTheItems(t *testing.T) {
	type roles struct {
		Roles  []string   `json:"roles" jsonschema:"enum=admin,enum=user,minItems=1"`
		Levels []int      `json:"levels,omitempty" jsonschema:"minimum=1" validate:"dive,max=9"`
		Marks  *[]float64 `json:"marks" jsonschema:"enum=1.5"`
	}
	typed, err := schema.For[roles]()
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["roles"],"properties":{
		"roles":{"type":"array","minItems":1,"items":{"type":"string","enum":["admin","user"]}},
		"levels":{"type":"array","items":{"type":"integer","minimum":1,"maximum":9}},
		"marks":{"type":["array","null"],"items":{"type":"number","enum":[1.5]}}}}`, string(typed.Schema().JSON()))
	assert.Equal(t, []string{
		`levels/0: expected at least 1, got integer [minimum schema]`,
		`roles/0: expected one of "admin", "user", got integer [type schema]`,
		`roles/1: expected one of "admin", "user", got string [enum schema]`,
	}, decoded[roles](t, `{"roles":[1,"x"],"levels":[0]}`))
}

// Members of which one is to be given may each be left out, as under the rule required_without.
func TestMembersOfWhichOneIsToBeGivenMayBeLeftOut(t *testing.T) {
	type target struct {
		Value string `json:"value" jsonschema:"oneof_required=value"`
		Label string `json:"label" jsonschema:"oneof_required=label"`
		Where string `json:"where" jsonschema:"anyof_required=where" validate:"required"`
		Index int    `json:"index" jsonschema:"anyof_required=index"`
	}
	assert.Empty(t, decoded[target](t, `{"value":"a","where":"b"}`))
	assert.Equal(t, []string{
		"(whole): expected only one of the members value, label, got object [oneOf schema]",
		"where: required, expected string (at least 1 character) [required schema]",
	}, decoded[target](t, `{"value":"a","label":"b","index":1}`))
}
