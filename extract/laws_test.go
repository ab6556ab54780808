package extract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/race"
)

// jsonText draws a JSON text. Some of its numbers do not fit into a float.
func jsonText(depth int) *rapid.Generator[string] {
	scalars := []*rapid.Generator[string]{
		rapid.SampledFrom([]string{"true", "false", "null", "0", "-0", "1.0", "-2.50e+10", "123456789012345678901234567890"}),
		rapid.Custom(func(t *rapid.T) string {
			s, err := json.Marshal(rapid.String().Draw(t, "string"))
			require.NoError(t, err)
			return string(s)
		}),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars, objectText(depth), rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(rapid.SliceOfN(jsonText(depth-1), 0, 4).Draw(t, "elements"), ", ") + "]"
	}))...)
}

func objectText(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var members []string
		for i, v := range rapid.SliceOfN(jsonText(depth-1), 0, 4).Draw(t, "members") {
			members = append(members, fmt.Sprintf(`"k%d" : %s`, i, v))
		}
		return "{" + strings.Join(members, " , ") + "}"
	})
}

func decoded(t require.TestingT, raw []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

func TestStrictJSONIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := objectText(3).Draw(t, "arguments")
		for _, format := range []string{`<tool_call>{"name": "add", "arguments": %s}</tool_call>`, "add\n%s", `[add(%s)]`} {
			calls := readCalls(fmt.Sprintf(format, args), tools, options)
			require.Len(t, calls, 1)
			require.Nil(t, calls[0].Broken)
			assert.Equal(t, decoded(t, []byte(args)), decoded(t, calls[0].Arguments))
		}
		value, repairs, broken := extract.Value(args, options)
		require.Nil(t, broken)
		assert.Empty(t, repairs)
		assert.Equal(t, decoded(t, []byte(args)), decoded(t, value))
		again, _, _ := extract.Value(string(value), options)
		assert.Equal(t, value, again, "what was read once is read again byte for byte")
	})
}

func TestCallsReadAgain(t *testing.T) {
	for _, c := range formCases {
		found := whole(readCalls(c.text, tools, options))
		again := readCalls(rendered(found), tools, options)
		require.Len(t, again, len(found), c.name)
		for i := range found {
			assert.Equal(t, found[i].Name, again[i].Name, c.name)
			assert.Equal(t, string(found[i].Arguments), string(again[i].Arguments), c.name)
			assert.Empty(t, again[i].Repairs, c.name)
		}
	}
}

// rendered returns calls as strict JSON.
func rendered(calls []extract.Call) string {
	type entry struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	entries := []entry{}
	for _, c := range calls {
		entries = append(entries, entry{c.Name, c.Arguments})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(map[string][]entry{"tool_calls": entries}) != nil {
		return ""
	}
	return b.String()
}

// hard are texts that readers go wrong on when they are repeated.
var hard = []string{"[", "{", "<", "(", `"`, "'", "`", "```", "add", "add(", "add (", "[add(", "add\n", "add.", "a.", "a-", ".", "-",
	`["`, `['`, `["['`, `['a'b`, `['a(b='`, `{"a":`, `{"a":[`, `{"a":1,`, "[1,", "[#", "[/*", "[//\n", "/*", "# ", `\`, `\_`, `[\`, `"""`, `['''`,
	"<tool_call>", "<tool_call>{", "</", "<|", "<|x|>", "<tool_response>", "<function=add>", "<function=add>{", "[TOOL_CALLS]", "[A", "[ARGS]{",
	`{"name":"add","arguments":{`, `{"name":"add","arguments":{}}`, `<tool_call>{"arguments":x`, `<tool_call>{"name":"add"x}</tool_call>`,
	`["add",{}],`, `[add(a=1),`, "<function=add><parameter=a>", "<function=add><parameter=a></function>", "<parameter=a></parameter>",
	"<function=add><parameter=a>1</parameter>", "<tool_call>add<arg_key>", "<tool_call>add<arg_key>a</arg_key><arg_value></tool_call>", "</think>",
	"<think>", "add(a=1) x</think>", "[THINK]", "<|channel|>analysis<|message|>", "```\nx={}\nadd(x", "```\nx={}\nadd(x)", "x={}\nadd(x)y ", "def add(", "```\nadd(a=1)\nx = add(a=[", "x = add(",
	"<escape>", "{a:<escape>", "[<escape>x<escape>,", "a'b", "['a'b',", "<<function>>", "<<", "call:", "[CALL_ID]", "✿ARGS✿", "add:", "add`", "Action Input:", " ", "\n", ",", "\xff", "é", "[\xff", `["\u`, `{"a":1}`, "[1]", "[1],{x},", "```{", `"<a>"`, "<a>", `<x>{a`, `[''] ,`, `["<a>"],`,
	"<add>", "<add>{", "<add>{/*", "<add><b>", "<add><b></add>", "<add><b></b>", "<add><b>x</b></add>", "</add>", "<play><add><b></add>", "{“", "“a”",
	"add(#", "add(a #", "add(a=1 #", "add(//", "add(/*", "add(**#", "print(add(#", "#add(\n\n\n\n\n\n\n\n"}

// TestLinear reads long texts. A reader that went back would not finish on them.
func TestLinear(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	for _, unit := range hard {
		text := strings.Repeat(unit, n/len(unit))
		for _, c := range readCalls(text, tools, options) {
			require.LessOrEqual(t, c.End, len(text), "%q", unit)
		}
		_, _, broken := extract.Value(text, options)
		if broken != nil {
			require.LessOrEqual(t, broken.Offset, len(text), "%q", unit)
		}
	}
}

// The comment behind a mention is read with it. Where each comment has further mentions in it, a text is not
// read for ever, but a few times; what comes then is no call.
func TestMentionsInCommentsAreReadAFewTimes(t *testing.T) {
	for n, want := range map[int]int{1: 1, 5: 1, 1000: 0} {
		text := "Never " + strings.Repeat("add(# ", n) + "\nSo:\n\nadd(a=1, b=2)"
		require.Len(t, readCalls(text, tools, options), want, "%d mentions", n)
	}
}

// Reading a text takes memory in proportion to it, whatever it is made of.
func TestReadingTakesLittleMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself")
	}
	const size = 64 << 10
	for _, unit := range hard {
		for _, start := range []string{"", "[", "<tool_call>"} {
			text := start + strings.Repeat(unit, size/len(unit))
			for what, read := range map[string]func(){
				"calls": func() { readCalls(text, tools, options) },
				"value": func() { extract.Value(text, options) },
			} {
				assert.Less(t, allocated(read), uint64(maxPerByte*len(text)), "%s: %s%s", what, start, unit)
			}
		}
	}
}

// maxPerByte is what a byte of a text may take: the nodes of a value take most of it.
const maxPerByte = 100

// allocated is how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
