package schema_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"
	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// decoded returns the issues of a document as lines.
func decoded[T any](t *testing.T, doc string) []string {
	t.Helper()
	typed, err := schema.For[T]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(doc))
	return lines(issues)
}

func TestAMemberIsRequiredUnlessATagSaysOtherwise(t *testing.T) {
	type plainFields struct {
		Name string            `json:"name"`
		Age  int               `json:"age"`
		Ok   bool              `json:"ok"`
		Tags []string          `json:"tags"`
		Meta map[string]string `json:"meta"`
		Any  any               `json:"any"`
		In   struct{}          `json:"in"`
	}
	assert.Equal(t, []string{
		"age: required, expected integer [required schema]", "any: required [required schema]", "in: required, expected object [required schema]",
		"meta: required, expected object [required schema]", "name: required, expected string [required schema]",
		"ok: required, expected boolean [required schema]", "tags: required, expected array of strings [required schema]",
	}, decoded[plainFields](t, `{}`))
	assert.Empty(t, decoded[plainFields](t, `{"name":"","age":0,"ok":false,"tags":[],"meta":{},"any":null,"in":{}}`), "zero values were sent")

	type optional struct {
		Empty   int       `json:"empty,omitempty" validate:"min=1"`
		Zero    time.Time `json:"zero,omitzero"`
		Rule    string    `json:"rule" validate:"omitempty,email"`
		Mail    string    `json:"mail,omitempty" validate:"email"`
		Pointer *int      `json:"pointer" validate:"min=1"`
		Default int       `json:"default" jsonschema:"default=3" validate:"min=1"`
		Said    []string  `json:"said" jsonschema:"optional" validate:"min=1"`
		If      string    `json:"if" validate:"required_if=Rule x"`
	}
	assert.Empty(t, decoded[optional](t, `{}`))
	assert.Empty(t, decoded[optional](t, `{"pointer":null}`))
	assert.Equal(t, []string{
		"default: expected at least 1, got integer [minimum schema]", "empty: expected at least 1, got integer [minimum schema]",
		"mail: expected an email address, got string [format rules]", "pointer: expected at least 1, got integer [minimum schema]",
		"said: expected at least 1 item, got array [minItems schema]",
	}, decoded[optional](t, `{"empty":0,"mail":"","pointer":0,"default":0,"said":[],"rule":""}`), "rules hold for what was sent")

	type demanded struct {
		Empty   int  `json:"empty,omitempty" validate:"required"`
		Pointer *int `json:"pointer" validate:"required"`
		Default int  `json:"default" jsonschema:"default=3" validate:"required"`
		Said    int  `json:"said" jsonschema:"optional" validate:"required"`
	}
	assert.Equal(t, []string{
		"default: required, expected integer [required schema]", "empty: required, expected integer [required schema]",
		"pointer: expected integer, got null [type schema]", "said: required, expected integer [required schema]",
	}, decoded[demanded](t, `{"pointer":null}`))
}

func TestAZeroValueThatWasSentIsNeverToldToBeMissing(t *testing.T) {
	type all struct {
		Bool   bool      `json:"bool" validate:"required"`
		Int    int       `json:"int" validate:"required"`
		Real   float64   `json:"real" validate:"required"`
		Text   string    `json:"text" validate:"required"`
		When   time.Time `json:"when" validate:"required"`
		Struct struct {
			A string `json:"a"`
		} `json:"struct" validate:"required"`
		Pair [2]int `json:"pair" validate:"required"`
		Any  any    `json:"any" validate:"required"`
	}
	doc := `{"bool":false,"int":0,"real":0.0,"text":"","when":"0001-01-01T00:00:00Z","struct":{"a":""},"pair":[0,0],"any":null}`
	assert.Equal(t, []string{
		"any: expected anything but null, got null [not schema]",
		"bool: expected true, got boolean [const schema]",
		"int: expected a number other than 0, got integer [not schema]",
		"pair: expected a value that is not all zero or empty, got array [not rules]",
		"real: expected a number other than 0, got integer [not schema]",
		"struct: expected a value that is not all zero or empty, got object [minProperties rules]",
		"text: expected at least 1 character, got string [minLength schema]",
		"when: expected another value, for this one counts as empty, got string [not rules]",
	}, decoded[all](t, doc))
}

