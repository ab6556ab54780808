package schema_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

type signup struct {
	Password string            `json:"password" validate:"required"`
	Again    string            `json:"again_please" validate:"eqfield=Password" jsonschema:"description=The password once more."`
	Card     string            `json:"card" validate:"required_if=Pay card Password x"`
	Pay      string            `json:"pay,omitempty"`
	Seats    map[string]seat   `json:"seats,omitempty"`
	Notes    map[string]string `json:"notes,omitempty" validate:"dive,required"`
}

// several is read from one text or from a list of them.
type several []string

func (s *several) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*[]string)(s)) }

type seat struct {
	Row  int `json:"row/nr" validate:"min=1"`
	Last int `json:"last" validate:"gtefield=Row"`
}

func TestRulesThatCompareFields(t *testing.T) {
	typed, err := schema.For[signup]()
	require.NoError(t, err)
	text := string(typed.Schema().JSON())
	assert.Contains(t, text, `"description":"The password once more. Must be equal to the field password."`)
	assert.Contains(t, text, `"description":"Must be given when pay is card and password is x."`)

	doc := `{"password":"x","again_please":"y","pay":"card","seats":{"a].b[c~/":{"row/nr":3,"last":2},"ok":{"row/nr":1,"last":1}},"notes":{"a.b":"x"}}`
	for range 20 {
		_, issues := typed.Decode([]byte(doc))
		require.Equal(t, []string{
			"again_please: expected equal to the field password, got string [eqfield rules]",
			"card: expected to be given when pay is card and password is x [required_if rules]",
			"seats/a].b[c~0~1/last: expected at least the field row/nr, got integer [gtefield rules]",
		}, lines(issues))
		require.Equal(t, issues, typed.Schema().Check([]byte(doc)))
	}

	_, issues := typed.Decode([]byte(`{"password":"","again_please":"y","notes":{"a.b":""}}`))
	require.Equal(t, []string{
		"again_please: expected equal to the field password, got string [eqfield rules]",
		"notes/a.b: expected at least 1 character, got string [minLength schema]",
		"password: expected at least 1 character, got string [minLength schema]",
	}, lines(issues))
}

