package schema_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"
	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// withRules is a struct with one field, named f in JSON.
func withRules(of reflect.Type, rules string) reflect.Type {
	tag := reflect.StructTag(fmt.Sprintf(`json:"f" validate:%q`, rules))
	return reflect.StructOf([]reflect.StructField{{Name: "F", Type: of, Tag: tag}})
}

// paramsOf are the parameters of rules that need some.
var paramsOf = map[string]string{
	"contains": "a", "containsany": "a", "containsrune": "a", "excludes": "a", "excludesall": "a", "excludesrune": "a", "startswith": "a", "endswith": "a",
	"startsnotwith": "a", "endsnotwith": "a", "datetime": "2006", "eq": "a", "ne": "a", "eq_ignore_case": "a", "ne_ignore_case": "a", "oneof": "a", "oneofci": "a",
	"noneof": "a", "noneofci": "a", "mimetype": "text/plain", "len": "1", "min": "1", "max": "1", "lt": "1", "lte": "1", "gt": "1", "gte": "1", "postcode_iso3166_alpha2": "DE",
}

// forNumbers are rules that strings cannot have.
var forNumbers = map[string]reflect.Type{"port": reflect.TypeFor[uint16](), "iso4217_numeric": reflect.TypeFor[int](), "unique": reflect.TypeFor[[]bool]()}

func TestEachRuleOfTheValidatorHasWords(t *testing.T) {
	rules := reflect.ValueOf(validator.New()).Elem()
	names := slices.Concat(rules.FieldByName("validations").MapKeys(), rules.FieldByName("aliases").MapKeys())
	require.Greater(t, len(names), 180)
	for _, name := range names {
		rule := name.String()
		of := reflect.TypeFor[string]()
		if forNumbers[rule] != nil {
			of = forNumbers[rule]
		}
		if param := paramsOf[rule]; param != "" {
			rule += "=" + param
		}
		skips := []string{"validateFn", "omitempty", "structonly"} // the first one needs a type with a method
		if isRelational := strings.Contains(rule, "field") || strings.HasPrefix(rule, "required_") || strings.HasPrefix(rule, "excluded_") ||
			rule == "skip_unless"; isRelational || slices.Contains(skips, rule) {
			continue
		}
		s, err := schema.ForType(withRules(of, rule))
		require.NoError(t, err, rule)
		for _, doc := range []string{`{"f":""}`, `{"f":"a"}`, `{"f":"ä ö"}`, `{"f":0}`, `{"f":[true,true]}`} {
			assert.NotContains(t, strings.Join(lines(s.Check([]byte(doc))), "\n"), "keeps to the rule", rule)
		}
		assert.NotContains(t, string(s.JSON()), "keeps to the rule", rule)
	}
}

// What the words name as an example keeps to the rule.
func TestExamplesInWordsAreRight(t *testing.T) {
	examples := 0
	for _, r := range schema.RuleWords() {
		_, example, has := strings.Cut(r.Words, " such as ")
		if !has {
			continue
		}
		for one := range strings.SplitSeq(strings.ReplaceAll(example, " or ", ", "), ", ") {
			of, doc := reflect.TypeFor[string](), []byte(one)
			if strings.Contains(example, "(") {
				one, _, _ = strings.Cut(example, " or ")
			}
			if r.Tag == "iso4217_numeric" {
				of = reflect.TypeFor[int]()
			} else {
				doc, _ = json.Marshal(one)
			}
			s, err := schema.ForType(withRules(of, r.Tag))
			require.NoError(t, err)
			assert.Empty(t, s.Check(fmt.Appendf(nil, `{"f":%s}`, doc)), "%s: %s", r.Tag, r.Words)
			examples++
		}
	}
	assert.Greater(t, examples, 50)
}

