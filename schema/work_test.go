package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// expressions are what tools that take filters or formulas have: alternatives that lead back to themselves. The keyword is anyOf or
// oneOf.
func expressions(t *testing.T, keyword string) *schema.Schema {
	two := func(op string) string {
		return `{"type": "object", "required": ["op", "left", "right"], "additionalProperties": false, "properties": {"op": {"const": "` + op +
			`"}, "left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"}}}`
	}
	return compile(t, `{"$ref": "#/$defs/e", "$defs": {"e": {"`+keyword+`": [`+two("and")+`,`+two("or")+`,
		{"type": "object", "required": ["op", "of"], "additionalProperties": false, "properties": {"op": {"const": "not"}, "of": {"$ref": "#/$defs/e"}}},
		{"type": "object", "required": ["field"], "additionalProperties": false, "properties": {"field": {"type": "string"}}}]}}}`)
}

// nested is a chain of so many operators with an expression at its end.
func nested(n int, end string) []byte {
	return []byte(strings.Repeat(`{"op":"or","left":{"field":"a"},"right":`, n) + end + strings.Repeat("}", n))
}

// What is wrong is told in the same words however deep it lies. From a depth of seven on the library would have too much to do: at a
// depth of 60 it would take years.
func TestAlternativesThatLeadBackAreJudgedInTime(t *testing.T) {
	for end, want := range map[string][]string{
		`{"field":1}`: {"field: expected string, got integer"},
		`{"op":"not","of":{"fields":"x"}}`: {
			"of: expected a value that fits one of 4 alternatives, got object", "of/field: required, expected string",
			"of/fields: expected no member of this name (allowed: field), got string",
		},
		`{"op":"xor","left":{"field":"b"}}`: {`op: expected "and", "or" or "not", got string`},
		`{"op":"and","left":{"field":"b"}}`: {
			"right: required, expected object (members: left, op, right), object (members: of, op) or object (member: field)",
		},
	} {
		for _, keyword := range []string{"anyOf", "oneOf"} {
			s := expressions(t, keyword)
			for _, depth := range []int{1, 3, 6, 7, 9, 20} {
				assert.Equal(t, want, within(s.Check(nested(depth, end)), strings.Repeat("/right", depth)), "depth %d", depth)
			}
		}
	}
	s := expressions(t, "oneOf")
	assert.Empty(t, s.Check(nested(60, `{"field":"b"}`)))
	assert.Equal(t, []string{"field: expected string, got integer"}, within(s.Check(nested(60, `{"field":1}`)), strings.Repeat("/right", 60)))
}

// within are issues as they are told, each by its way from a place.
func within(issues []fault.Issue, place string) []string {
	var all []string
	for _, i := range issues {
		i.Pointer = strings.TrimPrefix(i.Pointer, place)
		all = append(all, strings.TrimPrefix(i.String(), "(whole)"))
	}
	return all
}

// What a program does not know the library alone can judge: where that would take too long, it is not asked.
func TestTheLibraryIsNotAskedTooMuch(t *testing.T) {
	text := `{"$ref": "#/$defs/e", "$defs": {"e": {"oneOf": [
		{"required": ["a"], "patternProperties": {"^next$": {"$ref": "#/$defs/e"}}}, {"required": ["b"], "properties": {"next": {"$ref": "#/$defs/e"}}},
		{"items": {"$ref": "#/$defs/e"}, "contains": {"$ref": "#/$defs/e"}, "type": "array"}]}}}`
	known, s := compile(t, text), compile(t, strings.Replace(text, `"type": "array"`, `"type": "array", "not": {"const": [7]}`, 1))
	require.True(t, schema.HasProgram(known))
	require.False(t, schema.HasProgram(s))
	chain := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":1,"next":`, n) + `{"b":2}` + strings.Repeat("}", n))
	}
	assert.Empty(t, s.Check(chain(8)))
	tooMany := []string{"(whole): expected " + schema.TooManyWays}
	assert.Equal(t, tooMany, cut(s.Check(chain(40))))
	lists := []byte(strings.Repeat("[", 40) + strings.Repeat("]", 40))
	assert.Equal(t, tooMany, cut(s.Check(lists)))
	assert.Empty(t, known.Check(chain(40)))
	assert.Equal(t, "bad", schema.Told(known, lists))
}

