package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
)

var tools = extract.NewNames([]string{"add", "geo.lookup", "play", "web-search"})

// said returns one line for each call: name, arguments or rule, form.
func said(calls []extract.Call) string {
	var lines []string
	for _, c := range calls {
		what := string(c.Arguments)
		if c.Broken != nil {
			what = "!" + c.Broken.Rule
		}
		name := c.Name
		if !c.Known {
			name += "?"
		}
		lines = append(lines, name+" "+what+" "+string(c.Form))
	}
	return strings.Join(lines, "\n")
}

var formCases = []struct {
	name, text, want string
	form             extract.Form
}{
	{"tag_closed", `<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>`, `add {"a":1} tool_tag`, "tool_tag"},
	{"tag_never_closed", "<function_call> {\"name\": \"add\", \"arguments\": {\"a\": 1}} <function_call> {\"name\": \"play\", \"arguments\": {}}",
		"add {\"a\":1} tool_tag\nplay {} tool_tag", "tool_tag"},
	{"tag_around_list", `<tool_calls>[{"name": "add", "arguments": {"a": 1}}]</tool_calls>`, `add {"a":1} tool_tag`, "tool_tag"},
	{"tag_of_unknown_tool", `<tool_call>{"name": "fly", "arguments": {}}</tool_call>`, `fly? {} tool_tag`, "tool_tag"},
	{"tag_without_arguments", `<tool_call>{"name": "play"}</tool_call>`, `play {} tool_tag`, "tool_tag"},
	{"python_tag", `<|python_tag|>{"name": "add", "parameters": {"a": 1}}<|eom_id|>`, `add {"a":1} special_token`, "special_token"},
	{"tool_calls_token", `[TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}}, {"name": "play", "arguments": {}}]`,
		"add {\"a\":1} special_token\nplay {} special_token", "special_token"},
	{"tool_calls_token_and_name", `[TOOL_CALLS]add[ARGS]{"a": 1}`, `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"full_width_tokens", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{\"a\": 1}\n```<｜tool▁call▁end｜>" +
		"<｜tool▁call▁begin｜>function<｜tool▁sep｜>play\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"add {\"a\":1} name_then_arguments\nplay {} name_then_arguments", "name_then_arguments"},
	{"numbered_name_and_token", `<|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>`,
		`add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"channel_message", `<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 1}<|call|>`,
		`add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"function_tag", `<function=add>{"a": 1}</function>`, `add {"a":1} function_tag`, "function_tag"},
	{"function_tag_with_attribute", `<function name="fly">{"a": 1}</function>`, `fly? {"a":1} function_tag`, "function_tag"},
	{"function_tag_without_arguments", `<function=play></function>`, `play {} function_tag`, "function_tag"},
	{"parameter_tags", "<tool_call>\n<function=add>\n<parameter=a>\n 1\n</parameter>\n<parameter=b>x</parameter>\n</function>\n</tool_call>",
		`add {"a":" 1","b":"x"} function_tag`, "function_tag"},
	{"parameter_tags_by_name", "<function_calls>\n<invoke name=\"add\">\n<parameter name=\"a\" string=\"false\">1\n</parameter>\n</invoke>\n" +
		"<invoke name=\"play\">\n</invoke>\n</function_calls>", "add {\"a\":\"1\\n\"} function_tag\nplay {} function_tag", "function_tag"},
	{"parameter_tags_of_a_namespace", "<x:tool_call><x:invoke name=\"fly\"><x:parameter name=\"a\">{\"b\": <c>}</x:parameter></x:invoke></x:tool_call>",
		`fly? {"a":"{\"b\": <c>}"} function_tag`, "function_tag"},
	{"parameter_tags_between_bars", "<｜DSML｜function_calls><｜DSML｜invoke name=\"add\"><｜DSML｜parameter name=\"a\" string=\"true\">a < b</｜DSML｜parameter>" +
		"</｜DSML｜invoke></｜DSML｜function_calls>", `add {"a":"a < b"} function_tag`, "function_tag"},
	{"parameter_tags_between_plain_bars", "<|DSML|tool_calls><|DSML|invoke name=\"add\"><|DSML|parameter name=\"a\">a|b</|DSML|parameter></|DSML|invoke></|DSML|tool_calls>",
		`add {"a":"a|b"} function_tag`, "function_tag"},
	{"parameter_tags_between_double_bars", "<‖DSML‖invoke name=\"add\"><‖DSML‖parameter name=\"a\">x</‖DSML‖parameter></‖DSML‖invoke>",
		`add {"a":"x"} function_tag`, "function_tag"},
	{"parameter_tags_between_doubled_bars", "<｜｜DSML｜｜invoke name=\"add\"><｜｜DSML｜｜parameter name=\"a\">x</｜｜DSML｜｜parameter></｜｜DSML｜｜invoke>",
		`add {"a":"x"} function_tag`, "function_tag"},
	{"channel_message_without_tokens", "analysisI add.assistantcommentary to=functions.add json{\"a\": 1}", `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"name_before_type", "The tool add json{\"a\": 1} is to=add.", ``, "name_then_arguments"},
	{"key_and_value_tags_after_separator", "<tool_calls>\n<tool_call>add<tool_sep>\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>\n" +
		"<tool_call>play<tool_sep></tool_call>\n</tool_calls>", "add {\"a\":\"x\"} tool_tag\nplay {} tool_tag", "tool_tag"},
	{"arguments_after_separator", "<tool_calls>add<tool_sep>{\"a\": 1}</tool_calls>", `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"key_and_value_tags", "<tool_call>geo_lookup\n<arg_key> q </arg_key>\n<arg_value>\nx\n</arg_value>\n</tool_call><tool_call>play\n</tool_call>",
		"geo.lookup {\"q\":\"\\nx\\n\"} tool_tag\nplay {} tool_tag", "tool_tag"},
	{"key_and_value_tags_with_a_suffix", "<tool_calls:x><tool_call:x>add<arg_key:x>a</arg_key:x><arg_value:x>b</arg_value:x></tool_call:x><tool_call:x>play</tool_call:x></tool_calls:x>",
		"add {\"a\":\"b\"} tool_tag\nplay {} tool_tag", "tool_tag"},
	{"key_and_value_tags_behind_a_bar", "<x|tool_calls><x|tool_call>add<x|arg_key>a</x|arg_key><x|arg_value>b</x|arg_value></x|tool_call></x|tool_calls>",
		`add {"a":"b"} tool_tag`, "tool_tag"},
	{"tags_of_tokens", `<|open|>response<|sep|>So:<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="add" index="1"<|sep|>` +
		`<|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="play" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`,
		"add {\"a\":\"1\"} function_tag\nplay {} function_tag", "function_tag"},
	{"key_and_value_tags_of_unknown_tool", "<tool_call>fly<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", `fly? {"a":"1"} tool_tag`, "tool_tag"},
	{"tokens_for_quotes", "<start_function_call>call:add{a:<escape>x<escape>,b:2}<end_function_call><start_function_call>call:play{}<end_function_call>",
		"add {\"a\":\"x\",\"b\":2} name_then_arguments\nplay {} name_then_arguments", "name_then_arguments"},
	{"tokens_of_one_bar", `<|tool_call>call:add{a:<|"|>x<|"|>}<tool_call|><|tool_call>call:play{}<tool_call|>`,
		"add {\"a\":\"x\"} name_then_arguments\nplay {} name_then_arguments", "name_then_arguments"},
	{"recipient_before_channel", `<|start|>assistant to=functions.add<|channel|>commentary <|constrain|>json<|message|>{"a": 1}<|call|>`,
		`add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"tag_of_the_tool", "<add>{\"a\": 1}</add>\n<play>{}</play>", "add {\"a\":1} function_tag\nplay {} function_tag", "function_tag"},
	{"tags_of_tool_and_arguments", "Now:\n<add>\n<a>1</a>\n<b>\nx <i>y</i>\n</b>\n</add>\n<play><a></a></play>",
		"add {\"a\":\"1\",\"b\":\"x <i>y</i>\"} function_tag\nplay {\"a\":\"\"} function_tag", "function_tag"},
	{"recipient_before_two_words", `<|start|>assistant to=functions.add<|channel|>commentary json<|message|>{"a": 1}<|call|>`, `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"recipient_and_json", `<|channel|>commentary to=functions.add json<|message|>{"a": 1}<|call|>`, `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"recipient_and_code", `<|channel|>commentary to=functions.add code<|message|>{"a": 1}<|call|>`, `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"call_id_token", `[TOOL_CALLS]add[CALL_ID]x1y2z3a4b[ARGS]{"a": 1}[TOOL_CALLS]play[CALL_ID]x1y2z3a4c[ARGS]{}`,
		"add {\"a\":1} name_then_arguments\nplay {} name_then_arguments", "name_then_arguments"},
	{"channel_messages", `<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 1}<|call|>` +
		`<|start|>assistant<|channel|>commentary to=functions.play <|constrain|>json<|message|>{}<|call|><|start|>assistant to=functions.add<|channel|>commentary json<|message|>{"a": 2}<|call|>`,
		"add {\"a\":1} name_then_arguments\nplay {} name_then_arguments\nadd {\"a\":2} name_then_arguments", "name_then_arguments"},
	{"ids_between_tokens", `<|tool_calls|><|tool_call:begin|>0<|tool_call:name|>add<|tool_call:args|>{"a": 1}<|tool_call:end|>` +
		`<|tool_call:begin|>k7<|tool_call:name|>play<|tool_call:args|>{}<|tool_call:end|><|calls|>`,
		"add {\"a\":1} name_then_arguments\nplay {} name_then_arguments", "name_then_arguments"},
	{"tags_with_a_prefix", "<longcat_tool_call>add\n<longcat_arg_key>a</longcat_arg_key>\n<longcat_arg_value>b</longcat_arg_value>\n</longcat_tool_call>\n<longcat_tool_call>{\"name\": \"play\"}</longcat_tool_call>",
		"add {\"a\":\"b\"} tool_tag\nplay {} tool_tag", "tool_tag"},
	{"parameter_in_a_cdata_section", `<function name="add"><param name="a"><![CDATA[x </param> & <param name="b">]]></param><param name="c">1</param></function><function name="play"></function>`,
		`add {"a":"x </param> & <param name=\"b\">","c":"1"} function_tag` + "\nplay {} function_tag", "function_tag"},
	{"flowers", "✿FUNCTION✿: add\n✿ARGS✿: {\"a\": 1}\n✿RESULT✿", `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"call_of_a_builtin", `<|python_tag|>web-search.call(query="x")<|eom_id|>`, `web-search {"query":"x"} python_call`, "python_call"},
	{"tool_uses", `{"tool_uses": [{"recipient_name": "functions.add", "parameters": {"a": 1}}, {"recipient_name": "functions.play", "parameters": {}}]}`,
		"add {\"a\":1} tool_calls_object\nplay {} tool_calls_object", "tool_calls_object"},
	{"function_call_member", `{"functionCall": {"name": "add", "args": {"a": 1}}}`, `add {"a":1} call_object`, "call_object"},
	{"double_tag", `<<function>>add(a=1)<<function>>play()`, "add {\"a\":1} python_call\nplay {} python_call", "python_call"},
	{"python_variable", "So:\n```python\nimport x\n\ndata = {\"a\": True}\nr = add(data)\nprint(r)\n```", `add {"a":true} python_call_object`, "python_call_object"},
	{"python_variable_unpacked", "```\ndata={'a': 1}\nadd(**data)\n```", `add {"a":1} python_call_object`, "python_call_object"},
	{"tool_calls_object", `{"tool_calls": [{"name": "add", "arguments": {"a": 1}}, {"name": "fly", "arguments": {}}]}`,
		"add {\"a\":1} tool_calls_object\nfly? {} tool_calls_object", "tool_calls_object"},
	{"message_with_tool_calls", `{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}}]}`,
		`add {"a":1} tool_calls_object`, "tool_calls_object"},
	{"object_of_nothing_but_calls", `{"steps": [{"name": "add", "arguments": {"a": 1}}]}`, `add {"a":1} tool_calls_object`, "tool_calls_object"},
	{"list", `[{"tool_name": "add", "parameters": {"a": 1}}]`, `add {"a":1} call_list`, "call_list"},
	{"list_with_unknown_tool", `[{"name": "fly", "arguments": {"a": 1}}]`, `fly? {"a":1} call_list`, "call_list"},
	{"object", `{"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}`, `add {"a":1} call_object`, "call_object"},
	{"action_object", "```\n{\"action\": \"add\", \"action_input\": {\"a\": 1}}\n```", `add {"a":1} call_object`, "call_object"},
	{"inline", `{"tool": "add", "a": 1, "b": [2]}`, `add {"a":1,"b":[2]} inline_arguments`, "inline_arguments"},
	{"inline_id", `{"name": "add", "id": 5, "type": "function"}`, `add {"id":5} inline_arguments`, "inline_arguments"},
	{"name_keyed", `[{"add": {"a": 1}}, {"play": {}}]`, "add {\"a\":1} name_keyed_object\nplay {} name_keyed_object", "name_keyed_object"},
	{"pair", `['add', {'a': 1}]`, `add {"a":1} pair_list`, "pair_list"},
	{"pairs", `[("add", {"a": 1}), ("play", {})]`, "add {\"a\":1} pair_list\nplay {} pair_list", "pair_list"},
	{"name_line", "add\n{\"a\": 1}", `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"name_after_full_stop", "Let us count.add\n{\"a\": 1}", `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"action_and_input", "Thought: easy\nAction: geo_lookup\nAction Input: {\"q\": \"x\"}\nObservation: y", `geo.lookup {"q":"x"} name_then_arguments`, "name_then_arguments"},
	{"name_in_bold", "**add**\n```json\n{\"a\": 1}\n```", `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"name_behind_closing_fence", "```json\n{\"a\": 1}\n```add\n{\"a\": 1}", `add {"a":1} name_then_arguments`, "name_then_arguments"},
	{"python", `add(a=1, b=[True, None])`, `add {"a":1,"b":[true,null]} python_call`, "python_call"},
	{"python_list", `[add(a=1), geo.lookup(q='x'), web-search()]`, "add {\"a\":1} python_call\ngeo.lookup {\"q\":\"x\"} python_call\nweb-search {} python_call", "python_call"},
	{"python_lines", "```tool_code\nadd(a=1)\nplay()\n```", "add {\"a\":1} python_call\nplay {} python_call", "python_call"},
	{"python_statements", "add(a=1); geo.lookup(q='x');", "add {\"a\":1} python_call\ngeo.lookup {\"q\":\"x\"} python_call", "python_call"},
	{"python_in_code", "```python\nresult = functions.add(a=1)\nprint(result)\n```", `add {"a":1} python_call`, "python_call"},
	{"python_printed_twice", "```tool_code\nprint(add(a=1))\nprint(default_api.play())\n```", "add {\"a\":1} python_call\nplay {} python_call", "python_call"},
	{"prompts", ">>>add\n{\"a\": 1}>>>play\n{}", "add {\"a\":1} name_then_arguments\nplay {} name_then_arguments", "name_then_arguments"},
	{"senders", "<|from|>assistant\n<|recipient|>add\n<|content|>{\"a\": 1}<|stop|>\n<|from|>assistant\n<|recipient|>play\n<|content|>{}<|stop|>",
		"add {\"a\":1} name_then_arguments\nplay {} name_then_arguments", "name_then_arguments"},
	{"python_printed", "```tool_code\nprint(add(a=1))\n```", `add {"a":1} python_call`, "python_call"},
	{"python_object", `[add({'a': 1})]`, `add {"a":1} python_call_object`, "python_call_object"},
	{"python_unpacked", `add(**{"a": 1},)`, `add {"a":1} python_call_object`, "python_call_object"},
	{"python_unknown_in_tag", `<function_calls>fly(a=1)</function_calls>`, `fly? {"a":1} python_call`, "python_call"},
	{"quoted", `["add(a='x')", 'play()']`, "add {\"a\":\"x\"} quoted_call\nplay {} quoted_call", "quoted_call"},
	{"quoted_with_escaped_quotes", `["add(a=\"x\", b='it\'s')", "play()"]`, "add {\"a\":\"x\",\"b\":\"it's\"} quoted_call\nplay {} quoted_call", "quoted_call"},
	{"quoted_with_the_same_quotes", `['add(a='x')']`, `add {"a":"x"} python_call`, "python_call"},
	{"quoted_with_the_same_quotes_in_an_object", `{"steps": ["add(a="x")"]}`, `add {"a":"x"} python_call`, "python_call"},
	{"name_before_whole_call", "Let us add:\n```json\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n```", `add {"a":1} call_object`, "call_object"},
	{"name_before_another_tools_name", "add\n{\"name\": \"play\", \"arguments\": {}}", `add {"name":"play","arguments":{}} name_then_arguments`,
		"name_then_arguments"},
	{"arguments_like_a_schema", `[{"name": "add", "arguments": {"type": "flat", "properties": {"rooms": 2}}}]`,
		`add {"type":"flat","properties":{"rooms":2}} call_list`, "call_list"},
	{"byte_order_mark", "\ufeffplay()", `play {} python_call`, "python_call"},
}

func TestForms(t *testing.T) {
	read := map[extract.Form]bool{}
	for _, c := range formCases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, said(readCalls(c.text, tools, options)))
			for _, call := range readCalls(c.text, tools, options) {
				assert.Equal(t, c.form, call.Form)
				read[call.Form] = true
			}
		})
		t.Run(c.name+"_switched_off", func(t *testing.T) {
			opt := extract.Options{Off: []extract.Form{c.form}, MaxCalls: 128}
			assert.Empty(t, readCalls(c.text, tools, opt))
		})
	}
	for _, f := range extract.Forms()[:13] {
		assert.True(t, read[f], "no case reads %s", f)
	}
}