// The validator gives two map keys the same name. Each is reported at its own place.
func TestPlacesWithOneName(t *testing.T) {
	type leaf struct {
		N int `json:"n"`
		M int `json:"m" validate:"gtefield=N"`
	}
	type tree struct {
		M map[string]map[string]leaf `json:"m" validate:"dive,dive"`
	}
	typed, err := schema.For[tree]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"m":{"a":{"b][c":{"n":2,"m":1}},"a][b":{"c":{"n":1,"m":1}}}}`))
	require.Equal(t, []string{"m/a/b][c/m: expected at least the field n, got integer [gtefield rules]"}, lines(issues))
}

type withIssues struct {
	From int `json:"from"`
	To   int `json:"to" validate:"min=0"`
}

func (w withIssues) Issues() []fault.Issue {
	if w.To >= w.From {
		return nil
	}
	return []fault.Issue{{Pointer: "/to", Rule: "order", Expected: "not before from", Got: fault.Integer}}
}

func TestIssuesOfTheTypeItself(t *testing.T) {
	typed, err := schema.For[withIssues]()
	require.NoError(t, err)
	v, issues := typed.Decode([]byte(`{"from":1,"to":2}`))
	require.Empty(t, issues)
	assert.Equal(t, withIssues{1, 2}, v)
	v, issues = typed.Decode([]byte(`{"from":3,"to":2}`))
	assert.Zero(t, v)
	assert.Equal(t, []string{"to: expected not before from, got integer [order rules]"}, lines(issues))
	_, issues = typed.Decode([]byte(`{"from":3,"to":-1}`))
	assert.Equal(t, []string{"to: expected at least 0, got integer [minimum schema]"}, lines(issues))
}

func TestDecodeIntoOtherThanStructs(t *testing.T) {
	list, err := schema.For[[]seat]()
	require.NoError(t, err)
	_, issues := list.Decode([]byte(`[{"row/nr":0,"last":1},{"row/nr":2,"last":1}]`))
	assert.Equal(t, []string{
		"0/row~1nr: expected at least 1, got integer [minimum schema]",
		"1/last: expected at least the field row/nr, got integer [gtefield rules]",
	}, lines(issues))

	word, err := schema.For[string]()
	require.NoError(t, err)
	v, issues := word.Decode([]byte(`"yes"`))
	require.Empty(t, issues)
	assert.Equal(t, "yes", v)
	_, issues = word.Decode([]byte(`null`))
	assert.Equal(t, []string{"(whole): expected string, got null [type schema]"}, lines(issues))

	pointer, err := schema.For[*seat]()
	require.NoError(t, err)
	p, issues := pointer.Decode([]byte(`{"row/nr":1,"last":1}`))
	require.Empty(t, issues)
	assert.Equal(t, seat{1, 1}, *p)
	_, issues = pointer.Decode([]byte(`null`))
	assert.NotEmpty(t, issues)
}

func TestFreshValueEachTime(t *testing.T) {
	typed, err := schema.For[signup]()
	require.NoError(t, err)
	a, _ := typed.Decode([]byte(`{"password":"x","again_please":"x","notes":{"a":"b"}}`))
	b, _ := typed.Decode([]byte(`{"password":"x","again_please":"x"}`))
	assert.NotNil(t, a.Notes)
	assert.Nil(t, b.Notes)
}

type chapter struct {
	Title string    `json:"title" validate:"required"`
	Sub   []chapter `json:"sub,omitempty" validate:"max=3,dive"`
	Notes *chapter  `json:"notes" validate:"omitempty"`
}

type library struct {
	Shelf  chapter         `json:"shelf" jsonschema:"description=The shelf."`
	Floors []shelfOf[seat] `json:"floors,omitempty"`
	Other  []shelfOf[int]  `json:"other,omitempty"`
}

type shelfOf[T any] struct {
	Held T `json:"held"`
}

func TestShownForm(t *testing.T) {
	s, err := schema.For[chapter]()
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["title"],"properties":{
		"title":{"type":"string","minLength":1},
		"sub":{"type":"array","maxItems":3,"items":{"$ref":"#"}},
		"notes":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}`, string(s.Schema().JSON()))

	l, err := schema.For[library]()
	require.NoError(t, err)
	text := string(l.Schema().JSON())
	assert.Contains(t, text, `"shelf":{"$ref":"#/$defs/chapter","description":"The shelf."}`)
	assert.Contains(t, text, `"$defs":{"chapter":{`)
	assert.NotContains(t, text, "shelfOf", "what is used once stands in its place")
	_, issues := l.Decode([]byte(`{"shelf":{"title":"a","sub":[{"title":"","sub":[]}],"notes":{"title":"b","notes":null}}}`))
	assert.Equal(t, []string{"shelf/sub/0/title: expected at least 1 character, got string [minLength schema]"}, lines(issues))
}

// Types that never end.
type (
	endlessPointer *endlessPointer
	endlessList    []endlessList
	endlessMap     map[string]endlessMap
)

