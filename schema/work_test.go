package schema_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/race"
	"github.com/retake-go/retake/schema"
)

// expressions is a schema of filters or formulas: alternatives that refer to themselves. The keyword is anyOf
// or oneOf.
func expressions(t *testing.T, keyword string) *schema.Schema {
	two := func(op string) string {
		return `{"type": "object", "required": ["op", "left", "right"], "additionalProperties": false, "properties": {"op": {"const": "` + op +
			`"}, "left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"}}}`
	}
	return compile(t, `{"$ref": "#/$defs/e", "$defs": {"e": {"`+keyword+`": [`+two("and")+`,`+two("or")+`,
		{"type": "object", "required": ["op", "of"], "additionalProperties": false, "properties": {"op": {"const": "not"}, "of": {"$ref": "#/$defs/e"}}},
		{"type": "object", "required": ["field"], "additionalProperties": false, "properties": {"field": {"type": "string"}}}]}}}`)
}

// nested is a chain of so many operators that ends in an expression.
func nested(n int, end string) []byte {
	return []byte(strings.Repeat(`{"op":"or","left":{"field":"a"},"right":`, n) + end + strings.Repeat("}", n))
}

// An issue has the same words at any depth, although 2 to the power of the depth ways lead to it.
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
			for _, depth := range []int{1, 3, 6, 7, 20, 60} {
				assert.Equal(t, want, within(s.Check(nested(depth, end)), strings.Repeat("/right", depth)), "depth %d", depth)
			}
		}
	}
	s := expressions(t, "oneOf")
	assert.Empty(t, s.Check(nested(60, `{"field":"b"}`)))
	assert.Equal(t, []string{"field: expected string, got integer"}, within(s.Check(nested(60, `{"field":1}`)), strings.Repeat("/right", 60)))
}

// within returns issues as lines, with pointers relative to a place.
func within(issues []fault.Issue, place string) []string {
	var all []string
	for _, i := range issues {
		i.Pointer = strings.TrimPrefix(i.Pointer, place)
		all = append(all, strings.TrimPrefix(i.String(), "(whole)"))
	}
	return all
}

// With a tag that tells twenty alternatives apart, a long list stays far within the budget.
func TestALongListOfTaggedAlternativesIsLittleWork(t *testing.T) {
	var kinds []string
	for n := range 20 {
		kinds = append(kinds, fmt.Sprintf(`{"type":"object","required":["kind","v"],"additionalProperties":false,"properties":{
			"kind":{"const":"k%d"},"v":{"type":"integer"},"sub":{"$ref":"#/$defs/list"}}}`, n))
	}
	doc := []byte("[" + strings.Repeat(`{"kind":"k19","v":1,"sub":[{"kind":"k18","v":1}]},`, 5000) + `{"kind":"k0","v":1}]`)
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list := `{"type":"array","items":{"` + keyword + `":[` + strings.Join(kinds, ",") + `]}}`
		s := compile(t, `{"$ref":"#/$defs/list","$defs":{"list":`+list+`}}`)
		assert.Empty(t, s.Check(doc))
		assert.Less(t, schema.WorkOf(s, doc), schema.MaxWork/10)
	}
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

// Of very many faults the first ones are reported.
func TestOfManyFaultsAsManyAreFoundAsAreTold(t *testing.T) {
	list := func(item string, more string) []byte {
		return []byte("[" + strings.Repeat(item+",", 20_000) + item + more + "]")
	}
	kinds := `{"type":"object","required":["a"]},{"type":"string"},{"maxItems":0}`
	tests := map[string]struct {
		schema string
		doc    []byte
		// first are the first issues, if the check starts with them.
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
			issues := s.Check(test.doc)
			assert.LessOrEqual(t, len(issues), 100)
			var first []string
			for _, i := range issues[:min(len(issues), len(test.first))] {
				i.Rule, i.Source = "", ""
				first = append(first, i.String())
			}
			assert.Equal(t, test.first, first)
		})
	}
}

