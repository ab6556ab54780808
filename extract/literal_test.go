package extract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
)

func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		repairs          []extract.Form
	}{
		{"strict", `{"a": [1, -2.50, 1E+2, true, false, null, "x\n\u00e9\/"]}`, `{"a":[1,-2.50,1E+2,true,false,null,"x\né/"]}`, nil},
		{"single_quotes", `{'a': 'it"s'}`, `{"a":"it\"s"}`, kinds("single_quotes", 2)},
		{"apostrophe", `{'a': 'it's d'Ivoire's', 'b': "l'été"}`, `{"a":"it's d'Ivoire's","b":"l'été"}`,
			append(kinds("single_quotes", 3), kinds("apostrophe", 3)...)},
		{"token_quotes", `{"a": <escape>say "x" \n<escape>, "b": [<|"|>{y}<|"|>, <escape><escape>]}`, `{"a":"say \"x\" \\n","b":["{y}",""]}`,
			kinds("token_quotes", 3)},
		{"smart_quotes", `{“a”: “say "x"\n‘y’”, b: [“”]}`, `{"a":"say \"x\"\n‘y’","b":[""]}`,
			append(kinds("smart_quotes", 3), kinds("unquoted_key", 1)...)},
		{"triple_quotes", "{\"a\": '''x\n\"y\"'''}", `{"a":"x\n\"y\""}`, kinds("triple_quotes", 1)},
		{"python_literal", `{"a": True, "b": [None, False]}`, `{"a":true,"b":[null,false]}`, kinds("python_literal", 3)},
		{"python_number", `{"a": [+5, .5, 5., 1_000, -.5e3]}`, `{"a":[5,0.5,5.0,1000,-0.5e3]}`, kinds("python_number", 5)},
		{"number_as_written", `{"a": [1.0, 100000000000000000000001, 1e400, -0]}`, `{"a":[1.0,100000000000000000000001,1e400,-0]}`, nil},
		{"python_escape", `{"a": "it\'s \x41 \U0001F600"}`, `{"a":"it's A 😀"}`, kinds("python_escape", 3)},
		{"surrogates", `{"a": "\ud83d\ude00"}`, `{"a":"😀"}`, nil},
		{"backslash_that_escapes_nothing", `{"a": '\d+'}`, `{"a":"\\d+"}`, []extract.Form{"single_quotes", "python_escape"}},
		{"tuple", `{"a": (1, 2), "b": (3,), "c": ()}`, `{"a":[1,2],"b":[3],"c":[]}`,
			[]extract.Form{"tuple", "tuple", "trailing_comma", "tuple"}},
		{"trailing_comma", `{"a": [1, 2,], }`, `{"a":[1,2]}`, kinds("trailing_comma", 2)},
		{"comment", "{\"a\": 1, // one\n \"b\": /* two */ 2 # three\n}", `{"a":1,"b":2}`, kinds("comment", 3)},
		{"odd_space", "{\u00a0\"a\":\u202f1,\u3000\"b\u00a0c\": [1, \u2009\u2009true]\ufeff}", "{\"a\":1,\"b\u00a0c\":[1,true]}", kinds("odd_space", 6)},
		{"break_written_out", `{\n  "a": \n[1, \t2]\n\n}`, `{"a":[1,2]}`, kinds("odd_space", 5)},
		{"unquoted_key", `{a: {b_2: 1}}`, `{"a":{"b_2":1}}`, kinds("unquoted_key", 2)},
		{"raw_control", "{\"a\": \"x\ny\tz\"}", `{"a":"x\ny\tz"}`, kinds("raw_control", 2)},
		{"markdown_escape", `\{"a": 1, b\_c: 2\}`, `{"a":1,"b_c":2}`, []extract.Form{"markdown_escape", "unquoted_key", "markdown_escape", "markdown_escape"}},
		{"many_members", many(40, "k%d"), strings.ReplaceAll(many(40, "k%d"), " ", ""), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "add(**" + c.text + ")"
			if c.name == "markdown_escape" {
				text = "add(" + c.text + ")"
			}
			calls := readCalls(text, tools, options)
			require.Len(t, calls, 1)
			require.Nil(t, calls[0].Broken)
			assert.Equal(t, c.want, string(calls[0].Arguments))
			var got []extract.Form
			for _, r := range calls[0].Repairs {
				if r.Kind != "python_syntax" {
					got = append(got, r.Kind)
				}
			}
			assert.ElementsMatch(t, c.repairs, got)
			for _, kind := range got {
				opt := extract.Options{Off: []extract.Form{kind}, MaxCalls: 128}
				refused := readCalls(text, tools, opt)
				require.Len(t, refused, 1)
				require.NotNil(t, refused[0].Broken, "%s switched off", kind)
				assert.Equal(t, fault.RuleSyntax, refused[0].Broken.Rule)
				assert.Nil(t, refused[0].Arguments)
			}
		})
	}
}