func TestForRefuses(t *testing.T) {
	type nested struct {
		A []map[string]chan int `json:"a"`
	}
	cases := map[string]struct {
		build func() error
		want  string
	}{
		"channel":   {refused[struct{ A chan int }], "A: a chan int cannot be read from JSON"},
		"pointers":  {refused[struct{ A endlessPointer }], "A: schema_test.endlessPointer is a pointer, list or map of itself: put a struct between"},
		"lists":     {refused[endlessList], "is a pointer, list or map of itself"},
		"maps":      {refused[struct{ A []endlessMap }], "A: []schema_test.endlessMap is a pointer, list or map of itself"},
		"function":  {refused[struct{ A func() }], "A: a func() cannot be read from JSON"},
		"complex":   {refused[struct{ A complex128 }], "A: a complex128 cannot be read"},
		"inside":    {refused[nested], "nested.A[][]: a chan int cannot"},
		"map_keys":  {refused[struct{ A map[int]string }], "A: map keys must be strings, not int: write map[string]string"},
		"duration":  {refused[struct{ A time.Duration }], "time.Duration has no agreed form in JSON"},
		"url":       {refused[struct{ A []*url.URL }], `A[]: url.URL is read from an object of its parts: use a string with validate:"url"`},
		"number":    {refused[struct{ A json.Number }], "json.Number has no one form"},
		"interface": {refused[struct{ A interface{ X() } }], "cannot be read from JSON"},
		"as_string": {refused[struct {
			A int `json:",string"`
		}], `A: json option "string" is not supported: give the field the type string, or leave it out`},
		"oneof_of_floats": {refused[struct {
			A float64 `validate:"oneof=0.5 1"`
		}], `A: validate rule "oneof=0.5 1" is for strings and whole numbers: write eq=0.5|eq=1`},
		"condition_without_value": {refused[struct {
			A string `validate:"required_if=B"`
			B string
		}], `A: validate rule "required_if=B" needs pairs of a field and its value: write required_if=B value`},
		"condition_in_a_group": {refused[struct {
			A string `validate:"required_if=B|required_if=C"`
			B []string
			C []string
		}], `A: validate rule "required_if=B" needs pairs of a field and its value: write required_if=B value`},
		"condition_without_parameter": {refused[struct {
			A string `validate:"excluded_unless"`
		}], `A: validate rule "excluded_unless" needs a parameter: write excluded_unless=…`},
		"comparison_without_parameter": {refused[struct {
			A string `validate:"omitempty,len=2|min"`
		}], `A: validate rule "min" needs a parameter: write min=…`},
		"unknown_rule": {refused[struct {
			A int `validate:"mni=3"`
		}], `A: validate rule "mni=3" is not known: mend it, or register it with schema.RegisterRule`},
		"bad_parameter": {refused[struct {
			A int `validate:"min=x"`
		}], `A: validate rule "min=x" is not for values of type int, or its parameter is wrong`},
		"bad_parameter_in_a_group": {refused[struct {
			A string `validate:"ascii|len=x"`
		}], `A: validate rule "len=x" is not for values of type string, or its parameter is wrong`},
		"rule_of_lists_in_a_group": {refused[struct {
			A int `validate:"isdefault|unique"`
		}], `A: validate rule "unique" is not for values of type int`},
		"bad_boolean_in_a_group": {refused[struct {
			A bool `validate:"isdefault|eq=x"`
		}], `A: validate rule "eq=x" is not for values of type bool, or its parameter is wrong`},
		"unique_by_no_field": {refused[struct {
			A []*seat `validate:"unique=Nmae"`
		}], `A: validate rule "unique=Nmae" is not for values of type []*schema_test.seat, or its parameter is wrong`},
		"unique_array_by_no_field": {refused[struct {
			A [2]*seat `validate:"unique=Nmae"`
		}], `A: validate rule "unique=Nmae" is not for values of type [2]*schema_test.seat, or its parameter is wrong`},
		"rule_of_any_in_a_group": {refused[struct {
			A any `validate:"excluded_with=B|len=3"`
			B string
		}], `A: validate rule "excluded_with=B|len=3" needs a type, and any value may stand here`},
		"unique_members_by_field": {refused[struct {
			A map[string]seat `validate:"unique=Row"`
		}], `A: validate rule "unique=Row" compares the whole values of a map: write unique`},
		"unique_bytes": {refused[struct {
			A []byte `validate:"unique=B"`
		}], `A: validate rule "unique=B" is not for values of type []uint8, or its parameter is wrong`},
		"country_that_may_be_missing": {refused[struct {
			A string `validate:"postcode_iso3166_alpha2_field=B"`
			B *string
		}], `A: validate rule "postcode_iso3166_alpha2_field=B" is not for values of type string, or its parameter is wrong`},
		"string_rule": {refused[struct {
			A int `validate:"email"`
		}], `A: validate rule "email" needs a string, not int`},
		"dive": {refused[struct {
			A int `validate:"dive"`
		}], "A: validate rule dive needs a slice"},
		"dive_into_a_decoder": {refused[struct {
			A several `validate:"dive,min=2"`
		}], "A: validate rule dive needs a slice, an array or a map, not schema_test.several, which is read as one value"},
		"impossible": {refused[struct {
			A string `validate:"max=-1"`
		}], `A: validate rule "max=-1" can never hold`},
		"keys": {refused[struct {
			A map[string]int `validate:"dive,keys,alpha"`
		}], "A: validate tag has keys without endkeys"},
		"empty_rule": {refused[struct {
			A int `validate:"min=1,"`
		}], "A: validate tag has an empty rule"},
		"retake_tag": {refused[struct {
			A int `retake:"ecko"`
		}], `A: retake tag "ecko" is unknown`},
		"same_names": {refused[struct {
			A int `json:"B"`
			B int
		}], `two fields are named "B" in JSON`},
		"embedded_ptr": {refused[struct{ *seat }], "only plain structs can be embedded, not *schema_test.seat: embed schema_test.seat itself, or give the field a json name"},
		"hidden": {refused[struct {
			A int `jsonschema:"-"`
		}], `use json:"-"`},
		"all_hidden": {refused[struct {
			B struct{ city, street string }
		}], "B: no field is exported, so that nothing is read from JSON: begin their names with a capital letter, or leave it out by json:\"-\""},
		"unique_of_maps": {refused[struct {
			A []any `validate:"unique"`
		}], "cannot be compared"},
		"no_such_field": {refused[struct {
			A int `validate:"gtfield=Form"`
			B int `validate:"required_if=A 1"`
		}], `A: validate rule "gtfield=Form" names no field`},
		"another_kind": {refused[struct {
			A int   `validate:"gtfield=B"`
			B int64 `validate:"required_with=A"`
		}], `A: validate rule "gtfield=B" compares int with int64: give both one kind`},
		"unique_in_a_map": {refused[struct {
			A map[string][]int `validate:"unique"`
		}], "[]int cannot be compared"},
		"unique_of_structs": {refused[struct {
			A []struct{ Value any } `validate:"unique"`
		}], "cannot be compared"},
		"unique_field": {refused[struct {
			A []struct{ B any } `validate:"unique=B"`
		}], "interface {} cannot be compared"},
		"condition_on_another_kind": {refused[struct {
			A int `json:"a"`
			B int `validate:"required_if=A x"`
		}], `B: validate rule "required_if=A x" compares the field A, of type int, with "x": write a value of that type`},
		"condition_on_a_pointer": {refused[struct {
			A *int
			B string `validate:"excluded_unless=A nil"`
		}], `B: validate rule "excluded_unless=A nil" compares the field A, of type int, with "nil": write a value of that type`},
		"second_condition": {refused[struct {
			A, B *int
			C    int `validate:"required_if=A 1 B x"`
		}], `C: validate rule "required_if=A 1 B x" compares the field B, of type int, with "x"`},
		"half_a_condition": {refused[struct {
			A int
			B int `validate:"required_if=A"`
		}], `B: validate rule "required_if=A" needs pairs of a field and its value: write required_if=A value`},
		"condition_on_any": {refused[struct {
			A any
			B int `validate:"required_if=A 1"`
		}], `B: validate rule "required_if=A 1" looks at the field A, which may have a value of any kind`},
		"compared_structs": {refused[struct {
			A, B seat
			C    seat `validate:"eqfield=A"`
		}], `C: validate rule "eqfield=A" cannot compare structs: compare their fields`},
		"field_around_an_embedded_struct": {refused[struct {
			Span
			To int
		}], `From: validate rule "ltfield=To" names no field of schema_test.Span: "To"`},
		"rules_of_an_embedded_struct": {refused[struct {
			Span `validate:"required"`
			To   int
		}], `Span: an embedded struct has no place of its own for the rules "required": leave them out, or give the field a json name`},
		"compared_elements": {refused[struct {
			A string
			B []string `validate:"dive,omitempty,eqfield=A"`
		}], `B[]: validate rule "eqfield=A" compares an element or key with a field: check that in a method Issues of the struct`},
		"compared_keys": {refused[struct {
			A string
			B map[string]int `validate:"dive,keys,nefield=A,endkeys"`
		}], `B[key]: validate rule "nefield=A" compares`},
		"count_of_a_struct_with_a_decoder": {refused[struct {
			A big.Int `validate:"min=3"`
		}], `A: validate rule "min=3" is not for values of type big.Int`},
		"compared_structs_with_a_decoder": {refused[struct {
			A, B big.Int `validate:"eqfield=B"`
		}], `validate rule "eqfield=B" cannot compare structs`},
		"string_rule_of_an_address": {refused[struct {
			A netip.Addr `validate:"ipv4"`
		}], `A: validate rule "ipv4" needs a string, not netip.Addr`},
		"string_rule_of_bytes": {refused[struct {
			A []byte `validate:"alpha"`
		}], `A: validate rule "alpha" needs a string, not []uint8`},
		"no_such_field_within": {refused[struct {
			A *seat
			B string `validate:"eqfield=A.Nope"`
		}], `B: validate rule "eqfield=A.Nope" names no field of`},
		"condition_on_another_kind_within": {refused[struct {
			A struct{ N *int }
			B string `validate:"required_if=A.N many"`
		}], `B: validate rule "required_if=A.N many" compares the field A.N, of type int, with "many"`},
		"dash_beside_rules": {refused[struct {
			A string `validate:"min=1,-"`
		}], `A: validate tag has "-" beside other rules: it stands alone`},
		"interface_with_a_decoder": {refused[struct{ A encoding.TextUnmarshaler }], "A: an encoding.TextUnmarshaler cannot be read from JSON: give it another type, or the tag json:\"-\""},
		"whole":                    {refused[chan int], "a chan int cannot be read from JSON"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, c.build(), c.want) })
	}
}