// Only issues that are reported are put into words, and they are the same every time.
func TestNoMoreIsPutIntoWordsThanIsTold(t *testing.T) {
	const items = 20_000
	s := compile(t, `{"unevaluatedItems":{"required":["a","b","c","d"]}}`)
	doc := []byte("[" + strings.Repeat("{},", items-1) + "{}]")
	assert.Len(t, s.Check(doc), 100)
	assert.Less(t, testing.AllocsPerRun(1, func() { s.Check(doc) }), 20.0*items)

	s = compile(t, `{"unevaluatedProperties":{"type":"string"}}`)
	var members []string
	for n := range 3000 {
		members = append(members, fmt.Sprintf(`"m%04d":%d`, n, n))
	}
	for range 5 {
		issues := s.Check([]byte("{" + strings.Join(members, ",") + "}"))
		require.Len(t, issues, 100)
		assert.Equal(t, "/m0000", issues[0].Pointer)
		assert.Equal(t, "/m0099", issues[99].Pointer)
	}
}

// A fault deep in one of many rows is reported.
func TestAFaultDeepInOneOfManyRows(t *testing.T) {
	one := func(op string) string {
		return `{"type":"object","required":["op","l"],"properties":{"op":{"const":"` + op + `"},"l":{"$ref":"#/$defs/e"}}}`
	}
	s := compile(t, `{"items":{"$ref":"#/$defs/e"},"$defs":{"e":{"anyOf":[{"type":"integer"},`+one("a")+`,`+one("b")+`]}}}`)
	row := func(end string) string { return strings.Repeat(`{"op":"a","l":`, 20) + end + strings.Repeat("}", 20) }
	issues := s.Check([]byte("[" + strings.Repeat(row("1")+",", 10) + row(`"x"`) + "]"))
	assert.Equal(t, []string{"10" + strings.Repeat("/l", 20) + ": expected integer or object (members: l, op), got string [type schema]"}, lines(issues))
}

// Every fault is reported, however many alternatives lead to it.
func TestManyFaultsDeepInAlternativesAreTold(t *testing.T) {
	s := compile(t, strings.Replace(string(expressions(t, "anyOf").JSON()), `{"$ref":`, `{"items":{"$ref":"#/$defs/e"},"$comment":`, 1))
	row := string(nested(60, `{"field":1}`)) + ","
	issues := s.Check([]byte("[" + strings.Repeat(row, 100) + `{"field":"a"}]`))
	require.Len(t, issues, 100)
	for n := range 100 {
		place := fmt.Sprintf("/%d", n) + strings.Repeat("/right", 60)
		of := slices.DeleteFunc(slices.Clone(issues), func(i fault.Issue) bool { return !strings.HasPrefix(i.Pointer, place+"/") })
		assert.Equal(t, []string{"field: expected string, got integer"}, within(of, place+"/"))
	}
}

