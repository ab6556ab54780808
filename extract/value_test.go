package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
)

func TestValue(t *testing.T) {
	for _, c := range []struct{ name, text, want, repairs string }{
		{"whole", " {\"a\": 1}\n", `{"a":1}`, ""},
		{"whole_array", `[1, 2]`, `[1,2]`, ""},
		{"whole_scalar", ` 42 `, `42`, ""},
		{"whole_string", `"yes"`, `"yes"`, ""},
		{"whole_python", `{'a': True}`, `{"a":true}`, "single_quotes@1 python_literal@6"},
		{"fence", "```json\n{\"a\": 1}\n```", `{"a":1}`, "fence@0"},
		{"fence_never_closed", "```json\n{\"a\": 1}\n", `{"a":1}`, "fence@0"},
		{"fence_in_prose", "So [1]:\n```\n{\"a\": \"```\"}\n```\nDone.", "{\"a\":\"```\"}", "prose@0 fence@8 prose@29"},
		{"fence_before_prose", "{\"a\": 1} is not it:\n```json\n{\"a\": 2}\n```", `{"a":2}`, "prose@0 fence@20"},
		{"second_fence", "```\nx = 1\n```\n```\n[\"a\"]\n```", `["a"]`, "prose@0 fence@14"},
		{"tag", `<answer>{"a": 1}</answer>`, `{"a":1}`, "tag@0"},
		{"prose", `The answer is {"a": 1}.`, `{"a":1}`, "prose@0 prose@22"},
		{"first_of_two", "{\"a\": 1}\n{\"a\": 2}", `{"a":1}`, "prose@9"},
		{"footnote_first", `As said in [1], {x} and [see] give {"a": 1}`, `{"a":1}`, "prose@0"},
		{"numbers_only", `The primes are [2, 3, 5].`, `[2,3,5]`, "prose@0 prose@24"},
		{"byte_order_mark", "\ufeff{\"a\": 1}", `{"a":1}`, ""},
		{"thoughts_first", "<think>\n```\n{\"a\": 0}\n```\n</think>\n{\"a\": 1}", `{"a":1}`, "prose@0"},
		{"thoughts_never_opened", "Say {\"a\": 0}, or so.\n</think>\n{\"a\": 1}", `{"a":1}`, "prose@0"},
		{"thoughts_never_opened_before_prose", "[\"a\"]\n</think>\nIt is {\"a\": 1}", `{"a":1}`, "prose@0"},
		{"thoughts_closed_twice", "<think>{\"a\": 0}</think>{\"a\": 1}</think>", `{"a":1}`, "prose@0 prose@31"},
		{"end_of_thoughts_in_a_string", `{"a": "</think>"}`, `{"a":"</think>"}`, ""},
		{"end_of_thoughts_in_a_string_in_prose", `It is {"a": "x </think> y"}`, `{"a":"x </think> y"}`, "prose@0"},
		{"end_of_thoughts_in_a_string_in_a_fence", "```\n{\"a\": \"x </think> y\"}\n```", `{"a":"x </think> y"}`, "fence@0"},
		{"end_of_thoughts_behind_one_in_a_string", "Say {\"a\": \"x </think> y\"}.</think>{\"a\": 1}", `{"a":1}`, "prose@0"},
		{"end_of_thoughts_mentioned", "{\"a\": 1}\nI end my thoughts with `</think>`.", `{"a":1}`, "prose@9"},
		{"thoughts_between_tokens", `[THINK]{"a": 0}[/THINK]{"a": 1}`, `{"a":1}`, "prose@0"},
		{"thoughts_in_a_channel", `<|channel|>analysis<|message|>{"a": 0}<|end|><|start|>assistant<|channel|>final<|message|>{"a": 1}`, `{"a":1}`, "prose@0 tag@79"},
		{"thoughts_never_closed", "<think>{\"a\": 0}", ``, ""},
		{"extra_bracket", `{"a": 1}}`, `{"a":1}`, "prose@8"},
		{"none", `No value here, not [even] {one}.`, ``, ""},
		{"empty", ` `, ``, ""},
		{"scalar_in_prose", `It is 42.`, ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, repairs, broken := extract.Value(c.text, options)
			require.Nil(t, broken)
			assert.Equal(t, c.want, string(raw))
			var got []string
			for _, r := range repairs {
				got = append(got, string(r.Kind)+"@"+itoa(r.Offset))
			}
			assert.Equal(t, c.repairs, strings.Join(got, " "))
			for _, r := range repairs {
				opt := extract.Options{Off: []extract.Form{r.Kind}, MaxCalls: 128}
				without, _, _ := extract.Value(c.text, opt)
				assert.NotEqual(t, c.want, string(without), "%s switched off", r.Kind)
			}
		})
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func TestValueBroken(t *testing.T) {
	for _, c := range []struct{ name, text, rule, at string }{
		{"cut_off", `{"a": {"b": 1}`, fault.RuleSyntax, ""},
		{"cut_off_in_fence", "```json\n{\"a\": {\"b\": 1},", fault.RuleSyntax, ""},
		{"cut_off_in_prose", `So: {"a": [{"b": 1}], "c`, fault.RuleSyntax, ""},
		{"missing_comma", `{"a": 1 "b": {"c": 2}}`, fault.RuleSyntax, `"b"`},
		{"duplicate", `{"a": 1, "a": 2}`, fault.RuleDuplicateKey, `"a": 2`},
		{"call", `{"a": [f(x=1)]}`, fault.RuleSyntax, "f("},
		{"deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), fault.RuleDepth, ""},
		{"bad_utf8", "{\"a\": \"\xc3\"}", fault.RuleInvalidUTF8, "\xc3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, repairs, broken := extract.Value(c.text, options)
			assert.Nil(t, raw)
			assert.Nil(t, repairs)
			require.NotNil(t, broken)
			assert.Equal(t, c.rule, broken.Rule)
			assert.True(t, strings.HasPrefix(c.text[broken.Offset:], c.at), "broken at %q", c.text[broken.Offset:])
		})
	}
}

// A text of very many repairs lists some of each kind.
func TestTheRepairsOfAValueAreBounded(t *testing.T) {
	_, repairs, broken := extract.Value("["+strings.Repeat("/**/None,", 5000)+"(1,)]", options)
	require.Nil(t, broken)
	assert.Less(t, len(repairs), 110)
	assert.Equal(t, []extract.Form{"comment", "python_literal", "tuple", "trailing_comma"}, extract.Kinds(repairs))
}

// A name that is given twice is found among few and among many members, however it is spelt.
func TestANameGivenTwiceIsFound(t *testing.T) {
	for _, others := range []int{0, 1, 6, 7, 8, 9, 30} {
		text := `{"a":[{"b":1}],`
		for n := range others {
			text += fmt.Sprintf(`'k%d':{"a":2},`, n)
		}
		_, _, broken := extract.Value(text+`"b":3}`, options)
		require.Nil(t, broken, others)
		for _, again := range []string{`"a"`, `'a'`, `a`, `"\u0061"`} {
			_, _, broken = extract.Value(text+again+`:1}`, options)
			require.NotNil(t, broken, "%d, %s", others, again)
			assert.Equal(t, extract.Broken{Rule: fault.RuleDuplicateKey, Offset: len(text)}, *broken)
		}
	}
}