// Span is to be embedded.
type Span struct {
	From int `validate:"ltfield=To"`
}

func refused[T any]() error {
	_, err := schema.For[T]()
	return err
}

// order is the reply of the benchmarks: eight nested fields with an enum, an email, a list of structs and a
// map, about 1 KB.
type order struct {
	ID       string            `json:"id" validate:"required,max=40"`
	Kind     string            `json:"kind" validate:"oneof=order quote refund"`
	Contact  string            `json:"contact" validate:"required,email"`
	Priority int               `json:"priority" validate:"min=1,max=5"`
	Total    float64           `json:"total" validate:"gte=0"`
	Ship     address           `json:"ship"`
	Items    []item            `json:"items" validate:"min=1,max=50,dive"`
	Labels   map[string]string `json:"labels" validate:"max=10,dive,keys,max=20,endkeys,required"`
}

type address struct {
	Street string `json:"street" validate:"required"`
	City   string `json:"city" validate:"required"`
	Code   string `json:"code" validate:"len=5"`
}

type item struct {
	SKU   string  `json:"sku" validate:"required,alphanum"`
	Count int     `json:"count" validate:"gt=0"`
	Price float64 `json:"price" validate:"gte=0"`
	Note  string  `json:"note" validate:"max=200"`
}

func orderDocument(t testing.TB) []byte {
	items := strings.Repeat(`{"sku":"A1B2C3","count":2,"price":19.95,"note":"wrap it as a present, please, and add a card with good wishes"},`, 6)
	doc := `{"id":"order-2024-0042","kind":"order","contact":"jo.doe@example.com","priority":3,"total":239.4,
		"ship":{"street":"Rua Augusta 12, 3. esq.","city":"Lisboa","code":"11000"},
		"items":[` + strings.TrimSuffix(items, ",") + `],"labels":{"source":"chat","tone":"friendly","campaign":"spring"}}`
	require.InDelta(t, 1024, len(doc), 150)
	return []byte(doc)
}