// Where a fault lies deep in a long document, that is not read once more for each depth.
func TestALongDocumentIsReadAFewTimes(t *testing.T) {
	s := expressions(t, "oneOf")
	bad := func(depth, items int) []byte {
		return nested(depth, `{"op":"not","of":[`+strings.Repeat("1,", items)+`1]}`)
	}
	assert.Equal(t, strings.Repeat("/right", 11)+"/of", s.Check(bad(11, 10_000))[0].Pointer)
	assert.Equal(t, []string{strings.TrimPrefix(strings.Repeat("/right", 8), "/") + ": expected " + schema.TooManyWays}, cut(s.Check(bad(60, 100_000))))
}

func TestOfAlternativesThatLeadBackOneMayFit(t *testing.T) {
	either := `{"required": ["op", "left"], "properties": {"op": {"const": "xor"}, "left": {"$ref": "#/$defs/e"}}}`
	text := string(expressions(t, "oneOf").JSON())
	s := compile(t, strings.Replace(text, `"e":{"oneOf":[`, `"e":{"oneOf":[`+either+","+either+",", 1))
	for _, depth := range []int{1, 5, 20} {
		doc := fmt.Sprintf(`{"op":"xor","left":%s}`, nested(depth, `{"field":"a"}`))
		assert.Equal(t, []string{": expected a value that fits exactly one of the alternatives, got object"}, within(s.Check([]byte(doc)), "/"), "depth %d", depth)
	}
}

func cut(issues []fault.Issue) []string {
	var all []string
	for _, i := range issues {
		all = append(all, fault.Issue{Pointer: i.Pointer, Rule: i.Rule, Expected: i.Expected}.String())
	}
	return all
}