// The validator says of values that are no strings what it says of the text "<int Value>", so such a rule
// would refuse every document, or none.
func TestARuleForStringsIsRefusedOnOtherTypes(t *testing.T) {
	for rule, of := range map[string]reflect.Type{
		"ip": reflect.TypeFor[netip.Addr](), "cidr": reflect.TypeFor[netip.Prefix](), "base64": reflect.TypeFor[[]byte](), "duration": reflect.TypeFor[int](),
		"sha256": reflect.TypeFor[[32]byte](), "ascii": reflect.TypeFor[float64](), "url_encoded": reflect.TypeFor[bool](), "boolean": reflect.TypeFor[int](),
		"html": reflect.TypeFor[[]string](), "excludesrune=a": reflect.TypeFor[time.Time](), "hexcolor|rgb": reflect.TypeFor[uint32](),
	} {
		_, err := schema.ForType(withRules(of, rule))
		require.Error(t, err, "%s on %s", rule, of)
		assert.Contains(t, err.Error(), fmt.Sprintf("needs a string, not %s", of), rule)
	}
	_, err := schema.ForType(withRules(reflect.TypeFor[[2]int](), "len=3"))
	require.ErrorContains(t, err, `validate rule "len=3" can never hold: a [2]int has one length`)
}

// spoken has a decoder of its own, as enumerations have.
type spoken string

func (s *spoken) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*string)(s)) }

// badge holds a UUID as modules of them do, whose String the validator reads.
type badge [36]byte

func (b badge) String() string { return string(b[:]) }

func (b *badge) UnmarshalText(text []byte) error {
	copy(b[:], text)
	return nil
}

func TestWordsFitTheGoType(t *testing.T) {
	for _, test := range []struct {
		of               reflect.Type
		rules, doc, told string
	}{
		{reflect.TypeFor[time.Time](), "gt", `"2001-02-03T04:05:06Z"`, "f: expected a time after now, got string [gt rules]"},
		{reflect.TypeFor[time.Time](), "min=1", `"2001-02-03T04:05:06Z"`, "f: expected a time that is not before now, got string [min rules]"},
		{reflect.TypeFor[*time.Time](), "lt", `"2999-02-03T04:05:06Z"`, "f: expected a time before now, got string [lt rules]"},
		{reflect.TypeFor[Upper](), "min=2", `"A"`, "f: expected at least 2 characters, got string [min rules]"},
		{reflect.TypeFor[Upper](), "eq=AB|eq=", `"A"`, `f: expected "AB" or "", got string [anyOf rules]`},
		{reflect.TypeFor[Upper](), "oneof=AB CD", `"A"`, `f: expected one of "AB", "CD", got string [oneof rules]`},
		{reflect.TypeFor[*Upper](), "omitempty,noneof=AB 'C D'", `"C D"`, `f: expected none of "AB", "C D", got string [noneof rules]`},
		{reflect.TypeFor[spoken](), "oneof=yes no", `"maybe"`, `f: expected one of "yes", "no", got string [oneof rules]`},
		{reflect.TypeFor[spoken](), "required,oneof=yes no", `3`, `f: expected a value that reads as spoken, one of "yes", "no", got integer [format schema]`},
		{reflect.TypeFor[string](), "required,omitempty,min=3", `"a"`, `f: expected at least 3 characters, got string [minLength schema]`},
		{reflect.TypeFor[string](), "required,omitempty,min=3", `""`, `f: expected at least 3 characters, got string [minLength schema]`},
		{reflect.TypeFor[string](), "required,omitempty,email", `"a"`, `f: expected an email address, got string [format rules]`},
		{reflect.TypeFor[int](), "required,omitempty,max=3", `0`, `f: expected a number other than 0, got integer [not schema]`},
		{reflect.TypeFor[[]string](), "required,omitzero,min=2", `["a"]`, `f: expected at most 0 items or at least 2 items, got array [anyOf schema]`},
		{reflect.TypeFor[string](), "eq=a|eq=b", `"c"`, `f: expected one of "a", "b", got string [enum schema]`},
		{reflect.TypeFor[string](), "excludes= ", `"a b"`, `f: expected a string not matching " ", got string [not schema]`},
		{reflect.TypeFor[string](), "endswith= end", `"a"`, `f: expected a string matching " end$", got string [pattern schema]`},
		{reflect.TypeFor[badge](), "required,uuid4", `"b7e2c0f6-3a4e-1f0e-9c37-2d1f1c8f5a11"`, "f: expected a UUID of version 4, got string [pattern rules]"},
		{reflect.TypeFor[[]int](), "ne=1", `[1]`, "f: expected anything but exactly 1 item, got array [not schema]"},
		{reflect.TypeFor[map[string]int](), "ne=2", `{"a":1,"b":2}`, "f: expected anything but exactly 2 members, got object [not schema]"},
		{reflect.TypeFor[*big.Int](), "required", `null`, "f: expected anything but null, got null [not schema]"},
	} {
		s, err := schema.ForType(withRules(test.of, test.rules))
		require.NoError(t, err)
		assert.Equal(t, []string{test.told}, lines(s.Check(fmt.Appendf(nil, `{"f":%s}`, test.doc))), "%s %s", test.of, test.rules)
	}
	for rule, of := range map[string]reflect.Type{"number": reflect.TypeFor[int](), "numeric|eq=3": reflect.TypeFor[float32](), "boolean": reflect.TypeFor[bool]()} {
		s, err := schema.ForType(withRules(of, rule))
		require.NoError(t, err)
		assert.NotContains(t, string(s.JSON()), "string", "%s %s", rule, of)
	}
}