// JSON Schema cannot say that some member is not zero: a description tells it, where the members may all be
// zero.
func TestAModelIsToldThatAStructMustNotBeZero(t *testing.T) {
	type point struct {
		X int `json:"x"`
	}
	type named struct {
		Name string `json:"name" validate:"required"`
	}
	type bounded struct {
		Note string `json:"note,omitempty" validate:"min=1"`
		In   struct {
			Size *int `json:"size" validate:"min=1"`
		} `json:"in"`
	}
	type all struct {
		Point  point   `json:"point" validate:"required" jsonschema:"description=Where"`
		Named  named   `json:"named" validate:"required"`
		Given  *point  `json:"given" validate:"required"`
		Pair   [2]int  `json:"pair" validate:"required"`
		Points []point `json:"points" validate:"dive,required"`
		Key    [2]byte `json:"key" validate:"required"`
		Both   bounded `json:"both" validate:"required"`
	}
	typed, err := schema.For[all]()
	require.NoError(t, err)
	var told struct {
		Properties map[string]struct {
			Description string
			Items       struct{ Description string }
		}
	}
	require.NoError(t, json.Unmarshal(typed.Schema().JSON(), &told))
	must := "Must be a value that is not all zero or empty."
	assert.Equal(t, "Where. "+must, told.Properties["point"].Description)
	assert.Equal(t, must, told.Properties["pair"].Description)
	assert.Equal(t, must, told.Properties["points"].Items.Description)
	assert.Equal(t, "A base64 string of 2 bytes. "+must, told.Properties["key"].Description)
	assert.Equal(t, must, told.Properties["both"].Description, "all that is in it may be left out")
	assert.Empty(t, told.Properties["named"].Description, "a name is not empty")
	assert.Empty(t, told.Properties["given"].Description, "what is given may be zero")
}

type stay struct {
	Nights int    `json:"nights" validate:"max=30"`
	Mail   string `json:"mail" validate:"email"`
}

func TestRulesOfStructsHoldWhereverTheyStand(t *testing.T) {
	type trip struct {
		List  []stay            `json:"list"`
		ByDay map[string]*stay  `json:"by_day"`
		Deep  [][]stay          `json:"deep"`
		Last  *stay             `json:"last"`
		Free  []stay            `json:"free" validate:"-"`
		Only  stay              `json:"only" validate:"structonly"`
		Lax   map[string][]stay `json:"lax" validate:"structonly"`
	}
	bad := `{"nights":31,"mail":"x"}`
	doc := `{"list":[B],"by_day":{"mon":B},"deep":[[B]],"last":B,"free":[B],"only":B,"lax":{"a":[B]}}`
	var want []string
	for _, at := range []string{"by_day/mon", "deep/0/0", "last", "list/0"} {
		want = append(want, at+"/mail: expected an email address, got string [format rules]", at+"/nights: expected at most 30, got integer [maximum schema]")
	}
	assert.Equal(t, want, decoded[trip](t, strings.ReplaceAll(doc, "B", bad)))
	assert.Equal(t, []string{"0/mail: expected an email address, got string [format rules]"}, decoded[[]stay](t, `[{"nights":1,"mail":"x"}]`))
	assert.Equal(t, []string{"a/mail: expected an email address, got string [format rules]"}, decoded[map[string]stay](t, `{"a":{"nights":1,"mail":"x"}}`))
}

func TestRulesThatCompareFieldsAreToldBesideTheOthers(t *testing.T) {
	type span struct {
		From  int    `json:"from"`
		To    int    `json:"to" validate:"gtefield=From"`
		City  string `json:"city" validate:"min=3"`
		Rooms int    `json:"rooms"`
		Extra *int   `json:"extra" validate:"omitempty,ltfield=Rooms"`
		Via   string `json:"via,omitempty" validate:"required_with=Extra"`
	}
	assert.Equal(t, []string{
		"city: expected at least 3 characters, got string [minLength schema]",
		"extra: expected less than the field rooms, got integer [ltfield rules]",
		"to: expected at least the field from, got integer [gtefield rules]",
		"via: expected to be given when extra is given [required_with rules]",
	}, decoded[span](t, `{"from":3,"to":1,"city":"x","rooms":2,"extra":2}`))
	assert.Equal(t, []string{
		"extra: expected less than the field rooms, got integer [ltfield rules]", "from: expected integer, got string [type schema]",
		"via: expected to be given when extra is given [required_with rules]",
	}, decoded[span](t, `{"from":"3","to":1,"city":"abc","rooms":2,"extra":2}`), "what a rule looks at could not be read: it is not asked")
}