func TestASchemaOfTooManyWaysIsRefused(t *testing.T) {
	var defs []string
	for n := range 60 {
		defs = append(defs, fmt.Sprintf(`"d%d": {"anyOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, n, n+1, n+1))
	}
	all := `"$defs": {` + strings.Join(defs, ",") + `, "d60": {"type": "null"}}}`
	_, err := schema.Compile([]byte(`{"$ref": "#/$defs/d0", ` + all))
	require.EqualError(t, err, "schema: (whole): alternatives within alternatives come to more than 50000: want fewer")
	for range 20 {
		_, err = schema.Compile([]byte(`{"properties": {"b": {"$ref": "#/$defs/d0"}, "a": {"$ref": "#/$defs/d1"}}, ` + all))
		require.EqualError(t, err, "schema: /$defs/d0: alternatives within alternatives come to more than 50000: want fewer")
	}
}

// Of very many faults as many are found as are told, in one walk: the library would take seconds to say all.
func TestOfManyFaultsAsManyAreFoundAsAreTold(t *testing.T) {
	list := func(item string, more string) []byte {
		return []byte("[" + strings.Repeat(item+",", 20_000) + item + more + "]")
	}
	kinds := `{"type":"object","required":["a"]},{"type":"string"},{"maxItems":0}`
	tests := map[string]struct {
		schema string
		doc    []byte
		// first are the first issues, where the walk begins with those.
		first []string
	}{
		"scalars":      {`{"items":{"type":"string"}}`, list("1", ""), []string{"0: expected string, got integer", "1: expected string, got integer"}},
		"missing":      {`{"items":{"required":["a","b"]}}`, list("{}", ""), []string{"0/a: ", "0/b: "}},
		"or null":      {`{"items":{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}}`, list("{}", ""), []string{"0/a: ", "1/a: "}},
		"unknown":      {`{"items":{"additionalProperties":false}}`, list(`{"a":1}`, ""), []string{"0/a: expected no member of this name, got integer"}},
		"alternatives": {`{"items":{"anyOf":[` + kinds + `]}}`, list("[1]", ""), []string{"0: expected object, string or at most 0 items, got array"}},
		"within alternatives": {
			`{"anyOf":[{"items":{"anyOf":[` + kinds + `]}},{"type":"null"}]}`, list("[1]", ""),
			[]string{"0: expected object, string or at most 0 items, got array"},
		},
		"and too many": {
			`{"maxItems":2,"items":{"type":"string"}}`, list("1", ""),
			[]string{"(whole): expected at most 2 items, got array", "0: expected string, got integer"},
		},
		"and too many, or null": {
			`{"anyOf":[{"maxItems":2,"uniqueItems":true,"items":{"type":"string"}},{"type":"null"}]}`, list("1", ""),
			[]string{"(whole): expected at most 2 items, got array", "(whole): expected items that all differ, got array"},
		},
		"another kind": {`{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#"},{"type":"string"}]}}`, list("1", ""), []string{"(whole): expected object, got array"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := compile(t, test.schema)
			assert.True(t, schema.Explained(s, test.doc))
			issues := s.Check(test.doc)
			assert.LessOrEqual(t, len(issues), 1000)
			var first []string
			for _, i := range issues[:min(len(issues), len(test.first))] {
				i.Rule, i.Source = "", ""
				first = append(first, i.String())
			}
			assert.Equal(t, test.first, first)
		})
	}
}

// What the library alone judges, it judges as a whole; but no more is put into words than is told, and that is the same every time.
func TestNoMoreIsPutIntoWordsThanIsTold(t *testing.T) {
	const items = 20_000
	s := compile(t, `{"unevaluatedItems":{"required":["a","b","c","d"]}}`)
	doc := []byte("[" + strings.Repeat("{},", items-1) + "{}]")
	assert.Len(t, s.Check(doc), 1000)
	assert.Less(t, testing.AllocsPerRun(1, func() { s.Check(doc) }), 20.0*items)

	s = compile(t, `{"unevaluatedProperties":{"type":"string"}}`)
	var members []string
	for n := range 3000 {
		members = append(members, fmt.Sprintf(`"m%04d":%d`, n, n))
	}
	for range 5 {
		issues := s.Check([]byte("{" + strings.Join(members, ",") + "}"))
		require.Len(t, issues, 1000)
		assert.Equal(t, "/m0000", issues[0].Pointer)
		assert.Equal(t, "/m0999", issues[999].Pointer)
	}
}

// What the library is not asked costs nothing: what lies deeper it is asked all the same, and a fault deep in one of many rows is told.
func TestWhatIsNotAskedCostsNothing(t *testing.T) {
	one := func(op string) string {
		return `{"type":"object","required":["op","l"],"properties":{"op":{"const":"` + op + `"},"l":{"$ref":"#/$defs/e"}}}`
	}
	s := compile(t, `{"items":{"$ref":"#/$defs/e"},"$defs":{"e":{"anyOf":[{"type":"integer"},`+one("a")+`,`+one("b")+`]}}}`)
	row := func(end string) string { return strings.Repeat(`{"op":"a","l":`, 20) + end + strings.Repeat("}", 20) }
	issues := s.Check([]byte("[" + strings.Repeat(row("1")+",", 10) + row(`"x"`) + "]"))
	assert.Equal(t, []string{"10" + strings.Repeat("/l", 20) + ": expected integer or object (members: l, op), got string [type schema]"}, lines(issues))
}

// What was found before looking any closer would take too long is told, and what is left is told of where it stands.
func TestManyFaultsDeepInAlternativesAreTold(t *testing.T) {
	s := compile(t, strings.Replace(string(expressions(t, "anyOf").JSON()), `{"$ref":`, `{"items":{"$ref":"#/$defs/e"},"$comment":`, 1))
	list := func(rows, depth int) []byte {
		row := string(nested(depth, `{"field":1}`)) + ","
		return []byte("[" + strings.Repeat(row, rows) + `{"field":"a"}]`)
	}
	issues := s.Check(list(12, 20))
	require.Len(t, issues, 12)
	for row := range 12 {
		place := fmt.Sprintf("/%d", row) + strings.Repeat("/right", 20)
		of := slices.DeleteFunc(slices.Clone(issues), func(i fault.Issue) bool { return !strings.HasPrefix(i.Pointer, place) })
		assert.Equal(t, []string{"field: expected string, got integer"}, within(of, place))
	}
	issues = s.Check(list(100, 60))
	require.Len(t, issues, 100)
	assert.Equal(t, "/0"+strings.Repeat("/right", 60)+"/field", issues[0].Pointer)
	last := slices.IndexFunc(issues, func(i fault.Issue) bool { return i.Pointer == "/99" })
	assert.Equal(t, "99: expected "+schema.TooManyWays+", got object", issues[last].String())
}