// asking is a text that is read by a check of its own, while the check around it goes on.
type asking string

func (a *asking) UnmarshalText(text []byte) error {
	typed, err := schema.For[[]string]()
	if err != nil {
		return err
	}
	inner, issues := typed.Decode([]byte(`["` + string(text) + `",` + strings.Repeat(`"x",`, 99) + `"x"]`))
	if issues != nil || len(inner) != 101 {
		return errors.New("the list is wrong")
	}
	*a = asking(inner[0])
	return nil
}

type wrongAtMany struct {
	Wait   time.Duration  `json:"wait"`
	Counts map[int]string `json:"counts"`
	Count  int            `json:"count,string"`
	Mail   int            `json:"mail" validate:"email"`
	Inner  wrongWithin    `json:"inner"`
	More   []wrongWithin  `json:"more"`
	Fine   string
	Again  string `json:"Fine"`
}

type wrongWithin struct {
	Size string `json:"size" validate:"mni=3"`
	*seat
}

func (wrongAtMany) JSONSchemaExtend(s *jsonschema.Schema) {
	member, _ := s.Properties.Get("wait")
	member.Title = "A wait"
}

// All that is wrong with a type is told at once, each fault where it is first met.
func TestAllThatIsWrongWithATypeIsToldAtOnce(t *testing.T) {
	_, err := schema.For[wrongAtMany]()
	assert.EqualError(t, err, strings.Join([]string{
		`schema: wrongAtMany.Count: json option "string" is not supported: give the field the type string, or leave it out`,
		`schema: wrongAtMany: two fields are named "Fine" in JSON: rename one`,
		`schema: wrongAtMany.Wait: time.Duration has no agreed form in JSON: use a string with validate:"duration", or a number with its unit in its name`,
		`schema: wrongAtMany.Counts: map keys must be strings, not int: write map[string]string`,
		`schema: wrongAtMany.Mail: validate rule "email" needs a string, not int`,
		`schema: wrongAtMany.Inner.seat: only plain structs can be embedded, not *schema_test.seat: embed schema_test.seat itself, or give the field a json name`,
		`schema: wrongAtMany.Inner.Size: validate rule "mni=3" is not known: mend it, or register it with schema.RegisterRule`,
	}, "\n"))
}