func byLetter(f validator.FieldLevel) bool { return strings.HasPrefix(f.Field().String(), f.Param()) }

// registered registers the rule of the test once, because a rule cannot be removed.
var registered = sync.OnceValue(func() error {
	return schema.RegisterRule("roomcode", "a room code that begins with %", byLetter)
})

func TestAProgramMayRegisterRulesOfItsOwn(t *testing.T) {
	type unknown struct {
		Code string `json:"code" validate:"omitempty,roomkode=R"`
	}
	_, err := schema.For[unknown]()
	require.EqualError(t, err, `schema: unknown.Code: validate rule "roomkode=R" is not known: mend it, or register it with schema.RegisterRule`)

	type room struct {
		Code string `json:"code" validate:"omitempty,roomcode=R"`
	}
	require.NoError(t, registered())
	typed, err := schema.For[room]()
	require.NoError(t, err)
	assert.Contains(t, string(typed.Schema().JSON()), `"description":"Must be a room code that begins with R."`)
	assert.Equal(t, []string{"code: expected a room code that begins with R, got string [roomcode rules]"}, decoded[room](t, `{"code":"x"}`))
	assert.Empty(t, decoded[room](t, `{"code":"R2"}`))

	for want, err := range map[string]error{
		`schema: rule "roomcode" is there already`:                           schema.RegisterRule("roomcode", "x", byLetter),
		`schema: rule "email" is there already`:                              schema.RegisterRule("email", "x", byLetter),
		`schema: rule "dive" is there already`:                               schema.RegisterRule("dive", "x", byLetter),
		`schema: rule "a b": a rule is named by a-z, 0-9 and _`:              schema.RegisterRule("a b", "x", byLetter),
		`schema: rule "vat": the phrase that says what is expected is empty`: schema.RegisterRule("vat", "", byLetter),
		`schema: rule "vat": the function is nil`:                            schema.RegisterRule("vat", "a VAT number", nil),
	} {
		assert.EqualError(t, err, want)
	}
}

func TestAnEnumOfBothTagsIsSaidOnce(t *testing.T) {
	type room struct {
		Kind  string `json:"kind" validate:"oneof=single double" jsonschema:"enum=single,enum=double,minLength=1"`
		Beds  int    `json:"beds" validate:"oneof=1 2,min=1" jsonschema:"enum=1,enum=2,minimum=1"`
		Other string `json:"other" validate:"oneof=a b" jsonschema:"enum=a,enum=b,enum=c"`
	}
	typed, err := schema.For[room]()
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["kind","beds","other"],"properties":{
		"kind":{"type":"string","enum":["single","double"],"minLength":1},
		"beds":{"type":"integer","enum":[1,2],"minimum":1},
		"other":{"type":"string","enum":["a","b"],"allOf":[{"enum":["a","b","c"]}]}}}`, string(typed.Schema().JSON()))
}

func TestAModelIsToldTheNumberOrBooleanThatARuleRefused(t *testing.T) {
	type room struct {
		Nights int     `json:"nights" validate:"max=30"`
		Rate   float64 `json:"rate" validate:"max=1"`
		Long   float64 `json:"long" validate:"max=1"`
		Quiet  bool    `json:"quiet" validate:"required"`
		City   string  `json:"city" validate:"min=3"`
		Guests int     `json:"guests" validate:"max=4"`
		Pin    int     `json:"pin" validate:"max=9999" retake:"secret"`
		Floor  int     `json:"floor" validate:"max=9" retake:"noecho"`
		From   int     `json:"from"`
		To     int     `json:"to" validate:"gtefield=From"`
		Pets   struct {
			Count int `json:"count" validate:"max=2"`
		} `json:"pets" retake:"noecho"`
	}
	typed, err := schema.For[room]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"nights":40,"rate":1.50,"long":100000000000000000000.0,"quiet":false,"city":"x","guests":"5","pin":10000,"floor":10,
		"from":3,"to":2,"pets":{"count":3}}`))
	sent := map[string]string{}
	for _, i := range issues {
		sent[i.Pointer] = i.Sent
		assert.NotContains(t, i.String(), "40", "who is no model is told the kind")
	}
	assert.Equal(t, map[string]string{
		"/nights": "40", "/rate": "1.50", "/long": "", "/quiet": "false", "/city": "", "/guests": "", "/pin": "", "/floor": "", "/to": "2", "/pets/count": "",
	}, sent)
}

