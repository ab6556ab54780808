package file_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

// -rewrite rewrites the expected output. Read the diff, and commit only what you understand.
func TestFaults(t *testing.T) {
	datadriven.RunTest(t, "testdata/faults.txt", func(t *testing.T, d *datadriven.TestData) string {
		text := strings.ReplaceAll(d.Input, "<TAB>", "\t")
		set, err := file.Read(d.CmdArgs[0].Key, []byte(text))
		require.Error(t, err, d.Pos)
		requireWellFormed(t, set, err)
		return err.Error() + "\n"
	})
}

// faultsOf returns the faults of an error of Read.
func faultsOf(t require.TestingT, err error) []*file.Fault {
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	var all []*file.Fault
	for _, one := range joined.Unwrap() {
		var f *file.Fault
		require.True(t, errors.As(one, &f))
		all = append(all, f)
	}
	return all
}

// requireWellFormed checks the guarantees for every error of Read.
func requireWellFormed(t require.TestingT, set policy.Set, err error) {
	require.Equal(t, policy.Set{}, set)
	all := faultsOf(t, err)
	require.NotEmpty(t, all)
	require.LessOrEqual(t, len(all), 101)
	for _, f := range all {
		require.GreaterOrEqual(t, f.Line, 1)
		require.GreaterOrEqual(t, f.Column, 1)
		require.NotEmpty(t, f.Message)
	}
	require.True(t, sort.SliceIsSorted(all, func(i, j int) bool { return all[i].Line < all[j].Line }))
}