func TestACheckWithinACheck(t *testing.T) {
	typed, err := schema.For[map[string][]asking]()
	require.NoError(t, err)
	for range 3 {
		v, issues := typed.Decode([]byte(`{"a":["1","2"],"b":["3"],"c":[]}`))
		require.Empty(t, issues)
		assert.Equal(t, map[string][]asking{"a": {"1", "2"}, "b": {"3"}, "c": {}}, v)
		_, issues = typed.Decode([]byte(`{"a":["1",2],"b":["3","4\n"],"c":0}`))
		assert.Len(t, issues, 3)
	}
}

// The time for many faults grows with the document, and not faster.
func TestManyFaultsOfAType(t *testing.T) {
	typed, err := schema.For[struct {
		Items []item   `json:"items" validate:"dive"`
		Mails []string `json:"mails" validate:"dive,email"`
	}]()
	require.NoError(t, err)
	for _, doc := range []string{
		`{"items":[` + strings.Repeat(`7,`, 50_000) + `7]}`, `{"items":[` + strings.Repeat(`{"sku":""},`, 40_000) + `{}]}`,
		`{"mails":[` + strings.Repeat(`"x",`, 50_000) + `"x"]}`,
	} {
		_, issues := typed.Decode([]byte(doc))
		assert.Len(t, issues, 100)
	}
}

// An empty list is no missing list: it is not nil, and rules count it as given, as the validator does.
func TestEmptyListsAreGiven(t *testing.T) {
	type form struct {
		Tags []string  `json:"tags,omitempty" validate:"excluded_if=Kind plain"`
		Why  string    `json:"why,omitempty" validate:"required_with=Tags"`
		Kind string    `json:"kind"`
		All  [][]int   `json:"all,omitempty"`
		Ptr  *[]string `json:"ptr"`
	}
	typed, err := schema.For[form]()
	require.NoError(t, err)
	got, issues := typed.Decode([]byte(`{"tags":[],"why":"x","kind":"odd","all":[[]],"ptr":[]}`))
	require.Empty(t, issues)
	assert.Equal(t, form{Tags: []string{}, Why: "x", Kind: "odd", All: [][]int{{}}, Ptr: &[]string{}}, got)
	_, issues = typed.Decode([]byte(`{"tags":[],"kind":"plain"}`))
	assert.Equal(t, []string{
		"tags: expected to be left out when kind is plain, got array [excluded_if rules]",
		"why: expected to be given when tags is given [required_with rules]",
	}, lines(issues))
}