func TestAPostalCodeIsOfTheCountryInAnotherField(t *testing.T) {
	type address struct {
		Country string `json:"country"`
		Code    string `json:"code" validate:"postcode_iso3166_alpha2_field=Country"`
	}
	typed, err := schema.For[address]()
	require.NoError(t, err)
	assert.Contains(t, string(typed.Schema().JSON()), `"Must be a postal code of the country in the field country."`)
	assert.Empty(t, decoded[address](t, `{"country":"PT","code":"1100-048"}`))
	assert.Equal(t, []string{
		"code: expected a postal code of the country in the field country, got string [postcode_iso3166_alpha2_field rules]",
	}, decoded[address](t, `{"country":"PT","code":"11000"}`))
}

func TestAConditionMayNameAValueOfSeveralWords(t *testing.T) {
	type room struct {
		Kind string `json:"kind"`
		View string `json:"view,omitempty" validate:"required_if=Kind 'sea side'"`
	}
	typed, err := schema.For[room]()
	require.NoError(t, err)
	assert.Contains(t, string(typed.Schema().JSON()), `"Must be given when kind is sea side."`)
	assert.Empty(t, decoded[room](t, `{"kind":"sea"}`))
	assert.Equal(t, []string{"view: expected to be given when kind is sea side [required_if rules]"}, decoded[room](t, `{"kind":"sea side"}`))
	type offer struct {
		Kind string `json:"kind,omitempty"`
		Text string `json:"text,omitempty" validate:"excluded_unless=Kind ''"`
	}
	assert.Equal(t, []string{`text: expected to be left out unless kind is "", got string [excluded_unless rules]`}, decoded[offer](t, `{"kind":"sea","text":"a"}`))
}

// Of a field that was left out the model would not see what its own value has to be.
func TestAComparisonSaysThatTheOtherFieldIsNotGiven(t *testing.T) {
	type stay struct {
		From *time.Time `json:"from"`
		To   *time.Time `json:"to" validate:"omitempty,gtefield=From"`
		Low  int        `json:"low,omitempty"`
		High int        `json:"high,omitempty" validate:"gtefield=Low|eq=-5"`
	}
	to := "to: expected a time that is not before the field from, which is not given, got string [gtefield rules]"
	assert.Equal(t, []string{to}, decoded[stay](t, `{"to":"2024-05-06T00:00:00Z"}`))
	assert.Equal(t, []string{to}, decoded[stay](t, `{"from":null,"to":"2024-05-06T00:00:00Z"}`))
	assert.Empty(t, decoded[stay](t, `{"from":"2024-05-06T00:00:00Z","to":"2024-05-06T00:00:00Z"}`))
	assert.Equal(t, []string{"high: expected at least the field low or -5, got integer [anyOf rules]"}, decoded[stay](t, `{"high":-1}`))
}

func TestAConditionOfAStructWithADecoder(t *testing.T) {
	type room struct {
		Guests *int      `json:"guests"`
		Debt   big.Int   `json:"debt" validate:"excluded_with=Guests"`
		Until  time.Time `json:"until" validate:"required_with=Guests"`
	}
	assert.Empty(t, decoded[room](t, `{"debt":1}`))
	assert.Equal(t, []string{
		"debt: expected to be left out when guests is given, got integer [excluded_with rules]",
		"until: expected to be given when guests is given [required_with rules]",
	}, decoded[room](t, `{"debt":1,"guests":2}`))
}

func TestAConditionOfAnyValue(t *testing.T) {
	type room struct {
		Guests *int `json:"guests"`
		Notes  any  `json:"notes" validate:"required_with=Guests"`
	}
	for doc, want := range map[string][]string{
		`{}`:                        nil,
		`{"notes":null}`:            nil,
		`{"guests":2,"notes":""}`:   nil,
		`{"guests":2}`:              {"notes: expected to be given when guests is given [required_with rules]"},
		`{"guests":2,"notes":null}`: {"notes: expected to be given when guests is given, got null [required_with rules]"},
	} {
		assert.ElementsMatch(t, want, decoded[room](t, doc), doc)
	}
}