// growing are schemas, each with hard documents of any size.
func growing(t testing.TB) map[string]growth {
	union := make([]string, 10)
	for n := range union {
		union[n] = fmt.Sprintf(`{"type":"object","properties":{"kind":{"const":"k%d"},"v":{"type":"integer"}},"required":["kind"]}`, n)
	}
	list := func(item string) func(int) []byte {
		return func(n int) []byte { return []byte("[" + strings.Repeat(item+",", n) + item + "]") }
	}
	members := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"m%d":1,`, i)
		}
		return []byte("{" + b.String() + `"m":1}`)
	}
	s := func(doc string) *schema.Schema {
		compiled, err := schema.Compile([]byte(doc))
		require.NoError(t, err)
		return compiled
	}
	named := make([]string, 20)
	for n := range named {
		named[n] = fmt.Sprintf(`"K%d":{"type":"object","properties":{"kind":{"const":"k%d"},"v":{"type":"integer"},"next":{"$ref":"#/$defs/U"}},"required":["v"]}`, n, n)
	}
	refs := strings.Repeat(`{"$ref":"#/$defs/K%d"},`, 20)
	kinds := `{"items":{"$ref":"#/$defs/U"},"$defs":{"U":{"oneOf":[` + strings.TrimSuffix(fmt.Sprintf(refs, numbers(20)...), ",") + `]},` + strings.Join(named, ",") + `}}`
	either := `{"items":{"$ref":"#/$defs/e"},"$defs":{"e":{"anyOf":[{"type":"integer"},{"items":{"$ref":"#/$defs/e"}},{"items":{"$ref":"#/$defs/e"},"maxItems":9}]}}}`
	return map[string]growth{
		"alternatives that lead back": {s(either), list(strings.Repeat("[", 30) + `"x"` + strings.Repeat("]", 30))},
		"a union":                     {s(`{"items":{"anyOf":[` + strings.Join(union, ",") + `]}}`), list(`{"kind":"k9","v":"x"}`)},
		"a union by references":       {s(kinds), list(`{"kind":"k19","v":1,"next":{"kind":"k18","v":2}}`)},
		"a union without its tag":     {s(kinds), list(`{"v":1}`)},
		"left members":                {s(`{"allOf":[{"properties":{"m1":{}}},{"patternProperties":{"^x":{}}}],"unevaluatedProperties":false}`), members},
		"left items":                  {s(`{"anyOf":[{"prefixItems":[true]},{"contains":{"const":2}}],"unevaluatedItems":{"type":"string"}}`), list(`1`)},
		"items that differ":           {s(`{"uniqueItems":true}`), list(`{"a":[1]}`)},
		"dynamic references": {
			s(`{"$id":"https://e.x/s","$dynamicAnchor":"n","anyOf":[{"type":"integer"},{"items":{"$dynamicRef":"#n"}}],"allOf":[{"items":{"$dynamicRef":"#n"}}]}`),
			list(`[["x"]]`),
		},
	}
}

func numbers(n int) (all []any) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

type growth struct {
	schema *schema.Schema
	doc    func(n int) []byte
}

// For any schema and document, the work grows with the size of the document, and not faster.
func TestWorkIsLinear(t *testing.T) {
	for name, test := range growing(t) {
		t.Run(name, func(t *testing.T) {
			small, large := schema.WorkOf(test.schema, test.doc(1000)), schema.WorkOf(test.schema, test.doc(2000))
			assert.Less(t, large, schema.MaxWork)
			assert.Less(t, float64(large), 2.2*float64(small))
		})
	}
}

// BenchmarkGrowth doubles documents. The time should double too.
func BenchmarkGrowth(b *testing.B) {
	for name, test := range growing(b) {
		for _, n := range []int{1000, 2000, 4000, 8000} {
			doc := test.doc(n)
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "_"), n), func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				for b.Loop() {
					test.schema.Check(doc)
				}
			})
		}
	}
}

// A schema that leads to one value in very many ways is applied to it once.
func TestASchemaOfManyWays(t *testing.T) {
	var defs []string
	for n := range 60 {
		defs = append(defs, fmt.Sprintf(`"d%d": {"anyOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, n, n+1, n+1))
	}
	s := compile(t, `{"$ref": "#/$defs/d0", "$defs": {`+strings.Join(defs, ",")+`, "d60": {"type": "null"}}}`)
	assert.Empty(t, s.Check([]byte("null")))
	assert.Equal(t, []string{"(whole): expected null, got integer [type schema]"}, lines(s.Check([]byte("1"))))
	assert.Less(t, schema.WorkOf(s, []byte("1")), 2000)
}

// The time of a pattern grows with its size times that of the text. A match that would take seconds is not
// tried.
func TestPatternsAreBounded(t *testing.T) {
	s := compile(t, `{"pattern":"((a{0,30}){0,30})b"}`)
	assert.Equal(t, []string{"(whole): expected a string matching ((a{0,30}){0,30})b, got string [pattern schema]"}, lines(s.Check([]byte(`"aaa"`))))
	tooMuch := []string{"(whole): expected " + schema.TooMuchWork + ", got string [work schema]"}
	assert.Equal(t, tooMuch, lines(s.Check([]byte(`"`+strings.Repeat("a", 1<<18)+`"`))))
}

func read(s *schema.Schema, b *schema.Budget, doc []byte) []fault.Issue {
	return s.Read(b, string(doc)).Issues
}

// Checks of one reply share a budget.
func TestABudgetIsShared(t *testing.T) {
	s := compile(t, `{"items":{"type":"integer"}}`)
	doc := []byte("[" + strings.Repeat("1,", 90_000) + "1]")
	b := schema.NewBudget()
	n := 0
	for ; read(s, b, doc) == nil; n++ {
		require.Less(t, n, 100)
	}
	assert.Positive(t, n)
	assert.Equal(t, fault.RuleWork, read(s, b, []byte("[]"))[0].Rule)
	assert.Empty(t, s.Check(doc), "a check without a budget has one of its own")
}

