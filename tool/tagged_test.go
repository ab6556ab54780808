package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

const typesSchema = `{"type": "object", "properties": {
	"s": {"type": "string"}, "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "o": {"type": "object"},
	"l": {"type": "array", "items": {"type": "integer"}}, "null": {"type": "null"}, "in": {"type": ["integer", "null"]}, "sn": {"type": ["string", "null"]},
	"any": {}, "ref": {"$ref": "#/$defs/count"}, "anchor": {"$ref": "#counted"}, "beside": {"$ref": "#/properties/b"},
	"either": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/count"}]}, "text": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
	"all": {"allOf": [{"$ref": "#/$defs/count"}, {"minimum": 0}]}, "texts": {"allOf": [{"type": "string"}, {"minLength": 1}]},
	"one": {"const": 1}, "few": {"enum": [1, 2]}, "word": {"enum": ["1", 2, "é"]}, "auto": {"anyOf": [{"const": "auto", "type": "string"}, {"type": "integer"}]},
	"none": {"type": ["string", "null"], "enum": ["a", null]}},
	"$defs": {"count": {"$anchor": "counted", "type": "integer"}}}`

func taggedSet(t require.TestingT) *tool.Set {
	types, err := tool.Raw("types", "", []byte(typesSchema), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	type place struct {
		Row  *int     `json:"row"`
		Side string   `json:"side"`
		Tags []string `json:"tags"`
	}
	seats := tool.New("seats", "", func(context.Context, place) (int, error) { return 0, nil })
	set, err := tool.NewSet(types, seats)
	require.NoError(t, err)
	return set
}

// Tags have no types. The schema has.
func TestArgumentsInTags(t *testing.T) {
	set := taggedSet(t)
	for _, c := range []struct{ name, written, want string }{
		{"s", "1", `{"s":"1"}`},
		{"s", " true ", `{"s":" true "}`},
		{"s", "", `{"s":""}`},
		{"s", `"quoted"`, `{"s":"\"quoted\""}`},
		{"s", "a < b && c", `{"s":"a < b && c"}`},
		{"i", "\n1\n", `{"i":1}`},
		{"i", "1.5", `{"i":1.5} tool_validation [i: expected integer, got number]`},
		{"i", "one", `{"i":"one"} tool_validation [i: expected integer, got string]`},
		{"i", "", `{"i":""} tool_validation [i: expected integer, got string]`},
		{"i", `"1"`, `{"i":"1"} tool_validation [i: expected integer, got string]`},
		{"i", "1 2", `{"i":"1 2"} tool_validation [i: expected integer, got string]`},
		{"n", "-2.50e+3", `{"n":-2.50e+3}`},
		{"n", "1_000", `{"n":1000}+python_number`},
		{"b", "true", `{"b":true}`},
		{"b", "True", `{"b":true}+python_literal`},
		{"b", "yes", `{"b":"yes"} tool_validation [b: expected boolean, got string]`},
		{"o", `{"x": [1, "<y>"]}`, `{"o":{"x":[1,"<y>"]}}`},
		{"o", `so {"x": 1}`, `{"o":"so {\"x\": 1}"} tool_validation [o: expected object, got string]`},
		{"l", "[1, 2]", `{"l":[1,2]}`},
		{"l", "[1, 2,]", `{"l":[1,2]}+trailing_comma`},
		{"l", "1, 2", `{"l":"1, 2"} tool_validation [l: expected array of integers, got string]`},
		{"null", "null", `{"null":null}`},
		{"in", "null", `{"in":null}`},
		{"in", "3", `{"in":3}`},
		{"sn", "null", `{"sn":"null"}`},
		{"any", "1", `{"any":"1"}`},
		{"unknown", "1", `{"unknown":"1"}`},
		{"ref", "1", `{"ref":1}`},
		{"beside", "false", `{"beside":false}`},
		{"anchor", "1", `{"anchor":1}`},
		{"either", "1", `{"either":1}`},
		{"text", "1", `{"text":"1"}`},
		{"all", "1", `{"all":1}`},
		{"texts", "1", `{"texts":"1"}`},
		{"one", "1", `{"one":1}`},
		{"few", "2", `{"few":2}`},
		{"word", "1", `{"word":"1"}`},
		{"word", "2", `{"word":2}`},
		{"word", "é", `{"word":"é"}`},
		{"auto", "auto", `{"auto":"auto"}`},
		{"auto", "2", `{"auto":2}`},
		{"none", "null", `{"none":null}`},
		{"none", "a", `{"none":"a"}`},
	} {
		for _, text := range []string{
			"<function=types><parameter=" + c.name + ">" + c.written + "</parameter></function>",
			"<tool_call>types<arg_key>" + c.name + "</arg_key><arg_value>" + c.written + "</arg_value></tool_call>",
		} {
			r := set.Read(message.Reply{Text: text}, defaults())
			require.Len(t, r.Calls, 1)
			got := string(r.Calls[0].Arguments)
			if !r.Calls[0].Good() {
				got += " tool_validation " + issues(r.Calls[0])
			}
			for _, repair := range r.Calls[0].Repairs {
				if repair.Kind != extract.TaggedArguments && repair.Kind != "tag" {
					got += "+" + string(repair.Kind)
				}
			}
			assert.Equal(t, c.want, got, text)
		}
	}
}

func issues(c tool.Call) string {
	text := told(tool.Call{Class: c.Class, Issues: c.Issues})
	return text[len("   tool_validation "):]
}

func TestArgumentsInTagsOfGoTypes(t *testing.T) {
	text := "<tool_call>\n<function=seats>\n<parameter=row>\n7\n</parameter>\n<parameter=side>\n7\n</parameter>\n<parameter=tags>\n[\"a\"]\n</parameter>\n</function>\n</tool_call>"
	for name, c := range map[string]struct {
		set  tool.Settings
		want string
	}{
		"noted":    {defaults(), `call-1 seats {"row":7,"side":"7","tags":["a"]} (tag) (tagged_arguments)`},
		"accepted": {tool.Settings{Text: policy.RepairsAccept}, `call-1 seats {"row":7,"side":"7","tags":["a"]}`},
		"refused": {tool.Settings{Text: policy.RepairsRefuse},
			`call-1 seats {"row":7,"side":"7","tags":["a"]} tool_validation [(whole): expected JSON instead of tags] (tag) (tagged_arguments)`},
		"switched_off": {tool.Settings{Text: policy.RepairsNote, Off: []extract.Form{extract.TaggedArguments}},
			`call-1 seats  tool_validation [(whole): expected JSON instead of tags] (tag) (tagged_arguments)`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []string{c.want}, tellAll(taggedSet(t).Read(message.Reply{Text: text}, c.set)))
		})
	}
}