func TestACompareMayBeOneOfAGroup(t *testing.T) {
	type room struct {
		Guests int `json:"guests"`
		Beds   int `json:"beds" validate:"eqfield=Guests|eq=3"`
	}
	assert.Empty(t, decoded[room](t, `{"guests":2,"beds":3}`))
	assert.Empty(t, decoded[room](t, `{"guests":2,"beds":2}`))
	assert.Equal(t, []string{"beds: expected equal to the field guests or 3, got integer [anyOf rules]"}, decoded[room](t, `{"guests":2,"beds":1}`))
	assert.Equal(t, []string{"guests: expected integer, got string [type schema]"}, decoded[room](t, `{"guests":"2","beds":1}`))
}

// period has rules of its own wherever it stands.
type period struct {
	From int `json:"from" validate:"min=1"`
	To   int `json:"to"`
}

func (s *period) Issues() []fault.Issue {
	if s.To > s.From {
		return nil
	}
	return []fault.Issue{{Pointer: "/to", Rule: "order", Expected: "a day after from"}}
}

type nightly []period

func (n nightly) Issues() []fault.Issue {
	if len(n) > 1 && n[1].From < n[0].To {
		return []fault.Issue{{Pointer: "/1/from", Rule: "overlap", Expected: "a day that is free"}}
	}
	return nil
}

type hidden struct {
	Low  int  `json:"low"`
	High int  `json:"high" validate:"gtfield=Low"`
	Step *int `json:"step" validate:"required_if=Low 1"`
}

// reflect does not hand out a value of an embedded struct that is not exported.
func TestFieldsOfAnUnexportedEmbeddedStructAreCompared(t *testing.T) {
	type around struct {
		hidden
		Name string `json:"name" validate:"required_with=Low"`
	}
	typed, err := schema.For[around]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"low":1,"high":1}`))
	assert.Equal(t, []string{
		"high: expected more than the field low, got integer [gtfield rules]", "name: expected to be given when low is given [required_with rules]",
		"step: expected to be given when low is 1 [required_if rules]",
	}, lines(issues))
	_, issues = typed.Decode([]byte(`{"low":2,"high":3,"name":"a"}`))
	assert.Empty(t, issues)
}

// Period is embedded with a name in JSON.
type Period struct{ period }

func (p Period) Issues() []fault.Issue { return p.period.Issues() }

func TestTheIssuesOfAnEmbeddedStructAreToldOnce(t *testing.T) {
	type around struct {
		Period `json:"period"`
		Inner  Period `json:"inner"`
	}
	typed, err := schema.For[around]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"period":{"from":2,"to":1},"inner":{"from":1,"to":1}}`))
	assert.Equal(t, []string{"inner/to: expected a day after from [order rules]", "period/to: expected a day after from [order rules]"}, lines(issues))
}

func TestMethodsIssuesAreCalledWhereverATypeStands(t *testing.T) {
	type trip struct {
		First period            `json:"first"`
		Next  *period           `json:"next"`
		All   nightly           `json:"all"`
		ByDay map[string]period `json:"by/day"`
	}
	typed, err := schema.For[trip]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"first":{"from":2,"to":1},"next":{"from":1,"to":1},"all":[{"from":1,"to":5},{"from":3,"to":4}],
		"by/day":{"b":{"from":9,"to":9},"a":{"from":1,"to":2}}}`))
	assert.Equal(t, []string{
		"all/1/from: expected a day that is free [overlap rules]", "by~1day/b/to: expected a day after from [order rules]",
		"first/to: expected a day after from [order rules]", "next/to: expected a day after from [order rules]",
	}, lines(issues))
	_, issues = typed.Decode([]byte(`{"first":{"from":2,"to":1},"all":[{"from":0,"to":-5}],"by/day":{}}`))
	assert.Equal(t, []string{"all/0/from: expected at least 1, got integer [minimum schema]"}, lines(issues), "the rest is told when that is right")
}

// A value that breaks a rule when it is rounded to what Go can hold would be handed on otherwise.
func TestRulesHoldForRoundedNumbers(t *testing.T) {
	type numbers struct {
		Below float64 `json:"below" validate:"lt=1"`
		Above float64 `json:"above" validate:"gt=0"`
		Small float32 `json:"small" validate:"required,max=0.5|min=0.75"`
		Empty float64 `json:"empty" validate:"omitempty,gt=0"`
	}
	typed, err := schema.For[numbers]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"below":0.99999999999999999999,"above":1e-350,"small":1e-60,"empty":1e-350}`))
	assert.Equal(t, []string{
		"above: expected more than 0, got number [gt rules]", "below: expected less than 1, got number [lt rules]",
		"small: expected a value that is not empty, got number [not rules]",
	}, lines(issues))
	_, issues = typed.Decode([]byte(`{"below":0.999999999999999,"above":1e-300,"small":0.5,"empty":0}`))
	assert.Empty(t, issues)
	_, issues = typed.Decode([]byte(`{"below":1.00000000000000000001,"above":0.5,"small":0.6,"empty":0}`))
	assert.Equal(t, []string{"below: expected less than 1, got number [exclusiveMaximum schema]", "small: expected at most 0.5 or at least 0.75, got number [anyOf schema]"}, lines(issues))
}