func kinds(kind extract.Form, n int) []extract.Form {
	var all []extract.Form
	for range n {
		all = append(all, kind)
	}
	return all
}

func many(n int, key string) string {
	var members []string
	for i := range n {
		members = append(members, strings.Replace(`"`+key+`": 1`, "%d", strings.Repeat("x", i), 1))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func TestBroken(t *testing.T) {
	deep := strings.Repeat("[", extract.MaxDepth) + "1" + strings.Repeat("]", extract.MaxDepth)
	for _, c := range []struct{ name, text, rule, at string }{
		{"expression", `add(a=x+1)`, fault.RuleSyntax, "x+1"},
		{"sum", `add(a=1+1)`, fault.RuleSyntax, "+1"},
		{"nested_call", `add(a=play(b=1))`, fault.RuleSyntax, "play"},
		{"positional_after_keyword", `add(a=1, 2)`, fault.RuleSyntax, "2)"},
		{"two_objects", `add({"a": 1}, {"b": 2})`, fault.RuleSyntax, `{"b"`},
		{"comparison", `add(a=1, b==2)`, fault.RuleSyntax, "b=="},
		{"prefix", `add(a=f'x')`, fault.RuleSyntax, "f'"},
		{"implicit_concatenation", `add(a='x' 'y')`, fault.RuleSyntax, "'y'"},
		{"apostrophe_before_a_space", `add(a='the dogs' food')`, fault.RuleSyntax, "food"},
		{"apostrophe_twice", `add(a='it''s')`, fault.RuleSyntax, "'s')"},
		{"quotes_within", `add(a='say 'x' twice')`, fault.RuleSyntax, "x'"},
		{"quotes_between_digits", `add(a='5'11')`, fault.RuleSyntax, "11"},
		{"full_width_comma", `add(a=['x'，'y'])`, fault.RuleSyntax, "，"},
		{"hexadecimal", `add(a=0x10)`, fault.RuleSyntax, "0x10"},
		{"imaginary", `add(a=1j)`, fault.RuleSyntax, "1j"},
		{"infinite", `add(a=inf)`, fault.RuleSyntax, "inf"},
		{"not_a_number", `{"name": "add", "arguments": {"a": NaN}}`, fault.RuleSyntax, "NaN"},
		{"leading_zero", `add(a=007)`, fault.RuleSyntax, "007"},
		{"point_alone", `add(a=.)`, fault.RuleSyntax, ".)"},
		{"exponent_alone", `add(a=1e)`, fault.RuleSyntax, "1e"},
		{"brackets_around_a_value", `add(a=(1))`, fault.RuleSyntax, "(1)"},
		{"set", `add(a={1, 2})`, fault.RuleSyntax, "1, 2"},
		{"two_commas", `add(a=[1,,2])`, fault.RuleSyntax, ",2"},
		{"missing_comma", `{"name": "add", "arguments": {"a": 1 "b": 2}}`, fault.RuleSyntax, `"b"`},
		{"missing_colon", `{"name": "add", "arguments": {"a" 1}}`, fault.RuleSyntax, `1}`},
		{"octal_escape", `add(a='\101')`, fault.RuleSyntax, `\101`},
		{"named_escape", `add(a='\N{BULLET}')`, fault.RuleSyntax, `\N`},
		{"short_escape", `add(a='\x4')`, fault.RuleSyntax, `\x4`},
		{"markdown_in_string", `add(a='x\_y')`, fault.RuleSyntax, `\_`},
		{"unknown_escape", `add(a="\d")`, fault.RuleSyntax, `\d`},
		{"duplicate", `{"name": "add", "arguments": {"a": 1, "\u0061": 2}}`, fault.RuleDuplicateKey, `"\u0061"`},
		{"duplicate_keyword", `add(a=1, a=2)`, fault.RuleDuplicateKey, "a=2"},
		{"duplicate_of_many", `add(` + strings.Trim(strings.ReplaceAll(many(40, "k%d"), `"`, ""), "{}")[:0] + `**` + strings.TrimSuffix(many(40, "k%d"), "}") + `, "kx": 2})`, fault.RuleDuplicateKey, `"kx": 2`},
		{"bad_utf8", "add(a='x\xff')", fault.RuleInvalidUTF8, "\xff"},
		{"half_a_surrogate", `add(a="\ud83d")`, fault.RuleInvalidUTF8, `\ud83d`},
		{"beyond_unicode", `add(a="\UFFFFFFFF")`, fault.RuleInvalidUTF8, `\UFFFFFFFF`},
		{"trailing_data", `{"name": "add", "arguments": "{\"a\": 1} x"}`, fault.RuleTrailingData, `"{\"a`},
		{"two_sets_of_arguments", `{"name": "add", "arguments": {"a": 1}, "args": {"b": 2}}`, fault.RuleSyntax, `{"name"`},
		{"too_deep", `add(a=` + deep + `)`, fault.RuleDepth, deep[extract.MaxDepth-1:]},
		{"too_long", `add(a='` + strings.Repeat("x", extract.MaxBytes) + `')`, fault.RuleSize, `'xxx`},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := readCalls(c.text, tools, options)
			require.Len(t, calls, 1)
			require.NotNil(t, calls[0].Broken, "%s", calls[0].Arguments)
			assert.Equal(t, c.rule, calls[0].Broken.Rule)
			assert.True(t, strings.HasPrefix(c.text[calls[0].Broken.Offset:], c.at), "broken at %q", c.text[calls[0].Broken.Offset:])
			assert.Nil(t, calls[0].Arguments)
			assert.Equal(t, "add", calls[0].Name)
		})
	}
}

