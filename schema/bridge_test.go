package schema_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// bridged is a type under test, with three ways to check it: the schema alone, the validator alone, and
// Decode.
type bridged struct {
	name    string
	good    string
	byRules func([]byte) (good, judges bool)
	decode  func([]byte) []fault.Issue
	value   func([]byte) (any, []fault.Issue)
	shown   *schema.Schema
	checked *schema.Schema
	strict  bool
}

func bridgedOf[T any](name, good string) bridged {
	typed, err := schema.For[T]()
	if err != nil {
		panic(err)
	}
	shown, err := schema.Compile(typed.Schema().JSON())
	if err != nil {
		panic(err)
	}
	return bridged{
		name: name, good: good, shown: shown,
		byRules: func(doc []byte) (bool, bool) { return schema.ByRules(typed, doc) },
		decode: func(doc []byte) []fault.Issue {
			_, issues := typed.Decode(doc)
			return issues
		},
		value:   func(doc []byte) (any, []fault.Issue) { return typed.Decode(doc) },
		checked: typed.Schema(), strict: name == "foreign",
	}
}

var bridgedTypes = []bridged{
	bridgedOf[stringsType]("strings", `{"req":"a","reqlen":"abc","opt":"abc","free":"","len":"ab","gt":"ab","gte":"a","eq":"ab",
		"ne":"a","one":"b c","optone":"a","none":"c","ptr":"ab","reqptr":"","bareptr":null,"ruleptr":"a","ptrone":"a","zeroptr":"ab",
		"skipped":"a","default":"","omitmid":"abc","omitnil":"ab","named":"a"}`),
	bridgedOf[patternsType]("patterns", `{"alpha":"ab","space":"a b","alphanum":"a1","anspace":"a 1","numeric":"-1.5","number":"12",
		"hex":"0xAf","e164":"+491234567","starts":"a.b","ends":"b.a","nostart":"b","noend":"b","contains":"ab]","any":"-","excludes":"a",
		"excall":"a","lower":"a","either":"1","ci":"red"}`),
	bridgedOf[formatsType]("formats", `{"email":"a@b.co","url":"https://a.b/c","uri":"/a","http":"http://a.b",
		"uuid":"123e4567-e89b-12d3-a456-426614174000","uuid4":"123e4567-e89b-42d3-a456-426614174000","ipv4":"1.2.3.4","ipv6":"::1",
		"ip":"::1","host":"a.b","host2":"1.b","fqdn":"a.co","date":"2024-02-29","clock":"12:30","duration":"1h"}`),
	bridgedOf[numbersType]("numbers", `{"req":1,"range":2,"reqmin":1,"opt":6,"free":9007199254740993,"small":-5,"short":2,"un":1,"unreq":1,
		"un64":18446744073709551615,"eq":3,"ne":2,"len":3,"one":2,"none":3,"ptr":2,"float":0.5,"freq":0.1,"fopt":0.1,"feq":0.1,"f32":0.1,
		"f32raw":1.5,"fptr":0.5,"true":true,"eqbool":false,"bool":true,"bptr":false}`),
	bridgedOf[listsType]("lists", `{"id":"a","tag":"b","free":["a"],"req":[],"min":[1],"opt":[1],"zero":[1,2],"len":[1,2],"ne":[1,2],
		"unique":["a","b"],"uniquef":[1,2],"uniques":[{"a":"b"}],"field":[{"name":"a","kind":""},{"name":"b","kind":"a"}],"dive":["a"],"diveopt":["a@b.co"],
		"deep":[[1]],"items":[{"name":"a","kind":"a"}],"loose":[{"name":"c","kind":"a"}],"ptritem":[{"name":"a"},null],"ptrreq":[{"name":"a"}],
		"fixed":[1,2],"bytes":"YQ==","ptrlist":[1],"map":{"a":1},"keys":{"ab":1},"onlykey":{"a":{"name":"b"}},"mapdive":{"a/b":{"name":"b"}},
		"mapfree":{"a":{"name":"b"}},"mapreq":{"a":"b"}}`),
	bridgedOf[structsType]("structs", `{"checked":{"name":"a"},"loose":{"a":"b","b":1},"required":{"a":"b"},"optional":{"name":"a"},
		"ptr":{"name":"a"},"ptrreq":{"name":"a"},"ptromit":null,"only":{"name":"","kind":"x"},"skip":{"name":"","kind":"x"},"any":{"x":[1]},"anyreq":0,
		"tree":{"value":1,"kids":[{"value":2,"kids":[]}],"left":{"value":1,"kids":[]}},"anon":{"x":1}}`),
	bridgedOf[foreignType]("foreign", `{"when":"2024-05-06T07:08:09Z","whenreq":"2024-05-06T07:08:09.5+02:00","whenopt":null,"addr":"::1",
		"raw":{"a":1},"even":4,"tagged":"x","must":""}`),
}