func TestTheRulesOfGinCountWhereNoOthersAre(t *testing.T) {
	type Message struct {
		Role string `json:"role" binding:"required,oneof=user assistant"`
	}
	type Embedded struct {
		At string `json:"at" binding:"required"`
	}
	type chat struct {
		Messages []Message `json:"messages" binding:"required,min=1,dive"`
		Limit    int       `json:"limit" binding:"max=3" validate:"max=5"`
		Free     int       `json:"free" binding:"max=3" validate:""`
		Embedded `binding:"-"`
	}
	s, err := schema.For[chat]()
	require.NoError(t, err)
	_, issues := s.Decode([]byte(`{"messages":[{"role":"user"}],"limit":5,"free":9,"at":""}`))
	assert.Empty(t, issues)
	_, issues = s.Decode([]byte(`{"messages":[{"role":"system"}],"limit":6,"free":9,"at":""}`))
	assert.Equal(t, []string{
		"limit: expected at most 5, got integer", `messages/0/role: expected one of "user", "assistant", got string`,
	}, told(issues))
	_, err = schema.For[struct {
		A int `binding:"exists"`
	}]()
	assert.ErrorContains(t, err, `A: validate rule "exists" is not known`)
}

func TestAnArrayOfBytesHasItsLength(t *testing.T) {
	type sums struct {
		A [3]byte `json:"a"`
		B [2]byte `json:"b"`
	}
	s, err := schema.For[sums]()
	require.NoError(t, err)
	got, issues := s.Decode([]byte(`{"a":"YWJj","b":"YWI="}`))
	assert.Empty(t, issues)
	assert.Equal(t, sums{[3]byte{'a', 'b', 'c'}, [2]byte{'a', 'b'}}, got)
	_, issues = s.Decode([]byte(`{"a":"YWI","b":"YWJj"}`))
	assert.Equal(t, []string{
		"a: expected exactly 4 characters, got string", "b: expected a base64 string of 2 bytes, got string",
	}, told(issues))
	assert.Contains(t, string(s.Schema().JSON()), `"A base64 string of 3 bytes."`)
}

type torn struct {
	City string `json:"city"`
}

func (v torn) Issues() []fault.Issue {
	return []fault.Issue{{Pointer: "/city", Rule: "known", Expected: "a city and not " + v.City[:2]}}
}

// A method may cut a text within a letter. What it says is recorded, and a journal holds UTF-8 alone.
func TestWhatAMethodSaysIsUTF8(t *testing.T) {
	assert.Equal(t, []string{"city: expected a city and not P\ufffd [known rules]"}, decoded[torn](t, `{"city":"Pécs"}`))
}

// What a rule or a decoder asks for is told with the type, so that a value is not sent twice to learn of it.
func TestAMissingValueIsToldWithItsRules(t *testing.T) {
	type stay struct {
		From  string           `json:"from" validate:"required,datetime=2006-01-02 15:04"`
		Price string           `json:"price" validate:"iso4217,lowercase"`
		Mail  string           `json:"mail" validate:"email"`
		Word  spoken           `json:"word" validate:"oneof=yes no"`
		Sum   big.Int          `json:"sum"`
		ID    *UUID            `json:"id" validate:"required"`
		Hosts []string         `json:"hosts" validate:"dive,hostname_port"`
		Zones map[string]*zone `json:"zones"`
		Next  *stay            `json:"next"`
	}
	all := []string{
		"from: required, expected string (a date or time written as YYYY-MM-DD hh:mm) [required schema]",
		"hosts: required, expected array of strings [required schema]", "id: required, expected string (a UUID) [required schema]",
		"mail: required, expected string (an email address) [required schema]",
		"price: required, expected string (a currency code such as EUR, in lower case) [required schema]",
		"sum: required, expected a whole number [required schema]",
		`word: required, expected a value that reads as spoken, one of "yes", "no" [required schema]`,
		"zones: required, expected object [required schema]",
	}
	assert.Equal(t, all, decoded[stay](t, `{}`))
	assert.Equal(t, []string{
		"hosts/0: expected string (a host and port such as example.com:80), got integer [type schema]",
		"price: expected a string in lower case, got string [lowercase rules]",
		"zones/a/name: expected string (a time zone name such as Europe/Lisbon), got integer [type schema]",
	}, decoded[stay](t, `{"from":"2024-05-06 07:08","price":"EUR","mail":"a@b.co","word":"no","sum":1,"id":"b7e2c0f6-3a4e-4f0e-9c37-2d1f1c8f5a11",
		"hosts":[1],"zones":{"a":{"name":1}}}`))
}