// A long chain of references, at each level of a deep document, takes too much work and not the whole stack.
func TestChainsOfReferencesAreBounded(t *testing.T) {
	const links = 9000
	var chain strings.Builder
	for n := range links {
		fmt.Fprintf(&chain, `"%d":{"$ref":"#/$defs/%d"},`, n, n+1)
	}
	s := compile(t, fmt.Sprintf(`{"$ref":"#/$defs/0","$defs":{%s"%d":{"properties":{"a":{"$ref":"#/$defs/0"}}}}}`, chain.String(), links))
	nested := func(levels int) []byte {
		return []byte(strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels))
	}
	assert.Empty(t, s.Check(nested(2)))
	assert.Equal(t, []string{"(whole): expected " + schema.TooMuchWork + ", got object [work schema]"}, lines(s.Check(nested(60))))
}

// A budget may end anywhere in a check: where stop reports true, for example. The check says so.
func TestABudgetEndsAnywhere(t *testing.T) {
	for schemaText, doc := range map[string]string{
		`{"anyOf":[{"const":1}]}`:                                        `2`,
		`{"oneOf":[{"anyOf":[{"enum":["a"]}]}]}`:                         `"b"`,
		`{"anyOf":[{"required":["a"]},{"minProperties":2}]}`:             `{"b":1}`,
		`{"items":{"oneOf":[{"type":"string"},{"items":{"not":{}}}]}}`:   `[1,[2],"x"]`,
		`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`: `{"a":{"a":{"b":1}}}`,
	} {
		endsAnywhere(t, compile(t, schemaText), doc)
	}
}

// trip has a method that relies on what the rules say.
type trip struct {
	Mail *string `json:"mail" validate:"required,email"`
	Stay struct {
		Nights *int `json:"nights" validate:"required"`
	} `json:"stay"`
	Hosts []string `json:"hosts" validate:"dive,hostname"`
}

func (t trip) Issues() []fault.Issue {
	_, _, _ = *t.Mail, *t.Stay.Nights, t.Hosts[0]
	return nil
}

// A method Issues is not asked about a value that could not be checked as a whole.
func TestABudgetEndsBeforeAMethodIsAsked(t *testing.T) {
	typed, err := schema.For[trip]()
	require.NoError(t, err)
	endsAnywhere(t, typed.Schema(), `{"mail":"a@b.co","stay":{"nights":1},"hosts":["a","b"]}`)
}

// endsAnywhere checks a document with each budget that is too small.
func endsAnywhere(t *testing.T, s *schema.Schema, doc string) {
	for left := range schema.WorkOf(s, []byte(doc)) {
		b := schema.NewBudget()
		b.Read((schema.MaxWork - left) * 16)
		issues := read(s, b, []byte(doc))
		require.Len(t, issues, 1, "%s: %d left", s.JSON(), left)
		assert.Equal(t, fault.RuleWork, issues[0].Rule, "%s: %d left", s.JSON(), left)
	}
}

// A schema that refers to itself for the same value says nothing. Such a reference fails, as in the library.
func TestReferencesInACircle(t *testing.T) {
	s := compile(t, `{"anyOf":[{"$ref":"#"},{"type":"null"}]}`)
	assert.Empty(t, s.Check([]byte("null")))
	assert.NotEmpty(t, s.Check([]byte("1")))
	s = compile(t, `{"properties":{"a":{"$ref":"#/$defs/y"},"b":{"x-echo":true,"type":"integer"}},
		"$defs":{"y":{"anyOf":[{"$ref":"#/$defs/y"},{"$ref":"#/$defs/y"},{"type":"integer"}]}}}`)
	assert.NotEmpty(t, s.Check([]byte(`{"a":"x"}`)))
	assert.Equal(t, []string{`b: expected integer, got "x" [type schema]`}, lines(s.Check([]byte(`{"b":"x"}`))))
}

// References by anchors and by ids lead to the schemas that mark a value to be echoed.
func TestEchoByReferences(t *testing.T) {
	s := compile(t, `{"$id":"https://a.test/root","properties":{"a":{"$ref":"#here"},"b":{"$ref":"part"},"c":{"$ref":"#there"}},
		"$defs":{"x":{"$anchor":"here","type":"integer","x-echo":true},"y":{"$id":"part","type":"integer","x-echo":true},"z":{"$anchor":"there","type":"integer"}}}`)
	assert.Equal(t, []string{`a: expected integer, got "x" [type schema]`, `b: expected integer, got "y" [type schema]`,
		"c: expected integer, got string [type schema]"}, lines(s.Check([]byte(`{"a":"x","b":"y","c":"z"}`))))
}