func TestFilesThatAreTooMuch(t *testing.T) {
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	cases := map[string]struct{ name, text, want string }{
		"empty":             {"p.yaml", " \n\t\n", "the file is empty"},
		"empty_json":        {"p.json", "", "the file is empty"},
		"too_large":         {"p.yaml", strings.Repeat("#", 1<<20+1), "the file has 1048577 bytes"},
		"not_utf8":          {"p.yaml", "max_attempts: 3\nö: \xff", "p.yaml:2:4: a byte that is not UTF-8"},
		"not_utf8_json":     {"p.json", "{\"a\": \"\xff\"}", "p.json:1:8: a byte that is not UTF-8"},
		"control_character": {"p.yaml", "max_attempts: 3\x00", "p.yaml:1:16: the control character U+0000"},
		"lone_return":       {"p.yaml", "max_attempts: 3\ropt_out: true", "the control character U+000D"},
		"line_separator":    {"p.yaml", "max_attempts: 3\u2028opt_out: true", "the control character U+2028"},
		"deep_flow":         {"p.yaml", "a: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), "nested too deep"},
		"deep_mappings":     {"p.yaml", strings.Repeat("{a: ", 4_000) + strings.Repeat("}", 4_000), "nested too deep"},
		"open_flow":         {"p.yaml", "a: " + strings.Repeat("[", 9_000), "p.yaml:1:1: the file is not valid YAML here"},
		"deep_dashes":       {"p.yaml", strings.Repeat("- ", 9_000), "nested too deep"},
		"deep_indent": {"p.yaml", func() string {
			var b strings.Builder
			for i := range 1_000 {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(), "nested too deep"},
		"deep_json":          {"p.json", strings.Repeat("[", 500_000), "nested too deep"},
		"deep_json_objects":  {"p.json", strings.Repeat(`{"a":`, 200_000), "nested too deep"},
		"many_words":         {"p.yaml", strings.Repeat("- 3\n", 60_000), "too long"},
		"many_json_values":   {"p.json", "[" + strings.Repeat("1,", 500_000) + "1]", "too long"},
		"many_unknown_keys":  {"p.yaml", numbered(5_000, "key_%d: 1\n"), fields.More},
		"one_too_many":       {"p.yaml", numbered(101, "key_%d: 1\n"), fields.More},
		"many_twins":         {"p.yaml", strings.Repeat("max_attempts: 3\n", 5_000), fields.More},
		"one_long_line":      {"p.yaml", "max_attempts: " + strings.Repeat("x ", 400_000), "a whole number"},
		"one_long_key":       {"p.yaml", strings.Repeat("x", 900_000) + ": 1", "mapping values are not allowed"},
		"one_long_json_key":  {"p.json", "{\"" + strings.Repeat("x", 900_000) + "\": 1}", "not known here"},
		"quotes_all_the_way": {"p.yaml", strings.Repeat("\"", 1<<20), "not valid YAML here"},
		"open_to_the_end":    {"p.yaml", "a: [\n" + strings.Repeat("3,\n", 300_000), "not valid YAML here"},
		"billion_laughs": {"p.yaml", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n" +
			strings.Repeat("d: [*c,*c,*c,*c]\n", 500), "anchors are not supported"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			set, err := file.Read(c.name, []byte(c.text))
			require.ErrorContains(t, err, c.want)
			requireWellFormed(t, set, err)
			assert.Less(t, len(err.Error()), 1<<20)
		})
	}
}

func TestALongKeyIsNotRepeatedWhole(t *testing.T) {
	_, err := file.Read("p.json", []byte("{\""+strings.Repeat("x", 900_000)+"\": 1}"))
	assert.Less(t, len(err.Error()), 1_000)
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "max_attempts: 3", "{\"max_attempts\": 3,}", "a: &a [*a]", "- - - -", "? a\n: b", "!!str x", "%YAML 1.2\n---\n",
		"max_attempts: 3\n---\n", "backoff: {kind: list, delays: [1s, 2s]}", "tools: {a: {bases: {b: 1s}}}", "a: |\n  x\n",
		"a: 'it''s'\nb: \"\\u00e9\"", "\ufeffmax_attempts: 3\r\n", "a:\n\tb: 1", "[{]}", "{\"a\": [1, {\"b\": null}]}",
		"transport: {preset: provider}", "no_progress: off", "a: .inf\nb: .nan\nc: 0x1\nd: 0b1\ne: 1e400\nf: 1_000", "<<: 1",
		"retryable_errors:\n- a\n-  b\n", "a: \"b\n  c\"", "\"", "'", "{a: b, c}", "key: [a, b", "...", "---", "a: b #c\n#d",
	} {
		f.Add("p.yaml", []byte(seed))
		f.Add("p.json", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		set, err := file.Read(name, data)
		again, errAgain := file.Read(name, bytes.Clone(data))
		require.Equal(t, set, again)
		if err != nil {
			require.EqualError(t, errAgain, err.Error())
			requireWellFormed(t, set, err)
			return
		}
		require.NoError(t, set.Validate())
		written, err := json.Marshal(bare(set))
		require.NoError(t, err)
		back, err := file.Read("written.json", written)
		require.NoError(t, err, string(written))
		require.Equal(t, bare(set), bare(back))
	})
}

// A file made of YAML's own marks is either refused, or read as a set that its JSON brings back.
func TestLawOfAnyText(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"max_attempts", "backoff", "kind", "constant", "delay", "tools", "bases", "retryable_errors", "global", "opt_out",
		": ", ":", "- ", "-", "? ", "\n", "\n  ", "\n    ", " ", "{", "}", "[", "]", ",", ", ", "#", " #", "'", "\"", "|\n", ">-\n",
		"&a ", "*a", "!t ", "<<", "---\n", "...\n", "%", "1", "3", "0", "2s", "true", "off", "null", "~", "\t", "\r\n", "\\", "é",
	})
	lines := []string{"max_attempts: 3\n", "'opt_out': true\n", "\"no_progress\": off\n", "# note\n", "backoff: {kind: constant,\n delay: 2s}\n",
		"retryable_errors:\n- no_output\n- timeout\n", "identity: []\n", "bases:\n  timeout: 1s\n\n"}
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces")
		names := []string{"p.yaml", "p.json", "p"}
		if rapid.IntRange(0, 3).Draw(t, "marks alone") < 3 { // lines with a mark or two in between, or none
			names = []string{"p.yaml", "p"}
			text = rapid.Permutation(lines).Draw(t, "order")[:rapid.IntRange(1, len(lines)).Draw(t, "many")]
			for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "marks") {
				text = slices.Insert(slices.Clone(text), rapid.IntRange(0, len(text)).Draw(t, "at"), pieces.Draw(t, "mark"))
			}
		}
		data := []byte(strings.Join(text, ""))
		set, err := file.Read(rapid.SampledFrom(names).Draw(t, "name"), data)
		if err != nil {
			requireWellFormed(t, set, err)
			return
		}
		read++
		written, err := json.Marshal(bare(set))
		require.NoError(t, err)
		back, err := file.Read("written.json", written)
		require.NoError(t, err)
		require.Equal(t, bare(set), bare(back))
	})
	require.NotZero(t, read, "some were read")
}