type zone struct {
	Name string `json:"name" validate:"timezone"`
}

// A rule is not held to a value of which a part could not be read: the zero values in its place would be
// equal, or all zero.
func TestNoRuleIsHeldToAValueThatIsReadInPart(t *testing.T) {
	type booked struct {
		At time.Time `json:"at"`
	}
	type parts struct {
		In struct {
			N int `json:"n"`
		} `json:"in" validate:"required"`
		Slots []booked        `json:"slots" validate:"unique=At"`
		Marks map[string]int8 `json:"marks" validate:"unique"`
		Array [2]int          `json:"array" validate:"required"`
	}
	assert.Equal(t, []string{
		"array/0: expected integer, got string [type schema]",
		"in/n: expected integer, got string [type schema]",
		"marks/a: expected at most 127, got integer [maximum schema]",
		"marks/b: expected at most 127, got integer [maximum schema]",
		"slots/0/at: expected a date and time as in 2006-01-02T15:04:05Z, got string [format schema]",
		"slots/1/at: expected a date and time as in 2006-01-02T15:04:05Z, got string [format schema]",
	}, decoded[parts](t, `{"in":{"n":"1"},"slots":[{"at":"today"},{"at":"tomorrow"}],"marks":{"a":200,"b":300},"array":["1",0]}`))
	assert.Equal(t, []string{
		"array: expected a value that is not all zero or empty, got array [not rules]",
		"in: expected a value that is not all zero or empty, got object [minProperties rules]",
		"marks: expected members whose values all differ, got object [unique rules]",
		"slots: expected items that all differ in at, got array [uniqueItems rules]",
	}, decoded[parts](t, `{"in":{"n":0},"slots":[{"at":"2024-05-06T07:08:09Z"},{"at":"2024-05-06T07:08:09Z"}],"marks":{"a":2,"b":2},"array":[0,0]}`))
}

// A condition on a list counts its items, as the validator does.
func TestAConditionOnAListIsOnTheNumberOfItsItems(t *testing.T) {
	type imported struct {
		Emails []string          `json:"emails"`
		Labels map[string]string `json:"labels"`
		Name   string            `json:"name" validate:"required_if=Emails 0 Labels 1"`
		Kind   string            `json:"kind" validate:"excluded_unless=Labels nil"`
	}
	assert.Equal(t, []string{
		"kind: expected to be left out unless labels is not given, got string [excluded_unless rules]",
		"name: expected to be given when emails has 0 items and labels has 1 member [required_if rules]",
	}, decoded[imported](t, `{"emails":[],"labels":{"a":"b"},"kind":"x"}`))
}

type urgency int

func (u *urgency) UnmarshalText(text []byte) error {
	*u = urgency(slices.Index([]string{"low", "high"}, string(text)))
	if *u < 0 {
		return errors.New("no urgency")
	}
	return nil
}

func (urgency) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"low", "high"}}
}

// A listed value that the rule required takes for an empty one is not offered where that rule stands.
func TestAListedValueThatCountsAsEmptyIsNotOffered(t *testing.T) {
	type ticket struct {
		Must urgency  `json:"must" validate:"required"`
		May  urgency  `json:"may"`
		Ptr  *urgency `json:"ptr" validate:"required"`
	}
	assert.Empty(t, decoded[ticket](t, `{"must":"high","may":"low","ptr":"low"}`))
	assert.Equal(t, []string{`must: expected "high", got string [enum schema]`},
		decoded[ticket](t, `{"must":"low","may":"low","ptr":"low"}`))
}