func TestRuns(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"first_run_counts", "add(a=1)\nThe sum is 2. Now:\nadd(a=2)", `add {"a":1} python_call`},
		{"repeat_once", "<|im_start|>{\"name\": \"add\", \"arguments\": {\"a\": 1}}<|im_start|>{\"name\": \"add\", \"arguments\": {\"a\": 1}}", `add {"a":1} special_token`},
		{"repeat_in_another_order", `[{"name": "add", "arguments": {"a": 1, "b": 2}}, {"name": "add", "arguments": {"b": 2, "a": 1}}]`, `add {"a":1,"b":2} call_list`},
		{"repeat_after_another", "add(a=1)\nplay()\nadd(a=1)", "add {\"a\":1} python_call\nplay {} python_call"},
		{"without_arguments_in_a_run", "So:\nadd(a=1)\nplay()", "add {\"a\":1} python_call\nplay {} python_call"},
		{"thoughts", "<think>\nTry add(a=9).\n</think>\nadd(a=1)", `add {"a":1} python_call`},
		{"thoughts_never_opened", "Try add(a=9), or:\n```\nadd(a=8)\n</think>\nadd(a=1)", `add {"a":1} python_call`},
		{"broken_thoughts_never_opened", "{\"name\": \"add\", \"arguments\": {…}}\n</think>\nadd(a=1)", `add {"a":1} python_call`},
		{"thoughts_never_opened_and_no_call", "Try add(a=9).</think> Two.", ``},
		{"thoughts_closed_twice", "<think>add(a=9)</think>add(a=1)</think>", `add {"a":1} python_call`},
		{"thoughts_never_opened_closed_twice", "add(a=9)</think>add(a=1)</think>", `add {"a":1} python_call`},
		{"end_of_thoughts_in_a_later_string", `<|channel|>commentary to=functions.add<|message|>{"a": 1}<|call|><|start|>assistant said "</think>" add(a=2)`,
			`add {"a":1} name_then_arguments`},
		{"tag_of_tokens_cut_off", `<|open|>call tool="add" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>`, `add !syntax function_tag`},
		{"thoughts_in_tags_of_tokens", `<|open|>think<|sep|>add(a=9)<|close|>think<|sep|>add(a=1)`, `add {"a":1} python_call`},
		{"tag_mentioned", "A call is written like `<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>` or `<function=add></function>`.", ``},
		{"object_mentioned", "I write `{\"name\": \"add\", \"arguments\": {}}` or `[TOOL_CALLS]add[ARGS]{}` for it.", ``},
		{"tag_mentioned_and_written", "I write `<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>`.\n<tool_call>{\"name\": \"play\"}</tool_call>", `play {} tool_tag`},
		{"tag_in_code_after_a_colon", "I call: `<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>`", `add {} tool_tag`},
		{"tag_mentioned_and_cut_off", "A call is written like `<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>", ``},
		{"thoughts_in_tokens_with_a_colon", "<|think:start|>add(a=9)<|think:end|>add(a=1)", `add {"a":1} python_call`},
		{"end_of_thoughts_mentioned", "add(a=1)\nI end my thoughts with `</think>`.", `add {"a":1} python_call`},
		{"end_of_thoughts_before_code", "Try add(a=9).\n</think>```\nadd(a=1)\n```", `add {"a":1} python_call`},
		{"end_of_thoughts_in_a_fence", "```\nadd(a=9)\n```</think>`add(a=1)`", `add {"a":1} python_call`},
		{"thoughts_twice", "<think>add(a=9)</think><think>add(a=8)</think>add(a=1)", `add {"a":1} python_call`},
		{"thoughts_after_a_call", "add(a=1)\n<think>add(a=2)</think>", `add {"a":1} python_call`},
		{"end_of_thoughts_in_a_string", `add(a="</think> play()")`, `add {"a":"</think> play()"} python_call`},
		{"thoughts_between_tokens", "<|START_THINKING|>add(a=9)<|END_THINKING|><|START_ACTION|>[{\"tool_name\": \"add\", \"parameters\": {}}]<|END_ACTION|>",
			`add {} special_token`},
		{"thoughts_in_a_channel", "<|channel|>analysis<|message|>add(a=9)<|end|><|start|>assistant<|channel|>commentary to=functions.add <|constrain|>json<|message|>{}<|call|>",
			`add {} name_then_arguments`},
		{"thoughts_in_square_brackets", `[THINK]add(a=9)[/THINK][TOOL_CALLS]add[ARGS]{}`, `add {} name_then_arguments`},
		{"thoughts_with_a_prefix", `<longcat_think>add(a=9)</longcat_think>add(a=1)`, `add {"a":1} python_call`},
		{"thoughts_after_a_token", `<|think|>add(a=9)<|end|><|begin|>assistant<|content|>add(a=1)`, `add {"a":1} python_call`},
		{"thoughts_after_a_call_between_tokens", `<|channel|>commentary to=add<|message|>{"a": 1}<|call|><|start|>assistant<|channel|>analysis<|message|>play()<|end|>`, `add {"a":1} name_then_arguments`},
		{"result_after_a_call_between_tokens", `<|channel|>commentary to=add<|message|>{"a": 1}<|call|><|start|>functions.add to=assistant<|channel|>commentary<|message|>{"b": 2}<|end|>`, `add {"a":1} name_then_arguments`},
		{"result_after_a_call_in_a_channel", `<|channel|>commentary to=add<|message|>{"a": 1}<|call|><|start|>functions.add<|channel|>commentary to=assistant<|message|>{"b": 2}<|end|>`, `add {"a":1} name_then_arguments`},
		{"answer_after_a_call_between_tokens", `<|channel|>commentary to=add<|message|>{"a": 1}<|call|><|start|>assistant<|channel|>final<|message|>Now play().<|return|>`, `add {"a":1} name_then_arguments`},
		{"parameter_in_a_cdata_section_cut_off", `<function name="add"><param name="a"><![CDATA[x</param></function>`, `add !syntax function_tag`},
		{"parameter_with_a_cdata_section_in_it", `<function name="add"><param name="a">x <![CDATA[y]]></param></function>`, `add {"a":"x <![CDATA[y]]>"} function_tag`},
		{"thoughts_of_a_namespace", `<seed:think>add(a=9)</seed:think>add(a=1)`, `add {"a":1} python_call`},
		{"thoughts_never_closed", "<thinking>\nTry add(a=9).\nadd(a=1)", ``},
		{"fences_between", "```\nadd(a=1)\n```\n\n```\nadd(a=2)\n```", "add {\"a\":1} python_call\nadd {\"a\":2} python_call"},
		{"last_one_cut_off", `[add(a=1), play(b=2`, "add {\"a\":1} python_call\nplay !syntax python_call"},
		{"pair_cut_off", `['add', {'a': 1}, 'play', {'b': `, "add {\"a\":1} pair_list\nplay !syntax pair_list"},
		{"pair_not_closed", `['add', {'a': 1}`, `add !syntax pair_list`},
		{"pair_of_an_unknown_name", `['nope', {'a': 1}]`, ``},
		{"pair_after_an_unknown_name", `['add', {'a': 1}, 'nope', {'b': 1}]`, ``},
		{"pair_without_arguments", `['add']`, ``},
		{"pair_of_other_values", `['add', 1]`, ``},
		{"name_keyed_by_an_unknown_name", `{'add': {'a': 1}, 'nope': {'b': 1}}`, ``},
		{"name_keyed_by_other_values", `{'add': 1}`, ``},
		{"pair_with_a_fault", `['add', {'a': 'x' y'}]`, `add !syntax pair_list`},
		{"name_keyed_with_a_fault", `[{'add': {'a': 1}}, {'play': {'a': x}}]`, "add {\"a\":1} name_keyed_object\nplay !syntax name_keyed_object"},
		{"wrapper_cut_off", `{"tool_calls": [{"name": "add", "arguments": {"a": 1}}`, `add {"a":1} tool_calls_object`},
		{"broken_tag_then_good", "<tool_call>{\"arguments\": {\"a\": [1], 2]}, \"name\": \"add\"}</tool_call><tool_call>{\"name\": \"play\", \"arguments\": {}}</tool_call>",
			"add !syntax tool_tag\nplay {} tool_tag"},
		{"arguments_in_tags", "<tool_call>add\n<arg_key>a</arg_key><arg_value>1</arg_value></tool_call><tool_call>play\n{}</tool_call>",
			"add {\"a\":\"1\"} tool_tag\nplay {} name_then_arguments"},
		{"arguments_in_other_tags", "<tool_call>add\n<a>1</a></tool_call><tool_call>play\n{}</tool_call>", "add !syntax tool_tag\nplay {} name_then_arguments"},
		{"tag_of_parameter_not_closed", "<function=add><parameter=a>1<parameter=b>2</parameter></function><function=play></function>",
			"add !syntax function_tag\nplay {} function_tag"},
		{"tag_of_function_not_closed", "<function=add><parameter=a>1</parameter>", `add !syntax function_tag`},
		{"tag_of_parameter_without_name", "<function=add><parameter>1</parameter></function>", `add !syntax function_tag`},
		{"tag_of_value_missing", "<tool_call>add<arg_key>a</arg_key></tool_call>", `add !syntax tool_tag`},
		{"parameter_twice", "<function=add><parameter=a>1</parameter><parameter=a>2</parameter></function>", `add !duplicate_key function_tag`},
		{"text_between_parameters", "<function=add><parameter=a>1</parameter> and <parameter=b>2</parameter></function>", `add !syntax function_tag`},
		{"parameter_in_latin_1", "<function=add><parameter=a>\xe9</parameter></function>", `add !invalid_utf8 function_tag`},
		{"tag_of_the_tool_cut_off", "<add><a>1</a>", `add !syntax function_tag`},
		{"tag_of_an_argument_cut_off", "<add><a>1", `add !syntax function_tag`},
		{"tag_of_the_tool_twice", "<add><a>1</a><a>2</a></add>", `add !duplicate_key function_tag`},
		{"tag_of_an_argument_in_itself", "<add><b>x</b><a>1<a>2</a></a></add>", `add !syntax function_tag`},
		{"tag_of_the_tool_around_text", "<add>one</add> <add> <br/> </add> <add></add> <add>{one}</add> <add><b>one</add>", ""},
		{"tag_of_the_tool_around_text_and_tags", "<add><b>one</b> and two</add>", `add !syntax function_tag`},
		{"arguments_of_the_tag_cut_off", `<add>{"a": 1`, `add !syntax function_tag`},
		{"smart_quotes_never_closed", `add({“a: 1})`, `add !syntax python_call_object`},
		{"smart_quotes_in_a_string", `add({“a”: “x “y” z”})`, `add !syntax python_call_object`},
		{"spaces_that_are_none_in_a_name", "add({\u00a0a: 1})", `add !syntax python_call_object`},
		{"odd_space_before_a_bare_name", "add({\u00a0 a: 1})", `add !syntax python_call_object`},
		{"odd_space_before_an_argument", "add(a=1,\u00a0b=2)", `add !syntax python_call`},
		{"break_or_name", `add({"a": 1, \name: 2})`, `add !syntax python_call_object`},
		{"quotes_of_other_languages", `add({«a»: 1})`, `add !syntax python_call_object`},
		{"invisible_character_in_a_name", "add(a=1, a\u200b=1)", `add !syntax python_call`},
		{"token_quotes_never_closed", `call:add{a:<escape>x}`, `add !syntax name_then_arguments`},
		{"quoted_with_a_fault", `["add(a=1)", "play(b=c)", "add(a=2)"]`, "add {\"a\":1} quoted_call\nplay !syntax quoted_call\nadd {\"a\":2} quoted_call"},
		{"quoted_with_escapes_and_a_fault", `["play(b=\"x\" y)"]`, "play !syntax quoted_call"},
		{"quoted_with_other_escapes", `["add(a='x\\ny')"]`, ``},
		{"printed_result", "```\nr = add(a=1)\nprint(r)\nplay()\n```", `add {"a":1} python_call`},
		{"results_kept", "```python\nx = add(a=1)\ny = geo.lookup(q='z')\nprint(x, y)\nplay()\n```", "add {\"a\":1} python_call\ngeo.lookup {\"q\":\"z\"} python_call"},
		{"results_used", "```python\nx = add(a=1)\ny = add(a=x)\n```", `add {"a":1} python_call`},
		{"results_kept_in_prose", "x = add(a=1)\ny = add(a=2)", `add {"a":1} python_call`},
		{"variable_changed", "```\ndata = {'a': 1}\ndata['b'] = 2\nadd(data)\n```", ``},
		{"variable_of_another_fence", "```\ndata = {'a': 1}\n```\n```\nadd(data)\n```", ``},
		{"variable_in_prose", "With data = {'a': 1} I call add(data).", ``},
		{"variable_and_more", "```\ndata = {'a': 1}\nadd(data, b=2)\n```", ``},
		{"variable_of_variables", "```\ndata = {'a': x}\nadd(data)\n```", ``},
		{"variable_of_a_longer_line", "```\ndata = {'a': 1} | more\nadd(data)\n```", ``},
		{"variable_of_a_part", "```\ndata = {'a': {'b': 1}}['a']\nadd(data)\n```", ``},
		{"variable_of_a_condition", "```\nif x:\n  data = {'a': 1}\nelse:\n  data = {'a': 2}\nadd(data)\n```", ``},
		{"variable_in_a_block", "```\nif x:\n  data = {'a': 1}  # one\n  add(data)\n```", `add {"a":1} python_call_object`},
		{"variable_declared", "```js\nconst data = {a: 1};\r\nadd(data);\n```", `add {"a":1} python_call_object`},
		{"variable_in_a_comment", "```\n# data = {'a': 1}\nadd(data)\n```", ``},
		{"variable_used_in_a_comment", "```\ndata = {'a': 1}\n# Then add(data)\n```", ``},
		{"variable_of_a_very_long_line", "```\ndata = {'a': 1}\n" + strings.Repeat(" ", 300) + "add(data)\n```", ``},
		{"defined_in_the_code", "```python\ndef add(a=1):\n    return a\n\nprint(add(a=2))\nplay()\n```", `play {} python_call`},
		{"defined_in_other_code", "```python\ndef add(a=1):\n    return a\n```\n```\nadd(a=2)\n```", `add {"a":2} python_call`},
		{"nested_name_is_data", `{"name": "add", "arguments": {"name": "play", "arguments": {}}}`, `add {"name":"play","arguments":{}} call_object`},
		{"inside_of_cut_off", `{"name": "add", "arguments": {"name": "play", "arguments": {}}`, `add !syntax call_object`},
		{"inside_of_cut_off_data", `{"plan": [{"name": "add", "arguments": {"a": 1}}], "x": `, ``},
		{"tool_response_is_no_call", `<tool_response>{"name": "add", "content": {"sum": 2}}</tool_response>`, ``},
		{"extra_bracket", `[add(a=1)])`, `add {"a":1} python_call`},
		{"bracket_too_many_before_the_name", `<tool_call>{"arguments": {"a": 1}}, "name": "add"}</tool_call>`, `add !syntax tool_tag`},
		{"name_after_a_stray_one", `<tool_call>{"arguments": {"a""name": : 1}, "name": "add"}</tool_call>`, `add !syntax tool_tag`},
		{"nameless_before_a_call", `<tool_call>{"a": 1}{"name": "add", "arguments": {"a": 1}}</tool_call>`, "? !syntax tool_tag\nadd {\"a\":1} tool_tag"},
		{"bracket_too_many", "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}}</tool_call><tool_call>{\"name\": \"play\", \"arguments\": {}}</tool_call>",
			"add {\"a\":1} tool_tag\nplay {} tool_tag"},
		{"arguments_no_object", `{"name": "add", "arguments": [1]}`, `add !syntax call_object`},
		{"command_beside_thoughts", `{"thoughts": "x", "command": {"name": "add", "args": {"a": 1}}}`, `add {"a":1} call_object`},
		{"data", `{"name": "Ann", "arguments": {"a": 1}}`, ``},
		{"definition", `[{"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]`, ``},
		{"definition_of_another_dialect", `{"name": "add", "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}}}`, ``},
		{"mention_with_arguments", "I won't add(a=1) yet; for example, add(a=2) is two, and `play(x=1)` plays.", ``},
		{"mention_in_other_words", "Ich würde später add(a=1), puis-je à add(a=2), потом add(a=3).", ``},
		{"mention_before_a_call", "I could use add(a=1).\nadd(a=2)", `add {"a":2} python_call`},
		{"announced_in_a_line", "Function call: add(a=1)", `add {"a":1} python_call`},
		{"code_without_a_fence", "def run():\n    return add(a=1)", `add {"a":1} python_call`},
		{"name_alone_in_another_tag", `<function>add</function>{"a": 1}`, `add !syntax tool_tag`},
		{"python_definition", "```python\ndef add(a=1):\n    return a\n```", ``},
		{"mention", "The tool add() takes one value; add(x) returns it.", ``},
		{"unknown_in_prose", `print(x=1)`, ``},
		{"empty", ``, ``},
		{"no_call", "Two and two make [4] {four}.", ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, said(readCalls(c.text, tools, options)))
		})
	}
}