func TestWordsNameMembersAsJSONDoes(t *testing.T) {
	type inner struct {
		Most int `json:"most"`
		Kind string
	}
	type Mixed struct {
		Size int `json:"mixed_size"`
		More int `json:"more" validate:"gtfield=Size"`
	}
	type outer struct {
		Kind string         `json:"kind" validate:"required_with=In.Kind"`
		In   *inner         `json:"in"`
		Top  int            `json:"top,omitempty" validate:"gtcsfield=In.Most"`
		Size int            `json:"size" validate:"required_if=Mixed.More 3"`
		List []inner        `json:"list,omitempty" validate:"unique=Most"`
		Map  map[string]int `json:"map,omitempty" validate:"unique"`
		Skip int            `json:"skip" validate:"skip_unless=Size 1"`
		Mixed
	}
	typed, err := schema.For[outer]()
	require.NoError(t, err)
	_, issues := typed.Decode([]byte(`{"in":{"most":3,"Kind":"x"},"top":1,"mixed_size":3,"more":3,"map":{"a":1,"b":1},
		"list":[{"most":1,"Kind":"a"},{"most":1,"Kind":"b"}]}`))
	assert.Equal(t, []string{
		"kind: expected to be given when in.Kind is given [required_with rules]",
		"list: expected items that all differ in most, got array [uniqueItems rules]",
		"map: expected members whose values all differ, got object [unique rules]",
		"more: expected more than the field mixed_size, got integer [gtfield rules]",
		"size: expected to be given when more is 3 [required_if rules]",
		"top: expected more than the field in.most, got integer [gtcsfield rules]",
	}, lines(issues))
	_, issues = typed.Decode([]byte(`{"size":1,"mixed_size":3,"more":4}`))
	assert.Equal(t, []string{"skip: expected to be given when size is 1 [skip_unless rules]"}, lines(issues))
}

