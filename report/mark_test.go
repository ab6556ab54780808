package report_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/report"
)

func at(pointer, rule string, source fault.Source) fault.Issue {
	return fault.Issue{Pointer: pointer, Rule: rule, Expected: "something else", Source: source}
}

func TestTheFailingPartIsMarked(t *testing.T) {
	type part = report.Part
	wrong := func(pointer string) fault.Issue { return at(pointer, "type", fault.FromSchema) }
	for _, tt := range []struct {
		name, text string
		issues     []fault.Issue
		want       []part
	}{
		{"a_member", `{"a": 1, "b": "two"}`, []fault.Issue{wrong("/b")}, []part{{`"two"`, []int{1}}}},
		{"deep", `{"a": [{"b": null}, {"b": [1, 2]}]}`, []fault.Issue{wrong("/a/1/b/0")}, []part{{"1", []int{1}}}},
		{"an_escaped_name", `{"a~b/c": 1}`, []fault.Issue{wrong("/a~0b~1c")}, []part{{"1", []int{1}}}},
		{"a_name_with_escapes", `{"caf\u00e9": 1}`, []fault.Issue{wrong("/café")}, []part{{"1", []int{1}}}},
		{"a_missing_member", `{"a": 1}`, []fault.Issue{at("/b", "required", fault.FromSchema)}, nil},
		{"missing_in_an_empty_object", `{}`, []fault.Issue{at("/b", "required", fault.FromSchema)}, nil},
		{"below_what_is_no_object", `{"a": 7}`, []fault.Issue{wrong("/a/b")}, nil},
		{"a_member_too_many", `{"a": 1, "b": 2}`, []fault.Issue{at("/b", "additionalProperties", fault.FromSchema)}, []part{{"2", []int{1}}}},
		{"a_name_twice", `{"a": 1, "a": 2}`, []fault.Issue{at("/a", fault.RuleDuplicateKey, fault.FromJSON)}, []part{{"2", []int{1}}}},
		{"two_issues_of_one_place", `{"a": 1}`, []fault.Issue{wrong("/a"), wrong("/a")}, []part{{"1", []int{1, 2}}}},
		{"one_within_the_other", `{"a": [1]}`, []fault.Issue{wrong("/a/0"), wrong("/a")}, []part{{"[1]", []int{2}}, {"1", []int{1}}}},
		{"the_whole_has_no_mark", `{"a": 1}`, []fault.Issue{wrong("")}, nil},
		{"cut_off", `{"a": [1, 2`, []fault.Issue{at("", fault.RuleSyntax, fault.FromJSON)}, []part{{"", []int{1}}}},
		{"a_word_that_does_not_fit", `{"a": True, "b": 1}`, []fault.Issue{at("", fault.RuleSyntax, fault.FromJSON)}, []part{{"True", []int{1}}}},
		{"more_after_it", `{"a": 1} and so on`, []fault.Issue{at("", fault.RuleTrailingData, fault.FromJSON)}, []part{{" and", []int{1}}}},
		{"in_prose", "Here [sic] you are:\n```json\n{\"a\": \"x\"}\n```", []fault.Issue{wrong("/a")}, []part{{`"x"`, []int{1}}}},
		{"a_part_of_what_is_broken", `{"a": "x", "b": oops}`, []fault.Issue{wrong("/a")}, []part{{`"x"`, []int{1}}}},
		{"redacted", "[redacted 00112233445566778899aabbccddeeff, 12 bytes]", []fault.Issue{wrong("/a"), at("/b", "required", fault.FromSchema)}, nil},
		{"redacted_within", `{"a": "[redacted 00112233445566778899aabbccddeeff, 12 bytes]"}`, []fault.Issue{wrong("/a")},
			[]part{{`"[redacted 00112233445566778899aabbccddeeff, 12 bytes]"`, []int{1}}}},
		{"no_json", "I cannot do that.", []fault.Issue{wrong("/a")}, nil},
		{"nothing", "", []fault.Issue{wrong("/a")}, nil},
		{"no_pointer", `{"a": 1}`, []fault.Issue{wrong("a")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, report.Marked(tt.text, tt.issues))
		})
	}
}

// pointers returns every pointer into a value, with the value there.
func pointers(v any, at string, to map[string]any) {
	to[at] = v
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			pointers(m, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), to)
		}
	case []any:
		for n, m := range v {
			pointers(m, fmt.Sprint(at, "/", n), to)
		}
	}
}

func anyValue(depth int) *rapid.Generator[any] {
	scalar := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Map(rapid.Int32(), func(n int32) any { return float64(n) }),
	}
	if depth == 0 {
		return rapid.OneOf(scalar...)
	}
	return rapid.OneOf(append(scalar,
		rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "a/b", "~", "~1", "0", "é", "\"", "\\", "\u2028"})), anyValue(depth-1), 0, 4).AsAny(),
	)...)
}