func TestStringArguments(t *testing.T) {
	text := `{"type": "function", "function": {"name": "add", "arguments": "{\"a\": 'x'}"}}`
	calls := readCalls(text, tools, options)
	require.Len(t, calls, 1)
	assert.Equal(t, `{"a":"x"}`, string(calls[0].Arguments))
	at := strings.Index(text, `"{`)
	assert.Equal(t, []extract.Repair{{Kind: "single_quotes", Offset: at}, {Kind: "string_arguments", Offset: at}}, calls[0].Repairs)
}

func TestReadings(t *testing.T) {
	for _, c := range []struct {
		text string
		want extract.Repair
	}{
		{`{"name": "add", "thought": "one", "arguments": {}}`, extract.Repair{Kind: "extra_member", Offset: 27}},
		{`{"function": {"name": "add", "arguments": {}}, "n": 1}`, extract.Repair{Kind: "extra_member", Offset: 52}},
		{`{"name": "add", "arguments": null}`, extract.Repair{Kind: "no_arguments", Offset: 29}},
		{`{"name": "add", "arguments": ""}`, extract.Repair{Kind: "no_arguments", Offset: 29}},
		{`{"name": "add", "arguments": "{}"}`, extract.Repair{Kind: "string_arguments", Offset: 29}},
		{`add(a=1)`, extract.Repair{Kind: "python_syntax", Offset: 0}},
		{`{"id": 7, "type": "function", "name": "add", "arguments": {}}`, extract.Repair{}},
	} {
		calls := readCalls(c.text, tools, options)
		require.Len(t, calls, 1)
		require.Nil(t, calls[0].Broken)
		if c.want == (extract.Repair{}) {
			assert.Empty(t, calls[0].Repairs)
			continue
		}
		assert.Equal(t, []extract.Repair{c.want}, calls[0].Repairs)
		opt := extract.Options{Off: []extract.Form{c.want.Kind}, MaxCalls: 128}
		refused := readCalls(c.text, tools, opt)
		require.Len(t, refused, 1)
		assert.Equal(t, &extract.Broken{Rule: fault.RuleSyntax, Offset: c.want.Offset}, refused[0].Broken)
	}
}