// agree checks one document. What the validator refuses is refused. What is refused but not by the validator
// is refused by the schema that models see. That schema accepts all that is accepted.
func agree(t require.TestingT, b bridged, doc []byte) {
	issues := b.decode(doc)
	byRules, judges := b.byRules(doc)
	require.True(t, byRules || !judges || len(issues) > 0, "%s: the rules refuse it\n%s", b.name, doc)
	require.Equal(t, issues, b.checked.Check(doc))
	for _, i := range issues {
		require.NotEmpty(t, i.Rule)
		require.NotEmpty(t, i.Expected+i.Rule)
	}
	shown := b.shown.Check(doc)
	if len(issues) == 0 {
		require.Empty(t, shown, "%s: the schema shown to models refuses a good document\n%s", b.name, doc)
	} else if byRules {
		require.NotEmpty(t, shown, "%s: neither the rules nor the schema refuse it: %v\n%s", b.name, issues, doc)
	}
}

func TestSchemaAndRulesAgreeOnGoodDocuments(t *testing.T) {
	for _, b := range bridgedTypes {
		t.Run(b.name, func(t *testing.T) {
			require.Empty(t, b.decode([]byte(b.good)))
			agree(t, b, []byte(b.good))
		})
	}
}

// Each member of each type is replaced by each of the values, and left out.
func TestSchemaAndRulesAgreeOnNearMisses(t *testing.T) {
	for _, b := range bridgedTypes {
		t.Run(b.name, func(t *testing.T) {
			var members map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(b.good), &members))
			for name, good := range members {
				for _, v := range values {
					members[name] = json.RawMessage(v)
					doc, err := json.Marshal(members)
					require.NoError(t, err)
					agree(t, b, doc)
				}
				delete(members, name)
				doc, err := json.Marshal(members)
				require.NoError(t, err)
				agree(t, b, doc)
				members[name] = good
			}
			members["unknown"] = json.RawMessage("1")
			doc, err := json.Marshal(members)
			require.NoError(t, err)
			agree(t, b, doc)
		})
	}
}

// mutate changes a document in several places at once, at any depth.
func mutate(t *rapid.T, v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			switch rapid.IntRange(0, 14).Draw(t, "member") {
			case 0:
				delete(v, k)
			case 1, 2:
				v[k] = drawValue(t)
			case 3:
				v[k+"x"] = v[k]
			default:
				v[k] = mutate(t, v[k])
			}
		}
	case []any:
		for n := range v {
			v[n] = mutate(t, v[n])
		}
		if rapid.IntRange(0, 5).Draw(t, "item") == 0 {
			return append(v, drawValue(t))
		}
	default:
		if rapid.IntRange(0, 9).Draw(t, "scalar") == 0 {
			return drawValue(t)
		}
	}
	return v
}

func drawValue(t *rapid.T) any {
	return json.RawMessage(rapid.SampledFrom(values).Draw(t, "value"))
}

func TestSchemaAndRulesAgreeOnMutations(t *testing.T) {
	for _, b := range bridgedTypes {
		t.Run(b.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var v any
				dec := json.NewDecoder(strings.NewReader(b.good))
				dec.UseNumber()
				require.NoError(t, dec.Decode(&v))
				doc, err := json.Marshal(mutate(t, v))
				require.NoError(t, err)
				agree(t, b, doc)
			})
		})
	}
}

// FuzzBridge replaces one member of one type by a value. Bytes that are not JSON become a string.
func FuzzBridge(f *testing.F) {
	for n, v := range values {
		f.Add(uint8(n%len(bridgedTypes)), uint8(n), []byte(v))
	}
	f.Fuzz(func(t *testing.T, kind, member uint8, value []byte) {
		b := bridgedTypes[int(kind)%len(bridgedTypes)]
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(b.good), &members))
		names := slices.Sorted(maps.Keys(members))
		if !json.Valid(value) {
			quoted, err := json.Marshal(string(value))
			require.NoError(t, err)
			value = quoted
		}
		members[names[int(member)%len(names)]] = value
		doc, err := json.Marshal(members)
		require.NoError(t, err)
		agree(t, b, doc)
	})
}

func TestShownSchemaIsTheSameEveryTime(t *testing.T) {
	first, err := schema.For[listsType]()
	require.NoError(t, err)
	for range 20 {
		again, err := schema.ForAnew[listsType]()
		require.NoError(t, err)
		assert.Equal(t, string(first.Schema().JSON()), string(again.Schema().JSON()))
	}
}

func TestWordsOfRules(t *testing.T) {
	type words struct {
		Date string `json:"date" validate:"datetime=2006-01-02 15:04"`
		ID   string `json:"id" validate:"uuid"`
		Any  any    `json:"any,omitempty"`
		Tint string `json:"tint" validate:"oneofci=Red Blue"`
		Own  string `json:"own" validate:"alpha|numeric"`
	}
	typed, err := schema.For[words]()
	require.NoError(t, err)
	assert.Contains(t, string(typed.Schema().JSON()), `"any":{"description":"Any value."}`)
	_, issues := typed.Decode([]byte(`{"date":"x","id":"x","tint":"x","own":"-"}`))
	assert.Equal(t, []string{
		"date: expected a date or time written as YYYY-MM-DD hh:mm, got string [datetime rules]",
		"id: expected a UUID, matching ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$, got string [pattern schema]",
		`own: expected a string of the letters a-z, matching ^[a-zA-Z]+$ or a string that holds a number, matching ^[-+]?[0-9]+(\.[0-9]+)?$, got string [pattern schema]`,
		`tint: expected one of "Red", "Blue" (in any case), got string [oneofci rules]`,
	}, lines(issues))
}