// The part of a text that a pointer marks is the JSON of the value that the pointer names.
func TestTheMarkedRangeIsTheValueAtThePointer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		text, err := json.Marshal(v)
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "indented") {
			text, err = json.MarshalIndent(v, " ", "\t")
			require.NoError(t, err)
		}
		var same any
		require.NoError(t, json.Unmarshal(text, &same))
		all := map[string]any{}
		pointers(same, "", all)
		for pointer, want := range all {
			if pointer == "" {
				continue // an issue about the whole has no mark
			}
			found, is := report.Located(string(text), pointer)
			require.True(t, is, "%q in %s", pointer, text)
			var got any
			require.NoError(t, json.Unmarshal([]byte(found), &got), "%q", found)
			require.Equal(t, want, got, "%q in %s", pointer, text)
		}
	})
}

func FuzzMark(f *testing.F) {
	for _, text := range []string{`{"a": [1, {"b": "x"}]}`, `{"a": `, `{"a": 1, "a": 2} x`, "see: {\"a\": tru}\x00\u202e", `[[[[`, `"\ud800`, "", "{\"\xff\": 1}"} {
		f.Add(text, "/a/1/b", "type", "schema")
		f.Add(text, "", fault.RuleSyntax, string(fault.FromJSON))
		f.Add(text, "/a", fault.RuleDuplicateKey, string(fault.FromJSON))
	}
	f.Fuzz(func(t *testing.T, text, pointer, rule, source string) {
		assert.True(t, utf8.ValidString(report.Values(text)))
		issues := []fault.Issue{at(pointer, rule, fault.Source(source)), at("/a", "type", fault.FromSchema), at("", fault.RuleSyntax, fault.FromJSON)}
		for _, p := range report.Marked(text, issues) {
			assert.Contains(t, text, p.Text)
			assert.True(t, sort.IntsAreSorted(p.Issues))
		}
		for _, s := range report.MarkedSegments(text, issues) {
			assert.True(t, utf8.ValidString(s.Text), "%q", s.Text)
		}
	})
}

// What breaks off has the values before.
func TestTheFirstValuesOfArgumentsAreNamed(t *testing.T) {
	assert.Equal(t, "ACME, 500, EUR, …", report.Values(`{"to": "ACME", "cents": 500, "in": {"currency": "EUR"}, "now": true}`))
	assert.Equal(t, "ACME, 500", report.Values(`{"to": "ACME", "cents": 500, "in": `))
	assert.Equal(t, `ACME, "EU`, report.Values(`{"to": "ACME", "in": "EU`))
	assert.Empty(t, report.Values(`["ACME"]`))
}

func TestWhatCannotBeSeenIsNamed(t *testing.T) {
	type seg = report.Segment
	for _, tt := range []struct {
		name, text string
		want       []seg
	}{
		{"plain", "a\tb\nc é 日本 👩\u200d👧", []seg{{"", "a\tb\nc é 日本 👩\u200d👧", false}}},
		{"direction", "a\u202eb", []seg{{"", "a", false}, {"hidden", "U+202E", false}, {"", "b", false}}},
		{"repeated", "\u200b\u200b\u200b", []seg{{"hidden", "U+200B ×3", false}}},
		{"escape", "\x1b[31m\x07", []seg{{"hidden", "U+001B", false}, {"", "[31m", false}, {"hidden", "U+0007", false}}},
		{"no_utf8", "a\xff\xfe", []seg{{"", "a", false}, {"hidden", "byte FF", false}, {"hidden", "byte FE", false}}},
		{"replacement_character", "\ufffd", []seg{{"", "\ufffd", false}}},
		{"redacted", "to [redacted 00112233445566778899aabbccddeeff, 12 bytes]!", []seg{
			{"", "to ", false}, {"redacted", "redacted 00112233445566778899aabbccddeeff, 12 bytes", false}, {"", "!", false}}},
		{"redacted_json", "[redacted 00112233445566778899aabbccddeeff, 12 bytes of JSON]", []seg{
			{"redacted", "redacted 00112233445566778899aabbccddeeff, 12 bytes of JSON", false}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, report.Segments(tt.text, nil))
		})
	}
}

func TestSegmentsAreBounded(t *testing.T) {
	assert.Less(t, len(report.Segments(strings.Repeat("\u202ea", 100_000), nil)), 300_000)
	assert.Len(t, report.Segments(strings.Repeat("\u202e", 100_000), nil), 1)
}

// Marks leave out no part of the text.
func TestMarksLeaveTheTextAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		text, err := json.Marshal(v)
		require.NoError(t, err)
		all := map[string]any{}
		pointers(v, "", all)
		var issues []fault.Issue
		for pointer := range all {
			issues = append(issues, at(pointer, "type", fault.FromSchema))
		}
		var got strings.Builder
		for _, s := range report.MarkedSegments(string(text), issues) {
			if s.Kind == "" {
				got.WriteString(s.Text)
			}
		}
		if plain := report.Segments(string(text), nil); len(plain) == 1 && plain[0].Kind == "" {
			require.Equal(t, string(text), got.String())
		}
	})
}
