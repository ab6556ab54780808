package extract_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
)

func FuzzCalls(f *testing.F) {
	for _, c := range formCases {
		f.Add(c.text)
	}
	for _, text := range []string{`add(a=1_0, b=.5, c='\x41\d', d=("x",))`, "add(a=1, a=2)", `{"name": "add", "arguments": "{\"a\": 1}"}`,
		"<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": [1], 2]}}</tool_call>", `[['add', {'a': 'it's'}]]`, `{"\\":1`,
		"{\"name\": \"add\", \"arguments\": {\"a\":\u00a01, \\n\"b\": \\t[2]\\n}}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		calls := readCalls(text, tools, options)
		for i, c := range calls {
			require.True(t, 0 <= c.Offset && c.Offset <= c.End && c.End <= len(text), "span %d..%d", c.Offset, c.End)
			if c.Broken != nil {
				require.Nil(t, c.Arguments)
				require.True(t, 0 <= c.Broken.Offset && c.Broken.Offset <= len(text))
				continue
			}
			checkJSON(t, c.Arguments)
			require.Equal(t, byte('{'), c.Arguments[0])
			require.True(t, stands(text, c), "%s does not stand in %q", c.Arguments, text[c.Offset:c.End])
			checkRepairs(t, text, c.Repairs)
			require.False(t, slices.ContainsFunc(calls[:i], func(d extract.Call) bool {
				return d.Broken == nil && d.Name == c.Name && string(d.Arguments) == string(c.Arguments)
			}), "a call twice")
		}
		assert.Equal(t, calls, readCalls(text, tools, options))
		checkCut(t, text, whole(calls))
	})
}

// checkCut checks that a text that is cut off has no call that the whole text does not have. The exception is
// a closing tag of a thought that was never opened: only that tag shows that all text before it is a thought.
func checkCut(t *testing.T, text string, full []extract.Call) {
	cut := len(text) * 8 / 10
	if endsThought.MatchString(text) {
		return
	}
	for i, c := range whole(readCalls(text[:cut], tools, options)) {
		require.Less(t, i, len(full), "made out of %q: %s", text[:cut], c.Arguments)
		require.Equal(t, full[i].Name+string(full[i].Arguments), c.Name+string(c.Arguments))
		require.Equal(t, full[i].Offset, c.Offset)
	}
}

var endsThought = regexp.MustCompile(`(?i)</[^<>]*(t[-_]*h[-_]*i[-_]*n[-_]*k|t[-_]*h[-_]*o[-_]*u[-_]*g|r[-_]*e[-_]*a[-_]*s|s[-_]*c[-_]*r[-_]*a)`)

func FuzzValue(f *testing.F) {
	for _, text := range []string{`{"a": 1}`, "```json\n{'a': True,}\n```", `So {"a": [1, 2]}.`, `<x>{"a": 1}</x>`, "[1] {\"a\": 1", `{"\\":1`, "42", `'x'`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, repairs, broken := extract.Value(text, options)
		checkRepairs(t, text, repairs)
		if raw == nil {
			require.Nil(t, repairs)
			return
		}
		require.Nil(t, broken)
		checkJSON(t, raw)
		again, more, broken := extract.Value(string(raw), options)
		require.Nil(t, broken)
		require.Empty(t, more)
		require.Equal(t, raw, again)
	})
}

func checkJSON(t *testing.T, raw []byte) {
	require.True(t, json.Valid(raw), "%q", raw)
	require.True(t, utf8.Valid(raw), "%q", raw)
}

func checkRepairs(t *testing.T, text string, repairs []extract.Repair) {
	known := extract.Forms()
	for i, r := range repairs {
		require.True(t, 0 <= r.Offset && r.Offset <= len(text))
		require.True(t, i == 0 || repairs[i-1].Offset <= r.Offset, "out of order: %v", repairs)
		require.Contains(t, known, r.Kind)
	}
}

func BenchmarkCalls(b *testing.B) {
	text := `<tool_call>{"name": "add", "arguments": {"text": "` + string(make1KB()) + `", "n": [1, 2, 3.5], "flag": true}}</tool_call>`
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if calls := readCalls(text, tools, options); len(calls) != 1 {
			b.Fatal("no call")
		}
	}
}

func BenchmarkCallsNone(b *testing.B) {
	text := string(make1KB())
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if calls := readCalls(text, tools, options); calls != nil {
			b.Fatal("a call")
		}
	}
}

func make1KB() []byte {
	const sentence = "The quick brown fox jumps over the lazy dog, and then it adds up what it saw. "
	var text []byte
	for len(text) < 900 {
		text = append(text, sentence...)
	}
	return text
}