func TestAround(t *testing.T) {
	text := "Sure:\n```json\n{\"name\": \"geo_lookup\", \"arguments\": {\"q\": \"x\"}}\n```\nDone."
	calls := readCalls(text, tools, options)
	require.Len(t, calls, 1)
	assert.Equal(t, []extract.Repair{{Kind: "prose", Offset: 0}, {Kind: "fence", Offset: 6}, {Kind: "alias", Offset: 23},
		{Kind: "prose", Offset: strings.Index(text, "Done")}}, calls[0].Repairs)
	assert.Equal(t, text[calls[0].Offset:calls[0].End], `{"name": "geo_lookup", "arguments": {"q": "x"}}`)
	for _, kind := range []extract.Form{"prose", "fence", "alias"} {
		opt := extract.Options{Off: []extract.Form{kind}, MaxCalls: 128}
		assert.Empty(t, readCalls(text, tools, opt), kind)
	}
	opt := extract.Options{Off: []extract.Form{"tag"}, MaxCalls: 128}
	assert.Empty(t, readCalls(formCases[0].text, tools, opt))
}

// TestPrefixes cuts a text at every byte. A cut text must have no call that the whole text does not have.
func TestPrefixes(t *testing.T) {
	texts := []string{"First add(a=1, b='x y') then `play`.\n[add(a=12), play()]"}
	for _, c := range formCases {
		texts = append(texts, c.text, c.text+"\n"+c.text, "So: "+c.text+" That is all.")
	}
	for _, text := range texts {
		full := whole(readCalls(text, tools, options))
		for cut := range len(text) {
			for i, c := range whole(readCalls(text[:cut], tools, options)) {
				require.Less(t, i, len(full), "%q", text[:cut])
				assert.Equal(t, []any{full[i].Name, string(full[i].Arguments), full[i].Offset, full[i].End},
					[]any{c.Name, string(c.Arguments), c.Offset, c.End}, "%q", text[:cut])
				assert.LessOrEqual(t, c.End, cut)
			}
		}
	}
}