func TestLayoutsOfTimes(t *testing.T) {
	for layout, told := range map[string]string{
		"2006-01-02": "written as YYYY-MM-DD", "15:04:05": "written as hh:mm:ss", "2006-01-02T15:04:05Z": "written as YYYY-MM-DDThh:mm:ssZ",
		time.RFC3339: "such as 2024-05-16T17:08:09Z", "02 Jan 06": "such as 16 May 24", "3:04 PM": "such as 5:08 PM", "Mon": "such as Thu", "-0700": "such as +0000",
	} {
		s, err := schema.ForType(withRules(reflect.TypeFor[string](), "datetime="+layout))
		require.NoError(t, err)
		assert.Equal(t, []string{"f: expected a date or time " + told + ", got string [datetime rules]"}, lines(s.Check([]byte(`{"f":"x"}`))))
	}
}

// Not all providers read a boolean schema.
func TestRulesInProseLeaveNoBooleanSchema(t *testing.T) {
	for rules, of := range map[string]reflect.Type{"omitempty,uuid4|ulid": reflect.TypeFor[string](), "omitempty": reflect.TypeFor[big.Int](), "min=1,dive": reflect.TypeFor[[]Loud]()} {
		s, err := schema.ForType(withRules(of, rules))
		require.NoError(t, err)
		assert.NotContains(t, string(s.JSON()), "true", rules)
		assert.Contains(t, string(s.JSON()), `"description":`, rules)
	}
}

type (
	tone   string
	weight int
	words  []string
	hue    string
)

func (tone) JSONSchema() *jsonschema.Schema          { return sharedTone }
func (weight) JSONSchemaExtend(s *jsonschema.Schema) { s.Maximum = "9" }
func (*words) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: "Some words."}
}
func (hue) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer"} }

var sharedTone = &jsonschema.Schema{Type: "string", Enum: []any{"warm", "cool"}, Extras: map[string]any{"x-own": 1}}

// A type needs no decoder of its own to say what its values are.
func TestMethodsDescribeAnyType(t *testing.T) {
	type all struct {
		Tone   tone         `json:"tone"`
		Maybe  *tone        `json:"maybe"`
		Tones  []tone       `json:"tones" validate:"dive,required"`
		Kilo   weight       `json:"kilo" validate:"min=1"`
		ByTone map[tone]int `json:"byTone,omitempty"`
		Words  words        `json:"words" validate:"max=1"`
	}
	typed, err := schema.For[all]()
	require.NoError(t, err)
	assert.Equal(t, `{"properties":{"tone":{"type":"string","enum":["warm","cool"],"x-own":1},"maybe":{"enum":["warm","cool",null],"type":["string","null"],"x-own":1},`+
		`"tones":{"items":{"type":"string","enum":["warm","cool"],"minLength":1,"x-own":1},"type":"array"},"kilo":{"type":"integer","maximum":9,"minimum":1},`+
		`"byTone":{"additionalProperties":{"type":"integer"},"propertyNames":{"type":"string","enum":["warm","cool"],"x-own":1},"type":"object"},`+
		`"words":{"items":{"type":"string"},"type":"array","maxItems":1,"description":"Some words."}},"additionalProperties":false,"type":"object","required":["tone","tones","kilo","words"]}`,
		string(typed.Schema().JSON()))
	_, issues := typed.Decode([]byte(`{"tone":"loud","maybe":null,"tones":["cool",""],"kilo":10,"words":["a","b"],"byTone":{"loud":1,"warm":2}}`))
	assert.Equal(t, []string{
		`byTone/loud: expected a member name that is one of "warm", "cool" [propertyNames schema]`, "kilo: expected at most 9, got integer [maximum schema]", `tone: expected one of "warm", "cool", got string [enum schema]`,
		`tones/1: expected one of "warm", "cool", got string [enum schema]`, "words: expected at most 1 item, got array [maxItems schema]",
	}, lines(issues))
	assert.Equal(t, &jsonschema.Schema{Type: "string", Enum: []any{"warm", "cool"}, Extras: map[string]any{"x-own": 1}}, sharedTone)
	_, err = schema.ForType(withRules(reflect.TypeFor[hue](), "required"))
	require.ErrorContains(t, err, "method JSONSchema of schema_test.hue says integer, and it is read from a JSON string")
}