// A check ends soon after stop reports true, long before its budget is spent.
func TestACheckEndsWhereItIsToldTo(t *testing.T) {
	s := compile(t, `{"items":{"type":"integer"}}`)
	doc := []byte("[" + strings.Repeat("1,", 90_000) + "1]")
	asked := 0
	b := schema.NewBudget().Until(func() bool { asked++; return asked == 3 })
	assert.Equal(t, []string{"(whole): expected " + schema.TooMuchWork + ", got array [work schema]"}, lines(read(s, b, doc)))
	assert.Equal(t, 3, asked)
	b = schema.NewBudget().Until(func() bool { return false })
	assert.Empty(t, read(s, b, doc))
}

// What a recursive schema says of very many values takes little memory beyond reading them, for answers that
// are found again soon are not remembered.
func TestARecursiveSchemaTakesLittleMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	took := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var ops []string
	for n := range 8 {
		ops = append(ops, fmt.Sprintf(`{"type":"object","properties":{"op":{"const":"o%d"},"l":{"$ref":"#/$defs/e"}}}`, n))
	}
	for name, e := range map[string]string{
		"lists":       `{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#/$defs/e"}}]}`,
		"expressions": `{"oneOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#/$defs/e"}},` + strings.Join(ops, ",") + "]}",
	} {
		s := compile(t, `{"$ref":"#/$defs/e","$defs":{"e":`+e+"}}")
		for n := 11_000; n <= 88_000; n *= 2 {
			for unit, doc := range map[string][]byte{
				"numbers": []byte("[" + strings.Repeat("1,", n) + "1]"),
				"rows":    []byte("[" + strings.Repeat("[1,1],", n/3) + "1]"),
				"objects": []byte("[" + strings.Repeat(`{"op":"o1","l":1},`, n/3) + "1]"),
				"wrong":   []byte("[" + strings.Repeat(`"x",`, n) + "1]"),
			} {
				for range 2 { // decoders keep their memory for the next
					schema.Strict(doc, schema.DefaultLimits())
				}
				reading := took(func() { schema.Strict(doc, schema.DefaultLimits()) })
				most := reading + 4<<20
				checking := took(func() { s.Check(doc) })
				for again := 0; again < 4 && checking >= most; again++ {
					checking = took(func() { s.Check(doc) }) // another processor has no memory to use again
				}
				assert.Less(t, checking, most, "%d %s, %s: %d KB of %d KB", n, unit, name, (checking-reading)>>10, len(doc)>>10)
			}
		}
	}
}