// The rule isdefault refuses what a pointer leads to, also its zero value, as the validator does.
func TestIsDefaultOfAPointer(t *testing.T) {
	typed, err := schema.For[struct {
		N *int `json:"n" validate:"isdefault"`
		M int  `json:"m" validate:"isdefault"`
	}]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"n":0,"m":0}`))
	assert.Equal(t, []string{"n: expected no value, got integer [isdefault rules]"}, lines(issues))
	_, issues = typed.Decode([]byte(`{"n":null}`))
	assert.Empty(t, issues)
}

// What was sent was given, though the validator takes a zero value for a missing one.
func TestAZeroValueIsNotToldToBeGiven(t *testing.T) {
	type given struct {
		Get  bool   `json:"get,omitempty" validate:"required_without=Set"`
		Set  bool   `json:"set,omitempty" validate:"required_without=Get"`
		N    int    `json:"n" validate:"required_if=On true"`
		Text string `json:"text" validate:"required_with=On"`
		Part struct {
			A int `json:"a"`
		} `json:"part" validate:"required_unless=On false"`
		Null *int `json:"null" validate:"required_with=On"`
		Not  int  `json:"not" validate:"required_with=On"`
		On   bool `json:"on"`
	}
	assert.Equal(t, []string{
		"get: expected true when set is not given, got boolean [required_without rules]",
		"n: expected a number other than 0 when on is true, got integer [required_if rules]",
		"not: expected to be given when on is given [required_with rules]",
		"null: expected to be given when on is given, got null [required_with rules]",
		"part: expected a value that is not empty unless on is false, got object [required_unless rules]",
		"set: expected true when get is not given, got boolean [required_without rules]",
		"text: expected a value that is not empty when on is given, got string [required_with rules]",
	}, decoded[given](t, `{"get":false,"set":false,"n":0,"text":"","part":{"a":0},"null":null,"on":true}`))
}

// UUID is named as that of many modules.
type UUID [16]byte

func (u *UUID) UnmarshalText(text []byte) error {
	if len(text) != 36 {
		return fmt.Errorf("no UUID")
	}
	copy(u[:], text)
	return nil
}

func TestTypesThatEveryoneKnowsAreToldByWhatTheyAre(t *testing.T) {
	type known struct {
		ID   UUID           `json:"id"`
		Some *UUID          `json:"some,omitempty"`
		IP   net.IP         `json:"ip"`
		Addr netip.Addr     `json:"addr" jsonschema:"Where it is"`
		Nets []netip.Prefix `json:"nets"`
		Port netip.AddrPort `json:"port"`
		Int  *big.Int       `json:"int"`
		Rat  big.Rat        `json:"rat"`
	}
	assert.Equal(t, map[string]string{
		"id": "|A UUID.", "some": "|A UUID.", "ip": "|An IP address.", "addr": "|Where it is. An IP address.", "nets": "|",
		"port": "|An IP address and port such as 10.0.0.1:80.", "int": "|A whole number.", "rat": "|A string that holds a number such as 1.5.",
	}, described[known](t))
	assert.Equal(t, []string{
		"addr: expected an IP address, got string [format schema]", "id: expected a UUID, got string [format schema]",
		"int: expected a whole number, got string [format schema]", "ip: expected an IP address, got string [format schema]",
		"nets/0: expected an IP network such as 10.0.0.0/8, got string [format schema]",
		"port: expected an IP address and port such as 10.0.0.1:80, got string [format schema]",
		"rat: expected a string that holds a number such as 1.5, got string [format schema]",
	}, decoded[known](t, `{"id":"x","ip":"x","addr":"x","nets":["x"],"port":"x","int":"x","rat":"x"}`))
}

// Of texts the validator compares the lengths, or the order where the field is in another struct, and of
// lists how many items they have.
func TestComparisonsWithFieldsAreToldAsTheyAreMade(t *testing.T) {
	type compared struct {
		From  string    `json:"from"`
		To    string    `json:"to" validate:"gtfield=From"`
		Short string    `json:"short" validate:"ltefield=From"`
		Sort  string    `json:"sort" validate:"gtcsfield=From"`
		Start time.Time `json:"start"`
		End   time.Time `json:"end" validate:"gtfield=Start"`
		Due   time.Time `json:"due" validate:"ltecsfield=Start"`
		One   []int     `json:"one"`
		Two   []int     `json:"two" validate:"eqfield=One"`
		Low   int       `json:"low"`
		High  int       `json:"high" validate:"gtfield=Low"`
	}
	assert.Equal(t, []string{
		"due: expected a time that is not after the field start, got string [ltecsfield rules]",
		"end: expected a time after the field start, got string [gtfield rules]",
		"high: expected more than the field low, got integer [gtfield rules]",
		"short: expected a text at most as long as the field from, got string [ltefield rules]",
		"sort: expected a text that sorts after the field from, got string [gtcsfield rules]",
		"to: expected a longer text than the field from, got string [gtfield rules]",
		"two: expected as many items as the field one, got array [eqfield rules]",
	}, decoded[compared](t, `{"from":"2024-01-02","to":"2024-01-03","short":"2024-01-02Z","sort":"2024-01-01","start":"2024-01-02T00:00:00Z",
		"end":"2024-01-01T00:00:00Z","due":"2024-01-03T00:00:00Z","one":[1],"two":[1,2],"low":1,"high":1}`))
}