func TestNames(t *testing.T) {
	ambiguous := extract.NewNames([]string{"a.b", "a/b", "c.d", "é", "", "c.d"})
	for _, c := range []struct{ written, want string }{
		{"a.b", `a.b {"x":1} tool_tag`},
		{"a_b", `a_b? {"x":1} tool_tag`},
		{"c_d", `c.d {"x":1} tool_tag`},
		{"c/d", `c.d {"x":1} tool_tag`},
		{"functions.c.d", `c.d {"x":1} tool_tag`},
		{"functions.c_d", `c.d {"x":1} tool_tag`},
		{"other.c_d", `other.c_d? {"x":1} tool_tag`},
		{"_", `é {"x":1} tool_tag`},
		{"c-d", `c-d? {"x":1} tool_tag`},
	} {
		text := `<tool_call>{"name": "` + c.written + `", "arguments": {"x": 1}}</tool_call>`
		assert.Equal(t, c.want, said(readCalls(text, ambiguous, options)))
	}
	assert.Empty(t, readCalls("add(a=1)", extract.Names{}, options))
}

func TestNoFormRepeats(t *testing.T) {
	forms := extract.Forms()
	sorted := slices.Sorted(slices.Values(forms))
	assert.Len(t, slices.Compact(sorted), len(forms), "forms repeat")
}