// Failures that turn out not to matter, and those that are remembered, take little memory.
func TestFailuresTakeLittleMemory(t *testing.T) {
	const form = `{"allOf":[{"$ref":"#/$defs/form"}]},`
	for name, c := range map[string]struct{ schema, doc string }{
		"of_alternatives": {`"anyOf":[` + strings.Repeat(form, 2000) + `{"properties":{"b":{"$ref":"#"}},"minProperties":2}]`,
			strings.Repeat(`{"b":`, 20) + "{}" + strings.Repeat("}", 20)},
		"of_answers": {`"items":{"allOf":[{"not":{"$ref":"#/$defs/form"}},{"not":{"$ref":"#/$defs/form"}}]}`,
			"[" + strings.Repeat("{},", 20_000) + "{}]"},
	} {
		s := compile(t, `{`+c.schema+`,"$defs":{"form":{"required":[`+of(100, `"m%"`)+`]}}}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.Check([]byte(c.doc))
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), name)
	}
}

// An object of many members that are all required takes time in proportion to them, and so does one in which
// they are all missing.
func TestRequiredMembersAreFoundInLinearWork(t *testing.T) {
	work := func(names int) int {
		var required, members []string
		for n := range names {
			required = append(required, fmt.Sprintf(`"member%05d"`, n))
			members = append(members, required[n]+`:"0123456"`)
		}
		s := compile(t, `{"required":[`+strings.Join(required, ",")+`]}`)
		doc := []byte("{" + strings.Join(members, ",") + "}")
		assert.Empty(t, s.Check(doc))
		return schema.WorkOf(s, doc)
	}
	assert.Less(t, float64(work(6000)), 2.2*float64(work(3000)))
}

// The names of an object are collected once for all members that demand others.
func TestDemandsOfManyMembersAreLittleMemory(t *testing.T) {
	s := compile(t, `{"dependentRequired":{`+of(1000, `"m%":["n%","m1"]`)+`}}`)
	doc := []byte("{" + of(10_000, `"m%":1`) + "," + of(1000, `"n%":1`) + "}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	assert.Empty(t, s.Check(doc))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

// BenchmarkRequired checks a good document of 100 KB whose 5,000 members are all required.
func BenchmarkRequired(b *testing.B) {
	var required, members []string
	for n := range 5000 {
		required = append(required, fmt.Sprintf(`"member%05d"`, n))
		members = append(members, required[n]+`:"0123456"`)
	}
	s, err := schema.Compile([]byte(`{"required":[` + strings.Join(required, ",") + `]}`))
	require.NoError(b, err)
	doc := []byte("{" + strings.Join(members, ",") + "}")
	for b.Loop() {
		if s.Check(doc) != nil {
			b.Fatal("refused")
		}
	}
}

// All values of a document are in one piece of memory, which is that of the check before.
func TestAGoodDocumentTakesFewAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself")
	}
	typed, err := schema.For[order]()
	require.NoError(t, err)
	doc := orderDocument(t)
	took := testing.AllocsPerRun(200, func() {
		if _, issues := typed.Decode(doc); issues != nil {
			t.Error(issues)
		}
	})
	assert.LessOrEqual(t, took, 14.0)
}

func TestALongIDTakesNoMoreMemoryThanAShortOne(t *testing.T) {
	typed, err := schema.For[struct {
		ID int64 `json:"id"`
	}]()
	require.NoError(t, err)
	if race.Enabled {
		t.Skip("the race detector allocates for itself")
	}
	memory := func(doc string) float64 {
		return testing.AllocsPerRun(100, func() { typed.Decode([]byte(doc)) })
	}
	assert.Equal(t, memory(`{"id":7}`), memory(`{"id":1234567890123456789}`))
}

// The strings of a large document share pieces of memory, and long ones stand alone.
func TestStringsOfALargeDocument(t *testing.T) {
	typed, err := schema.For[[]string]()
	require.NoError(t, err)
	want := slices.Repeat([]string{"", "short", "\"quoted\" é", strings.Repeat("long", 500)}, 500)
	doc, err := json.Marshal(want)
	require.NoError(t, err)
	got, issues := typed.Decode(doc)
	require.Empty(t, issues)
	assert.Equal(t, want, got)
	if !race.Enabled {
		few, err := json.Marshal(slices.Repeat([]string{"short"}, 5000))
		require.NoError(t, err)
		assert.Less(t, testing.AllocsPerRun(5, func() { typed.Decode(few) }), 60.0)
	}
}

// A long string of brackets and commas is one value.
func TestBracketsInAStringTakeLittleMemory(t *testing.T) {
	doc := []byte(`"` + strings.Repeat("[,", 4<<20) + `"`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	assert.Empty(t, schema.Strict(doc, schema.Limits{MaxBytes: 1 << 24, MaxDepth: 9, MaxValues: 10_000_000}))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, 5*uint64(len(doc)))
}

// What is wrong in one place is told at each level around it, and then of both ways that lead there. The work
// grows with the levels all the same, and not with the ways.
func TestFailuresDoNotDoubleAtEachLevel(t *testing.T) {
	s := compile(t, `{"type":"object","dependentSchemas":{"a":{"$ref":"#/$defs/x"}},"additionalProperties":{"$ref":"#/$defs/x"},
		"$defs":{"x":{"additionalProperties":{"$ref":"#"}}}}`)
	took := func(levels int) uint64 {
		doc := []byte(strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		issues := s.Check(doc)
		runtime.ReadMemStats(&after)
		require.NotEmpty(t, issues)
		assert.Equal(t, strings.Repeat("/a", levels), issues[0].Pointer)
		return after.TotalAlloc - before.TotalAlloc
	}
	assert.Less(t, took(60), 8*took(15))
}

// What is wrong at each level of a document is not compared with what is wrong in the levels below.
func TestFaultsAtEachLevelAreLinearWork(t *testing.T) {
	type chain struct {
		Value int    `json:"v" validate:"min=0"`
		Next  *chain `json:"n"`
	}
	typed, err := schema.For[chain]()
	require.NoError(t, err)
	s, err := typed.Schema().WithLimits(schema.Limits{MaxBytes: 1 << 20, MaxDepth: 1000, MaxValues: 1 << 20})
	require.NoError(t, err)
	work := func(levels int) int {
		return schema.WorkOf(s, []byte(strings.Repeat(`{"v":-1,"n":`, levels)+"null"+strings.Repeat("}", levels)))
	}
	assert.Less(t, work(400), 8*work(100)) // their places are longer
}

// Of very many missing members only those are named that are told.
func TestOfManyMissingMembersAFewAreNamed(t *testing.T) {
	s := compile(t, `{"required":[`+of(50_000, `"member_%"`)+`]}`)
	assert.Len(t, s.Check([]byte(`{}`)), 100)
	assert.Less(t, testing.AllocsPerRun(1, func() { s.Check([]byte(`{}`)) }), 5_000.0)
}

// A missing member is described in words, even if a thousand alternatives lead to a thousand others three
// times in a row: looking at each way would take hours.
func TestUnionsOfUnionsAreDescribedWithLittleWork(t *testing.T) {
	doc := `{"required":["a"],"properties":{"a":{"$ref":"#/$defs/e0"}},"$defs":{"e3":{"type":"string"}`
	for level := range 3 {
		doc += fmt.Sprintf(`,"e%d":{"anyOf":[`, level) + of(1000, fmt.Sprintf(`{"$ref":"#/$defs/e%d"}`, level+1)) + `]}`
	}
	s := compile(t, doc+`}}`)
	assert.Equal(t, []string{"a: required, expected string"}, within(s.Check([]byte(`{}`)), ""))
}

// Of a thousand wrong calls each is told, and the first ones in detail: the memory for comparing alternatives
// does not grow with the calls.
func TestTheAlternativesOfManyCallsTakeLittleMemory(t *testing.T) {
	form := `{"type":"object","properties":{"a%":{},"b%":{"type":"string"}},"required":["a%","b%"],"additionalProperties":false}`
	s := compile(t, `{"oneOf":[`+of(200, form)+`]}`)
	b := schema.NewBudget()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := range 1000 {
		issues := read(s, b, []byte(`{"a7":1,"b7":2}`))
		if n == 0 {
			assert.Equal(t, []string{"b7: expected string, got integer [type schema]"}, lines(issues))
		}
		require.NotEqual(t, fault.RuleWork, issues[0].Rule, "call %d", n)
	}
	runtime.ReadMemStats(&after)
	if !race.Enabled { // it allocates for itself
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	}
}

// BenchmarkManyAlternatives explains a value that fits none of very many alternatives.
func BenchmarkManyAlternatives(b *testing.B) {
	for name, form := range map[string]string{
		"constants": `{"const":%}`, "patterns": `{"pattern":"a%"}`, "members": `{"type":"object","required":["m%"]}`,
	} {
		s, err := schema.Compile([]byte(`{"anyOf":[` + of(5_000, form) + `]}`))
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if s.Check([]byte(`{}`)) == nil && s.Check([]byte(`"z"`)) == nil {
					b.Fatal("it fits")
				}
			}
		})
	}
}

type doubted []int

func (d doubted) Issues() (issues []fault.Issue) {
	for n := range d {
		issues = append(issues, fault.Issue{Pointer: "/" + strconv.Itoa(n), Rule: "doubt", Expected: "another"})
	}
	return issues
}

// Only the issues of a type that are told are looked up: each is found by walking over all items before it.
func TestManyIssuesOfTheTypeItselfAreLittleWork(t *testing.T) {
	typed, err := schema.For[doubted]()
	require.NoError(t, err)
	allocations := func(n int) float64 {
		doc := []byte("[0" + strings.Repeat(",0", n-1) + "]")
		_, issues := typed.Decode(doc)
		require.Len(t, issues, 100)
		own := testing.AllocsPerRun(1, func() { doubted(make([]int, n)).Issues() })
		return testing.AllocsPerRun(1, func() { typed.Decode(doc) }) - own
	}
	assert.Less(t, allocations(4000), 1.2*allocations(1000))
}