// The tool gets a string as the model wrote it between the tags.
func TestStringsInTagsAreKept(t *testing.T) {
	set := taggedSet(t)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[ -;=-~\n\té✿]*`).Draw(t, "value")
		text := "<tool_call>\n<function=types>\n<parameter=s>\n" + value + "\n</parameter>\n</function>\n</tool_call>"
		r := set.Read(message.Reply{Text: text}, defaults())
		require.Len(t, r.Calls, 1)
		var got struct{ S string }
		require.NoError(t, json.Unmarshal(r.Calls[0].Arguments, &got))
		assert.Equal(t, value, got.S)
	})
}

// An argument in tags is the text itself, or the value that the text writes.
func FuzzArgumentsInTags(f *testing.F) {
	for _, seed := range []string{"", "1", " true ", "True", "[1, 2,]", `{"a": "<b>"}`, "so {}", "</parameter>", "\n\n", "'x'", "1e999", "\xff", "<think>1</think>2"} {
		for _, name := range []string{"s", "i", "o", "either", "any"} {
			f.Add(name, seed)
		}
	}
	set := taggedSet(f)
	f.Fuzz(func(t *testing.T, name, written string) {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
			return
		}
		text := "<function=types><parameter=" + name + ">" + written + "</parameter></function>"
		for _, c := range set.Read(message.Reply{Text: text}, defaults()).Calls {
			if c.Arguments == nil {
				require.False(t, c.Good())
				continue
			}
			var args map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(c.Arguments, &args))
			for _, got := range args {
				var s string
				if json.Unmarshal(got, &s) == nil && string(got) != "null" {
					require.Contains(t, written, s)
					continue
				}
				value, _, _ := extract.Value(written, extract.Options{})
				if form, err := canon.JSON(value); err == nil {
					value = form
				}
				require.Equal(t, string(value), string(got))
			}
		}
	})
}