// options read every form.
var options = extract.Options{MaxCalls: 128}

// readCalls are the calls of a text that has no more than the bound.
func readCalls(text string, names extract.Names, opt extract.Options) []extract.Call {
	calls, _ := extract.Calls(text, names, opt)
	return calls
}

// Of a text with more calls than the bound none is read, and all are counted. Before the bound, a call that
// repeats another does not count.
func TestMoreCallsThanTheBoundAreCounted(t *testing.T) {
	opt := extract.Options{MaxCalls: 3}
	for text, want := range map[string]int{
		"add(a=1), add(a=2), add(a=3)":                                                          0,
		"add(a=1), add(a=1), add(a=2), add(a=3), add(a=2)":                                      0,
		"add(a=1), add(a=1), add(a=2), add(a=3), add(a=4)":                                      4,
		"add(a=1), add(a=2), add(a=3), add(a=4), add(a=4), add(a=5) and add(a=6)":               6,
		`[{"name": "add", "arguments": {}}, {"name": "play"}, {"name": "add", "a": 1}]`:         0,
		"[" + strings.Repeat(`{"name": "add", "arguments": {"a": [1]}}, `, 9) + "]":             0,
		`<tool_call>{}</tool_call>` + strings.Repeat("<tool_call>{}</tool_call>", 9):            10,
		`["add", {"a": 1}, "add", {"a": 2}, "add", {"a": 3}, "add", {"a": 4}]`:                  4,
		`{"tool_calls": ["add(a=1)", "add(a=2)", "add(a=3)", "add(a=4)", "add(a=5)"]}`:          5,
		"add(a=1) add(a=2) add(a=3) add(a=4) </think> add(a=1)":                                 0,
		"add(a=1) add(a=2) add(a=3) add(a=4) </think> add(a=1) add(a=2) add(a=3) add(a=4) ":     4,
		"<function=add>{\"a\": 1}</function>" + strings.Repeat("<function=add>{</function>", 4): 5,
	} {
		calls, over := extract.Calls(text, tools, opt)
		assert.Equal(t, want, over, text)
		assert.Equal(t, want > 0, calls == nil, text)
	}
	opt.Off = []extract.Form{"prose"}
	calls, over := extract.Calls("So: add(a=1), add(a=2), add(a=3), add(a=4)", tools, opt)
	assert.Empty(t, calls)
	assert.Zero(t, over, "a form that is switched off is no call")
}
