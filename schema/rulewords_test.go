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
